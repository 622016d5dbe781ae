package sqlserver

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

// TestStoreAndCache: the statements of each database from its own source, and of none from
// two. The steps are a minute apart, at 0, 60, 120 seconds.
func TestStoreAndCache(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	m := f.measure(t)
	f.counters["app"] = []row{inStore(1, 9, "a", 10, 100, 40, -1800, -1000), inStore(2, 9, "b", 1, 5, 5, -1800, -100)}
	f.plans = []row{
		f.inCache(5, "1", "a", 900, 9000, -900), // app's too, which counts by its query store
		f.inCache(6, "2", "c", 7, 70, -500), f.inCache(32767, "3", "d", 1, 1, -1),
	}
	if b := m.well(); len(b.Statements) != 0 {
		t.Fatalf("a first look is a basis: %+v", b.Statements)
	}

	f.counters["app"] = []row{
		inStore(1, 9, "a", 14, 130, 40, -1800, -1000), // its longest may have been before
		inStore(2, 9, "b", 3, 65, 50, -1800, -100),    // its longest is new
		inStore(3, 9, "a", 2, 8, 6, -1800, 20),        // another plan of a, begun since
		inStore(4, 9, "e", 5, 50, 9, -1800, -30),      // begun before, though it was not there: a basis
	}
	f.plans = []row{
		f.inCache(6, "2", "c", 8, 75, -500),
		f.inCache(6, "4", "c", 2, 20, 30),               // compiled since
		f.inCache(6, "5", "f", 1, 3_000_000, -3000, 50), // executed once, for fifty minutes, which ended since
		f.inCache(6, "6", "9", 4, 40, -20),              // compiled before, though it was not there
		f.inCache(6, "7", "8", 1, 1, -20, -10),          // ended before, though it was not there
		f.inCache(32767, "3", "d", 50, 500, -1),         // the server's own procedures
	}
	b := m.well()
	if got := m.did(b, "app"); got != "a 6 38 max 6, b 2 60 max 50" {
		t.Errorf("app: %s", got)
	}
	if got := m.did(b, "crm"); got != "c 3 25, f 1 3e+06" {
		t.Errorf("crm: %s", got)
	}
	if got := m.did(b, "master"); got != "" {
		t.Errorf("where nothing was executed: %q", got)
	}

	// A new interval begins (at 100 s), and the old one gets a last execution. A plan is
	// compiled anew: another entry. What was executed once is executed again.
	f.counters["app"] = []row{
		inStore(1, 9, "a", 15, 140, 40, -1800, -1000), inStore(1, 10, "a", 2, 30, 20, 100, 101),
		inStore(2, 9, "b", 3, 65, 50, -1800, -100), inStore(3, 9, "a", 2, 8, 6, -1800, 20), inStore(4, 9, "e", 6, 51, 9, -1800, -30),
	}
	f.plans = []row{
		f.inCache(6, "8", "c", 1, 4, 70, 71), f.inCache(6, "5", "f", 3, 3_000_100, -3000),
		f.inCache(6, "6", "9", 5, 41, -20), f.inCache(6, "7", "8", 1, 1, -20, -10),
	}
	b = m.well()
	if got := m.did(b, "app"); got != "a 3 40 max 20, e 1 1" {
		t.Errorf("app: %s", got)
	}
	if got := m.did(b, "crm"); got != "9 1 1, c 1 4, f 2 100" {
		t.Errorf("crm: %s", got)
	}
	if got := m.did(m.well(), "crm"); got != "" {
		t.Errorf("nothing was executed: %q", got)
	}
}

// TestPartsOfAnEntryAreAdded here, too, should the server not have done it.
func TestPartsOfAnEntryAreAdded(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	m := f.measure(t)
	m.well()
	f.counters["app"] = []row{inStore(1, 9, "a", 4, 40, 12, -1800, 10), inStore(1, 9, "a", 2, 20, 15, -1800, 30)}
	if got := m.did(m.well(), "app"); got != "a 6 60 max 15" {
		t.Errorf("got %s", got)
	}
}

// TestQueryStoresThatDoNotCount are replaced by the plan cache, for one interval nothing is
// said, and nothing is counted twice. So is the way back.
func TestQueryStoresThatDoNotCount(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fake){
		"off":                   func(f *fake) { f.databases[1] = row{5, "app", 0, 1, false} },
		"turned off just now":   func(f *fake) { f.stores["app"] = row{0, 1} },
		"read-only, or full":    func(f *fake) { f.stores["app"] = row{1, 1} },
		"broken":                func(f *fake) { f.stores["app"] = row{3, 1} },
		"takes nothing new":     func(f *fake) { f.stores["app"] = row{2, 3} },
		"a readable secondary":  func(f *fake) { f.replicas = []row{{5, 0}} },
		"locked":                func(f *fake) { f.fails["query_store app"] = &tdstest.LockTimeout },
		"its state is locked":   func(f *fake) { f.fails["query_store_state app"] = &tdstest.LockTimeout },
		"denied":                func(f *fake) { f.fails["query_store_state app"] = &tdstest.NoDatabaseState },
		"the login is shut out": func(f *fake) { f.databases[1] = row{5, "app", 0, 0, true} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.counters["app"] = []row{inStore(1, 9, "a", 10, 100, 40, -1800, -1000)}
			f.plans = []row{f.inCache(5, "1", "a", 900, 9000, -900), f.inCache(6, "2", "c", 1, 1, -900)}
			m := f.measure(t)
			m.well()
			f.counters["app"] = []row{inStore(1, 9, "a", 12, 120, 40, -1800, -1000)}
			if got := m.did(m.well(), "app"); got != "a 2 20" {
				t.Fatalf("before: %s", got)
			}

			databases, stores := f.databases[1], f.stores["app"]
			change(f)
			f.plans = []row{f.inCache(5, "1", "a", 910, 9100, -900), f.inCache(5, "3", "b", 2, 7, 100), f.inCache(6, "2", "c", 2, 3, -900)}
			b, err := m.round()
			var refusal *servers.Refusal
			if refused := errors.As(err, &refusal); refused != strings.Contains(name, "locked") || err != nil && !refused {
				t.Errorf("it says %v", err)
			}
			if app, crm := m.did(b, "app"), m.did(b, "crm"); app != "-" || crm != "c 1 2" {
				t.Errorf("at the change: app %q, crm %q", app, crm)
			}
			f.plans = []row{f.inCache(5, "1", "a", 913, 9130, -900), f.inCache(5, "3", "b", 2, 7, 100), f.inCache(6, "2", "c", 2, 3, -900)}
			b, _ = m.round()
			if got := m.did(b, "app"); got != "a 3 30" {
				t.Errorf("from the plan cache: %s", got)
			}

			f.databases[1], f.stores["app"], f.replicas, f.fails = databases, stores, nil, map[string]any{}
			f.counters["app"] = []row{inStore(1, 9, "a", 20, 200, 90, -1800, -1000)}
			if got := m.did(m.well(), "app"); got != "-" {
				t.Errorf("at the way back: %s", got)
			}
			f.counters["app"] = []row{inStore(1, 9, "a", 21, 210, 90, -1800, -1000)}
			if got := m.did(m.well(), "app"); got != "a 1 10" {
				t.Errorf("back: %s", got)
			}
		})
	}
}

// TestTheServerIsRestarted, or another one of the group is primary now.
func TestTheServerIsRestarted(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.counters["app"] = []row{inStore(1, 9, "a", 10, 100, 40, -1800, -1000)}
	f.plans = []row{f.inCache(6, "2", "c", 500, 500, -900)}
	m := f.measure(t)
	m.well()
	f.started = 2
	f.counters["app"] = []row{inStore(1, 9, "a", 12, 120, 40, -1800, -1000), inStore(2, 9, "b", 3, 30, 20, -1800, 40)}
	f.plans = []row{f.inCache(6, "3", "c", 4, 5, 30)}
	b := m.well()
	if app, crm := m.did(b, "app"), m.did(b, "crm"); app != "b 3 30 max 20" || crm != "c 4 5" {
		t.Errorf("app %q, crm %q", app, crm)
	}
}

// TestAnotherProcessContinuesFromTheKeptList of the process before it.
func TestAnotherProcessContinuesFromTheKeptList(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.counters["app"] = []row{inStore(1, 9, "a", 10, 100, 40, -1800, -1000)}
	m := f.measure(t)
	m.well()
	f.plans = []row{f.inCache(6, "2", "c", 1, 500, -900, 30)} // executed once, so far
	if got := m.did(m.well(), "crm"); got != "c 1 500" {
		t.Fatalf("before: %s", got)
	}
	m.start()
	f.counters["app"] = []row{inStore(1, 9, "a", 12, 120, 40, -1800, -1000)}
	f.plans = []row{f.inCache(6, "2", "c", 3, 510, -900)}
	b := m.well()
	if app, crm := m.did(b, "app"), m.did(b, "crm"); app != "a 2 20" || crm != "c 2 10" {
		t.Errorf("app %q, crm %q", app, crm)
	}
}

// TestTheServersClockIsOff by ten minutes: new entries are judged by it alone.
func TestTheServersClockIsOff(t *testing.T) {
	t.Parallel()
	for _, skew := range []float64{600, -600} {
		f := newFake(t)
		f.skew = time.Duration(skew) * time.Second
		m := f.measure(t)
		m.well()
		f.counters["app"] = []row{inStore(1, 9, "a", 2, 20, 15, -1800, skew+20), inStore(2, 9, "b", 2, 20, 15, -1800, skew-20)}
		f.plans = []row{f.inCache(6, "2", "c", 3, 30, skew+20), f.inCache(6, "3", "d", 3, 30, skew-20)}
		b := m.well()
		if app, crm := m.did(b, "app"), m.did(b, "crm"); app != "a 2 20 max 15" || crm != "c 3 30" || !b.Statements[0].At.Equal(began.Add(time.Minute)) {
			t.Errorf("%g s: app %q, crm %q", skew, app, crm)
		}
	}
}

// TestAQueryStoreIsCleared: its numbers begin again, and may repeat earlier ones.
func TestAQueryStoreIsCleared(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.counters["app"] = []row{inStore(1, 1, "a", 10, 100, 40, -1800, -1000)}
	m := f.measure(t)
	m.well()
	f.counters["app"] = []row{inStore(1, 1, "b", 12, 120, 40, 30, 31)}
	if got := m.did(m.well(), "app"); got != "b 12 120 max 40" {
		t.Errorf("got %s", got)
	}
}

// TestPlansOfALargeStoreAreReadOnce: all plans at the first look, and only those that came since at the next.
// What the server executes for itself counts nowhere.
func TestPlansOfALargeStoreAreReadOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.internal = "ff"
	var plans []row
	for i := range 20_000 {
		plans = append(plans, inStore(i+1, 9, fmt.Sprintf("%x", i%10_000+1000), 1, 1, 1, -1800, -100))
	}
	f.counters["app"] = plans
	m := f.measure(t)
	m.well()
	if f.named != 40_000 {
		t.Errorf("it reads %d plans and queries", f.named)
	}
	f.named = 0
	f.counters["app"] = append(plans[1:], inStore(1, 9, "3e8", 3, 21, 1, -1800, -100), inStore(20_001, 9, "aa", 4, 8, 2, -1800, 10), inStore(20_002, 9, f.internal, 4, 8, 2, -1800, 10))
	if got := m.did(m.well(), "app"); got != "3e8 2 20, aa 4 8 max 2" || f.named != 4 {
		t.Errorf("got %s, and it reads %d plans and queries", got, f.named)
	}
	f.named = 0
	if m.well(); f.named != 0 {
		t.Errorf("where none is new, it reads %d", f.named)
	}
}

// TestNumbersOfPrimaries: after a failover, what the primary did stands under another number, and so does what
// a geo-replica did. Where the store does not say, it is 1.
func TestNumbersOfPrimaries(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.version, f.replicaGroups = 16, true
	f.counters["app"] = []row{inStore(1, 9, "a", 10, 100, 40, -1800, -1000)}
	m := f.measure(t)
	if m.well(); f.groups != "replica_group_id IN (1)" {
		t.Errorf("it asks for %s", f.groups)
	}
	f.storeReplicas = []row{{1}, {4}}
	if m.well(); f.groups != "replica_group_id IN (1, 4)" {
		t.Errorf("it asks for %s", f.groups)
	}
}

// TestAThousandDatabases: query stores are read for as long as the budget lasts, and at each look the same
// ones, so that they can be compared. The others count by the plan cache.
func TestAThousandDatabases(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.databases = f.databases[:1]
	for i := range 1000 {
		name := fmt.Sprintf("db%04d", i)
		f.databases = append(f.databases, row{100 + i, name, 0, 1, true})
		f.stores[name] = row{2, 1}
		f.counters[name] = []row{inStore(1, 9, "a", 1, 1, 1, -1800, -100)}
	}
	f.fails["query_store_state"] = func() *tdstest.Error { // all of them take longer than the budget, wherever this runs
		time.Sleep(2 * time.Millisecond)
		return nil
	}
	r := newReader(time.Now)
	r.budget = 3 * time.Second // a store that takes a quarter of it is an error
	line := f.line(t)
	if _, err := r.Activity(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	read := func(list *measure.List, err error) map[uint32]bool {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		stores := map[uint32]bool{}
		for id, source := range list.Sources {
			if source == fromQueryStore {
				stores[id] = true
			}
		}
		if len(list.Sources) != 1001 || len(stores) == 0 || len(stores) == 1000 {
			t.Errorf("%d stores are read of %d", len(stores), len(list.Sources))
		}
		return stores
	}
	last := read(r.Statements(t.Context(), line))
	total := len(last)
	for range 2 {
		now := read(r.Statements(t.Context(), line))
		both := 0
		for id := range now {
			if last[id] {
				both++
			}
		}
		if both != min(len(last), len(now)) {
			t.Errorf("of %d and %d stores, it reads %d again", len(last), len(now), both)
		}
		last, total = now, total+len(now)
	}
	states := 0
	for _, q := range f.Queries() {
		if strings.Contains(q.Text, "o.actual_state") {
			states++
		}
	}
	if looks := 3; states > total+looks {
		t.Errorf("it asks %d stores for %d that it reads", states, total)
	}
}

// TestASlowQueryStoreIsLeftAlone for ten minutes, in which its database counts by the plan cache, and is named.
func TestASlowQueryStoreIsLeftAlone(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.databases = append(f.databases, row{7, "a]b'c", 0, 1, true})
	f.stores["a]b'c"] = row{2, 1}
	f.counters["app"] = []row{inStore(1, 9, "a", 1, 10, 10, -1800, 10)}
	f.fails["query_store_state a]b'c"] = tdstest.Stall
	r := newReader(time.Now)
	r.budget = 3 * time.Second // a store that takes a quarter of it is an error
	line := f.line(t)
	for look := range 3 {
		if _, err := r.Activity(t.Context(), line); err != nil {
			t.Fatal(err)
		}
		asked := 0
		before := len(f.Queries())
		list, err := r.Statements(t.Context(), line)
		var of *measure.DatabaseError
		if !errors.As(err, &of) || of.Database != "a]b'c" || list == nil || list.Sources[5] != fromQueryStore || list.Sources[7] != fromPlanCache {
			t.Fatalf("look %d: %v, %+v", look, err, list)
		}
		for _, q := range f.Queries()[before:] {
			if strings.Contains(q.Text, "[a]]b'c].sys") {
				asked++
			}
		}
		if (asked == 0) != (look == 1) {
			t.Errorf("look %d asks %d times", look, asked)
		}
		f.clock.Advance([]time.Duration{time.Minute, 10 * time.Minute, 0}[look])
	}
}

// TestF15OnlyRecentlyExecutedPlansAreRead from the plan cache: the counters of all other plans are known. All
// are read at first, every ten minutes, and whenever the known counters may be of another server or of other
// databases.
func TestF15OnlyRecentlyExecutedPlansAreRead(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	rare, often := f.inCache(6, "1", "c", 5, 50, -900), f.inCache(6, "2", "d", 7, 70, -900)
	f.plans = []row{rare, often}
	m := f.measure(t)
	m.well()
	f.old = map[string]bool{rare[1].(string): true}
	for look := range 3 {
		f.plans[1] = f.inCache(6, "2", "d", 8+look, float64(80+10*look), -900)
		if got := m.did(m.well(), "crm"); got != "d 1 10" || f.recents != look+1 {
			t.Fatalf("look %d: %s, %d looks at recent plans", look, got, f.recents)
		}
	}
	f.plans[0], f.old = f.inCache(6, "1", "c", 6, 62, -900), nil // after three looks without it
	f.plans = append(f.plans, f.inCache(6, "3", "e", 1, 9, 190, 200))
	if got := m.did(m.well(), "crm"); got != "c 1 12, e 1 9" {
		t.Errorf("a rare one: %s", got)
	}
	for look := range 14 {
		m.well()
		if look == 6 && f.recents == 11 {
			t.Error("the plan cache is not read whole any more")
		}
	}
	f.recents = 0
	for name, change := range map[string]func(){
		"the server was started":  func() { f.started++ },
		"local time has changed":  func() { f.offset += 60 },
		"there is a new database": func() { f.databases = append(f.databases, row{9, "new", 0, 1, false}) },
		"nobody looked for long":  func() { m.clock.Advance(3 * time.Minute) },
	} {
		m.well()
		known := f.recents
		change()
		if m.well(); f.recents != known {
			t.Errorf("%s, and only what was executed of late is read", name)
		}
	}
}

// TestF15APlanCacheThatIsTooLarge to be read as a whole in time counts what is executed from the second look on that
// lists it, and says why. All of it is asked for again after ten minutes.
func TestF15APlanCacheThatIsTooLarge(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.plans = []row{f.inCache(6, "1", "c", 5, 50, -900), f.inCache(6, "2", "d", 7, 70, -900)}
	f.old = map[string]bool{f.plans[0][1].(string): true}
	f.fails["all plans"] = &tdstest.Error{Number: -2, Text: "as the driver says it"}
	m := f.measure(t)
	_, err := m.round()
	if servers.ReasonOf(err) != servers.TimedOut {
		t.Errorf("at first: %v", err)
	}
	f.plans[1] = f.inCache(6, "2", "d", 9, 95, -900)
	b, err := m.round()
	if got := m.did(b, "crm"); got != "d 2 25" || servers.ReasonOf(err) != servers.TimedOut {
		t.Errorf("later: %s, %v", got, err)
	}
	f.plans[0], f.plans[1], f.old = f.inCache(6, "1", "c", 6, 60, -900), f.inCache(6, "2", "d", 10, 100, -900), nil
	if b, _ = m.round(); m.did(b, "crm") != "d 1 5" {
		t.Errorf("one that was never seen counts as new: %s", m.did(b, "crm"))
	}
	delete(f.fails, "all plans")
	m.clock.Advance(10 * time.Minute)
	m.well()
}

// TestADatabaseIsBeingRestored: the plans of all others count without what was executed ad hoc, which has no
// database then, and it is said why.
func TestADatabaseIsBeingRestored(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.plans = []row{f.inCache(6, "1", "c", 1, 1, -900)}
	m := f.measure(t)
	m.well()
	refused := false
	f.fails["plan_cache"] = func() *tdstest.Error { // and then answers by the databases of texts
		if refused = !refused; refused {
			return &tdstest.Restoring
		}
		return nil
	}
	f.procedures = []row{f.inCache(6, "2", "d", 1, 1, -900)}
	for look, want := range []string{"-", "d 2 4"} {
		b, err := m.round()
		var refusal *servers.Refusal
		if got := m.did(b, "crm"); got != want || !errors.As(err, &refusal) || refusal.Code != "error 927" {
			t.Errorf("look %d: %s, %v", look, got, err)
		}
		f.procedures = []row{f.inCache(6, "2", "d", 3, 5, -900)}
	}
	f.fails = map[string]any{}
	m.well()
	f.plans = []row{f.inCache(6, "1", "c", 2, 8, -900)}
	if got := m.did(m.well(), "crm"); got != "c 1 7" {
		t.Errorf("later: %s", got)
	}
}

// TestStatementsOfMusterCountNowhere: on a quiet server they would be the slowest.
func TestStatementsOfMusterCountNowhere(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.own = []row{{"00000000000000ee"}}
	m := f.measure(t)
	m.well()
	f.counters["app"] = []row{inStore(1, 9, "a", 1, 2, 2, -1800, 10), inStore(2, 9, "ee", 1, 4000, 4000, -1800, 10)}
	f.plans = []row{f.inCache(6, "1", "ee", 1, 5000, 10)}
	b := m.well()
	if app, crm := m.did(b, "app"), m.did(b, "crm"); app != "a 1 2 max 2" || crm != "" {
		t.Errorf("app %s, crm %s", app, crm)
	}
}

// holdStores gives the server some databases, db0 first, with a query store of one statement each.
func (f *fake) holdStores(n int) (names []string) {
	f.databases = f.databases[:1]
	for id := range n {
		name := fmt.Sprintf("db%d", id)
		names = append(names, name)
		f.databases, f.stores[name] = append(f.databases, row{10 + id, name, 0, 1, true}), row{2, 1}
		f.counters[name] = []row{inStore(1, 9, "a", 1, 10, 10, -1800, 10)}
	}
	return names
}

// listed has a reader list the statements, by the scene's clock. Their texts can be asked for then, for a second.
func (f *fake) listed(t *testing.T) (*reader, *measure.Line, []measure.Ref) {
	t.Helper()
	r := newReader(f.clock.Now)
	r.budget = 2 * measure.StatementTimeout
	line := f.line(t)
	if _, err := r.Activity(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	list, err := r.Statements(t.Context(), line)
	if err != nil {
		t.Fatal(err)
	}
	var of []measure.Ref
	for _, e := range list.Entries {
		of = append(of, measure.Ref{Database: e.Database, Statement: e.Statement})
	}
	r.now, r.budget, r.left = time.Now, time.Second, 800*time.Millisecond
	return r, line, of
}

// TestF9TextsHaveABudget: all texts of query stores together take no longer than the counters do, so that the sessions
// are read in time. What that leaves out is asked for later.
func TestF9TextsHaveABudget(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for _, name := range f.holdStores(5) {
		f.fails["query_store_texts "+name] = tdstest.Stall
	}
	f.texts = []row{{"000000000000000a", "SELECT 1"}}
	r, line, of := f.listed(t)
	_, err := r.Texts(t.Context(), line, of) // the first takes all the time there is
	left, inPart := errors.AsType[*measure.TextsLeftError](err)
	if !inPart || len(of) != 5 || len(left.Of) < 3 {
		t.Fatalf("of %d, %v", len(of), err)
	}
	clear(f.fails)
	if texts, err := r.Texts(t.Context(), line, left.Of); err != nil || len(texts) != len(left.Of) {
		t.Errorf("%d of %d later, %v", len(texts), len(left.Of), err)
	}
}

// TestAQueryStoreThatHadLittleTimeLeft for its texts is asked for them later, too.
func TestAQueryStoreThatHadLittleTimeLeft(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.holdStores(2)
	f.fails["query_store_texts db0"] = func() *tdstest.Error {
		f.clock.Advance(1700 * time.Millisecond)
		return nil
	}
	f.fails["query_store_texts db1"] = tdstest.Stall
	r, line, of := f.listed(t)
	r.now, r.budget, r.left = f.clock.Now, 2*time.Second, 1600*time.Millisecond
	_, err := r.Texts(t.Context(), line, of)
	left, inPart := errors.AsType[*measure.TextsLeftError](err)
	if !inPart || len(of) != 2 || len(left.Of) != 1 || left.Of[0].Database != 11 {
		t.Errorf("of %v, %+v, %v", of, left, err)
	}
}

// TestTextsOfEveryQueryStoreAreRead in turn, however many stores there are and however little time there is.
func TestTextsOfEveryQueryStoreAreRead(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var mu sync.Mutex
	asked := map[string]bool{}
	names := f.holdStores(12)
	for _, name := range names {
		f.fails["query_store_texts "+name] = func() *tdstest.Error {
			mu.Lock()
			defer mu.Unlock()
			asked[name] = true
			time.Sleep(40 * time.Millisecond)
			return nil
		}
	}
	r, line, of := f.listed(t)
	r.budget, r.left = 100*time.Millisecond, 80*time.Millisecond
	for range names { // one in each round at least
		if _, err := r.Texts(t.Context(), line, of); err == nil {
			t.Fatal("there was time for all: the test shows nothing")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(of) != len(names) || len(asked) != len(names) {
		t.Errorf("of %d databases, %d were asked in as many rounds", len(of), len(asked))
	}
}

// TestLocalTimeChanges on the server: nothing is counted that was before, nor twice.
func TestLocalTimeChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after int }{
		"summer time ends":   {120, 60},
		"summer time begins": {60, 120},
		"half an hour":       {660, 630}, // Lord Howe Island
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.offset = test.before
			// Created before the change, and written down in the local time of then.
			old := f.inCache(6, "2", "c", 100, 1000, -600)
			skipped := f.inCache(6, "3", "d", 500, 5000, -float64(test.before-test.after)*60+90) // read as of now, it is begun within the next interval
			f.plans = []row{old}
			m := f.measure(t)
			m.well()

			f.offset = test.after
			again := func(r row, calls, ms int) row {
				r = append(row{}, r...)
				r[3], r[4] = calls, ms*1000
				return r
			}
			f.plans = []row{again(old, 103, 1030), skipped, f.inCache(6, "4", "e", 6, 60, 70)}
			if got := m.did(m.well(), "crm"); got != "c 3 30" {
				t.Errorf("at the change: %s", got)
			}
			f.plans = []row{again(old, 104, 1040), again(skipped, 501, 5010), again(f.plans[2], 8, 80), f.inCache(6, "5", "e", 1, 1, 110)}
			if got := m.did(m.well(), "crm"); got != "c 1 10, d 1 10, e 2 20" {
				t.Errorf("after it: %s", got)
			}
			// Two hours later new entries are reported again.
			f.clock.Advance(2 * time.Hour)
			m.well()
			now := f.clock.Now().Sub(began).Seconds()
			f.plans = append(f.plans, f.inCache(6, "9", "f", 5, 50, now-30))
			if got := m.did(m.well(), "crm"); got != "f 5 50" {
				t.Errorf("hours after it: %s", got)
			}
		})
	}
}

// TestTexts come from where the counters came, and are normalized.
func TestTexts(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.databases[1] = row{5, "a]p'p @list 😀", 0, 1, true}
	f.stores["a]p'p @list 😀"] = row{2, 1}
	m := f.measure(t)
	m.Texts = true
	m.well()
	f.counters["a]p'p @list 😀"] = []row{inStore(1, 9, "a", 10, 100, 40, -1800, 10)}
	f.plans = []row{f.inCache(6, "2", "c", 8, 75, 30), f.inCache(6, "3", "d", 8, 70, 30)}
	f.texts = []row{{"000000000000000a", "SELECT name FROM users WHERE secret = 'hunter2'"}, {"00000000000000ff", "SELECT 1"}}
	f.cached = []row{
		{6, "000000000000000c", "UPDATE t SET a = 5 WHERE [b c] = N'hunter2'"},
		{6, "000000000000000d", nil}, // of an encrypted procedure
		{5, "000000000000000a", "SELECT 'another one'"},
	}
	b := m.well()
	texts := make(map[string]string)
	for _, s := range b.Statements {
		for _, st := range s.Statements {
			texts[st.Key] = st.Text
		}
	}
	for key, want := range map[string]string{
		"000000000000000a": "SELECT name FROM users WHERE secret = ?", "000000000000000c": "UPDATE t SET a = ? WHERE [b c] = ?", "000000000000000d": "",
	} {
		if got, ok := texts[key]; !ok || got != want {
			t.Errorf("%s: %q (%t), want %q", key, got, ok, want)
		}
	}
	asked := 0
	for _, q := range f.Queries() {
		if strings.Contains(q.Text, "query_sql_text") {
			asked++
			if !strings.Contains(q.Text, "[a]]p'p @list 😀].sys.query_store_query_text") || !strings.Contains(q.Text, "IN (@p2, @p3,") {
				t.Errorf("asked %s", q.Text)
			}
		}
	}
	m.well() // sent texts are not asked for again
	if asked != 1 {
		t.Errorf("the query store was asked for texts %d times", asked)
	}
}
