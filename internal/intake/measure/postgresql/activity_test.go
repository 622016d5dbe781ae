package postgresql

import (
	"cmp"
	"slices"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
)

// whoseSessionsTheyAre is judged by the server's own view: what each session does, which statement it
// executes, and whose it is.
func (c *crowd) whoseSessionsTheyAre(t *testing.T, major int) {
	defer c.over()
	c.does("holds", false, `BEGIN`, `UPDATE orders SET status = 'paid' WHERE id = 1`)
	c.does("waits", true, `UPDATE orders SET status = 'sent' WHERE id = 1`)
	c.does("waits too", true, `UPDATE orders SET status = 'gone' WHERE id = 1`)
	c.does("sleeps", false, `SELECT pg_sleep(600)`)
	c.does("idles", false, `SELECT 1`)
	a, err := c.read.Activity(t.Context(), c.line)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(a.Databases, func(d measure.Database) bool { return d.Name == "postgres" })
	got := a.Databases[at].Sample.Doing
	type seen struct{ State, Wait, Event, Statement, Application, Client, Role string }
	queryID := "NULL::text"
	if major >= 14 {
		queryID = "query_id::text || '/' || usesysid"
	}
	var judge []seen
	err = c.admin.Select(&judge, `
		SELECT CASE state WHEN 'active' THEN 'waiting' WHEN 'idle' THEN 'idle' ELSE 'idleInTransaction' END AS state, wait_event_type AS wait, wait_event AS event,
			coalesce(CASE WHEN state = 'active' THEN `+queryID+` END, '') AS statement, application_name AS application, 'local' AS client, usename AS role
		FROM pg_stat_activity WHERE usename = 'bill'`)
	if err != nil {
		t.Fatal(err)
	}
	var want []measurements.Doing
	for _, s := range judge {
		want = append(want, measurements.Doing{
			State: measurements.State(s.State), Wait: s.Wait, Event: s.Event, Statement: s.Statement, User: s.Role, Application: s.Application, Client: s.Client, Sessions: 1,
		})
	}
	order := func(a, b measurements.Doing) int { return cmp.Compare(a.Application, b.Application) }
	got = slices.DeleteFunc(slices.Clone(got), func(d measurements.Doing) bool { return d.User != "bill" })
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if difference := diff.Diff(want, got); difference != "" || len(got) != 5 {
		t.Errorf("%s", difference)
	}
}
