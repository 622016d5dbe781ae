package measure_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// hidden is a failing reader that cannot read the sessions either.
type hidden struct {
	failing
	trouble error
}

func (h *hidden) Activity(ctx context.Context, l *measure.Line) (*measure.Activity, error) {
	a, err := h.failing.Activity(ctx, l)
	if a != nil {
		a.Trouble = h.trouble
	}
	return a, err
}

// TestAPartThatFailsIsReported: sessions that the server refuses, and the statements of the one database that
// cannot be read, each with the server's code and under its own name, until they can be read.
func TestAPartThatFailsIsReported(t *testing.T) {
	t.Parallel()
	clock := clocktest.At(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC))
	restoring := &servers.Refusal{Engine: fleet.SQLServer, Code: "error 927", Reason: servers.Failed}
	reader := &hidden{failing: failing{list: &measure.List{}}}
	home := &measuretest.Home{}
	server := measure.New(measure.Config{
		Engine:   measure.Engine{Name: fleet.SQLServer, SessionsEvery: 30 * time.Second, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return reader }},
		Instance: uuid.New(), Home: home, Gate: measure.NewGate(1),
		Open: func(context.Context, servers.Target, string) (servers.Session, error) {
			session := serverstest.New("master")
			session.On("SELECT sessions")
			return session, nil
		},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: clock.Now,
	})
	minute := func(what string, want map[string]string) {
		t.Helper()
		home.Batches = nil
		for range 2 {
			_ = server.Turn(t.Context())
			clock.Advance(30 * time.Second)
		}
		got := map[string]string{}
		for _, b := range home.Batches {
			for _, r := range b.Reached {
				if r.Part == "sessions" || r.Part == "statements" {
					got[r.Part+" "+r.Database] = outcome(r)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	fine := map[string]string{"sessions ": "ok", "statements ": "ok"}
	minute("all is well", fine)
	reader.statements = errors.Join(nil, &measure.DatabaseError{Database: "a]b'c", Err: restoring})
	minute("a database is being restored", map[string]string{"sessions ": "ok", "statements ": "ok", "statements a]b'c": "error 927: A backup of the database is being restored."})
	reader.trouble = &servers.Refusal{Engine: fleet.SQLServer, Code: "error 976", Reason: servers.Failed}
	minute("and the sessions are refused", map[string]string{
		"sessions ": "error 976: A database is on a secondary replica that accepts no readers.", "statements ": "ok", "statements a]b'c": "error 927: A backup of the database is being restored.",
	})
	reader.trouble = nil
	reader.statements = errors.Join(&measure.DatabaseError{Database: "a]b'c", Err: restoring}, context.DeadlineExceeded)
	minute("and the rest is slow", map[string]string{"sessions ": "ok", "statements ": "timeout: The server did not answer in time.", "statements a]b'c": "error 927: A backup of the database is being restored."})
	reader.statements = nil
	minute("it is back", map[string]string{"sessions ": "ok", "statements ": "ok", "statements a]b'c": "ok"})
	minute("and nothing more is said of it", fine)
}

func outcome(r measurements.Reached) string {
	if r.Up {
		return "ok"
	}
	return r.Code + ": " + r.Sentence
}
