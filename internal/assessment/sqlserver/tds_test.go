package sqlserver

import (
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/servers/tdstest"
)

// overTheWire is a stub that speaks TDS, with the answers that a written-down server has for
// its first session.
func overTheWire(t *testing.T) (*tdstest.Server, servers.Target) {
	t.Helper()
	stub := tdstest.Start(t, tdstest.Options{Databases: []string{"shop"}})
	written := newServer(t, row("shop", online, "1", "0", "0"))
	for line, answer := range written.sessions[""].Answers {
		a := tdstest.Answer{Columns: columnsOf(t, line)}
		for _, r := range answer.Rows {
			values := make([]any, len(r))
			for i, value := range r {
				if value != serverstest.Null {
					values[i] = value
				}
			}
			a.Rows = append(a.Rows, values)
		}
		stub.Answer(line, a)
	}
	reach := &servers.Reach{}
	target, err := reach.Target(fleet.SQLServer, stub.DSN("encrypt=disable"))
	if err != nil {
		t.Fatal(err)
	}
	return stub, target
}

// columnsOf names as many columns as the query of a first line has.
func columnsOf(t *testing.T, line string) []string {
	t.Helper()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	n := 1
	for _, check := range c.Of(fleet.SQLServer) {
		if line == serverstest.FirstLine(inspection.Query(check, inspection.Violations, "")) {
			n += len(check.Object.Parts())
		}
	}
	for query, columns := range map[string]int{loginsSQL: 5, membersSQL: 2, permissionsSQL: 3} {
		if line == serverstest.FirstLine(query) {
			n = columns
		}
	}
	return make([]string, n)
}

// TestTheRealDriverAsksEveryCheck over TDS: each with its rows, a denied one with its grants,
// and those after a connection that is cut in the middle of rows with the reason.
func TestTheRealDriverAsksEveryCheck(t *testing.T) {
	t.Parallel()
	stub, target := overTheWire(t)
	stub.Answer(inspection.Query(catalogue.Check{Check: snapshot.Check{ID: "MS-60"}}, inspection.Violations, ""),
		tdstest.Answer{Columns: []string{"", "", ""}, Rows: [][]any{{"no index with is_primary_key 1", "d]b'o", "🦄"}}})
	stub.Answer(inspection.Query(catalogue.Check{Check: snapshot.Check{ID: "MS-12"}}, inspection.Violations, ""),
		tdstest.Answer{Columns: []string{"", ""}, Error: &tdstest.Error{Number: 229, Class: 14, Text: "a secret"}})
	inspector, err := New(func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	a, _ := inspector.Assess(t.Context(), target)
	for _, r := range a.Results {
		switch {
		case r.CheckID == "MS-12":
			if r.Status != snapshot.StatusNotAssessed || !strings.Contains(r.Reason, "GRANT VIEW ANY DEFINITION TO [muster];") || strings.Contains(r.Reason, "secret") {
				t.Errorf("%+v", r)
			}
		case r.CheckID == "MS-60":
			if r.Status != snapshot.StatusFail || r.Violations[0].Object != "d]b'o.🦄" {
				t.Errorf("%+v", r)
			}
		case r.Status == snapshot.StatusNotAssessed:
			t.Errorf("%s: %s", r.CheckID, r.Reason)
		}
	}
	if len(a.Results) != len(inspector.checks(catalogue.ScopeInstance))+len(inspector.checks(catalogue.ScopeDatabase)) {
		t.Errorf("%d results: %s", len(a.Results), a.Error)
	}
	asked := map[string]bool{}
	for _, q := range stub.Queries() {
		asked[tdstest.FirstLine(q.Text)] = true
	}
	for _, check := range inspector.checks(catalogue.ScopeDatabase) {
		if !asked["-- Muster "+check.ID+" violations"] {
			t.Errorf("%s was not asked", check.ID)
		}
	}

	stub.Answer(inspection.Query(catalogue.Check{Check: snapshot.Check{ID: "MS-27"}}, inspection.Violations, ""),
		tdstest.Answer{Columns: []string{"", ""}, Rows: [][]any{{"GRANT on SERVER", "SHUTDOWN"}}, Then: tdstest.Cut})
	a, _ = inspector.Assess(t.Context(), target)
	for _, r := range a.Results {
		lost := r.Database == "" && r.CheckID >= "MS-27" && r.Status != snapshot.StatusNotApplicable
		if lost != (r.Status == snapshot.StatusNotAssessed) && r.CheckID != "MS-12" {
			t.Errorf("behind a cut, %s is %s: %s", r.CheckID, r.Status, r.Reason)
		}
	}
}
