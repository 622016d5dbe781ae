package watch_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/postgres"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
	"muster/internal/watch"
	"muster/internal/watch/status"
	"muster/projections"
	"muster/projections/fleet"
	"muster/projections/projectionstest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// scene is one organization with two servers, whose watch has listened for an hour.
type scene struct {
	*testing.T
	db              *sqlx.DB
	clock           *clocktest.Clock
	commands        *commands.Service
	stage           *projectionstest.Stage
	watch           *watch.Watch
	org             uuid.UUID
	orders, billing uuid.UUID
	names           map[uuid.UUID]string
	asked           statements
	notified        *receivers // nil: nobody is notified
}

// begun is what all scenes begin with: an organization and two servers, in a database that each copies.
var begun struct{ org, orders, billing uuid.UUID }

// inScene are tests with a scene. A second scene of a test has the same database, and an organization of its own.
var inScene sync.Map

func newScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.FilledURL(t, "watch_scene", func(url string) error { return fill(t, url) })
	s := &scene{T: t, clock: clocktest.At(noon), org: begun.org, orders: begun.orders, billing: begun.billing}
	s.names = map[uuid.UUID]string{s.orders: "orders", s.billing: "billing"}
	db, pool, err := postgres.Connect(t.Context(), url, postgres.PoolOptions{Name: "test", Max: 10, Tracer: &s.asked})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s.db, s.commands = db, serviceOf(db, s.clock.Now)
	s.stage = projectionstest.Run(t, pgtest.DB(t), url, fleetOf())
	s.watch = s.another(s.stage)
	if _, second := inScene.LoadOrStore(t, true); second {
		o, _, _, err := s.commands.CreateOrganization(t.Context(), "Acme", false, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.org, s.names = o.ID, map[uuid.UUID]string{}
		s.orders, s.billing = s.register(s.org, "orders"), s.register(s.org, "billing")
	}
	s.listened(time.Hour)
	return s
}

// fill makes what all scenes begin with, and has the read model know of it.
func fill(t *testing.T, url string) error {
	db, pool, err := postgres.Connect(t.Context(), url, postgres.PoolOptions{Name: "test", Max: 10})
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	runner := projections.NewRunner(db, url, slog.New(slog.DiscardHandler), fleetOf())
	if err := runner.Prepare(ctx); err != nil {
		cancel()
		return err
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = runner.Run(ctx) }()
	defer func() { cancel(); <-done }()
	service := serviceOf(db, func() time.Time { return noon })
	o, _, _, err := service.CreateOrganization(ctx, "Acme", false, nil)
	if err != nil {
		return err
	}
	begun.org = o.ID
	for _, server := range []struct { // in this order: an alert of several servers is the first one's
		name string
		id   *uuid.UUID
	}{{"orders", &begun.orders}, {"billing", &begun.billing}} {
		var mark usecase.Mark
		*server.id, mark, err = service.RegisterInstance(ctx, usecase.Actor{OrganizationID: o.ID}, inventory.Registration{Name: server.name, Engine: domain.PostgreSQL, Active: true})
		if err != nil {
			return err
		}
		projectionstest.Follow(t, runner, mark.Log, mark.Position)
	}
	return nil
}

// fleetOf is the read model of servers.
func fleetOf() projections.Projection { return fleet.Projection(usecase.Registry().Decode) }

// serviceOf are the commands of an installation.
func serviceOf(db *sqlx.DB, now func() time.Time) *commands.Service {
	return commands.New(usecase.Base{DB: db, Events: eventstore.New(db), Accounts: accounts.New(db, now), Now: now}, commands.Needs{Instances: fleet.NewReader(db)})
}

// another is the watch of a further process.
func (s *scene) another(waiter projections.Waiter) *watch.Watch {
	return &watch.Watch{
		DB: s.db, Events: s.commands.Events, Organizations: s.commands.Accounts, Fleet: fleet.NewReader(s.db), Waiter: waiter,
		Alerts: s.commands, Now: s.clock.Now, Log: slog.New(slog.DiscardHandler),
	}
}

// listened records that a process has been listening, without a gap, for so long.
func (s *scene) listened(d time.Duration) {
	s.exec(`UPDATE watch_state SET listening_since = $1, listened_at = $2`, s.clock.Now().Add(-d), s.clock.Now().Add(24*time.Hour))
}

func (s *scene) exec(statement string, args ...any) {
	s.Helper()
	if _, err := s.db.ExecContext(s.Context(), statement, args...); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) admin() usecase.Actor {
	return usecase.Actor{OrganizationID: s.org, MemberID: uuid.MustParse("00000000-0000-7000-8000-000000000001")}
}

// register makes a server, and waits until the read model has it.
func (s *scene) register(organization uuid.UUID, name string) uuid.UUID {
	s.Helper()
	id, mark, err := s.commands.RegisterInstance(s.Context(), usecase.Actor{OrganizationID: organization},
		inventory.Registration{Name: name, Engine: domain.PostgreSQL, Active: true})
	s.settle(mark, err)
	s.names[id] = name
	return id
}

func (s *scene) settle(m usecase.Mark, err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
	s.stage.Follow(m.Log, m.Position)
}

func (s *scene) remove(instance uuid.UUID) {
	s.Helper()
	s.settle(s.commands.RemoveInstance(s.Context(), s.admin(), instance))
}

func (s *scene) active(instance uuid.UUID, active bool) {
	s.Helper()
	s.settle(s.commands.ChangeInstance(s.Context(), s.admin(), instance, inventory.Change{Active: &active}))
}

func (s *scene) settings(c organization.ChangeSettings) {
	s.Helper()
	if _, _, err := s.commands.ChangeOrganization(s.Context(), s.admin(), commands.ChangeOrganization{ChangeSettings: c}); err != nil {
		s.Fatal(err)
	}
}

// sample records a figure of orders that was measured just now.
func (s *scene) sample(rule watch.Rule, mount string, value float64) {
	s.Helper()
	s.record(watch.Sign{OrganizationID: s.org, Rule: rule, InstanceID: s.orders, Mount: mount, Value: value, At: s.clock.Now()})
}

// hear records that a feed measured a server's sessions.
func (s *scene) hear(instance uuid.UUID) {
	s.Helper()
	s.observe(status.Observation{Instance: instance, Source: status.Feed, Part: status.Sessions, OK: true})
}

// reach records that Muster connected to servers, refuse that it could not.
func (s *scene) reach(instances ...uuid.UUID) {
	s.Helper()
	for _, id := range instances {
		s.observe(status.Observation{Instance: id, Source: status.Muster, Part: status.Connection, OK: true})
	}
}

func (s *scene) refuse(instances ...uuid.UUID) {
	s.Helper()
	for _, id := range instances {
		s.observe(status.Observation{
			Instance: id, Source: status.Muster, Part: status.Connection, Code: "refused", Sentence: "Connection refused at db01:5432.",
		})
	}
}

func (s *scene) observe(o status.Observation) {
	s.Helper()
	o.Organization, o.At = s.org, s.clock.Now()
	if err := status.Record(s.Context(), s.db, s.clock.Now(), []status.Observation{o}); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) record(signs ...watch.Sign) (recorded int) {
	s.Helper()
	recorded, err := watch.Record(s.Context(), s.db, s.clock.Now(), signs)
	if err != nil {
		s.Fatal(err)
	}
	return recorded
}

func (s *scene) judge() watch.Judgement {
	s.Helper()
	j, err := s.watch.Judge(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if s.notified != nil {
		s.notified.tell()
	}
	return j
}

// after moves the clock and judges.
func (s *scene) after(d time.Duration) {
	s.Helper()
	s.clock.Advance(d)
	s.judge()
}

// event is what the story needs of any event of an alert.
type event struct {
	Stream     uuid.UUID `json:"-"`
	Type       string    `json:"-"`
	Key        string    `json:"key"`
	Title      string    `json:"title"`
	Severity   string    `json:"severity"`
	First      time.Time `json:"firstTriggeredAt"`
	ResolvedAt time.Time `json:"resolvedAt"`

	Description string      `json:"description"`
	Instance    uuid.UUID   `json:"instanceId"`
	Others      []uuid.UUID `json:"otherInstanceIds"`
	Rule        struct {
		Threshold *float64 `json:"threshold"`
	} `json:"rule"`
}

func (s *scene) events() (all []event) {
	s.Helper()
	var rows []struct {
		Stream uuid.UUID `db:"stream_id"`
		Type   string    `db:"type"`
		Data   []byte    `db:"data"`
	}
	err := s.db.SelectContext(s.Context(), &rows,
		`SELECT stream_id, type, data FROM events WHERE log = 'fleet' AND stream_type = 'alert' ORDER BY position`)
	if err != nil {
		s.Fatal(err)
	}
	for _, row := range rows {
		e := event{Stream: row.Stream, Type: row.Type}
		if err := json.Unmarshal(row.Data, &e); err != nil {
			s.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// story says what became of every alert: when it was raised and closed, in time
// since noon.
func (s *scene) story() []string {
	s.Helper()
	keys := map[uuid.UUID]string{}
	told := []string{}
	for _, e := range s.events() {
		if e.Type == "alert.changed" { // its texts, as they were at the end
			continue
		}
		if e.Type == "alert.raised" {
			keys[e.Stream] = strings.TrimPrefix(e.Key, "watch/")
			for id, name := range s.names {
				keys[e.Stream] = strings.ReplaceAll(keys[e.Stream], id.String(), name)
			}
		}
		line := strings.TrimPrefix(e.Type, "alert.") + " " + keys[e.Stream]
		switch {
		case e.Type == "alert.raised":
			line += " " + e.Severity + " " + e.First.Sub(noon).String()
		case !e.ResolvedAt.IsZero():
			line += " " + e.ResolvedAt.Sub(noon).String()
		}
		told = append(told, line)
	}
	return told
}

func (s *scene) wantStory(want ...string) {
	s.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, s.story()); diff != "" {
		s.Errorf("what became of the alerts (-want +got):\n%s", diff)
	}
}

// newest is the alert that was raised last.
func (s *scene) newest() uuid.UUID {
	s.Helper()
	events := s.events()
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == "alert.raised" {
			return events[i].Stream
		}
	}
	s.Fatal("no alert was raised")
	return uuid.Nil
}

// statements counts what the database is asked.
type statements struct{ atomic.Int64 }

func (n *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	n.Add(1)
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
