package inspectiontest

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"muster/internal/report/snapshot"
)

var update = flag.Bool("update", false, "keep what the inspectors find")

// Looked is what came of a look at a server.
type Looked struct {
	Assessment snapshot.Assessment
	Classified map[string]snapshot.Classification
}

// Keep holds what was found to a file. build is the check that follows from the feed, which
// is newer each month: it is left out.
func (l Looked) Keep(t *testing.T, path, build string) {
	t.Helper()
	l.Assessment.Results = slices.DeleteFunc(l.Assessment.Results, func(r snapshot.CheckResult) bool { return r.CheckID == build })
	found, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	found = append(found, '\n')
	if *update {
		if err := os.WriteFile(path, found, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != string(found) {
		t.Errorf("the inspector finds something else than %s has; -update if it is meant", path)
	}
}

// Read is what Keep has kept.
func Read(t *testing.T, path string) (l Looked) {
	t.Helper()
	kept, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(kept, &l)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}
