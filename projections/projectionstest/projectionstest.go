package projectionstest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/projections"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// Stage is a database with projections that follow their logs.
type Stage struct {
	*projections.Runner
	t    testing.TB
	db   *sqlx.DB
	last map[eventstore.Log]int64
}

// Run makes the projections' tables in the database at url, which db is
// connected to, and fills them until the test ends.
func Run(t testing.TB, db *sqlx.DB, url string, filled ...projections.Projection) *Stage {
	t.Helper()
	runner := projections.NewRunner(db, url, slog.New(slog.DiscardHandler), filled...)
	runner.Share(1)
	if err := runner.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = runner.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return &Stage{Runner: runner, t: t, db: db, last: make(map[eventstore.Log]int64)}
}

// Append writes to a log and returns its new head.
func (s *Stage) Append(log eventstore.Log, batches ...eventstore.Append) int64 {
	s.t.Helper()
	position, err := eventstore.New(s.db).Append(s.t.Context(), log, batches...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.last[log] = position
	return position
}

// Settle waits until everything that was appended shows.
func (s *Stage) Settle() {
	s.t.Helper()
	for log, position := range s.last {
		s.Follow(log, position)
	}
}

// Follow waits until what was appended up to a position shows.
func (s *Stage) Follow(log eventstore.Log, position int64) {
	s.t.Helper()
	Follow(s.t, s.Runner, log, position)
}

// Follow waits until a runner's projections have passed a position of a log, a minute at most.
func Follow(t testing.TB, runner *projections.Runner, log eventstore.Log, position int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !runner.Wait(ctx, log, position) {
		if ctx.Err() != nil {
			t.Fatalf("the projections do not catch up with %d of %s", position, log)
		}
	}
}
