package replication_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/replication"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

var organization = uuid.UUID{1}

// server is an instance by a small number.
func server(n byte) uuid.UUID { return uuid.UUID{15: n} }

func minutes(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

func works() replication.Trouble { return replication.Trouble{Condition: replication.Works} }

// primary is a server of system "7", followed by standbys that have these names.
func primary(n byte, at int, followers ...string) replication.State {
	s := replication.State{Instance: server(n), At: minutes(at), Role: replication.Primary, Systems: []string{"7"}, Timeline: 1, Port: 5432, Trouble: works()}
	for _, name := range followers {
		lag, behind := float64(len(name)), int64(len(name)*1000)
		s.Peers = append(s.Peers, replication.Peer{
			Kind: replication.Physical, Name: name, Member: "physical  " + name, Host: "10.0.0.1", State: "streaming", LagSeconds: &lag, LagBytes: &behind, Trouble: works(),
		})
	}
	return s
}

// standby is a server of system "7" that has a name, and follows a server on a port.
func standby(n byte, at int, name string, port int) replication.State {
	lag := 3.5
	return replication.State{
		Instance: server(n), At: minutes(at), Role: replication.Standby, Systems: []string{"7"}, Timeline: 1, Port: 5432, State: "streaming", Trouble: works(),
		Members: []string{"physical  " + name}, LagSeconds: &lag, Upstream: &replication.Upstream{Kind: replication.Physical, Host: "db01", Port: port},
	}
}

func record(t *testing.T, db *sqlx.DB, states ...replication.State) {
	t.Helper()
	if _, err := replication.Record(t.Context(), db, organization, noon.Add(24*time.Hour), states); err != nil {
		t.Fatal(err)
	}
}

func related(t *testing.T, db *sqlx.DB, of uuid.UUID, scope fleet.Scope) map[byte]replication.Kept {
	t.Helper()
	all, err := replication.Related(t.Context(), db, organization, scope, of)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[byte]replication.Kept)
	for _, k := range all {
		found[k.Instance[15]] = k
	}
	return found
}

func changes(t *testing.T, db *sqlx.DB) (all []string) {
	t.Helper()
	found, err := replication.RoleChanges(t.Context(), db, organization, fleet.Scope{}, noon.Add(-time.Hour), noon.Add(48*time.Hour), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		all = append(all, fmt.Sprintf("%d %s: %s to %s, timeline %d", c.Instance[15], c.At.UTC().Format("15:04"), c.Was, c.Role, c.Timeline))
	}
	return all
}

// TestConditionsKeepTheTimeOfTheirBeginning: since when something is paused, broken or gone is when that was
// seen first.
func TestConditionsKeepTheTimeOfTheirBeginning(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	paused := func(at int) replication.State {
		s := standby(2, at, "two", 5432)
		s.Condition, s.Why = replication.Paused, "replay is paused"
		return s
	}
	record(t, db, standby(2, 0, "two", 5432))
	if k := related(t, db, server(2), fleet.Scope{})[2]; k.Since != nil || k.RoleSince != nil || k.Condition != replication.Works {
		t.Errorf("%+v", k)
	}
	record(t, db, paused(1), paused(2))
	record(t, db, paused(3))
	if k := related(t, db, server(2), fleet.Scope{})[2]; k.Since == nil || !k.Since.Equal(minutes(1)) || k.Why != "replay is paused" {
		t.Errorf("%+v", k)
	}
	record(t, db, standby(2, 4, "two", 5432), paused(5))
	if k := related(t, db, server(2), fleet.Scope{})[2]; !k.Since.Equal(minutes(5)) {
		t.Errorf("it was resumed in between: %v", k.Since)
	}
	record(t, db, standby(2, 2, "two", 5432)) // late
	if k := related(t, db, server(2), fleet.Scope{})[2]; !k.At.Equal(minutes(5)) {
		t.Errorf("the newest is of %v", k.At)
	}
	// A slot: the server says since when, or nobody does.
	slotted := func(at int, since *time.Time) replication.State {
		s := primary(1, at)
		s.Slots = []replication.Slot{{Name: "reporting", Kind: replication.Physical, Trouble: replication.Trouble{Condition: replication.Inactive, Since: since}}}
		return s
	}
	told := minutes(-90)
	record(t, db, slotted(0, nil), slotted(1, nil))
	if k := related(t, db, server(1), fleet.Scope{})[1]; !k.Slots[0].Since.Equal(minutes(0)) {
		t.Errorf("%v", k.Slots[0].Since)
	}
	record(t, db, slotted(2, &told))
	if k := related(t, db, server(1), fleet.Scope{})[1]; !k.Slots[0].Since.Equal(told) {
		t.Errorf("%v", k.Slots[0].Since)
	}
}

// TestAMissingStandby is named for seven days, and no longer once it is back from another address. A base
// backup and the copy of a table are not missed.
func TestAMissingStandby(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	record(t, db, primary(1, 0, "one", "two", "pg_16392_sync_16385_7713532235877753087", "pg_basebackup"))
	record(t, db, primary(1, 1, "two"))
	peers := func() (all []string) {
		for _, p := range related(t, db, server(1), fleet.Scope{})[1].Peers {
			one := p.Name + " " + string(p.Condition)
			if p.Since != nil {
				one += " " + p.Since.UTC().Format("15:04")
			}
			if p.Condition == replication.Gone && (p.LagSeconds != nil || p.LagBytes != nil) {
				t.Errorf("nobody knows how far it is: %+v", p)
			}
			all = append(all, one)
		}
		slices.Sort(all)
		return all
	}
	if got := peers(); !slices.Equal(got, []string{"one gone 12:00", "two works"}) {
		t.Errorf("%q", got)
	}
	record(t, db, primary(1, 2, "two"), primary(1, 3, "two"))
	if got := peers(); !slices.Equal(got, []string{"one gone 12:00", "two works"}) {
		t.Errorf("%q", got)
	}
	denied := primary(1, 4)
	denied.Denied = "GRANT pg_monitor TO watcher;"
	record(t, db, denied)
	if got := peers(); len(got) != 0 {
		t.Errorf("who may not see them misses nobody: %q", got)
	}
	record(t, db, primary(1, 5, "one"), primary(1, 6))
	moved := primary(1, 7, "one")
	moved.Peers[0].Host = "10.0.0.9"
	record(t, db, moved)
	if got := peers(); !slices.Equal(got, []string{"one works"}) {
		t.Errorf("%q", got)
	}
	record(t, db, primary(1, 8))
	if _, err := replication.Record(t.Context(), db, organization, noon.Add(8*24*time.Hour), []replication.State{primary(1, 8*24*60)}); err != nil {
		t.Fatal(err)
	}
	if got := peers(); len(got) != 0 {
		t.Errorf("after a week: %q", got)
	}
}

// TestARoleThatChangesIsAnEvent: a failover, and not a server that was registered in the place of another one.
func TestARoleThatChangesIsAnEvent(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	promoted := primary(2, 3)
	promoted.Timeline = 2
	record(t, db, primary(1, 0, "two"), standby(2, 0, "two", 5432), primary(1, 1, "two"), standby(2, 1, "two", 5432), promoted)
	record(t, db, promoted)
	rejoined := standby(1, 4, "one", 5432)
	rejoined.Timeline = 2
	record(t, db, rejoined)
	if got, want := changes(t, db), []string{"1 12:04: primary to standby, timeline 2", "2 12:03: standby to primary, timeline 2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if k := related(t, db, server(2), fleet.Scope{}); len(k) != 2 || k[2].RoleSince == nil || !k[2].RoleSince.Equal(minutes(3)) {
		t.Errorf("%+v", k)
	}
	other := standby(2, 5, "two", 5432)
	other.Systems = []string{"8"}
	record(t, db, other)
	if got := changes(t, db); len(got) != 2 {
		t.Errorf("another server answers, and that is no failover: %q", got)
	}
	for _, scope := range []fleet.Scope{{Filtered: true}, {Filtered: true, Instances: []uuid.UUID{server(3)}}} {
		if found, err := replication.RoleChanges(t.Context(), db, organization, scope, noon.Add(-time.Hour), noon.Add(time.Hour), 10); err != nil || len(found) != 0 {
			t.Errorf("%v, %+v", err, found)
		}
	}
	if found, err := replication.RoleChanges(t.Context(), db, uuid.UUID{2}, fleet.Scope{}, noon.Add(-time.Hour), noon.Add(time.Hour), 10); err != nil || len(found) != 0 {
		t.Errorf("of another organization: %v, %+v", err, found)
	}
	if err := replication.Forget(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	db.MustExec(`UPDATE replication_roles SET at = now() - interval '401 days' WHERE instance_id = $1`, server(1))
	if err := replication.Forget(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if got := changes(t, db); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestAPrimaryThatTakesOverBehindAnAddress is an event, as a failover is: a proxy leads to whoever is primary. A later look
// at the same one, a start without a failover and another system are none.
func TestAPrimaryThatTakesOverBehindAnAddress(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	on := func(at int, timeline int64, system string) replication.State {
		s := primary(1, at, "two")
		s.Timeline, s.Systems = timeline, []string{system}
		return s
	}
	record(t, db, on(0, 1, "7"), on(1, 1, "7"), on(2, 2, "7"), on(3, 2, "7"), on(4, 5, "8"))
	if got, want := changes(t, db), []string{"1 12:02: primary to primary, timeline 2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if k := related(t, db, server(1), fleet.Scope{})[1]; k.RoleSince == nil || !k.RoleSince.Equal(minutes(2)) {
		t.Errorf("%v", k.RoleSince)
	}
}

// TestARoleThatIsNoLongerReportedStays: an account that loses its grant is no failover.
func TestARoleThatIsNoLongerReportedStays(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	denied := replication.State{Instance: server(1), At: minutes(1), Role: replication.Alone, Denied: "GRANT", Trouble: works()}
	record(t, db, primary(1, 0))
	record(t, db, denied)
	if got := related(t, db, server(1), fleet.Scope{})[1]; got.Role != replication.Primary || len(got.Systems) != 1 {
		t.Errorf("without the grant: %s of %v", got.Role, got.Systems)
	}
	record(t, db, primary(1, 2))
	if got := changes(t, db); len(got) > 0 {
		t.Errorf("changes: %v", got)
	}
}

// TestNamesOfServersAreCleanAndShort, and there are at most so many.
func TestNamesOfServersAreCleanAndShort(t *testing.T) {
	t.Parallel()
	s := primary(1, 0)
	for n := range replication.MaxPeers + 20 {
		s.Peers = append(s.Peers, replication.Peer{Name: fmt.Sprintf("evil\u202e\x00%d%s", n, strings.Repeat("x", 500)), Kind: "other", Trouble: replication.Trouble{Condition: "odd", Why: "\x1b[31m"}})
	}
	fit := s.Fit()
	if len(fit.Peers) != replication.MaxPeers || fit.Omitted != 20 {
		t.Errorf("%d peers, %d omitted", len(fit.Peers), fit.Omitted)
	}
	p := fit.Peers[0]
	if len([]rune(p.Name)) > 200 || strings.ContainsAny(p.Name, "\u202e\x00") || p.Kind != replication.Physical || p.Condition != replication.Works || strings.Contains(p.Why, "\x1b") {
		t.Errorf("%q %s %+v", p.Name, p.Kind, p.Trouble)
	}
	if odd := (replication.State{Role: "boss"}).Fit(); odd.Role != "" {
		t.Errorf("%q", odd.Role)
	}
}
