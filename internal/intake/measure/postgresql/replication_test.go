package postgresql

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/measurements/replication"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// replica is a server of a chain, and a reader of it with no more than pg_monitor.
type replica struct {
	t *testing.T
	*pgtest.Server
	admin *sqlx.DB
	read  *reader
	line  *measure.Line
}

func newReplica(t *testing.T, s *pgtest.Server) *replica {
	t.Helper()
	r := &replica{t: t, Server: s, admin: pgtest.Connect(t, s.Superuser()), read: &reader{now: time.Now}}
	r.until(`SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'watcher')`)
	r.line = r.as("watcher")
	return r
}

// as is a line of a role's.
func (r *replica) as(role string) *measure.Line {
	r.t.Helper()
	target, err := new(servers.Reach).Target(fleet.PostgreSQL, r.TCPURL(role, "postgres"))
	if err != nil {
		r.t.Fatal(err)
	}
	session, err := target.Open(r.t.Context(), "postgres", time.Minute)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { session.Close(r.t.Context()) })
	return measure.NewLine(session, nil)
}

// until waits for a condition.
func (r *replica) until(query string) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var is bool
		if err := r.admin.Get(&is, query); err != nil {
			r.t.Fatal(err)
		}
		if is {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("it never was: %s", query)
		}
	}
}

func (r *replica) look() *replication.State {
	r.t.Helper()
	if _, err := r.read.Activity(r.t.Context(), r.line); err != nil {
		r.t.Fatal(err)
	}
	s, err := r.read.Replication(r.t.Context(), r.line, time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	fit := s.Fit()
	return &fit
}

func (r *replica) number(query string) (n int64) {
	r.t.Helper()
	if err := r.admin.Get(&n, query); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// chain is a primary with two standbys, one of which has a standby of its own; a subscriber, and a
// slot that nobody reads.
type chain struct{ primary, one, two, cascading, subscriber *replica }

func newChain(t *testing.T, major int) *chain {
	t.Helper()
	settings := map[string]string{"wal_level": "logical", "max_wal_senders": "10", "max_replication_slots": "10", "full_page_writes": "on"}
	options := pgtest.Options{Major: major, Settings: settings}
	first := pgtest.Cluster(t, options)
	admin := pgtest.Connect(t, first.Superuser())
	admin.MustExec(`CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher; CREATE ROLE stranger LOGIN`)
	admin.MustExec(`CREATE TABLE orders (id bigint PRIMARY KEY, note text); CREATE PUBLICATION shop FOR TABLE orders`)
	c := &chain{primary: newReplica(t, first)}
	follow := func(of *pgtest.Server, name string) *replica {
		t.Helper()
		s := pgtest.Standby(t, of, options)
		r := &replica{t: t, Server: s, admin: pgtest.Connect(t, s.Superuser())}
		_, port, err := net.SplitHostPort(of.Addr())
		if err != nil {
			t.Fatal(err)
		}
		r.admin.MustExec(fmt.Sprintf(`ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=%s user=postgres password=secret application_name=%s'`, port, name))
		r.admin.MustExec(`SELECT pg_reload_conf()`)
		r = newReplica(t, s)
		r.until(`SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming' AND conninfo LIKE '%application_name=` + name + `%')`)
		return r
	}
	c.one = follow(first, "one")
	c.two = follow(first, "two")
	c.cascading = follow(c.one.Server, "cascading")
	other := pgtest.Cluster(t, options)
	admin = pgtest.Connect(t, other.Superuser())
	admin.MustExec(`CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher`)
	admin.MustExec(`CREATE TABLE orders (id bigint PRIMARY KEY, note text)`)
	_, port, _ := net.SplitHostPort(first.Addr())
	admin.MustExec(`CREATE SUBSCRIPTION shop_copy CONNECTION 'host=127.0.0.1 port=` + port + ` user=postgres dbname=postgres' PUBLICATION shop`)
	c.subscriber = newReplica(t, other)
	c.subscriber.until(`SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel`)
	c.primary.until(`SELECT count(*) = 1 FROM pg_replication_slots`) // that of the copy is gone
	c.primary.admin.MustExec(`SELECT pg_create_physical_replication_slot('reporting', true)`)
	c.primary.until(`SELECT count(*) = 3 AND count(*) FILTER (WHERE state = 'streaming') = 3 FROM pg_stat_replication WHERE application_name !~ '^pg_'`)
	return c
}

// written writes, and waits until everybody who follows has it.
func (c *chain) settle() {
	c.primary.t.Helper()
	c.primary.admin.MustExec(`INSERT INTO orders SELECT coalesce(max(id), 0) + 1, 'x' FROM orders`)
	c.primary.admin.MustExec(`SELECT pg_switch_wal()`) // writes the commit, which is asynchronous
	c.primary.until(`SELECT coalesce(bool_and(replay_lsn = pg_current_wal_lsn()), false) FROM pg_stat_replication`)
	c.one.until(`SELECT coalesce(bool_and(replay_lsn = pg_last_wal_receive_lsn()), false) FROM pg_stat_replication`)
}

func (c *chain) all() []replication.Kept {
	var all []replication.Kept
	for i, r := range []*replica{c.primary, c.one, c.two, c.cascading, c.subscriber} {
		state := r.look()
		state.Instance = [16]byte{15: byte(i + 1)}
		all = append(all, replication.Kept{State: *state})
	}
	return all
}

// TestReplicationOfRealServers holds the figures beside the servers' own views.
func TestReplicationOfRealServers(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			c := newChain(t, major)
			c.settle()
			p := c.primary.look()
			names := func(s *replication.State) (all []string) {
				for _, p := range s.Peers {
					all = append(all, fmt.Sprint(p.Name, " ", p.Kind, " ", p.State, " ", p.Condition))
				}
				slices.Sort(all)
				return all
			}
			if got, want := names(p), []string{"one physical streaming works", "shop_copy logical streaming works", "two physical streaming works"}; !slices.Equal(got, want) {
				t.Errorf("the primary is followed by %q, want %q", got, want)
			}
			if p.Role != replication.Primary || p.Timeline != 1 || p.Denied != "" || p.LagSeconds != nil {
				t.Errorf("%+v", p)
			}
			for _, peer := range p.Peers {
				if peer.LagSeconds == nil || *peer.LagSeconds > 1 || *peer.LagBytes > 10_000 { // the server itself writes a little, now and then
					t.Errorf("nobody writes, and %s lags: %+v", peer.Name, peer)
				}
			}
			for _, slot := range p.Slots {
				want := c.primary.number(`SELECT pg_current_wal_lsn() - restart_lsn FROM pg_replication_slots WHERE slot_name = '` + slot.Name + `'`)
				if *slot.Retained != want || slot.Active != (slot.Name == "shop_copy") || (slot.Condition == replication.Inactive) == slot.Active || slot.WAL != "reserved" {
					t.Errorf("%+v, and the server says %d B", slot, want)
				}
			}
			if len(p.Slots) != 2 {
				t.Errorf("%d slots", len(p.Slots))
			}
			one, cascading := c.one.look(), c.cascading.look()
			if one.Role != replication.Standby || one.State != "streaming" || *one.LagSeconds > 1 || *one.LagBytes > 10_000 || one.Timeline != 1 || one.Systems[0] != p.Systems[0] {
				t.Errorf("%+v", one)
			}
			if got := names(one); !slices.Equal(got, []string{"cascading physical streaming works"}) {
				t.Errorf("a standby is followed by %q", got)
			}
			if up := cascading.Upstream; up == nil || up.Host != "127.0.0.1" || up.Port != one.Port {
				t.Errorf("%+v", up)
			}
			if s := c.subscriber.look(); len(s.Subscriptions) != 1 || s.Subscriptions[0].Condition != replication.Works || s.Subscriptions[0].Database != "postgres" {
				t.Errorf("%+v", s.Subscriptions)
			}
			if lines := drawn(replication.PictureOf(replication.Kept{State: *one}.Instance, nil, time.Now())); len(lines) != 0 {
				t.Errorf("%q", lines)
			}
			all := c.all()
			want := []string{"1→2 physical works", "1→3 physical works", "1→5 logical works", "2→4 physical works"}
			for _, k := range all {
				if got := drawn(replication.PictureOf(k.Instance, all, time.Now())); !slices.Equal(got, want) {
					t.Errorf("seen from %d, the picture is %q", k.Instance[15], got)
				}
			}
			text := fmt.Sprintf("%+v", all)
			if strings.Contains(text, "secret") || strings.Contains(text, "password") {
				t.Error("a password left the server")
			}
			c.idle(t)
			c.paused(t)
			c.killed(t)
			c.promoted(t)
		})
	}
}

// drawn are the lines of a picture, by the last numbers of the instances; 0 is not watched.
func drawn(p replication.Picture) (lines []string) {
	for _, e := range p.Edges {
		lines = append(lines, fmt.Sprintf("%d→%d %s %s", p.Nodes[e.From].Instance[15], p.Nodes[e.To].Instance[15], e.Kind, e.Condition))
	}
	slices.Sort(lines)
	return lines
}

// idle holds a standby of a primary on which nobody commits to a lag that does not count from the last
// commit, although something else is written from time to time.
func (c *chain) idle(t *testing.T) {
	t.Helper()
	c.settle()
	time.Sleep(1500 * time.Millisecond) // the servers' clocks decide
	c.two.look()
	c.two.admin.MustExec(`SELECT pg_wal_replay_pause()`)
	c.two.until(`SELECT pg_is_wal_replay_paused()`)
	c.primary.admin.MustExec(`SELECT pg_logical_emit_message(false, 'muster', 'no commit')`)
	c.primary.admin.MustExec(`SELECT pg_switch_wal()`)
	c.primary.until(`SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = 'two' AND flush_lsn = pg_current_wal_lsn()`)
	before := c.two.number(`SELECT (extract(epoch FROM now() - pg_last_xact_replay_timestamp()) * 1000)::bigint`)
	if s := c.two.look(); *s.LagBytes == 0 || *s.LagSeconds > 1 || before < 1500 {
		t.Errorf("it lags by %g s and %d B; the last commit was %d ms ago", *s.LagSeconds, *s.LagBytes, before)
	}
	c.two.admin.MustExec(`SELECT pg_wal_replay_resume()`)
	c.settle()
	if s := c.two.look(); *s.LagBytes == 0 && *s.LagSeconds != 0 {
		t.Errorf("it has applied everything, and lags by %g s", *s.LagSeconds)
	}
}

// paused pauses the replay of a standby. It falls behind, in seconds and in bytes, and both ends say so.
func (c *chain) paused(t *testing.T) {
	t.Helper()
	c.two.admin.MustExec(`SELECT pg_wal_replay_pause()`)
	c.two.until(`SELECT pg_is_wal_replay_paused()`)
	c.primary.look()
	before := time.Now()
	c.primary.admin.MustExec(`INSERT INTO orders SELECT id, repeat('x', 1000) FROM generate_series(10, 3000) AS id`)
	c.primary.until(`SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = 'two' AND flush_lsn = pg_current_wal_lsn()`)
	c.primary.until(`SELECT coalesce(bool_and(replay_lsn = pg_current_wal_lsn()), false) FROM pg_stat_replication WHERE application_name <> 'two'`)
	c.primary.look()
	after := time.Now()
	two := c.two.look()
	bytes := c.two.number(`SELECT pg_last_wal_receive_lsn() - pg_last_wal_replay_lsn()`)
	if two.Condition != replication.Paused || *two.LagBytes != bytes || bytes < 2_000_000 {
		t.Errorf("%+v, and the server says %d B", two, bytes)
	}
	if lag := *two.LagSeconds; lag < time.Since(after).Seconds()-1 || lag > time.Since(before).Seconds() { // all clocks are the same here
		t.Errorf("it lags by %g s, and was written to between %s and %s ago", lag, time.Since(before), time.Since(after))
	}
	time.Sleep(1200 * time.Millisecond) // the server's clock decides
	p := c.primary.look()
	peer := p.Peers[slices.IndexFunc(p.Peers, func(p replication.Peer) bool { return p.Name == "two" })]
	bytes = c.primary.number(`SELECT pg_current_wal_lsn() - replay_lsn FROM pg_stat_replication WHERE application_name = 'two'`)
	if *peer.LagBytes != bytes || *peer.LagSeconds < 1.2 {
		t.Errorf("the primary sees %g s and %d B, and the server says %d B", *peer.LagSeconds, *peer.LagBytes, bytes)
	}
	if f := p.Figures(); *f.LagBytes != bytes || *f.Retained != *p.Slots[0].Retained {
		t.Errorf("%+v", f)
	}
	c.two.admin.MustExec(`SELECT pg_wal_replay_resume()`)
	c.settle()
	if s := c.two.look(); s.Condition != replication.Works || *s.LagSeconds > 1 {
		t.Errorf("it has resumed: %+v", s)
	}
}

// killed ends the server that a standby follows: the standby says that it receives nothing, and not
// that it is up to date.
func (c *chain) killed(t *testing.T) {
	t.Helper()
	before := c.cascading.look()
	c.one.Stop(t)
	c.cascading.until(`SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)`)
	s := c.cascading.look()
	if s.Condition != replication.Broken || s.LagSeconds != nil || s.LagBytes != nil || s.State != "not streaming" || s.Upstream != nil {
		t.Errorf("%+v", s)
	}
	if before.Condition != replication.Works {
		t.Errorf("%+v", before)
	}
	c.primary.until(`SELECT NOT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = 'one')`)
	if p := c.primary.look(); len(p.Peers) != 2 {
		t.Errorf("%+v", p.Peers)
	}
}

// promoted makes a primary of a standby by hand, while the old one is still there.
func (c *chain) promoted(t *testing.T) {
	t.Helper()
	c.two.admin.MustExec(`SELECT pg_promote()`)
	s := c.two.look()
	if s.Role != replication.Primary || s.Timeline != 2 || s.Condition != replication.Works {
		t.Errorf("%+v", s)
	}
	p := c.primary.look()
	now := time.Now()
	p.Instance, s.Instance = [16]byte{15: 1}, [16]byte{15: 3}
	picture := replication.PictureOf(p.Instance, []replication.Kept{{State: *p}, {State: *s}}, now)
	for i, n := range picture.Nodes[:2] {
		if len(n.SplitFrom) != 1 || n.SplitFrom[0] != picture.Nodes[1-i].Instance {
			t.Errorf("%+v", n)
		}
	}
	if len(picture.Edges) != 1 || picture.Edges[0].Kind != replication.Logical {
		t.Errorf("%+v", picture.Edges)
	}
}

// TestReplicationWithoutRights: a role that is no member of pg_monitor sees no names. It gets no figures,
// and the grant is named.
func TestReplicationWithoutRights(t *testing.T) {
	t.Parallel()
	first := pgtest.Cluster(t, pgtest.Options{})
	admin := pgtest.Connect(t, first.Superuser())
	admin.MustExec(`CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher; CREATE ROLE stranger LOGIN`)
	standby := newReplica(t, pgtest.Standby(t, first, pgtest.Options{}))
	primary := newReplica(t, first)
	primary.until(`SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')`)
	for name, r := range map[string]*replica{"primary": primary, "standby": standby} {
		r.line, r.read = r.as("stranger"), &reader{now: time.Now}
		s := r.look()
		if s.Denied != `GRANT pg_monitor TO stranger;` || len(s.Peers) != 0 || s.Upstream != nil || s.LagSeconds != nil || s.Role == "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestAStandbyOfAnArchiveFollowsNoServer, and says so.
func TestAStandbyOfAnArchiveFollowsNoServer(t *testing.T) {
	t.Parallel()
	first := pgtest.Cluster(t, pgtest.Options{})
	pgtest.Connect(t, first.Superuser()).MustExec(`CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher`)
	server := pgtest.Standby(t, first, pgtest.Options{})
	admin := pgtest.Connect(t, server.Superuser())
	admin.MustExec(`ALTER SYSTEM SET restore_command = 'false'`)
	admin.MustExec(`ALTER SYSTEM SET primary_conninfo = ''`)
	admin.MustExec(`SELECT pg_reload_conf()`)
	r := newReplica(t, server)
	r.until(`SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)`)
	if s := r.look(); s.Role != replication.Standby || s.Condition != replication.Works || s.State != "reading the archive" || s.LagSeconds != nil {
		t.Errorf("%+v", s)
	}
	pgtest.Connect(t, first.Superuser()).MustExec(`CREATE ROLE stranger LOGIN`)
	admin.MustExec(`ALTER SYSTEM RESET restore_command`)
	r.line, r.read = r.as("watcher"), &reader{now: time.Now}
	if s := r.look(); s.State != "reading the archive" {
		t.Errorf("%+v", s)
	}
}

// TestAPartThatIsWithheld takes none of the others away, and the grant is named. It is found when it is given.
func TestAPartThatIsWithheld(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			server := pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{"wal_level": "logical"}})
			admin := pgtest.Connect(t, server.Superuser())
			admin.MustExec(`CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher`)
			admin.MustExec(`SELECT pg_create_physical_replication_slot('reporting', true)`)
			admin.MustExec(`CREATE SUBSCRIPTION off CONNECTION 'dbname=postgres' PUBLICATION none WITH (connect = false)`)
			r := newReplica(t, server)
			now := time.Now()
			r.read.now = func() time.Time { return now }
			said := func() string {
				s := r.look()
				missing, _ := r.read.Missing()
				var objects []string
				for _, one := range missing {
					objects = append(objects, one.Object)
				}
				return fmt.Sprintf("%s, %d systems, %d slots, %d subscriptions; %s; %s", s.Role, len(s.Systems), len(s.Slots), len(s.Subscriptions), s.Denied, strings.Join(objects, ", "))
			}
			if got := said(); got != "primary, 1 systems, 1 slots, 1 subscriptions; ; " {
				t.Errorf("with all rights: %s", got)
			}
			admin.MustExec(`REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; REVOKE SELECT ON pg_subscription FROM PUBLIC`)
			if got, want := said(), "primary, 0 systems, 1 slots, 0 subscriptions; ; pg_control_system(), which identifies a cluster, the subscriptions in pg_subscription"; got != want {
				t.Errorf("without two of them: %s", got)
			}
			admin.MustExec(`REVOKE SELECT ON pg_replication_slots, pg_stat_replication FROM PUBLIC`)
			now = now.Add(time.Hour)
			if got, want := said(), "primary, 0 systems, 0 slots, 0 subscriptions; GRANT SELECT ON pg_stat_replication TO watcher;; "+
				"pg_control_system(), which identifies a cluster, pg_replication_slots, pg_stat_replication, the subscriptions in pg_subscription"; got != want {
				t.Errorf("without four of them: %s", got)
			}
			missing, _ := r.read.Missing()
			for _, one := range missing {
				admin.MustExec(one.Statement)
			}
			now = now.Add(searchEvery)
			if got := said(); got != "primary, 1 systems, 1 slots, 1 subscriptions; ; " {
				t.Errorf("after the grants: %s", got)
			}
		})
	}
}
