package kinds_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
)

// house is the root of the repository.
const house = "../../../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(house, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func all(channel.Kind) bool { return true }

// TestTheAPIHasTheKindsOfTheList: every enum of kinds in the API's description is the list.
func TestTheAPIHasTheKindsOfTheList(t *testing.T) {
	t.Parallel()
	want := strings.Join(kinds.Names(all), ", ")
	enums := regexp.MustCompile(`enum: \[([^\]]*\bwebhook\b[^\]]*)\]`).FindAllStringSubmatch(read(t, "internal/httpapi/openapi.yaml"), -1)
	if len(enums) < 3 {
		t.Fatalf("the description has %d enums of kinds of channels", len(enums))
	}
	for _, e := range enums {
		if e[1] != want {
			t.Errorf("the API has %s; the list has %s", e[1], want)
		}
	}
}

// TestThePagesNameAKindLikeTheList: each kind has a form, in the order of the list, under its title.
func TestThePagesNameAKindLikeTheList(t *testing.T) {
	t.Parallel()
	index := strings.Join(strings.Fields(read(t, "web/src/notify/kinds/index.ts")), " ") // in one line or several
	if want := "= { " + strings.Join(kinds.Names(all), ", "); !strings.Contains(index, want+" };") && !strings.Contains(index, want+", };") {
		t.Errorf("the pages' list is not %s", want)
	}
	for _, k := range kinds.All() {
		forms, err := filepath.Glob(filepath.Join(house, "web/src/notify/kinds", string(k.Name)+".ts*"))
		if err != nil || len(forms) != 1 {
			t.Errorf("%s has the forms %v, %v", k.Name, forms, err)
			continue
		}
		form := read(t, "web/src/notify/kinds/"+filepath.Base(forms[0]))
		if !strings.Contains(form, `title: "`+k.Title+`"`) {
			t.Errorf("the page does not call %s %q", k.Name, k.Title)
		}
		onlyAlerts := len(k.Follows) > 0
		if strings.Contains(form, "alertsOnly: true") != onlyAlerts {
			t.Errorf("the page of %s does not say whether it takes alerts alone: %v", k.Name, onlyAlerts)
		}
	}
}

// TestREADMEHasTheKindsOfTheList but for a team, which is told through its members' addresses and channels.
func TestREADMEHasTheKindsOfTheList(t *testing.T) {
	t.Parallel()
	_, named, found := strings.Cut(read(t, "README.md"), "[notifications](docs/administrators.md#notifications) by ")
	named, _, _ = strings.Cut(named, ";")
	words := strings.Split(strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(named, "-", ""), " and ", ", ")), ", ")
	want := slices.DeleteFunc(kinds.Names(all), func(name string) bool { return name == "team" })
	slices.Sort(words)
	slices.Sort(want)
	if !found || !slices.Equal(words, want) {
		t.Errorf("README has %v; the list has %v", words, want)
	}
}

// TestTheDocumentsHaveTheKindsOfTheList: the administrators' table of kinds is the list.
func TestTheDocumentsHaveTheKindsOfTheList(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(read(t, "docs/administrators.md"), "| Kind of channel |")
	table, _, _ = strings.Cut(table, "\n\n")
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(table, -1) {
		named = append(named, row[1])
	}
	if !found || !slices.Equal(named, kinds.Names(all)) {
		t.Errorf("docs/administrators.md has %v; the list has %v", named, kinds.Names(all))
	}
}
