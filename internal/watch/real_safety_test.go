package watch_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/agent/backuptool"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/room"
	"muster/internal/testing/pgtest"
	"muster/internal/watch"
)

// TestACertificateOfARealServerIsRenewed: the alert ends within an hour after the server was given a new certificate, although
// the connection that measures it began with the old one.
func TestACertificateOfARealServerIsRenewed(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			of := pgtest.Cluster(t, pgtest.Options{Major: major})
			of.Certify(t, noon.AddDate(0, 2, 0))
			s := newScene(t)
			s.receivers()
			m := s.measuredBy(of, strings.Replace(of.TCPURL(pgtest.Superuser, "postgres"), "sslmode=disable", "sslmode=require", 1))
			setting := about("", 14, 0, alert.Warning)
			s.set(watch.Certificate, setting)
			m.pass()
			m.pass()
			m.wantStory()
			m.wantStory(m.bring(brought{watch.Certificate, setting, "its certificate expires in 9 d ", func(m *measured) func() {
				of.Certify(t, noon.AddDate(0, 0, 10))
				m.later(58)
				m.pass() // which asks, and the next one has the answer
				return func() {
					of.Certify(t, noon.AddDate(1, 0, 0))
					m.later(58)
					m.pass() // which asks, and the next one has the answer
				}
			}})...)
			s.notified.wantEachOnce()
			m.hangsInTLS()
		})
	}
}

// hangsInTLS: new connections reach a listener that accepts and says nothing. The sessions are read meanwhile, and the last
// known certificate stays.
func (m *measured) hangsInTLS() {
	m.Helper()
	var err error
	m.silent, err = net.Listen("tcp", "127.0.0.1:0")
	m.must(err)
	defer m.silent.Close()
	gone := make(chan error, 1)
	go func() {
		conn, err := m.silent.Accept()
		if err == nil {
			defer conn.Close()
			_, err = io.Copy(io.Discard, conn) // until Muster hangs up
		}
		gone <- err
	}()
	m.later(61)
	m.must(m.round())
	select {
	case err := <-gone:
		m.Errorf("the sessions have waited for the certificate: %v", err)
		gone <- err
	default:
	}
	if len(m.home.Batches) == 0 || len(m.home.Batches[0].Sessions) == 0 ||
		!slices.ContainsFunc(m.home.Signs, func(sign watch.Sign) bool { return sign.Rule == watch.Certificate && sign.Value > 300 }) {
		m.Errorf("beside a server that hangs: %+v, %+v", m.home.Batches, m.home.Signs)
	}
	m.server.Close(m.Context())
	m.must(<-gone)
}

// TestAvailabilityOfARealServer: it is stopped and started, its sessions may not be read for two minutes, and the agent that
// measures it falls silent. Each raises one alert, that ends once and is delivered once, as the preview says.
func TestAvailabilityOfARealServer(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.receivers()
			of := pgtest.Cluster(t, pgtest.Options{Major: major})
			pgtest.Connect(t, of.Superuser()).MustExec(`CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher`)
			m := s.measuredBy(of, of.TCPURL("watcher", "postgres"))
			m.pass()
			m.pass()
			m.wantStory()

			of.Stop(t)
			m.fails(2)
			of.Restart(t)
			m.clock.Advance(10 * time.Second)
			m.must(m.round())
			m.pass()
			m.pass()
			m.once(watch.Down, about("", 0, 10, alert.Critical), "orders is down: ")

			s.set(watch.NotMeasured, about("", 1, 0, alert.Warning))
			m.admin.MustExec(`REVOKE SELECT ON pg_stat_activity FROM PUBLIC`)
			m.fails(3)
			m.admin.MustExec(`GRANT SELECT ON pg_stat_activity TO PUBLIC`)
			m.pass()
			m.pass()
			m.once(watch.NotMeasured, about("", 1, 0, alert.Warning), "orders: sessions cannot be measured: 42501")
			s.notified.wantEachOnce()
		})
	}
}

// TestAnAgentOfARealServerFallsSilent, and says something again.
func TestAnAgentOfARealServerFallsSilent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.receivers()
	m := s.measured(pgtest.Cluster(t, pgtest.Options{}))
	agent := "agent"
	m.sender = &agent
	m.pass()
	m.pass()
	for range 6 * 8 {
		s.after(10 * time.Second)
	}
	m.must(m.round())
	m.pass()
	m.pass()
	m.once(watch.Silent, about("", 5, 0, alert.Critical), "orders: silent since 2026-11-20 12:02 UTC")
	s.notified.wantEachOnce()
}

// fails measures every ten seconds, for some minutes, a server that does not answer, or not as it should.
func (m *measured) fails(minutes int) {
	m.Helper()
	for range 6 * minutes {
		m.clock.Advance(10 * time.Second)
		if m.round() == nil {
			m.Fatal("it can be measured")
		}
	}
	m.minute += minutes
}

// once holds that a rule raised one alert, with this title, that has ended, and that the preview says when, to the minute: it
// keeps one figure of each.
func (m *measured) once(rule watch.Rule, setting organization.WatchSetting, title string) {
	m.Helper()
	var alerts []event
	for _, e := range m.events() {
		switch n := len(alerts) - 1; {
		case e.Type == "alert.raised" && strings.Contains(e.Key, string(rule)+"/"):
			alerts = append(alerts, e)
		case n >= 0 && e.Stream == alerts[n].Stream && e.Type == "alert.auto_resolved":
			alerts[n].ResolvedAt = e.ResolvedAt
		}
	}
	if len(alerts) != 1 || !strings.HasPrefix(alerts[0].Title, title) || alerts[0].ResolvedAt.IsZero() {
		m.Fatalf("%s: %+v, want one that is over, %q", rule, alerts, title)
	}
	p := m.preview(rule, setting)
	if p.Alerts != 1 || len(p.Items) != 1 || p.Items[0].Name != "orders" {
		m.Fatalf("the preview of %s says %+v", rule, p)
	}
	is, said := alerts[0], p.Items[0].Raised[0]
	near := func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Minute }
	if !near(said.At, is.First) || said.Until == nil || !near(*said.Until, is.ResolvedAt) || string(said.Severity) != is.Severity {
		m.Errorf("the preview of %s says %+v, and it was %s from %s to %s", rule, said, is.Severity, is.First, is.ResolvedAt)
	}
}

// TestABackupOfARealServerIsLate: the agent reads what pgBackRest says of this cluster. A backup of another cluster, as after
// the repository was moved, does not count.
func TestABackupOfARealServerIsLate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.receivers()
	m := s.measured(pgtest.Cluster(t, pgtest.Options{}))
	var system string
	s.must(m.admin.Get(&system, `SELECT system_identifier FROM pg_control_system()`))
	file := filepath.Join(t.TempDir(), "info.json")
	ends := func(system string) {
		at := s.clock.Now().Unix()
		s.must(os.WriteFile(file, fmt.Appendf(nil, `[{"name":"main","status":{"code":0,"message":"ok"},"db":[{"id":1,"system-id":%s,"version":"16"}],
			"backup":[{"label":"F","type":"full","error":false,"database":{"id":1},"timestamp":{"start":%d,"stop":%d},"info":{"size":812}}]}]`, system, at-60, at), 0o600))
	}
	tool := backuptool.Tool{Source: backups.PgBackRest, File: file}
	pass := func(minutes int) {
		for range minutes {
			look := tool.Look(t.Context(), system, s.clock.Now())
			look.Instance = s.orders
			m.take(measurements.Batch{Backups: []backups.Look{look}})
			m.pass()
		}
	}
	setting := about("", 30, 0, alert.Critical)
	s.set(watch.BackupRPO, setting)
	ends(system)
	pass(25)
	ends("42")
	pass(10)
	ends(system)
	pass(2)
	m.once(watch.BackupRPO, setting, "orders: its newest backup is 31 min old")
	s.notified.wantEachOnce()
}

// TestAVolumeOfARealServerFills: its databases grow for ten days on a volume of 120 MB, and are emptied. What fills soon and
// what is nearly full are one alert each. No volume of such a size can be mounted everywhere, so its size is what an exporter
// reports: what is used is what the server says.
func TestAVolumeOfARealServerFills(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.receivers()
	m := s.measured(pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"autovacuum": "off"}}))
	m.admin.MustExec(`CREATE TABLE orders (id bigint, note text)`)
	m.admin.MustExec(`ALTER TABLE orders ALTER note SET STORAGE PLAIN`)
	soon, full := about("", 3, 0, alert.Warning), about("", 90, 0, alert.Warning)
	s.set(watch.FullIn, soon)
	s.set(watch.Volume, full)
	const size = 120e6
	report := func() {
		var used float64
		s.must(m.admin.Get(&used, `SELECT sum(pg_database_size(oid)) FROM pg_database`))
		m.take(measurements.Batch{Hosts: []measurements.HostSample{{
			Host: "db01", Instances: []uuid.UUID{s.orders}, At: s.clock.Now(), Volumes: []measurements.Volume{{Mount: "/data", Size: size, Free: size - used, Available: size - used}},
		}}})
		m.judge()
		m.later(360)
	}
	for range 4 * 10 {
		m.admin.MustExec(`INSERT INTO orders SELECT n, repeat('x', 1900) FROM generate_series(1, 1100) AS n`)
		report()
	}
	if got := m.titles(); len(got) != 2 {
		t.Fatalf("while it grows: %q", got)
	}
	m.admin.MustExec(`TRUNCATE orders`)
	report()
	report()
	m.once(watch.FullIn, soon, "orders: volume /data will be full in 3 days")
	m.once(watch.Volume, full, "orders: volume /data is 90")
	s.notified.wantEachOnce()
}

// TestAJobFails, as the readers of SQL Server and Oracle have it from recorded rows of msdb and of the scheduler's log
// (TestJobsOfTheAgent, TestJobsOfTheScheduler): these servers cannot be run here, and PostgreSQL has no scheduler of its own.
func TestAJobFails(t *testing.T) {
	t.Parallel()
	for _, engine := range []domain.Engine{domain.SQLServer, domain.Oracle} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.receivers()
			m := &measured{scene: s, intake: intakeOf(s)}
			setting := about("", 0, 0, alert.Warning)
			s.set(watch.FailedJobs, setting)
			look := func(failed int) {
				m.later(60)
				now := s.clock.Now()
				state := room.State{Instance: s.orders, Engine: engine, At: now, Failed: &failed}
				for range failed {
					state.Jobs = append(state.Jobs, room.Job{Name: "IndexOptimize", At: now.Add(-time.Minute)})
				}
				m.take(measurements.Batch{Room: []room.State{state}, Sessions: []measurements.SessionSample{{Instance: s.orders, Engine: engine, Database: uuid.New(), At: now, Interval: time.Minute}}})
				m.judge()
			}
			for _, failed := range []int{0, 2, 2, 0, 0} {
				look(failed)
			}
			m.once(watch.FailedJobs, setting, "orders: 2 runs of jobs failed in the last 24 hours")
			s.notified.wantEachOnce()
		})
	}
}
