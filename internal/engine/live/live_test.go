package live_test

import (
	"slices"
	"testing"
	"time"

	"muster/internal/assessment"
	"muster/internal/engine"
	"muster/internal/engine/live"
	"muster/internal/servers"
)

// TestMusterWorksWithTheEnginesThatItConnectsTo: the list of engines says which, and nothing
// here or in servers knows more or less.
func TestMusterWorksWithTheEnginesThatItConnectsTo(t *testing.T) {
	t.Parallel()
	inspectors, err := live.Inspectors(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	measured := live.Measured(time.Now)
	for _, e := range engine.All() {
		want := e.Connected != nil
		if got := slices.Contains(live.Names(), string(e.Name)); got != want {
			t.Errorf("%s is here: %v, and Muster connects to it: %v", e.Name, got, want)
		}
		if got := servers.Known(e.Name); got != want {
			t.Errorf("servers knows %s: %v, and Muster connects to it: %v", e.Name, got, want)
		}
		if !want {
			continue
		}
		if inspectors[e.Name] == nil || measured[e.Name].Name != e.Name || e.Measured == nil {
			t.Errorf("%s is not assessed, not measured, or not shown: %v, %q", e.Name, inspectors[e.Name], measured[e.Name].Name)
		}
		if script, err := live.Grants(e.Name, "", assessment.ClassifyNames); err != nil || script == "" {
			t.Errorf("%s has no script of grants: %v", e.Name, err)
		}
	}
	if _, err := live.Grants("db2", "", assessment.ClassifyNames); err == nil {
		t.Error("db2 has a script of grants")
	}
}
