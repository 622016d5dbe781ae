package postgresql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
)

// whoseSessionsTheyAre is judged by the server's own view: what each session does, which statement it
// executes, and whose it is.
func (c *crowd) whoseSessionsTheyAre(t *testing.T, major int) {
	defer func(of *testing.T) { c.t = of }(c.t)
	c.t = t
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

// deadlocksAreCounted, each once, by the look after it.
func (c *crowd) deadlocksAreCounted(t *testing.T) {
	defer func(of *testing.T) { c.t = of }(c.t)
	c.t = t
	look := func() *int64 {
		t.Helper()
		a, err := c.read.Activity(t.Context(), c.line)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(a.Databases, func(d measure.Database) bool { return d.Name == "postgres" })
		return a.Databases[at].Sample.Deadlocks
	}
	c.read.deadlocks = nil
	if first := look(); first != nil {
		t.Errorf("the first look counts %d", *first)
	}
	if none := look(); none == nil || *none != 0 {
		t.Errorf("nothing happened, and %v are counted", none)
	}
	var sides [2]*pgx.Conn
	for i := range sides {
		conn, err := pgx.Connect(t.Context(), c.URL("bill", "postgres"))
		if err != nil {
			t.Fatal(err)
		}
		sides[i] = conn
	}
	does := func(side int, statement string) error {
		_, err := sides[side].Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	for i := range sides {
		if err := does(i, fmt.Sprintf(`SET deadlock_timeout = '%s'; SET application_name = 'side %d'; BEGIN; UPDATE orders SET note = 'x' WHERE id = %[2]d`, []string{"1h", "20ms"}[i], i+1)); err != nil {
			t.Fatal(err)
		}
	}
	var other sync.WaitGroup
	other.Go(func() { _ = does(0, `UPDATE orders SET note = 'x' WHERE id = 2`) })
	c.until(`SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'side 1' AND wait_event_type = 'Lock'`)
	if err := does(1, `UPDATE orders SET note = 'x' WHERE id = 1`); err == nil {
		t.Fatal("no deadlock")
	}
	for _, conn := range []*pgx.Conn{sides[1], sides[0]} {
		if conn == sides[0] {
			other.Wait()
		}
		_ = conn.Close(t.Context())
	}
	c.until(`SELECT deadlocks > 0 FROM pg_stat_database WHERE datname = 'postgres'`)
	if one := look(); one == nil || *one != 1 {
		t.Errorf("one happened, and %v are counted", one)
	}
	if none := look(); none == nil || *none != 0 {
		t.Errorf("it was counted before, and %v are", none)
	}
}

// TestACounterOfDeadlocksThatFalls was reset: what it says has happened since.
func TestACounterOfDeadlocksThatFalls(t *testing.T) {
	t.Parallel()
	r := &reader{deadlocks: map[uint32]int64{1: 10, 2: 3}}
	counters := func(of ...int64) *measure.Activity {
		a := &measure.Activity{}
		for i, n := range of {
			a.Databases = append(a.Databases, measure.Database{ID: uint32(i + 1)})
			if n >= 0 {
				a.Databases[i].Sample.Deadlocks = &n
			}
		}
		return a
	}
	for _, c := range []struct {
		counters []int64
		want     string
	}{{[]int64{2, 5, 9}, "2 2 -"}, {[]int64{2, -1, 10}, "0 - 1"}, {[]int64{2, 6, 10}, "0 - 0"}} {
		a := counters(c.counters...)
		r.countDeadlocks(a)
		var got []string
		for _, d := range a.Databases {
			if d.Sample.Deadlocks == nil {
				got = append(got, "-")
			} else {
				got = append(got, fmt.Sprint(*d.Sample.Deadlocks))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %v, want %s", c.counters, got, c.want)
		}
	}
}

// newcomer is a session that answers what is asked of a new connection.
type newcomer struct {
	servers.Session
	name string
}

func (newcomer) Each(_ context.Context, _ servers.Statement, take func([][]byte) error) error {
	return take([][]byte{[]byte("t")})
}

// TestCountersOfDeadlocksAreOfOneConnection: behind another one may be another server, whose counters
// are others.
func TestCountersOfDeadlocksAreOfOneConnection(t *testing.T) {
	t.Parallel()
	r := &reader{}
	for _, c := range []struct {
		on      string
		counter int64
		known   bool
	}{{"first", 10, false}, {"first", 12, true}, {"second", 500, false}, {"second", 501, true}} {
		if err := r.meet(t.Context(), measure.NewLine(newcomer{name: c.on}, nil)); err != nil {
			t.Fatal(err)
		}
		a := &measure.Activity{Databases: []measure.Database{{ID: 1}}}
		a.Databases[0].Sample.Deadlocks = &c.counter
		r.countDeadlocks(a)
		if got := a.Databases[0].Sample.Deadlocks; (got != nil) != c.known {
			t.Errorf("the %s server counted %d: %v deadlocks since the look before", c.on, c.counter, got)
		}
	}
}
