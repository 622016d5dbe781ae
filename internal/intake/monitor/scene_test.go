package monitor

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/intake"
	"muster/internal/intake/measure"
	"muster/internal/intake/push"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/servers"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
	"muster/internal/watch"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// activeInstances is the fleet's list, as far as the monitor asks it.
type activeInstances struct {
	mu       sync.Mutex
	inactive map[uuid.UUID]bool
}

func (a *activeInstances) ActiveAmong(_ context.Context, _, instances []uuid.UUID) (map[uuid.UUID]bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	active := make(map[uuid.UUID]bool)
	for _, id := range instances {
		active[id] = !a.inactive[id]
	}
	return active, nil
}

func (a *activeInstances) deactivate(instance uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inactive[instance] = true
}

// watchedIntake is the real one, and remembers what it was given.
type watchedIntake struct {
	intake.Store
	mu      sync.Mutex
	batches []measurements.Batch
	signs   []watch.Sign
	fail    error         // instead of keeping the next batch
	failed  error         // after having kept it
	kept    chan struct{} // called for each batch; nil: not called
}

func (i *watchedIntake) Record(ctx context.Context, b measurements.Batch, signs ...watch.Sign) (measurements.Receipt, error) {
	i.mu.Lock()
	fail, failed := i.fail, i.failed
	i.fail, i.failed = nil, nil
	i.mu.Unlock()
	if fail != nil {
		return measurements.Receipt{}, fail
	}
	receipt, err := i.Store.Record(ctx, b, signs...)
	if err == nil {
		i.mu.Lock()
		i.batches, i.signs = append(i.batches, b), append(i.signs, signs...)
		i.mu.Unlock()
		err = failed
	}
	if i.kept != nil {
		i.kept <- struct{}{}
	}
	return receipt, err
}

// textsKept is the organization's setting.
type textsKept struct {
	mu    sync.Mutex
	keeps bool
}

func (k *textsKept) KeepsTexts(context.Context, uuid.UUID) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keeps, nil
}

func (k *textsKept) set(keeps bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keeps = keeps
}

// scene is an installation that measures servers.
type scene struct {
	*testing.T
	db           *sqlx.DB
	facts        *assessment.Store
	commands     *commands.Service
	store        *pgstore.Store
	intake       *watchedIntake
	active       *activeInstances
	texts        *textsKept
	clock        *clocktest.Clock
	organization uuid.UUID
}

func newScene(t *testing.T) *scene {
	t.Helper()
	key, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t)
	clock := clocktest.At(time.Now())
	store := pgstore.New(db, quiet())
	return &scene{
		T: t, db: db, facts: assessment.NewStore(db, key), clock: clock, organization: uuid.New(), store: store,
		commands: commands.New(usecase.Base{DB: db, Events: eventstore.New(db), Now: clock.Now}, commands.Needs{}),
		intake:   &watchedIntake{Store: &push.Intake{DB: db, Store: store, Now: clock.Now}},
		active:   &activeInstances{inactive: make(map[uuid.UUID]bool)}, texts: new(textsKept),
	}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// process is a monitor as another process would have it.
func (s *scene) process() *Monitor {
	return New(Config{
		DB: s.db, Connections: s.facts, Reach: &servers.Reach{}, Fleet: s.commands, Instances: s.active, Intake: s.intake, Texts: s.texts, Log: quiet(), Now: s.clock.Now,
	})
}

// register registers an instance with a connection, as POST /instances does.
func (s *scene) register(dsn string) uuid.UUID {
	s.Helper()
	return s.registerAs(fleet.PostgreSQL, dsn)
}

// registerAs is register of a server of any engine.
func (s *scene) registerAs(engine fleet.Engine, dsn string) uuid.UUID {
	s.Helper()
	id := uuid.New()
	tx := s.db.MustBegin()
	err := s.facts.SaveCredentials(s.Context(), tx, assessment.Credentials{
		Organization: s.organization, Instance: id, Engine: engine, DSN: dsn,
	})
	if err != nil {
		s.Fatal(err)
	}
	actor := usecase.Actor{OrganizationID: s.organization, Component: "collector"}
	_, _, err = s.commands.RegisterInstanceTx(s.Context(), tx, actor, id, inventory.Registration{Name: "db", Engine: engine, Active: true})
	if err != nil {
		s.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		s.Fatal(err)
	}
	return id
}

// server is a server that a test measures by hand.
type server struct {
	*measure.Server
	claim claim
}

// measure claims an instance for one round after another, by hand.
func (s *scene) measure(instance uuid.UUID) *server {
	s.Helper()
	m := s.process()
	claims, err := m.leases.claim(s.Context(), []assessment.Registered{{Organization: s.organization, Instance: instance}})
	if err != nil || len(claims) != 1 {
		s.Fatal(claims, err)
	}
	one := &server{m.server(claims[0], fleet.PostgreSQL), claims[0]}
	s.Cleanup(func() { one.Close(context.Background()) })
	return one
}

// round is a minute later.
func (s *scene) round(one *server) round {
	s.Helper()
	s.clock.Advance(time.Minute)
	before := len(s.intake.batches)
	s.intake.signs = nil
	err := one.Round(s.Context())
	r := round{err: err, signs: s.intake.signs, ids: s.ids(one)}
	if n := len(s.intake.batches); n > before {
		r.batch = s.intake.batches[n-1] // the last report is the state of the server
	}
	return r
}

// ids are those of a server's databases.
func (s *scene) ids(one *server) map[string]uuid.UUID {
	s.Helper()
	ids, err := s.commands.DatabasesOf(s.Context(), s.organization, one.claim.Instance)
	if err != nil {
		s.Fatal(err)
	}
	return ids
}

// round is what one gave.
type round struct {
	err   error
	batch measurements.Batch
	signs []watch.Sign
	ids   map[string]uuid.UUID
}

// sessions is the sample of a database; nil: there is none.
func (r round) sessions(database string) *measurements.SessionSample {
	for _, s := range r.batch.Sessions {
		if s.Database == r.ids[database] {
			return &s
		}
	}
	return nil
}

// statements sums up what those of a database did; ok is false where none were counted.
func (r round) statements(database string) (calls int64, totalMs float64, ok bool) {
	for _, s := range r.batch.Statements {
		if s.Database == r.ids[database] {
			ok = true
			for _, one := range s.Statements {
				calls += one.Calls
				totalMs += one.TotalMs
			}
		}
	}
	return calls, totalMs, ok
}

// texts are those that were told of a database's statements.
func (r round) texts(database string) (texts []string) {
	for _, s := range r.batch.Statements {
		if s.Database == r.ids[database] {
			for _, one := range s.Statements {
				if one.Text != "" {
					texts = append(texts, one.Text)
				}
			}
		}
	}
	slices.Sort(texts)
	return texts
}

// busy is the execution time of a database; nil: unknown.
func (r round) busy(database string) *float64 {
	for _, s := range r.batch.Statements {
		if s.Database == r.ids[database] {
			return s.BusyMs
		}
	}
	return nil
}

// missing is what an instance shows of grants.
func (s *scene) missing(instance uuid.UUID) []snapshot.MissingGrant {
	s.Helper()
	states, err := s.facts.States(s.Context(), s.organization, []uuid.UUID{instance})
	if err != nil {
		s.Fatal(err)
	}
	return states[instance].MissingGrants
}

// minute is the last round's bucket of the tiles.
func (s *scene) minute() timegrid.Window {
	s.Helper()
	if _, err := s.store.Roll(s.Context()); err != nil {
		s.Fatal(err)
	}
	return timegrid.Window{From: s.clock.Now(), To: s.clock.Now().Add(time.Microsecond), Size: timegrid.Minute}
}

// queryTile is what the dashboard says of the statements of the last round.
func (s *scene) queryTile() measurements.QuerySums {
	s.Helper()
	sums, err := s.store.QueryPerformance(s.Context(), s.organization, fleet.PostgreSQL, fleet.Scope{}, s.minute(), s.clock.Now())
	if err != nil {
		s.Fatal(err)
	}
	return sums
}

// waitTile is what it says of those who waited.
func (s *scene) waitTile() measurements.WaitSums {
	s.Helper()
	sums, err := s.store.WaitEvents(s.Context(), s.organization, fleet.PostgreSQL, fleet.Scope{}, s.minute())
	if err != nil {
		s.Fatal(err)
	}
	return sums
}
