package watch_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/intake/measure/postgresql"
	"muster/internal/intake/push"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/servers"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/watch"
	"muster/projections/fleet"
)

// measured is a real server that the scene measures as Muster does, as its server orders.
type measured struct {
	*scene
	of     *pgtest.Server
	admin  *sqlx.DB
	home   *measuretest.Home
	server *measure.Server
	intake *push.Intake
	minute int          // since noon
	sender *string      // an agent that measures the server; nil: Muster does
	silent net.Listener // new connections reach it instead of the server; nil: they do not
}

func (s *scene) measured(of *pgtest.Server) *measured {
	s.Helper()
	return s.measuredBy(of, of.TCPURL(pgtest.Superuser, "postgres"))
}

// measuredBy is measured over a connection.
func (s *scene) measuredBy(of *pgtest.Server, connection string) *measured {
	s.Helper()
	target, err := new(servers.Reach).Target(domain.PostgreSQL, connection)
	if err != nil {
		s.Fatal(err)
	}
	m := &measured{scene: s, of: of, admin: pgtest.Connect(s.T, of.Superuser()), home: &measuretest.Home{To: target}}
	m.intake = intakeOf(s)
	m.server = measure.New(measure.Config{
		Engine: postgresql.Engine(s.clock.Now), Organization: s.org, Instance: s.orders, Home: m.home, Gate: measure.NewGate(1),
		Log: slog.New(slog.DiscardHandler), Now: s.clock.Now, NoRoom: true,
		Open: func(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
			if m.silent != nil {
				to.Host, to.Port = "127.0.0.1", uint16(m.silent.Addr().(*net.TCPAddr).Port)
			}
			return to.Open(ctx, database, measure.StatementTimeout)
		},
	})
	s.Cleanup(func() { m.server.Close(s.Context()) })
	return m
}

func intakeOf(s *scene) *push.Intake {
	return &push.Intake{DB: s.db, Store: pgstore.New(s.db, slog.New(slog.DiscardHandler)), Now: s.clock.Now}
}

// pass measures a minute later, and judges.
func (m *measured) pass() {
	m.Helper()
	m.later(1)
	if err := m.round(); err != nil {
		m.Fatal(err)
	}
}

// later lets minutes go by, in which nobody measures or judges.
func (m *measured) later(minutes int) {
	m.clock.Advance(time.Duration(minutes) * time.Minute)
	m.minute += minutes
}

// round measures and judges now. Its error is that of the server.
func (m *measured) round() error {
	m.Helper()
	m.home.Batches, m.home.Signs = nil, nil
	failed := m.server.Round(m.Context())
	if m.silent == nil {
		m.server.Settle()
	}
	for i, b := range m.home.Batches {
		var signs []watch.Sign
		if i == 0 {
			signs = m.home.Signs
		}
		b.Sender = m.sender
		m.take(b, signs...)
	}
	m.must(m.watch.AgeBackups(m.Context(), fleet.NewReader(m.db)))
	m.judge()
	return failed
}

// take accepts what a source sends.
func (m *measured) take(b measurements.Batch, signs ...watch.Sign) {
	m.Helper()
	b.Organization = m.org
	_, err := m.intake.Record(m.Context(), b, signs...)
	m.must(err)
}

// session is one of a client.
type session struct {
	*pgx.Conn
	m *measured
}

func (m *measured) session() session {
	m.Helper()
	conn, err := pgx.Connect(m.Context(), m.of.Superuser())
	if err != nil {
		m.Fatal(err)
	}
	one := session{conn, m}
	m.Cleanup(one.end)
	return one
}

func (s session) do(statements ...string) {
	s.m.Helper()
	for _, statement := range statements {
		if _, err := s.Exec(s.m.Context(), statement); err != nil {
			s.m.Fatal(err)
		}
	}
}

func (s session) end() { _ = s.Close(context.Background()) }

// eventually waits until a query of the server is true.
func (m *measured) eventually(query string) {
	m.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var is bool
		if err := m.admin.Get(&is, query); err != nil || time.Now().After(deadline) {
			m.Fatalf("it never was: %s, %v", query, err)
		}
		if is {
			return
		}
	}
}

// brought is a rule that is brought about on the server, and ended.
type brought struct {
	rule    watch.Rule
	setting organization.WatchSetting
	title   string // of the alert, in part
	about   func(m *measured) (end func())
}

// inSeconds are the rules that a server can be brought to within seconds.
func inSeconds() []brought {
	return []brought{
		{watch.Connections, about("", 25, 0, alert.Warning), " % of the connections are in use (", func(m *measured) func() {
			var open []session
			for range 30 {
				open = append(open, m.session())
			}
			return func() {
				for _, one := range open {
					one.end()
				}
				m.eventually(`SELECT count(*) < 15 FROM pg_stat_activity WHERE backend_type = 'client backend'`)
			}
		}},
		{watch.Blocking, about("", 1, 0, alert.Warning), "2 sessions wait for ", func(m *measured) func() {
			root := m.session()
			root.do(`BEGIN`, `LOCK TABLE held`)
			var waiting sync.WaitGroup
			for range 2 {
				one := m.session()
				waiting.Go(func() { _, _ = one.Exec(m.Context(), `SELECT FROM held`) })
			}
			m.eventually(`SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
			return func() {
				root.do(`ROLLBACK`)
				waiting.Wait()
			}
		}},
		{watch.Deadlocks, about("", 0, 0, alert.Info), "1 deadlock in ten minutes", func(m *measured) func() {
			one, other := m.session(), m.session()
			one.do(`BEGIN`, `UPDATE rows SET n = 1 WHERE id = 1`)
			other.do(`BEGIN`, `UPDATE rows SET n = 1 WHERE id = 2`)
			var waiting sync.WaitGroup
			waiting.Go(func() { // one of the two is canceled
				_, _ = one.Exec(m.Context(), `UPDATE rows SET n = 2 WHERE id = 2`)
				one.end()
			})
			_, _ = other.Exec(m.Context(), `UPDATE rows SET n = 2 WHERE id = 1`)
			other.end()
			waiting.Wait()
			m.eventually(`SELECT sum(deadlocks) = 1 FROM pg_stat_database`)
			return func() { // it counts for ten minutes
				m.clock.Advance(10 * time.Minute)
				m.minute += 10
			}
		}},
		{watch.TemporaryFiles, about("", 1, 0, alert.Info), " MB of temporary files per minute", func(m *measured) func() {
			one := m.session()
			one.do(`SET work_mem = '64kB'`, `SELECT count(*) FROM (SELECT g FROM generate_series(1, 300000) g ORDER BY md5(g::text)) AS sorted`)
			one.end() // which tells the statistics at once
			m.eventually(`SELECT sum(temp_bytes) > 2 * 1024 * 1024 FROM pg_stat_database`)
			return func() {}
		}},
	}
}

// TestRulesAreBroughtAboutOnARealServer: each raises one alert, that ends once, and the preview of its setting says the same.
func TestRulesAreBroughtAboutOnARealServer(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.receivers()
			m := s.measured(pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{"deadlock_timeout": "100ms", "max_connections": "100"}}))
			m.admin.MustExec(`CREATE TABLE held (id int)`)
			m.admin.MustExec(`CREATE TABLE rows (id int PRIMARY KEY, n int)`)
			m.admin.MustExec(`INSERT INTO rows VALUES (1, 0), (2, 0)`)
			for _, one := range inSeconds() {
				m.set(one.rule, one.setting)
			}
			m.pass()
			m.pass()
			m.wantStory()
			var story []string
			for _, one := range inSeconds() {
				story = append(story, m.bring(one)...)
				m.wantStory(story...)
			}
			s.notified.wantEachOnce()
		})
	}
}

// bring brings a rule about for two minutes, ends it, and returns what has to have happened.
func (m *measured) bring(one brought) []string {
	m.Helper()
	end := one.about(m)
	m.pass()
	since := time.Duration(m.minute) * time.Minute
	if one.rule != watch.TemporaryFiles { // which is over in the minute after
		m.pass()
	}
	titles := m.titles()
	if last := titles[max(len(titles)-1, 0):]; len(last) != 1 || !strings.HasPrefix(last[0], "orders: ") || !strings.Contains(last[0], one.title) {
		m.Errorf("%s: the alert is called %q, want %q", one.rule, last, one.title)
	}
	end()
	m.pass()
	until := time.Duration(m.minute) * time.Minute
	m.pass()
	if got, want := m.foretold(m.preview(one.rule, one.setting)), fmt.Sprintf("orders %s %s to %s", one.setting.Severity, since, until); !slices.Equal(got, []string{want}) {
		m.Errorf("the preview of %s says %q, want %q", one.rule, got, want)
	}
	return []string{fmt.Sprintf("raised %s/orders %s %s", one.rule, one.setting.Severity, since), fmt.Sprintf("auto_resolved %s/orders %s", one.rule, until)}
}

// TestTransactionIDsOfARealServerRunOut: to 60 %, until all databases are frozen.
func TestTransactionIDsOfARealServerRunOut(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			of := pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{"autovacuum_freeze_max_age": "2000000000", "autovacuum": "off"}})
			s := newScene(t)
			s.receivers()
			young := s.measured(of)
			s.set(watch.Wraparound, about("", 50, 0, alert.Critical))
			young.pass()
			s.wantStory()
			young.server.Close(t.Context())
			of.Stop(t)
			moved := of.Age(t, 1<<31*6/10)
			of.Restart(t)
			m := s.measured(of)
			m.minute = young.minute
			if !moved { // the same, by what the ids are compared with
				m.admin.MustExec(`UPDATE pg_database SET datfrozenxid = ((4294967296 + datfrozenxid::text::bigint - 1288490188) % 4294967296)::text::xid WHERE datname = 'postgres'`)
			}
			m.admin.MustExec(`UPDATE pg_database SET datallowconn = true WHERE datname = 'template0'`)
			story := m.bring(brought{watch.Wraparound, about("", 50, 0, alert.Critical), " % of the transaction ids of database ", func(m *measured) func() {
				return func() {
					for _, name := range []string{"postgres", "template0", "template1"} {
						pgtest.Connect(t, of.URL(pgtest.Superuser, name)).MustExec(`VACUUM (FREEZE)`)
					}
				}
			}})
			m.wantStory(story...)
			s.notified.wantEachOnce()
		})
	}
}

// TestLongRulesOfMinutesOnARealServer: a transaction that nobody ends, and a session that waits for its lock, by the server's clock.
func TestLongRulesOfMinutesOnARealServer(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.receivers()
			m := s.measured(pgtest.Cluster(t, pgtest.Options{Major: major}))
			m.admin.MustExec(`CREATE TABLE held (id int)`)
			rules := []watch.Rule{watch.IdleInTransaction, watch.LockWait, watch.LongTransaction}
			setting := about("", 1, 0, alert.Warning)
			for _, rule := range rules {
				m.set(rule, setting)
			}
			m.pass()
			root, other := m.session(), m.session()
			root.do(`BEGIN`, `LOCK TABLE held`)
			var waiting sync.WaitGroup
			waiting.Go(func() { _, _ = other.Exec(m.Context(), `SELECT FROM held`) })
			m.eventually(`SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
			m.pass()
			m.wantStory()
			time.Sleep(62 * time.Second) // the server's clock decides
			m.pass()
			m.pass()
			root.do(`ROLLBACK`)
			waiting.Wait()
			m.pass()
			m.pass()
			var want []string
			for _, rule := range rules {
				want = append(want, fmt.Sprintf("auto_resolved %s/orders 5m0s", rule), fmt.Sprintf("raised %s/orders warning 3m0s", rule))
				if got := m.foretold(m.preview(rule, setting)); !slices.Equal(got, []string{"orders warning 3m0s to 5m0s"}) {
					t.Errorf("the preview of %s says %q", rule, got)
				}
			}
			slices.Sort(want)
			if got := slices.Sorted(slices.Values(m.story())); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			s.notified.wantEachOnce()
		})
	}
}
