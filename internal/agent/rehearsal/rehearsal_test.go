package rehearsal_test

import (
	"context"
	"os"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/agent/rehearsal"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/intake/measure/postgresql"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// waiting reads statements until it is interrupted.
type waiting struct{ measure.Reader }

func (waiting) Statements(ctx context.Context, _ *measure.Line) (*measure.List, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestF47ARehearsalCountsStatements of several lists, with their texts, and names the parts that fail.
func TestF47ARehearsalCountsStatements(t *testing.T) {
	t.Parallel()
	w := measuretest.NewWatched(t, pgtest.Majors(t)[0])
	engine := postgresql.Engine(time.Now)
	engine.SessionsEvery, engine.StatementsEvery = 100*time.Millisecond, 200*time.Millisecond
	target, err := new(servers.Reach).Target(fleet.PostgreSQL, w.DSN)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for end := time.Now().Add(6 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			w.Admin.MustExec("SELECT count(*) FROM pg_class WHERE relname = 'rehearsed'")
		}
	}()
	got := rehearsal.Run(t.Context(), engine, target, 6*time.Second)
	<-done
	if got.Seconds < 3 || got.Sessions < 2 || got.Intervals == 0 || got.Statements == 0 || got.Calls < 2 || got.Texts == 0 || len(got.Failed) != 0 {
		t.Errorf("%+v", got)
	}
	waits := engine
	waits.NewReader = func() measure.Reader { return waiting{engine.NewReader()} }
	if got := rehearsal.Run(t.Context(), waits, target, time.Second); len(got.Failed) != 0 {
		t.Errorf("what its end interrupts has failed: %+v", got)
	}
	target.Password, target.User = "wrong", "nobody_of_this_name"
	if got := rehearsal.Run(t.Context(), engine, target, 3*time.Second); got.Sessions != 0 || got.Failed["connection"] == "" {
		t.Errorf("of a server that refuses: %+v", got)
	}
}
