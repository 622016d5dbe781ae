package sqlserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements/blocking"
	"muster/internal/servers/tdstest"
)

// waits is a request of a session that waits for another one, since so many milliseconds.
func waits(session, blocker, ms int, resource string) row {
	return row{session, "2026-11-20T11:00:00.123", "bill", "shop", "web01", 5, "running", 1, true, blocker, "LCK_M_X", ms, resource,
		"00000000000000A1", "UPDATE orders SET status = 'secret' WHERE id = 1", nil}
}

// holds is a session that others wait for and that has had no request since so many milliseconds.
func holds(session, transactions, ms int) row {
	return row{session, "2026-11-20T10:00:00.007", "bill", "billing", "web02", 5, "sleeping", transactions, true, 0, nil, nil, nil, nil, nil, ms}
}

// TestBlockedSessionsAndTheirBlockers are read from the rows that the documentation describes.
func TestBlockedSessionsAndTheirBlockers(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	m := f.measure(t)
	if b := m.well(); measuretest.Edges(b.Blocking) != "" || len(b.Blocking) != 2 {
		t.Errorf("nobody waits: %+v", b.Blocking)
	}
	f.sessions = []row{{5, "waiting", "LCK_M_X", 2}}
	for name, test := range map[string]struct {
		rows []row
		want string
	}{
		"behind one that is idle in its transaction": {[]row{holds(51, 1, 240_000), waits(52, 51, 9000, "KEY: 5:72 (de42f79bc795)"), waits(53, 52, 4000, "KEY: 5:72 (de42f79bc795)")}, "51 52<-51 53<-52"},
		"too short":                         {[]row{holds(51, 1, 9), waits(52, 51, 1000, "OBJECT: 5:2:0")}, ""},
		"a lock of sp_getapplock":           {[]row{holds(51, 1, 9), waits(52, 51, 3000, "APPLICATION: 5:0:[nightly]:(a1)")}, "advisory 51 advisory 52<-51"},
		"its own tasks":                     {[]row{waits(52, 52, 9000, "OBJECT: 5:2:0")}, ""},
		"an exchange of a parallel request": {[]row{holds(51, 1, 9), waits(52, 51, 9000, "PAGE: 5:1:99"), slices.Replace(waits(52, 52, 8000, ""), 10, 11, any("CXPACKET"))}, "51 52<-51"},
		// With snapshots, readers wait for nobody. Two that change one row wait as without; the second ends with error 3960.
		"a writer with snapshots":            {[]row{holds(51, 1, 9), waits(52, 51, 9000, "KEY: 5:72 (de42f79bc795)")}, "51 52<-51"},
		"a reader with an open snapshot":     {[]row{holds(51, 1, 9), waits(52, 51, 9000, "KEY: 5:72 (de42f79bc795)"), holds(54, 1, 600_000)}, "51 52<-51"},
		"an orphan of a distributed one":     {[]row{waits(52, -2, 9000, "OBJECT: 5:2:0")}, "-2 52<--2"},
		"a deferred recovery":                {[]row{waits(52, -3, 9000, "OBJECT: 5:2:0")}, "-3 52<--3"},
		"latches that nobody knows":          {[]row{waits(52, -4, 9000, "OBJECT: 5:2:0"), waits(53, -5, 8000, "OBJECT: 5:2:0")}, "-4 -5 52<--4 53<--5"},
		"another id below zero":              {[]row{waits(52, -9, 9000, "OBJECT: 5:2:0")}, ""},
		"a request of several":               {[]row{holds(51, 1, 9), {52, "2026-11-20T11:00:00", "bill", "shop", "web01", 5, "running", 1, true, 0, nil, 0, nil, nil, nil, nil}, waits(52, 51, 5000, "OBJECT: 5:2:0")}, "51 52<-51"},
		"a circle, before it is detected":    {[]row{waits(51, 52, 4000, "OBJECT: 5:2:0"), waits(52, 51, 3000, "OBJECT: 5:3:0")}, "51<-52 52<-51 deadlock 51<-52 deadlock 52<-51"},
		"who holds it up ended meanwhile":    {[]row{waits(52, 51, 9000, "OBJECT: 5:2:0")}, ""},
		"a process of the server that waits": {[]row{holds(51, 1, 9), slices.Concat(waits(20, 51, 9000, "OBJECT: 5:2:0")[:8], row{false}, waits(20, 51, 9000, "OBJECT: 5:2:0")[9:])}, ""},
	} {
		f.blocking = test.rows
		b := m.well()
		if got := measuretest.Edges(b.Blocking); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	f.sessions, f.blocking = nil, nil
	asked := func() (n int) {
		for _, q := range m.Queries() {
			if strings.HasPrefix(q.Text, tdstest.FirstLine(query("blocking"))) {
				n++
			}
		}
		return n
	}
	before := asked()
	m.well()
	m.well()
	if asked() != before || before == 0 {
		t.Errorf("asked %d times while nobody waits, of %d", asked()-before, before)
	}
}

// TestTenThousandSessionsWait for one: it is named, those that have waited longest are kept, and the others are counted.
func TestTenThousandSessionsWait(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.sessions = []row{{5, "waiting", "LCK_M_X", 9999}}
	f.blocking = []row{holds(51, 1, 240_000)}
	for n := range 999 {
		f.blocking = append(f.blocking, waits(100+n, 51, 2_000_000-n, "OBJECT: 5:2:0"))
	}
	f.unread = 9000
	m := f.measure(t)
	locks := m.well().Blocking[0]
	if held := blocking.Holding(locks.Nodes); held.Root.Session != "51" || len(locks.Nodes) != blocking.MaxNodes || blocking.Waiting(locks.Nodes)+locks.Omitted != 9999 {
		t.Errorf("%s holds up %d, of %d nodes, and %d are omitted", held.Root.Session, held.Behind, len(locks.Nodes), locks.Omitted)
	}
}

// TestDetailsOfASession: its times by our clock, the resource it waits for, and its statement only where texts
// are kept, without its literals.
func TestDetailsOfASession(t *testing.T) {
	t.Parallel()
	for _, texts := range []bool{false, true} {
		f := newFake(t)
		f.sessions = []row{{5, "waiting", "LCK_M_X", 1}}
		f.blocking = []row{holds(51, 1, 240_000), waits(52, 51, 9000, "KEY: 5:72 (de42f79bc795)")}
		m := f.measure(t)
		m.Texts = texts
		at := m.clock.Now()
		locks := m.well().Blocking[0]
		root, one := locks.Nodes[0], locks.Nodes[1]
		if !root.Idle || root.Kind != blocking.Client || root.Application != "billing" || root.Database != "app" || root.Client != "web02" || root.State != "sleeping" ||
			at.Sub(*root.Changed).Minutes() != 4 || fmt.Sprint(root.Began) != "2026-11-20 10:00:00.007 +0000 UTC" {
			t.Errorf("the root: %+v", root)
		}
		if at.Sub(*one.Waits).Seconds() != 9 || one.Mode != "X" || one.Object != "KEY: 5:72 (de42f79bc795)" || one.StatementID != "00000000000000A1" || one.User != "bill" {
			t.Errorf("who waits: %+v", one)
		}
		if want := map[bool]string{true: "UPDATE orders SET status = ? WHERE id = ?"}[texts]; one.Statement != want && texts {
			t.Errorf("texts %t: %q, want %q", texts, one.Statement, want)
		}
		asked := ""
		for _, q := range m.Queries() {
			if strings.HasPrefix(q.Text, tdstest.FirstLine(query("blocking"))) {
				asked = q.Text
			}
		}
		if wants := strings.Contains(asked, "WHEN 1 = 1 THEN"); wants != texts || !strings.Contains(asked, "NEXT 1000 ROWS") || strings.Contains(asked, "@application") {
			t.Errorf("texts %t: asked %s", texts, asked)
		}
	}
}

// TestWithoutThePermissionBlockingIsUnknown: neither that a session waits nor that none does.
func TestWithoutThePermissionBlockingIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.sees = false
	m := f.measure(t)
	if b := m.well(); b.Blocking != nil {
		t.Errorf("%+v", b.Blocking)
	}
	f.sees, f.sessions, f.fails["blocking"] = true, []row{{5, "waiting", "LCK_M_X", 1}}, &tdstest.NoServerState
	if b, err := m.round(); err == nil || b.Blocking != nil || len(b.Sessions) == 0 {
		t.Errorf("%v, %+v", err, b.Blocking)
	}
}

// TestTheEndOfABlockingRoot is in the sample that says that no session waits any more. The transaction of a
// session is not known.
func TestTheEndOfABlockingRoot(t *testing.T) {
	t.Parallel()
	const began = "2026-11-20T10:00:00.007"
	for name, test := range map[string]struct {
		root  int
		freed []row
		want  blocking.End
	}{
		"it has no transaction":        {51, []row{{began, 0}}, blocking.TransactionEnded},
		"it has one":                   {51, []row{{began, 1}}, ""},
		"it is gone":                   {51, nil, blocking.SessionEnded},
		"another session has its id":   {51, []row{{"2026-11-20T11:59:00", 1}}, blocking.SessionEnded},
		"a distributed transaction is": {-2, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.sessions, f.freed = []row{{5, "waiting", "LCK_M_X", 1}}, test.freed
			f.blocking = []row{holds(51, 1, 9), waits(52, test.root, 9000, "OBJECT: 5:2:0")}
			m := f.measure(t)
			m.well()
			f.sessions, f.blocking = nil, nil
			if got := m.well().Blocking; len(got) != 1 || got[0].End != test.want {
				t.Errorf("%+v, want %q", got, test.want)
			}
		})
	}
}
