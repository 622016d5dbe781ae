package watch_test

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/postgresql"
	"muster/internal/measurements"
	"muster/internal/measurements/replication"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
	"muster/internal/watch"
)

// follower is a real server that the scene looks at as Muster does.
type follower struct {
	*pgtest.Server
	instance uuid.UUID
	admin    *sqlx.DB
	reader   measure.Reader
	line     *measure.Line
}

func (s *scene) follower(of *pgtest.Server, instance uuid.UUID) *follower {
	s.Helper()
	target, err := new(servers.Reach).Target(domain.PostgreSQL, of.TCPURL(pgtest.Superuser, "postgres"))
	if err != nil {
		s.Fatal(err)
	}
	session, err := target.Open(s.Context(), "postgres", time.Minute)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { session.Close(s.Context()) })
	return &follower{
		Server: of, instance: instance, admin: pgtest.Connect(s.T, of.Superuser()),
		reader: postgresql.Engine(s.clock.Now).NewReader(), line: measure.NewLine(session, nil),
	}
}

func (f *follower) until(t *testing.T, query string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var is bool
		if err := f.admin.Get(&is, query); err != nil || time.Now().After(deadline) {
			t.Fatalf("it never was: %s, %v", query, err)
		}
		if is {
			return
		}
	}
}

// minute takes in what servers tell a minute later, and judges.
func (s *scene) minute(all ...*follower) {
	s.Helper()
	s.clock.Advance(time.Minute)
	in := intakeOf(s)
	for _, f := range all {
		if _, err := f.reader.Activity(s.Context(), f.line); err != nil {
			s.Fatal(err)
		}
		state, err := f.reader.Replication(s.Context(), f.line, s.clock.Now())
		if err != nil {
			s.Fatal(err)
		}
		state.Instance, state.Engine = f.instance, domain.PostgreSQL
		if _, err := in.Record(s.Context(), measurements.Batch{Organization: s.org, Replication: []replication.State{*state}}); err != nil {
			s.Fatal(err)
		}
	}
	s.judge()
}

// trouble is what does not follow, and since when, of the servers that tell of now.
func (s *scene) trouble() string {
	s.Helper()
	all, err := replication.Related(s.Context(), s.db, s.org, domain.Scope{}, s.orders)
	s.must(err)
	var said []string
	add := func(who string, of replication.Trouble) {
		if of.Condition != replication.Works && of.Since != nil {
			said = append(said, fmt.Sprintf("%s %s since %s", who, of.Condition, of.Since.Sub(noon)))
		}
	}
	for _, k := range all {
		name := s.names[k.Instance]
		if k.At.Before(s.clock.Now().Add(-time.Minute)) {
			continue
		}
		add(name, k.Trouble)
		for _, p := range k.Peers {
			if k.Role == replication.Primary && (p.Condition == replication.Gone || p.Condition == replication.Broken) {
				add(name+": "+p.Name, p.Trouble)
			}
		}
	}
	return strings.Join(said, ", ")
}

// titles are those of the alerts, as they were raised.
func (s *scene) titles() (all []string) {
	for _, e := range s.events() {
		if e.Type == "alert.raised" {
			all = append(all, e.Title)
		}
	}
	return all
}

// TestReplicationIsWatched on real servers: a standby that is paused raises one alert for its lag and one because it does
// not follow, and both end when it is resumed, as the preview says. The primary has none for it. A promotion by hand and
// the return of the old primary are changes of roles. Who is gone is said of its primary once nobody watches it.
func TestReplicationIsWatched(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.receivers()
	options := pgtest.Options{}
	orders := s.follower(pgtest.Cluster(t, options), s.orders)
	orders.admin.MustExec(`CREATE TABLE orders (id int)`)
	// Its connection to the primary leads over another address, as through a proxy.
	billing := s.follower(pgtest.Standby(t, orders.Server, options), s.billing)
	billing.admin.MustExec(`ALTER SYSTEM SET primary_conninfo = '` + conninfo(t, relay(t, orders.Addr())) + `'`)
	billing.admin.MustExec(`SELECT pg_reload_conf()`)
	orders.until(t, `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = 'billing' AND state = 'streaming')`)
	applied := func() {
		orders.admin.MustExec(`INSERT INTO orders VALUES (1)`)
		orders.admin.MustExec(`SELECT pg_switch_wal()`)
		orders.until(t, `SELECT coalesce(bool_and(replay_lsn = pg_current_wal_lsn()), false) FROM pg_stat_replication`)
	}
	applied()
	lag := about("", 1, 0, alert.Warning)
	s.set(watch.ReplicationLag, lag)
	s.minute(orders, billing)
	s.minute(orders, billing)
	s.wantStory()
	all, err := replication.Related(t.Context(), s.db, s.org, domain.Scope{}, s.orders)
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %d servers", err, len(all))
	}
	if p := replication.PictureOf(s.orders, all, s.clock.Now()); len(p.Nodes) != 2 || len(p.Edges) != 1 || p.Nodes[p.Edges[0].To].Instance != s.billing {
		t.Errorf("the proxy is in the way of the picture: %+v", p)
	}

	billing.admin.MustExec(`SELECT pg_wal_replay_pause()`)
	billing.until(t, `SELECT pg_is_wal_replay_paused()`)
	orders.admin.MustExec(`INSERT INTO orders VALUES (2)`)
	orders.admin.MustExec(`SELECT pg_switch_wal()`)
	orders.until(t, `SELECT coalesce(bool_and(flush_lsn = pg_current_wal_lsn()), false) FROM pg_stat_replication`)
	time.Sleep(1200 * time.Millisecond) // the servers' clock decides
	s.minute(orders, billing)           // the third minute
	s.minute(orders, billing)
	raised := []string{"raised replication_lag/billing warning 3m0s", "raised replication_broken/billing critical 4m0s"}
	s.wantStory(raised...)
	s.minute(orders, billing)
	s.wantStory(raised...)
	if got := s.trouble(); got != "billing paused since 3m0s" {
		t.Errorf("two minutes later: %s", got)
	}
	if got, want := s.titles(), []string{"billing: it is", "billing: it does not follow: replay is paused"}; len(got) != 2 || !strings.HasPrefix(got[0], want[0]) ||
		!strings.HasSuffix(got[0], " behind its primary") || got[1] != want[1] {
		t.Errorf("%q", got)
	}
	billing.admin.MustExec(`SELECT pg_wal_replay_resume()`)
	applied()
	s.minute(orders, billing)
	ended := append(slices.Clone(raised), "auto_resolved replication_broken/billing 6m0s", "auto_resolved replication_lag/billing 6m0s")
	s.wantStory(ended...)
	if got := s.trouble(); got != "" {
		t.Errorf("it is resumed: %s", got)
	}
	for rule, want := range map[watch.Rule]string{watch.ReplicationLag: "billing warning 3m0s to 6m0s", watch.ReplicationBroken: "billing critical 4m0s to 6m0s"} {
		d, _ := watch.Find(string(rule))
		setting := d.Default
		if rule == watch.ReplicationLag {
			setting = lag
		}
		if got := s.foretold(s.preview(rule, setting)); !slices.Equal(got, []string{want}) {
			t.Errorf("the preview of %s says %q, want %q", rule, got, want)
		}
	}

	// Promoted by hand, while the old primary goes on: there are two. Then that one comes back as a standby.
	billing.admin.MustExec(`SELECT pg_promote()`)
	s.minute(orders, billing)
	all, err = replication.Related(t.Context(), s.db, s.org, domain.Scope{}, s.orders)
	if err != nil || len(all) != 2 || len(replication.PictureOf(s.orders, all, s.clock.Now()).Nodes[0].SplitFrom) != 1 {
		t.Errorf("%v: one of two primaries is not named: %+v", err, all)
	}
	orders.Follow(t, billing.Server, options)
	orders = s.follower(orders.Server, s.orders)
	billing.until(t, `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')`)
	s.minute(orders, billing)
	s.wantStory(ended...)
	changes, err := replication.RoleChanges(t.Context(), s.db, s.org, domain.Scope{}, noon, s.clock.Now().Add(time.Minute), 10)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, c := range changes {
		said = append(said, fmt.Sprintf("%s %s: %s to %s, timeline %d", c.At.Sub(noon), s.names[c.Instance], c.Was, c.Role, c.Timeline))
	}
	if want := []string{"8m0s orders: primary to standby, timeline 2", "7m0s billing: standby to primary, timeline 2"}; !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}

	orders.Stop(t)
	billing.until(t, `SELECT NOT EXISTS (SELECT FROM pg_stat_replication)`)
	s.minute(billing)
	s.minute(billing)
	s.minute(billing)
	s.wantStory(ended...) // orders is watched: it is down, and that is its own alert
	s.clock.Advance(25 * time.Hour)
	s.minute(billing)
	s.minute(billing)
	s.wantStory(append(ended, "raised replication_broken/billing critical 25h13m0s")...)
	if got := s.trouble(); got != "billing: standby gone since 8m0s" { // the last look that saw it
		t.Errorf("a day later: %s", got)
	}
	if got := s.titles(); got[len(got)-1] != "billing: standby standby does not follow: no longer connected" {
		t.Errorf("%q", got)
	}
	s.notified.wantEachOnce()
}

// conninfo is how a standby called billing connects to an address.
func conninfo(t *testing.T, address string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("host=%s port=%s user=%s sslmode=disable application_name=billing", host, port, pgtest.Superuser)
}

// relay listens on an address and passes connections on.
func relay(t *testing.T, to string) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = from.Close() }()
				onward, err := new(net.Dialer).Dial("tcp", to)
				if err != nil {
					return
				}
				defer func() { _ = onward.Close() }()
				go func() { _, _ = io.Copy(onward, from) }()
				_, _ = io.Copy(from, onward)
			}()
		}
	}()
	return l.Addr().String()
}
