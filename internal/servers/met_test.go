package servers_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers"
)

func metLive(t *testing.T) []servers.Met {
	t.Helper()
	all, err := servers.MetLive()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryEngineNamesItsTestedServers(t *testing.T) {
	t.Parallel()
	all := metLive(t)
	if len(all) != 3 {
		t.Errorf("%d engines are in the table, want 3", len(all))
	}
	for _, m := range all {
		if !servers.Known(m.Engine) {
			t.Errorf("nothing connects to %q", m.Engine)
		}
	}
}

// The pages import the table itself.
func TestREADMEAndDocsNameTheTestedServers(t *testing.T) {
	t.Parallel()
	called := map[string]string{"postgresql": "PostgreSQL", "sqlserver": "SQL Server", "oracle": "Oracle"}
	for _, path := range []string{"../../README.md", "../../docs/administrators.md", "../../docs/engines.md"} {
		text := read(t, path)
		for _, m := range metLive(t) {
			row := fmt.Sprintf("| %s | %s | %s |", called[string(m.Engine)], m.Serves, m.Versions())
			if !strings.Contains(text, row) {
				t.Errorf("%s has no row %q", path, row)
			}
		}
	}
}

// What the table calls met of PostgreSQL is what the tests meet: 15 where they run as they
// are, the others by make test-all.
func TestTheTestedMajorsMatchTheTests(t *testing.T) {
	t.Parallel()
	script := read(t, "../../scripts/test_majors.sh")
	met := []string{"15"}
	for _, list := range regexp.MustCompile(`(?m)^  (?:majors|watched)=\(([\d ]+)\)$`).FindAllStringSubmatch(script, -1) {
		met = append(met, strings.Fields(list[1])...)
	}
	slices.Sort(met)
	for _, m := range metLive(t) {
		if m.Engine == "postgresql" && !slices.Equal(m.Live, met) {
			t.Errorf("the table calls %v met, the tests meet %v", m.Live, met)
		}
	}
}

// TestTheNewestTriedVersionIsTheLastTestedOne, C26: reports and muster agent check go by the domain's number.
func TestTheNewestTriedVersionIsTheLastTestedOne(t *testing.T) {
	t.Parallel()
	for _, m := range metLive(t) {
		want := "0"
		if len(m.Live) > 0 {
			want = m.Live[len(m.Live)-1]
		}
		if got := fmt.Sprint(fleet.NewestTried(m.Engine)); got != want {
			t.Errorf("the newest %s that was tried is %s, the table says %s", m.Engine, got, want)
		}
	}
}
