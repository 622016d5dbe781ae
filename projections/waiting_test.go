package projections_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
	"muster/projections"
)

func TestWait(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	r := s.runner(p.projection())
	if !r.Wait(t.Context(), eventstore.Organization, 100) {
		t.Error("a log that no projection reads is waited for")
	}
	position := s.appendNumbers(uuid.New(), "plain", 1)
	if r.Wait(t.Context(), eventstore.Reports, position) {
		t.Error("nobody applies, and Wait says it is applied")
	}
	s.run(r)
	s.settle(r, position)

	// Another process, in which nothing runs, sees it too.
	elsewhere := s.runner((&sums{}).projection())
	s.settle(elsewhere, s.appendNumbers(uuid.New(), "plain", 2))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r.Wait(ctx, eventstore.Reports, position+100) {
		t.Error("a caller who is gone is told that all is well")
	}
}

func TestStatusAndReadiness(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	numbers := make([]int, 1500)
	position := s.appendNumbers(uuid.New(), "plain", numbers...)
	r := s.runner(p.projection())

	var behind *projections.NotReadyError
	if err := r.Ready(t.Context()); !errors.As(err, &behind) || behind.LagEvents != position {
		t.Errorf("before anything is applied: %v, want a *NotReadyError with %d events", err, position)
	}
	if st := s.status(r); st.LagEvents != position || st.HeadPosition != position || st.LagSeconds <= 0 || st.Status != projections.Running {
		t.Errorf("status is %+v", st)
	}
	s.exec(`UPDATE checkpoints SET updated_at = now() - interval '1 minute'`)
	pgtest.Unguard(t, s.db)
	s.exec(`UPDATE events SET recorded_at = now() - interval '1 minute'`)
	if st := s.status(r); st.Status != projections.Stalled || st.LagSeconds < 59 {
		t.Errorf("status is %+v, want stalled for a minute", st)
	}
	s.run(r)
	s.settle(r, position)
	if err := r.Ready(t.Context()); err != nil {
		t.Errorf("once caught up: %v", err)
	}
	if st := s.status(r); st.LagEvents != 0 || st.LagSeconds != 0 || st.Status != projections.Running || st.Position != position {
		t.Errorf("status is %+v", st)
	}
}

// Who waits for one projection does not wait for another that stands still.
func TestWaitForOne(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	moving, still := (&sums{}).projection(), (&sums{}).projection()
	still.Name = "still"
	s.run(s.runner(moving)) // no process runs the other one
	both := s.runner(moving, still)
	position := s.appendNumbers(uuid.New(), "plain", 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !both.Wait(ctx, eventstore.Reports, position, moving.Name) {
		if ctx.Err() != nil {
			t.Fatal("it waits for the other one")
		}
	}
	if both.Wait(t.Context(), eventstore.Reports, position) || both.Wait(t.Context(), eventstore.Reports, position, moving.Name, still.Name) {
		t.Error("one stands still, and Wait says that both have passed")
	}
}

// A program of a new version fills its own tables while the old one serves. When that one
// comes back, as on the way back of an upgrade, its tables are as it left them.
func TestTwoVersionsSideBySide(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	older, newer := &sums{}, &sums{}
	next := newer.projection()
	next.Version = 2
	old := s.runner(older.projection())
	stop := s.run(old)
	stream := uuid.New()
	s.settle(old, s.appendNumbers(stream, "plain", 1))

	latest := s.runner(next)
	s.run(latest)
	position := s.appendNumbers(stream, "plain", 2)
	s.settle(latest, position)
	s.settle(old, position)
	var traces []string
	err := s.db.Select(&traces, `SELECT trace FROM sums_v1.streams UNION ALL SELECT trace FROM sums_v2.streams`)
	if err != nil || len(traces) != 2 || traces[0] != "1 2 " || traces[1] != "1 2 " {
		t.Errorf("traces are %q, %v", traces, err)
	}
	if older.pages.Load() == 0 || newer.pages.Load() == 0 {
		t.Error("one program filled both versions")
	}

	stop()
	position = s.appendNumbers(stream, "plain", 3)
	s.settle(latest, position)
	s.want(map[uuid.UUID]string{stream: "1 2 "})
	back := s.runner(older.projection())
	if err := back.Ready(t.Context()); err != nil { // one event behind is near enough
		t.Errorf("the older one is not ready when it comes back: %v", err)
	}
	s.run(back)
	s.settle(back, position)
	s.want(map[uuid.UUID]string{stream: "1 2 3 "})
	if got := s.schemas(); got != "sums_v1 sums_v1_g1 sums_v2 sums_v2_g1" {
		t.Errorf("schemas are %s", got)
	}
}

func TestConnectionBudget(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{
		"max_connections": "20", "superuser_reserved_connections": "3",
	}})
	db := pgtest.Connect(t, server.Superuser())
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	// Given 20 connections, 3 reserved, our own one open.
	if err := projections.ConnectionBudget(t.Context(), db, projections.Pools{HTTP: 8, Workers: 2, Subscribers: 7, Open: 1}); err != nil {
		t.Errorf("17 of 17: %v", err)
	}
	err := projections.ConnectionBudget(t.Context(), db, projections.Pools{HTTP: 10, Workers: 2, Subscribers: 7, Open: 1})
	var short *projections.BudgetError
	if !errors.As(err, &short) || short.Short() != 2 || short.Max != 20 || short.Reserved != 3 || short.Others != 0 {
		t.Errorf("19 of 17: %v (%+v)", err, short)
	}
	// If other callers hold five.
	for range 5 {
		other := pgtest.Connect(t, server.Superuser())
		if err := other.Ping(); err != nil {
			t.Fatal(err)
		}
	}
	err = projections.ConnectionBudget(t.Context(), db, projections.Pools{HTTP: 8, Workers: 2, Subscribers: 7, Open: 1})
	if !errors.As(err, &short) || short.Others < 5 {
		t.Errorf("17 of 12: %v", err)
	}
}

func TestSessionsAreRequired(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, pool, err := postgres.Connect(ctx, pgtest.URL(t), postgres.PoolOptions{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := projections.RequireSessions(ctx, pool); err != nil {
		t.Errorf("PostgreSQL itself: %v", err)
	}
}
