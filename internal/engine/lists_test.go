package engine_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/engine/trait"
)

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func namesOf(in func(*trait.Engine) bool) (names []string) {
	for _, e := range engine.All() {
		if in(e) {
			names = append(names, string(e.Name))
		}
	}
	slices.Sort(names)
	return names
}

func known(*trait.Engine) bool { return true }

// TestTheDomainKnowsTheEngines: the domain cannot import the list, so it has the names again.
func TestTheDomainKnowsTheEngines(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range fleet.Engines() {
		names = append(names, string(e))
	}
	slices.Sort(names)
	if want := namesOf(known); !slices.Equal(names, want) {
		t.Errorf("fleet.Engines has %v, and the engines are %v", names, want)
	}
}

// TestOpenAPIKnowsTheEngines: every enum that names an engine names all of them.
func TestOpenAPIKnowsTheEngines(t *testing.T) {
	t.Parallel()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(read(t, "internal/httpapi/openapi.yaml")), &doc); err != nil {
		t.Fatal(err)
	}
	want, found := namesOf(known), 0
	for _, enum := range enumsOf(&doc) {
		if !slices.ContainsFunc(want, func(name string) bool { return slices.Contains(enum.values, name) }) {
			continue
		}
		found++
		slices.Sort(enum.values)
		if !slices.Equal(enum.values, want) {
			t.Errorf("openapi.yaml:%d has %v, and the engines are %v", enum.line, enum.values, want)
		}
	}
	if found < 3 {
		t.Errorf("%d enums of engines were found", found)
	}
}

type enum struct {
	line   int
	values []string
}

// enumsOf are the enums of a document, closed and open ones.
func enumsOf(n *yaml.Node) (all []enum) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.SequenceNode &&
			(n.Content[i-1].Value == "enum" || n.Content[i-1].Value == "x-extensible-enum") {
			e := enum{line: child.Line}
			for _, value := range child.Content {
				e.values = append(e.values, value.Value)
			}
			all = append(all, e)
		}
		all = append(all, enumsOf(child)...)
	}
	return all
}

var listOfPages = regexp.MustCompile(`(?m)^export const (engines|checkedEngines) = (\[[^\]]*\])`)

// TestThePagesKnowTheEngines: the lists that all tables of the pages are held to by their types.
func TestThePagesKnowTheEngines(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"engines":        namesOf(known),
		"checkedEngines": namesOf(func(e *trait.Engine) bool { return e.Measured != nil }),
	}
	for _, m := range listOfPages.FindAllStringSubmatch(read(t, "web/src/engines.ts"), -1) {
		var names []string
		if err := yaml.Unmarshal([]byte(m[2]), &names); err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		if !slices.Equal(names, want[m[1]]) {
			t.Errorf("engines.ts: %s has %v, and the engines are %v", m[1], names, want[m[1]])
		}
		delete(want, m[1])
	}
	if len(want) > 0 {
		t.Errorf("engines.ts has no %v", slices.Collect(maps.Keys(want)))
	}
}

// TestEveryEngineHasAFolder: a folder is a value in the list, and the other way round.
func TestEveryEngineHasAFolder(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && !slices.Contains([]string{"live", "trait", "tuning"}, e.Name()) {
			folders = append(folders, e.Name())
		}
	}
	if want := namesOf(known); !slices.Equal(folders, want) {
		t.Errorf("the folders are %v, and the engines %v", folders, want)
	}
}

// TestEveryEngineHasAllWords: a report prints each of them.
func TestEveryEngineHasAllWords(t *testing.T) {
	t.Parallel()
	for _, e := range engine.All() {
		for _, word := range []string{e.Title, e.Words.Superuser, e.Words.Release, e.Words.ReleaseNeeds} {
			if strings.TrimSpace(word) == "" {
				t.Errorf("%s lacks a word: %+v", e.Name, e.Words)
			}
		}
		if e.Measured != nil && len(e.Measured.Waits) == 0 {
			t.Errorf("%s is measured, and no wait of it has a class", e.Name)
		}
	}
}

func TestAnUnknownEngineIsAnError(t *testing.T) {
	t.Parallel()
	if e, err := engine.Of("db2"); err == nil {
		t.Errorf("db2 is %v", e)
	}
	if e := engine.Described("db2"); e.Title != "db2" || e.Words.Superuser == "" {
		t.Errorf("a document's db2 is %+v", e)
	}
}

// TestAConnectedEngineExplainsItsAccount: a report tells the reader how an account is made, and which
// checks show a way in. Those checks are in the engine's folder.
func TestAConnectedEngineExplainsItsAccount(t *testing.T) {
	t.Parallel()
	packed, err := engine.Checks()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range engine.All() {
		if e.Connected == nil {
			continue
		}
		if e.Checks == nil {
			t.Errorf("Muster connects to %s and has no check for it", e.Name)
			continue
		}
		grants := e.Connected.Grants
		if grants.Runner == "" || len(grants.Rules) == 0 || len(grants.Measuring) == 0 || grants.NameObjects == (grants.Statement != nil) {
			t.Errorf("%s does not say what its account needs: %+v", e.Name, grants)
		}
		if len(e.Connected.Account) == 0 || len(e.Connected.Mends) == 0 {
			t.Errorf("%s lacks words: %+v", e.Name, e.Connected)
		}
		if len(e.Checks.WeakSignIn) == 0 {
			t.Errorf("no check of %s shows a weak sign-in", e.Name)
		}
		definitions, err := fs.Glob(packed, string(e.Name)+"/checks/*.yaml")
		if err != nil || len(definitions) == 0 {
			t.Fatal(definitions, err)
		}
		var text strings.Builder
		for _, path := range definitions {
			text.WriteString(read(t, "internal/engine/"+path))
		}
		remote := e.Checks.RemoteSuperuser
		if e.Checks.Outdated == "" {
			t.Errorf("no check of %s shows an outdated version", e.Name)
		}
		named := slices.Concat(e.Checks.WeakSignIn, remote.Checks, []string{e.Checks.Outdated, e.Checks.EndOfLife, e.Checks.Backup})
		for _, id := range slices.DeleteFunc(named, func(id string) bool { return id == "" }) {
			if !strings.Contains(text.String(), "- id: "+id+"\n") {
				t.Errorf("%s has no check %s", e.Name, id)
			}
		}
		if len(remote.Checks) > 0 && (remote.Driver == "" || remote.Control == "" || remote.Treatment == "") {
			t.Errorf("%s lacks words: %+v", e.Name, remote)
		}
	}
}

// TestThePackedChecksMatchTheFolders: go generate ./internal/engine packs them again.
func TestThePackedChecksMatchTheFolders(t *testing.T) {
	t.Parallel()
	packed, err := engine.Checks()
	if err != nil {
		t.Fatal(err)
	}
	written, err := fs.Glob(os.DirFS("."), "*/checks/*.yaml")
	if err != nil || len(written) == 0 {
		t.Fatal(written, err)
	}
	held, err := fs.Glob(packed, "*/checks/*.yaml")
	if err != nil || !slices.Equal(held, written) {
		t.Errorf("packed are %v, written %v: %v", held, written, err)
	}
	for _, name := range written {
		text, err := fs.ReadFile(packed, name)
		if err != nil || string(text) != read(t, "internal/engine/"+name) {
			t.Errorf("%s was changed: run go generate ./internal/engine (%v)", name, err)
		}
	}
}
