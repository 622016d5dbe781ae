package sqlserver

import (
	"os"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// TestARealServerIsAssessed where one is given, as scripts/babelfish.sh does: every check has a result, and one that was not
// assessed has a reason. Which they are depends on the server, and is told.
func TestARealServerIsAssessed(t *testing.T) {
	t.Parallel()
	dsn := os.Getenv("MUSTER_TEST_SQLSERVER")
	if dsn == "" {
		t.Skip("MUSTER_TEST_SQLSERVER names no server")
	}
	target, err := new(servers.Reach).Target(fleet.SQLServer, dsn)
	if err != nil {
		t.Fatal(err)
	}
	inspector, err := New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := inspector.Assess(t.Context(), target)
	if a.Error != "" {
		t.Error(a.Error)
	}
	of := map[string]int{}
	for _, r := range a.Results {
		of[r.Status]++
		t.Logf("%s %s: %s %s", r.CheckID, r.Database, r.Status, r.Reason)
		if r.Status == snapshot.StatusNotAssessed && r.Reason == "" {
			t.Errorf("%s was not assessed, and nobody says why", r.CheckID)
		}
	}
	if len(a.Results) < len(inspector.checks(catalogue.ScopeInstance)) {
		t.Errorf("%d results", len(a.Results))
	}
	t.Logf("in all: %v", of)
}
