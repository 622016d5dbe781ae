package demo_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/intake/collect"
	"muster/internal/intake/feed"
	"muster/internal/intake/resolve"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/operate/demo"
	"muster/internal/postgres"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/servers"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/fleet"
	"muster/projections/history"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// privateServer is the server that every demo of this file watches.
func privateServer(t *testing.T) *postgres.Server {
	t.Helper()
	dir, err := pgtest.MkdirTemp("muster-demo-")
	must(t, err)
	server, err := postgres.Open(t.Context(), postgres.Options{
		DataDir: filepath.Join(dir, "data"), SystemDir: filepath.Join(dir, "system"), Logger: slog.New(slog.DiscardHandler),
	})
	must(t, err)
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	return server
}

// scene is an installation with a demo.
type scene struct {
	*testing.T
	*demo.Demo
	db     *sqlx.DB
	url    string
	runner *projections.Runner
	seal   *secrets.Ring
	clock  *clocktest.Clock // so that no alert begins or ends between two steps of a test
}

func newScene(t *testing.T, own demo.OwnServer) *scene {
	t.Helper()
	key, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "secret.key"))
	must(t, err)
	s := &scene{T: t, db: pgtest.DB(t), url: pgtest.URL(t), seal: key, clock: clocktest.At(time.Now())}
	t.Cleanup(s.start(own))
	return s
}

// start runs its projections until end is called, and a process.
func (s *scene) start(own demo.OwnServer) (end func()) {
	s.Helper()
	decode := usecase.Registry().Decode
	s.runner = projections.NewRunner(s.db, s.url, slog.New(slog.DiscardHandler), history.Projection(decode), fleet.Projection(decode), alerts.Projection(decode))
	must(s.T, s.runner.Prepare(s.Context()))
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.Context()))
	done := make(chan error, 1)
	go func() { done <- s.runner.Run(ctx) }()
	s.Demo = s.process(s.db, own)
	return func() { cancel(); <-done }
}

// kept is what a demo has beside its database.
type kept struct {
	seal     *secrets.Ring
	filledAt time.Time
}

// keptOfFilled is kept of the demo that newFilledScene copies.
var keptOfFilled = sync.OnceValues(func() (kept, error) {
	dir, err := os.MkdirTemp("", "muster-demo-")
	if err != nil {
		return kept{}, err
	}
	key, err := secrets.LoadOrCreate(filepath.Join(dir, "secret.key"))
	return kept{key, time.Now()}, errors.Join(err, os.RemoveAll(dir))
})

// newFilledScene is a scene whose demo was filled without a server of its own. It is filled once, which
// costs a second of a processor.
func newFilledScene(t *testing.T) (*scene, accounts.Organization) {
	t.Helper()
	of, err := keptOfFilled()
	must(t, err)
	url := pgtest.FilledURL(t, "filled_demo", func(url string) error {
		db, pool, err := postgres.Connect(t.Context(), url, postgres.PoolOptions{Name: "test", Max: 20, Patience: time.Minute})
		if err != nil {
			return err
		}
		defer pool.Close()
		s := &scene{T: t, db: db, url: url, seal: of.seal, clock: clocktest.At(of.filledAt)}
		defer s.start(nil)()
		_, err = fill(t.Context(), s.Demo)
		return err
	})
	s := &scene{T: t, db: pgtest.DB(t), url: url, seal: of.seal, clock: clocktest.At(of.filledAt)}
	t.Cleanup(s.start(nil))
	o, err := s.Organization(t.Context(), nil)
	must(t, err)
	return s, o
}

// none: no exceptions are in force.
func none(context.Context, uuid.UUID, uuid.UUID) ([]snapshot.Exception, error) { return nil, nil }

// nowhere resolves no name, as the channels' names never do, without asking anybody.
var nowhere = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("nobody is asked")
}}

// process is one of the installation's processes.
func (s *scene) process(db *sqlx.DB, own demo.OwnServer) *demo.Demo {
	s.Helper()
	people, instances := accounts.New(db, s.clock.Now), fleet.NewReader(db)
	checks, err := catalogue.Load()
	must(s.T, err)
	service := commands.New(usecase.Base{DB: db, Events: eventstore.New(db), Accounts: people, Now: s.clock.Now}, commands.Needs{
		Instances: instances, Checks: checks, Jobs: jobs.NewQueue(db), Seal: s.seal, Channels: kinds.Judge{Poster: &channel.Poster{Resolver: nowhere}},
	})
	facts := assessment.NewStore(db, s.seal)
	collector, err := collect.New(facts, service, instances, none, &servers.Reach{}, slog.New(slog.DiscardHandler), time.Now)
	must(s.T, err)
	doors := &feed.Doors{Commands: service, Assessments: facts, Accepted: none, Now: s.clock.Now, Places: &resolve.Resolver{Keys: service, Fleet: instances,
		CatchUp: func(context.Context) (bool, error) { return false, nil }}} // it has settled
	return &demo.Demo{
		DB: db, Commands: service, Accounts: people, Facts: facts, Assessor: collector, Own: own, Assessments: doors,
		Wait: func(ctx context.Context, m usecase.Mark) bool { return s.runner.Wait(ctx, m.Log, m.Position) },
		Now:  s.clock.Now, Log: slog.New(slog.DiscardHandler),
	}
}

// fill does what serve does at its start.
func fill(ctx context.Context, d *demo.Demo) (accounts.Organization, error) {
	o, err := d.Organization(ctx, nil)
	if err != nil {
		return o, err
	}
	return o, d.Fill(ctx, o)
}

func (s *scene) filled(d *demo.Demo) accounts.Organization {
	s.Helper()
	o, err := fill(s.Context(), d)
	must(s.T, err)
	return o
}

// state is what a person would see of the demo, without ids and times.
type state struct {
	Organizations, Members int
	Instances, Databases   int
	Reports                map[string]int // requests by kind
	Builds                 int            // jobs
	Credentials            int
	Exceptions             map[string]int // events by type
	Schedules              map[string]int // by time zone
	Channels               map[string]int // by kind
	Rules                  map[string]int // by whether they are on
	Teams, Marks           int
}

func (s *scene) state() state {
	s.Helper()
	have := state{
		Organizations: s.count(`organizations WHERE demo`), Members: s.count(`members`),
		Instances: s.count(`events WHERE type = 'instance.registered'`), Databases: s.count(`events WHERE type = 'database.registered'`),
		Builds: s.count(`jobs WHERE kind = 'build'`), Credentials: s.count(`assessment_targets`),
	}
	have.Reports = s.tally(`SELECT convert_from(data, 'UTF8')::jsonb ->> 'kind' FROM events WHERE type = 'report.queued'`)
	have.Exceptions = s.tally(`SELECT type FROM events WHERE stream_type = 'exception'`)
	have.Schedules = s.tally(`SELECT convert_from(data, 'UTF8')::jsonb ->> 'timeZone' FROM events WHERE type = 'schedule.created'`)
	have.Channels = s.tally(`SELECT kind FROM notification_channels`)
	have.Teams, have.Marks = s.count(`teams`), s.count(`chart_marks`)
	have.Rules = s.tally(`SELECT terms ->> 'enabled' FROM notification_rules`)
	return have
}

// tally counts the words of a query.
func (s *scene) tally(query string) map[string]int {
	s.Helper()
	var words []string
	must(s.T, s.db.Select(&words, query))
	counts := map[string]int{}
	for _, word := range words {
		counts[word]++
	}
	return counts
}

func (s *scene) count(what string) (n int) {
	s.Helper()
	must(s.T, s.db.Get(&n, `SELECT count(*) FROM `+what))
	return n
}

// errDied is how a step ends in which the process dies.
var errDied = errors.New("the process died")

// deadServer dies when it is asked for the named thing.
type deadServer struct {
	demo.OwnServer
	monitor, database bool
}

func (d deadServer) MonitorURL(ctx context.Context) (string, error) {
	if d.monitor {
		return "", errDied
	}
	return d.OwnServer.MonitorURL(ctx)
}

func (d deadServer) DatabaseURL(ctx context.Context, database string) (string, error) {
	if d.database {
		return "", errDied
	}
	return d.OwnServer.DatabaseURL(ctx, database)
}

// deadAssessor dies as it looks at the server.
type deadAssessor struct{}

func (deadAssessor) AssessNow(context.Context, uuid.UUID, uuid.UUID) error { return errDied }

// deadJobs dies at a request after the first few.
type deadJobs struct {
	commands.Jobs
	left *int
}

func (d deadJobs) InsertBuild(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID) error {
	if *d.left--; *d.left < 0 {
		return errDied
	}
	return d.Jobs.InsertBuild(ctx, tx, organization, report)
}

// deadInstances dies at a lookup after the first few.
type deadInstances struct {
	commands.Instances
	left *int
}

func (d deadInstances) InstanceNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	if *d.left--; *d.left < 0 {
		return nil, errDied
	}
	return d.Instances.InstanceNames(ctx, organization, ids)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
