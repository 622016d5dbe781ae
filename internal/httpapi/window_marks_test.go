package httpapi

import (
	"net/url"
	"testing"
	"time"

	"muster/internal/httpapi/api"
)

// TestMaintenanceWindowsAreMarks: with their end and the servers that the caller sees, also one that began before the window
// of the charts. A removed window was in force until then.
func TestMaintenanceWindowsAreMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited) // who does not see ledger
	ids, somebody := w.withTeams()
	w.announce(w.ours.admin, "Patch", selecting(nil, ids["orders"], ids["ledger"]))
	w.announce(w.ours.admin, "Ledger only", selecting(nil, ids["ledger"]))
	w.announce(w.theirs.admin, "Theirs", selecting(map[string][]string{"env": {"prod"}}))
	marks := func(as person, from, to time.Time, query string) map[string]api.Mark {
		t.Helper()
		var list api.MarkList
		path := "/api/v1/marks?" + url.Values{"from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)}}.Encode() + query
		w.get(as, path).is(200).decode(&list)
		found := map[string]api.Mark{}
		for _, m := range list.Items {
			if m.Kind == "maintenance" {
				found[m.Text] = m
			} else if m.Until != nil {
				t.Errorf("%s lasts until %s", m.Kind, m.Until)
			}
		}
		return found
	}
	w.clock.Advance(time.Minute)
	begins := marks(w.ours.admin, w.ago(2*time.Hour), w.ago(-time.Minute), "")
	if len(begins) != 2 {
		t.Fatalf("%+v", begins)
	}
	// A window is in force from when it is announced.
	patch := begins["Patch"]
	if patch.Until == nil || !patch.Until.Equal(w.ago(-59*time.Minute)) || patch.At.After(w.clock.Now()) || *patch.InstanceCount != 2 || patch.Instance != nil || patch.MayRemove {
		t.Errorf("%+v", patch)
	}
	w.clock.Advance(29 * time.Minute)
	for name, c := range map[string]struct {
		of    map[string]api.Mark
		count int // of servers of Patch
		all   int
	}{
		"it began before the window": {marks(w.ours.viewer, w.ago(5*time.Minute), w.ago(0), ""), 2, 2},
		"one server":                 {marks(w.ours.viewer, w.ago(5*time.Minute), w.ago(0), "&instanceId="+ids["orders"].String()), 1, 1},
		"a team":                     {marks(somebody, w.ago(5*time.Minute), w.ago(0), ""), 1, 1},
		"others":                     {marks(w.theirs.admin, w.ago(5*time.Minute), w.ago(0), ""), 0, 0},
		"before it":                  {marks(w.ours.viewer, w.ago(9*time.Hour), w.ago(8*time.Hour), ""), 0, 0},
	} {
		n := 0
		if m, there := c.of["Patch"]; there {
			n = *m.InstanceCount
			if m.Id != patch.Id || !m.At.Equal(patch.At) || !m.Until.Equal(*patch.Until) {
				t.Errorf("%s: %+v, was %+v", name, m, patch)
			}
		}
		if len(c.of) != c.all || n != c.count {
			t.Errorf("%s: %+v", name, c.of)
		}
	}
}
