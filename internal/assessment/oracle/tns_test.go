package oracle

import (
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/tnstest"
)

// TestTheRealDriverAsksEveryCheck over TNS: with its rows, with the grants where a view is
// not there for us, and not at all behind a connection that is cut in the middle of rows.
func TestTheRealDriverAsksEveryCheck(t *testing.T) {
	t.Parallel()
	l := tnstest.Start(t, tnstest.Options{})
	answer := func(query string, columns int, rows ...[]string) { // by the first line behind the comment
		for line := range strings.Lines(query) {
			if !strings.HasPrefix(line, "--") {
				l.Answer(line, tnstest.Answer{Columns: columns, Rows: rows})
				return
			}
		}
	}
	answer(selfSQL, 5, []string{"3", "HRPDB", "C##WATCHER", "FALSE", "PRIMARY"})
	answer(version18SQL, 2, []string{"19.24.0.0.0", "Oracle Database 19c"})
	answer(autonomousSQL, 1, []string{""})
	answer(startedSQL, 2, []string{"3600", "EE"})
	answer(containersSQL, 4, []string{"3", "HRPDB", "READ WRITE", "4096"})
	answer(sessionsSQL, 2, []string{"2", "1"})
	answer(parametersSQL, 2, []string{"os_roles", "TRUE"})
	for query, columns := range map[string]int{
		usersSQL: 7, rolesSQL: 3, membersSQL: 3, privilegesSQL: 3, administratorsSQL: 1, seenSQL: 1, profilesSQL: 3, policiesSQL: 5, tablespacesSQL: 2,
	} {
		answer(query, columns)
	}
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range c.Of(fleet.Oracle) {
		answer(check.Inapplicable, 1)
		answer(check.Unreadable, 1)
		answer(check.Population, 1, []string{"3"})
		answer(check.Measure, 1, []string{"all is well"})
		answer(check.Query, 1+len(check.Object.Parts()))
	}
	invalid, _ := c.Check("OR-16")
	answer(invalid.Query, 3, []string{"VIEW", "APP", "Löhne 🦄"})
	links, _ := c.Check("OR-38")
	l.Answer(links.Query, tnstest.Answer{Columns: 2, Error: 942})

	inspector, err := New(func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	reach := &servers.Reach{}
	there, err := reach.Target(fleet.Oracle, l.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := inspector.Assess(t.Context(), there)
	if len(a.Results) != len(c.Of(fleet.Oracle)) {
		t.Fatalf("%d results: %s", len(a.Results), a.Error)
	}
	for _, r := range a.Results {
		switch {
		case r.CheckID == "OR-38":
			if r.Status != snapshot.StatusNotAssessed || !strings.Contains(r.Reason, `GRANT SELECT ON SYS.DBA_DB_LINKS TO "C##WATCHER";`) {
				t.Errorf("%+v", r)
			}
		case r.CheckID == "OR-16":
			if r.Status != snapshot.StatusFail || r.Violations[0].Object != "APP.Löhne 🦄" || r.Database != "HRPDB" {
				t.Errorf("%+v", r)
			}
		case r.Status == snapshot.StatusNotAssessed && r.CheckID != "OR-14": // whose update no feed need know
			t.Errorf("%s: %s", r.CheckID, r.Reason)
		}
	}

	l.Answer(links.Query, tnstest.Answer{Columns: 2, Rows: [][]string{{"leads to erp", "ERP"}}, Then: tnstest.Cut})
	a, _ = inspector.Assess(t.Context(), there)
	for _, r := range a.Results {
		lost := r.Database == "" && r.CheckID >= "OR-38" && r.Status != snapshot.StatusNotApplicable
		if lost != (r.Status == snapshot.StatusNotAssessed) && r.CheckID != "OR-14" {
			t.Errorf("behind a cut, %s is %s: %s", r.CheckID, r.Status, r.Reason)
		}
	}
}
