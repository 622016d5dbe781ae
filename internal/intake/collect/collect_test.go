package collect_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/concurrency/fairslots"
	"muster/internal/intake/collect"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// activity is the fleet's list, as far as the collector asks it.
type activity struct {
	mu       sync.Mutex
	inactive map[uuid.UUID]bool
}

func (a *activity) Active(_ context.Context, _, instance uuid.UUID) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.inactive[instance], nil
}

func (a *activity) deactivate(instance uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inactive[instance] = true
}

type scene struct {
	*testing.T
	db           *sqlx.DB
	store        *assessment.Store
	commands     *commands.Service
	collector    *collect.Collector
	activity     *activity
	organization uuid.UUID
	exceptions   []snapshot.Exception
}

func newScene(t *testing.T) *scene {
	t.Helper()
	key, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t)
	s := &scene{
		T: t, db: db, store: assessment.NewStore(db, key), activity: &activity{inactive: map[uuid.UUID]bool{}},
		commands: commands.New(usecase.Base{DB: db, Events: eventstore.New(db), Now: time.Now}, commands.Needs{}), organization: uuid.New(),
	}
	s.collector = s.anotherProcess()
	return s
}

func (s *scene) anotherProcess() *collect.Collector {
	s.Helper()
	c, err := collect.New(s.store, s.commands, s.activity, s.accepted, &servers.Reach{}, slog.New(slog.NewTextHandler(io.Discard, nil)), time.Now)
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// accepted are the exceptions that count at an assessment: those that a test has set.
func (s *scene) accepted(context.Context, uuid.UUID, uuid.UUID) ([]snapshot.Exception, error) {
	return s.exceptions, nil
}

// register registers an instance with a connection, as POST /instances does.
func (s *scene) register(dsn string) uuid.UUID {
	s.Helper()
	id := uuid.New()
	tx := s.db.MustBegin()
	err := s.store.SaveCredentials(s.Context(), tx, assessment.Credentials{
		Organization: s.organization, Instance: id, Engine: fleet.PostgreSQL, DSN: dsn,
	})
	if err != nil {
		s.Fatal(err)
	}
	actor := usecase.Actor{OrganizationID: s.organization, Component: "collector"}
	_, _, err = s.commands.RegisterInstanceTx(s.Context(), tx, actor, id, inventory.Registration{Name: "db", Engine: fleet.PostgreSQL, Active: true})
	if err != nil {
		s.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		s.Fatal(err)
	}
	return id
}

func (s *scene) state(instance uuid.UUID) assessment.TargetState {
	s.Helper()
	states, err := s.store.States(s.Context(), s.organization, []uuid.UUID{instance})
	if err != nil {
		s.Fatal(err)
	}
	return states[instance]
}

// looks counts the assessments kept of an instance.
func (s *scene) looks(instance uuid.UUID) (n int) {
	s.Helper()
	if err := s.db.Get(&n, `SELECT count(*) FROM assessments WHERE instance_id = $1`, instance); err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *scene) events(instance uuid.UUID) (n int) {
	s.Helper()
	if err := s.db.Get(&n, `SELECT count(*) FROM events WHERE log = 'fleet' AND stream_id = $1`, instance); err != nil {
		s.Fatal(err)
	}
	return n
}

// TestCollector runs against one server of its own: on the shared one databases
// come and go.
func TestCollector(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Cluster(t, pgtest.Options{}).TCPURL(pgtest.Superuser, "postgres")
	for name, test := range map[string]func(*testing.T, string){
		"a registered server is assessed and classified": aRegisteredServerIsAssessedAndClassified,
		"many ask at once and one looks":                 manyAskAtOnceAndOneLooks,
		"a dead collector leaves its server due":         aDeadCollectorLeavesItsServerDue,
		"inactive, foreign and unknown are not assessed": inactiveForeignAndUnknownAreNotAssessed,
		"a removed instance's connection is erased":      aRemovedInstancesConnectionIsErased,
		"an instance removed during the look":            anInstanceRemovedDuringTheLook,
		"a stopped collector gives its server back":      aStoppedCollectorGivesItsServerBack,
		"a request wakes a running collector":            aRequestWakesARunningCollector,
		"findings of earlier assessments are made":       findingsOfEarlierAssessmentsAreMade,
		"findings are made of a server that is held":     findingsAreMadeOfAServerThatIsHeld,
	} {
		t.Run(name, func(t *testing.T) { test(t, dsn) })
	}
}

func aRegisteredServerIsAssessedAndClassified(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	instance := s.register(dsn)
	if ok, err := s.collector.AssessDue(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	a, classified, err := s.store.Latest(t.Context(), s.organization, instance)
	if err != nil || a.Outcome != snapshot.OutcomeComplete || len(a.Results) == 0 || len(classified) == 0 {
		t.Fatalf("%s, %d results, %d classified, %v", a.Outcome, len(a.Results), len(classified), err)
	}
	if state := s.state(instance); state.LastSeenAt == nil || state.LastAssessedAt == nil || state.LastClassifiedAt == nil || state.LastError != nil {
		t.Errorf("%+v", state)
	}
	events := s.events(instance) // registered, version changed
	if events != 2 {
		t.Errorf("%d events", events)
	}
	if ok, err := s.collector.AssessDue(t.Context()); ok || err != nil {
		t.Errorf("due again at once: %t, %v", ok, err)
	}
	if err := s.collector.AssessNow(t.Context(), s.organization, instance); err != nil || s.looks(instance) != 2 {
		t.Errorf("on demand: %v", err)
	}
	if again := s.events(instance); again != events {
		t.Errorf("an unchanged server made %d events", again-events)
	}
}

func TestFresh(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := pgtest.Cluster(t, pgtest.Options{})
	instance := s.register(server.TCPURL(pgtest.Superuser, "postgres"))
	fresh := func() *assessment.Kept {
		t.Helper()
		a, err := s.collector.Fresh(t.Context(), s.organization, instance, 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := fresh(); a.Outcome != snapshot.OutcomeComplete || s.looks(instance) != 1 {
		t.Errorf("%s after %d looks", a.Outcome, s.looks(instance))
	}
	server.Stop(t)
	if a := fresh(); a.Outcome != snapshot.OutcomeComplete || s.looks(instance) != 1 {
		t.Errorf("facts of a moment ago were fetched again: %s after %d looks", a.Outcome, s.looks(instance))
	}
	s.db.MustExec(`UPDATE assessments SET recorded_at = recorded_at - interval '25 hours'`)
	if a := fresh(); a.Outcome != snapshot.OutcomeUnreachable || a.ErrorClass != servers.ClassRefused {
		t.Errorf("%s %s", a.Outcome, a.ErrorClass)
	}
	if state := s.state(instance); state.LastError == nil || state.LastError.Class != servers.ClassRefused {
		t.Errorf("%+v", state)
	}
	var soon bool
	if err := s.db.Get(&soon, `SELECT next_assessment_at < now() + interval '20 minutes' FROM assessment_targets`); err != nil || !soon {
		t.Errorf("a server out of reach is tried again soon: %t, %v", soon, err)
	}
}

func manyAskAtOnceAndOneLooks(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	instance := s.register(dsn)
	processes := []*collect.Collector{s.collector, s.anotherProcess(), s.anotherProcess()}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			a, err := processes[i%3].Fresh(t.Context(), s.organization, instance, time.Hour)
			if err != nil || a.Outcome != snapshot.OutcomeComplete {
				t.Errorf("%s, %v", a.Outcome, err)
			}
		})
	}
	wg.Wait()
	if n := s.looks(instance); n != 1 {
		t.Errorf("%d looks", n)
	}
}

func aDeadCollectorLeavesItsServerDue(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	instance := s.register(dsn)
	if _, ok, err := s.store.ClaimDue(t.Context(), time.Minute, fairslots.NewSlots(1).Order()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, _ := s.collector.AssessDue(t.Context()); ok {
		t.Fatal("it is held")
	}
	s.db.MustExec(`UPDATE assessment_targets SET leased_until = now() - interval '1 second'`)
	if ok, err := s.collector.AssessDue(t.Context()); !ok || err != nil || s.looks(instance) != 1 {
		t.Error(ok, err)
	}
}

// aRemovedInstancesConnectionIsErased: by a feed, which knows no connections, or by a
// process that died after the event.
func aRemovedInstancesConnectionIsErased(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	removed, deactivated := s.register(dsn), s.register(dsn)
	actor := usecase.Actor{OrganizationID: s.organization}
	item := inventory.Item{ExternalID: removed.String(), Removed: true}
	if _, _, err := s.commands.RecordFleet(t.Context(), actor, []inventory.Item{item}); err != nil {
		t.Fatal(err)
	}
	s.activity.deactivate(removed)
	s.activity.deactivate(deactivated)
	for range 2 {
		if ok, err := s.collector.AssessDue(t.Context()); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if s.state(removed).Collected {
		t.Error("the connection of a removed instance is still there")
	}
	if !s.state(deactivated).Collected {
		t.Error("the connection of a deactivated instance is gone")
	}
	if s.looks(removed)+s.looks(deactivated) > 0 {
		t.Error("one of them was looked at")
	}
}

// anInstanceRemovedDuringTheLook: the read model still lists it.
func anInstanceRemovedDuringTheLook(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	instance := s.register(dsn)
	if _, err := s.commands.RemoveInstance(t.Context(), usecase.Actor{OrganizationID: s.organization}, instance); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.collector.AssessDue(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if s.state(instance).Collected || s.looks(instance) > 0 {
		t.Error("it is still collected, or was recorded")
	}
}

func inactiveForeignAndUnknownAreNotAssessed(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	instance := s.register(dsn)
	s.activity.deactivate(instance)
	var inactive *collect.InactiveError
	if err := s.collector.AssessNow(t.Context(), s.organization, instance); !errors.As(err, &inactive) {
		t.Errorf("inactive: %v", err)
	}
	if ok, err := s.collector.AssessDue(t.Context()); ok || err != nil || s.looks(instance) != 0 {
		t.Errorf("an inactive one stays due: %t, %v", ok, err)
	}
	var unknown *collect.NotCollectedError
	for _, organization := range []uuid.UUID{uuid.New(), s.organization} {
		other := instance
		if organization == s.organization {
			other = uuid.New()
		}
		for _, err := range []error{s.collector.AssessNow(t.Context(), organization, other), s.collector.Request(t.Context(), organization, other)} {
			if !errors.As(err, &unknown) {
				t.Errorf("%v", err)
			}
		}
	}
}

func aStoppedCollectorGivesItsServerBack(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	instance := s.register(dsn)
	ctx, cancel := context.WithCancel(t.Context())
	claim, ok, err := s.store.ClaimSince(ctx, s.organization, instance, assessment.Attempt{}, time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := s.store.Release(ctx, claim, 0); err != nil {
		t.Fatal(err)
	}
	running := make(chan error)
	go func() { running <- s.collector.Run(ctx) }()
	cancel()
	if err := <-running; err != nil {
		t.Error(err)
	}
	var held bool
	if err := s.db.Get(&held, `SELECT lease_token IS NOT NULL FROM assessment_targets`); err != nil || held {
		t.Errorf("still held: %t, %v", held, err)
	}
}

func aRequestWakesARunningCollector(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan error)
	go func() { running <- s.collector.Run(ctx) }()
	instance := s.register(dsn)
	if err := s.collector.Request(ctx, s.organization, instance); err != nil {
		t.Fatal(err)
	}
	if _, err := s.collector.Fresh(ctx, s.organization, instance, time.Hour); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-running; err != nil {
		t.Error(err)
	}
}

// findingsOfEarlierAssessmentsAreMade when a collector starts: a version before kept none.
func findingsOfEarlierAssessmentsAreMade(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	s.register(dsn)
	if ok, err := s.collector.AssessDue(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	count := func() (n int) {
		t.Helper()
		if err := s.db.Get(&n, `SELECT count(*) FROM findings`); err != nil {
			t.Fatal(err)
		}
		return n
	}
	kept := count()
	s.db.MustExec(`DELETE FROM findings`)
	s.db.MustExec(`UPDATE assessment_targets SET findings_kept = false`)
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan error)
	go func() { running <- s.collector.Run(ctx) }()
	for deadline := time.Now().Add(time.Minute); count() != kept; {
		if time.Now().After(deadline) {
			t.Fatalf("%d findings, there were %d", count(), kept)
		}
	}
	cancel()
	if err := <-running; err != nil || kept == 0 {
		t.Errorf("%d findings, %v", kept, err)
	}
}

// findingsAreMadeOfAServerThatIsHeld by a collector's claim.
func findingsAreMadeOfAServerThatIsHeld(t *testing.T, dsn string) {
	t.Parallel()
	s := newScene(t)
	s.register(dsn)
	if ok, err := s.collector.AssessDue(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.db.MustExec(`DELETE FROM findings`)
	s.db.MustExec(`UPDATE assessment_targets SET findings_kept = false`)
	holder := s.db.MustBegin()
	defer func() { _ = holder.Rollback() }()
	holder.MustExec(`SELECT FROM assessment_targets FOR UPDATE`)
	made := make(chan error, 1)
	go func() { made <- s.store.MakeFindings(t.Context()) }()
	for waits := false; !waits; {
		select {
		case err := <-made:
			t.Fatal("it does not wait for a server that is held: ", err)
		default:
		}
		if err := s.db.Get(&waits, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`); err != nil {
			t.Fatal(err)
		}
	}
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	var kept int
	if err := cmp.Or(<-made, s.db.Get(&kept, `SELECT count(*) FROM findings`)); err != nil || kept == 0 {
		t.Errorf("%d findings, %v", kept, err)
	}
}

func TestTry(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := pgtest.Cluster(t, pgtest.Options{HBA: "local all postgres trust\nhost all all 127.0.0.1/32 scram-sha-256\n"})
	db := pgtest.Connect(t, server.Superuser())
	db.MustExec(`CREATE ROLE watcher LOGIN PASSWORD 'right-password'`)
	try := func(engine fleet.Engine, password string) error {
		u := url.URL{Scheme: "postgres", User: url.UserPassword("watcher", password), Host: server.Addr(), Path: "/postgres"}
		_, err := s.collector.Try(t.Context(), s.organization, engine, u.String())
		return err
	}
	if err := try(fleet.PostgreSQL, "right-password"); err != nil {
		t.Error(err)
	}
	var refused *servers.ConnectionError
	if err := try(fleet.PostgreSQL, "wrong-password"); !errors.As(err, &refused) || refused.Class != servers.ClassAuthentication || strings.Contains(err.Error(), "wrong-password") {
		t.Error(err)
	}
	var engine *servers.UnknownEngineError
	if err := try(fleet.MongoDB, "right-password"); !errors.As(err, &engine) {
		t.Error(err)
	}
	var malformed *servers.DSNError
	if _, err := s.collector.Try(t.Context(), s.organization, fleet.PostgreSQL, "postgres://u:secret@"); !errors.As(err, &malformed) {
		t.Error(err)
	}
}

// meanwhile is the fleet, changed by another writer between the assessment of a server and its
// record.
type meanwhile struct {
	*commands.Service
	happens func()
}

func (m *meanwhile) ChangeInstance(ctx context.Context, actor usecase.Actor, id uuid.UUID, change inventory.Change) (usecase.Mark, error) {
	m.happens()
	return m.Service.ChangeInstance(ctx, actor, id, change)
}

// TestADatabaseFoundDuringALook: the monitor tells the fleet of databases within a
// minute, a look may take several. It must not take back what the monitor found.
func TestADatabaseFoundDuringALook(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := pgtest.Cluster(t, pgtest.Options{})
	instance := s.register(server.TCPURL(pgtest.Superuser, "postgres"))
	admin := pgtest.Connect(t, server.Superuser())
	admin.MustExec(`CREATE DATABASE early`)
	known := func() map[string]uuid.UUID {
		t.Helper()
		ids, err := s.commands.DatabasesOf(t.Context(), s.organization, instance)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	var found uuid.UUID
	c, err := collect.New(s.store, &meanwhile{s.commands, func() {
		admin.MustExec(`DROP DATABASE early`)
		admin.MustExec(`CREATE DATABASE late`)
		actor := usecase.Actor{OrganizationID: s.organization, Component: "collector"}
		if _, err := s.commands.RecordDatabases(t.Context(), actor, instance, []string{"late", "postgres"}); err != nil {
			t.Error(err)
		}
		found = known()["late"]
	}}, s.activity, s.accepted, &servers.Reach{}, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AssessNow(t.Context(), s.organization, instance); err != nil {
		t.Fatal(err)
	}
	if after := known(); found == uuid.Nil || after["late"] != found || len(after) != 2 {
		t.Errorf("the fleet knows %v, the monitor found late as %s", after, found)
	}
}

// TestATargetThatIsNotAllowed was registered before the settings excluded it, or by a
// socket, when that could be done: it is listed with the reason, and not connected to.
func TestATargetThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := pgtest.Shared(t)
	own, err := servers.ReadOwnServer(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	c, err := collect.New(s.store, s.commands, s.activity, s.accepted, &servers.Reach{
		Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Own: own,
	}, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for dsn, reason := range map[string]string{
		server.Superuser():                           "Unix socket",
		server.TCPURL(pgtest.Superuser, "postgres"):  "Muster's own data",
		"postgres://u@127.0.0.3:1/postgres":          "MUSTER_TARGET_NETWORKS",
		"postgres://u@[::ffff:127.0.0.3]:1/postgres": "MUSTER_TARGET_NETWORKS",
	} {
		instance := s.register(dsn)
		if err := c.AssessNow(t.Context(), s.organization, instance); err != nil {
			t.Fatal(err)
		}
		state := s.state(instance)
		if state.LastError == nil || state.LastError.Class != servers.ClassNotAllowed || !strings.Contains(state.LastError.Sentence, reason) || state.LastSeenAt != nil {
			t.Errorf("of %s is kept %+v", dsn, state.LastError)
		}
		var refused *servers.ConnectionError
		if _, err := c.Try(t.Context(), s.organization, fleet.PostgreSQL, dsn); !errors.As(err, &refused) || refused.Class != servers.ClassNotAllowed {
			t.Errorf("%s is tried: %v", dsn, err)
		}
	}
}

// TestEachDatabaseKeepsItsIdentityUnderAnyName: C11. The fleet prints a name that misleads, and what was
// found is kept of that one; names that look the same when they are printed stay two, and so
// do those in another encoding.
func TestEachDatabaseKeepsItsIdentityUnderAnyName(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	admin := pgtest.Connect(t, server.Superuser())
	for _, name := range []string{"plain", "a\nb", "a\tb", "cr\rname", "a\u202eb"} {
		admin.MustExec(`CREATE DATABASE "` + name + `"`)
		admin.MustExec(`REVOKE CONNECT ON DATABASE "` + name + `" FROM PUBLIC`)
	}
	const latin = " TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'"
	admin.MustExec(`CREATE DATABASE latin` + latin)
	old := pgtest.Connect(t, server.URL(pgtest.Superuser, "latin")) // where é is one byte
	old.SetMaxOpenConns(1)
	old.MustExec(`SET client_encoding TO UTF8`)
	old.MustExec(`CREATE DATABASE "café"` + latin)
	old.MustExec(`CREATE DATABASE "cafè"` + latin)
	_ = old.Close()
	admin.MustExec(`CREATE ROLE watcher LOGIN IN ROLE pg_monitor`)
	s := newScene(t)
	for role, refused := range map[string]int{pgtest.Superuser: 0, "watcher": 5} {
		id := s.register(server.TCPURL(role, "postgres"))
		if err := s.collector.AssessNow(t.Context(), s.organization, id); err != nil {
			t.Fatal(err)
		}
		keys, err := s.commands.DatabasesOf(t.Context(), s.organization, id)
		if err != nil || len(keys) != 9 {
			t.Errorf("as %s %d databases are registered: %q, %v", role, len(keys), keys, err)
		}
		var names []string
		if err := s.db.Select(&names, `SELECT convert_from(data, 'UTF8')::jsonb ->> 'name' FROM events WHERE log = 'fleet' AND type = 'database.registered'
			AND convert_from(data, 'UTF8')::jsonb ->> 'instanceId' = $1`, id); err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		want := []string{"a\ufffdb (U+0009)", "a\ufffdb (U+000A)", "a\ufffdb (U+202E)", "caf\ufffd (0xE8)", "caf\ufffd (0xE9)", "cr\ufffdname", "latin", "plain", "postgres"}
		if !slices.Equal(names, want) {
			t.Errorf("as %s they are printed as %q, want %q", role, names, want)
		}
		a, err := s.store.LatestAssessment(t.Context(), s.organization, id)
		if err != nil {
			t.Fatal(err)
		}
		var found, assessed []string
		for _, d := range a.Databases {
			found = append(found, d.Name)
		}
		unreachable := 0
		for _, r := range a.Results {
			if r.CheckID == "PG-C02" {
				assessed = append(assessed, r.Database)
				if r.ReasonCode == snapshot.ReasonDatabaseUnreachable {
					unreachable++
				}
			}
		}
		slices.Sort(found)
		slices.Sort(assessed)
		if !slices.Equal(found, want) || !slices.Equal(assessed, want) || unreachable != refused {
			t.Errorf("as %s found %q, assessed %q, %d out of reach", role, found, assessed, unreachable)
		}
		classified, err := s.store.Classifications(t.Context(), s.organization, id)
		if err != nil {
			t.Fatal(err)
		}
		var by []string
		for _, c := range classified[id].Databases {
			by = append(by, c.Database)
			if refused == 0 && c.Classification.Status != snapshot.ClassificationCompleted {
				t.Errorf("%s: %s", c.Database, c.Classification.Reason)
			}
		}
		slices.Sort(by)
		if !slices.Equal(by, want) {
			t.Errorf("as %s classified %q", role, by)
		}
		granted := 0
		for _, g := range a.MissingGrants {
			if name, ok := strings.CutPrefix(g.Object, "database "); ok && slices.Contains(want, name) {
				granted++
			}
		}
		if granted != refused {
			t.Errorf("as %s %d grants: %+v", role, granted, a.MissingGrants)
		}
	}
}
