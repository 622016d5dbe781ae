package measure_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
	"muster/internal/watch"
)

// slow reads a server that has one more statement each minute and takes some time to give
// the texts.
type slow struct {
	clock   *clocktest.Clock
	takes   time.Duration
	minutes uint64
	asked   int
	leaves  []measure.Ref // what there was no time for at first
	of      [][]measure.Ref
}

func (r *slow) Activity(context.Context, *measure.Line) (*measure.Activity, error) {
	return &measure.Activity{Databases: []measure.Database{{ID: 1, Name: "app"}}}, nil
}

func (*slow) Replication(context.Context, *measure.Line, time.Time) (*replication.State, error) {
	return nil, nil
}
func (*slow) Freed(context.Context, *measure.Line, blocking.Node, time.Time) (blocking.End, error) {
	return "", nil
}
func (*slow) Blocking(context.Context, *measure.Line, time.Time, bool) (*blocking.Look, error) {
	return nil, nil
}
func (r *slow) Signs(context.Context, *measure.Line) ([]watch.Sign, error)       { return nil, nil }
func (r *slow) Figures(context.Context, *measure.Line) ([]measure.Figure, error) { return nil, nil }

func (r *slow) Statements(context.Context, *measure.Line) (*measure.List, error) {
	r.minutes++
	var entries []measure.Entry
	for i := range r.minutes {
		which := measure.Statement{i, 0}
		entries = append(entries, measure.Entry{Key: measure.Key{Database: 1, Entry: which}, Statement: which, Calls: int64(r.minutes), TotalMs: float64(r.minutes)}) //nolint:gosec // G115: small
	}
	at := measure.Clocks{Now: r.clock.Now().UnixMicro(), Started: 1}
	return measure.NewList(at, at, entries), nil
}

func (r *slow) Texts(_ context.Context, _ *measure.Line, of []measure.Ref) (map[measure.Ref]string, error) {
	r.asked++
	r.clock.Advance(r.takes)
	r.of = append(r.of, of)
	texts := make(map[measure.Ref]string)
	for _, ref := range of {
		texts[ref] = "SELECT ?"
	}
	if left := r.leaves; left != nil {
		r.leaves = nil
		return texts, &measure.TextsLeftError{Of: left}
	}
	return texts, nil
}

func (r *slow) Missing() ([]snapshot.MissingGrant, bool) { return nil, true }
func (r *slow) Name(s measure.Statement) string          { return strconv.FormatUint(s[0], 10) }

// TestEarlierExecutionsOfAStatementAreKnown, F4: for a statement on the previous list, its server had counted
// executions; for a new one, none.
func TestEarlierExecutionsOfAStatementAreKnown(t *testing.T) {
	t.Parallel()
	clock := clocktest.At(time.Now().Truncate(time.Minute))
	reader, home := &slow{clock: clock, minutes: 2}, &measuretest.Home{}
	one := measure.New(measure.Config{
		Engine: measure.Engine{
			Name: fleet.PostgreSQL, SessionsEvery: time.Minute, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return reader },
		},
		Home: home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: clock.Now,
		Open: func(context.Context, servers.Target, string) (servers.Session, error) {
			return serverstest.New("app"), nil
		},
	})
	defer one.Close(t.Context())
	for range 2 {
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Minute)
	}
	before := map[string]bool{}
	for _, b := range home.Batches {
		for _, sample := range b.Statements {
			for _, s := range sample.Statements {
				before[s.Key] = s.RanBefore
			}
		}
	}
	if diff := cmp.Diff(map[string]bool{"0": true, "1": true, "2": true, "3": false}, before); diff != "" {
		t.Error(diff)
	}
}

// TestF9RemainingTextsAreRequestedLater, and the others are not.
func TestF9RemainingTextsAreRequestedLater(t *testing.T) {
	t.Parallel()
	clock := clocktest.At(time.Now().Truncate(time.Minute))
	left := measure.Ref{Database: 1, Statement: measure.Statement{1, 0}}
	reader := &slow{clock: clock, minutes: 2, leaves: []measure.Ref{left}}
	one := measure.New(measure.Config{
		Engine: measure.Engine{
			Name: fleet.PostgreSQL, SessionsEvery: time.Minute, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return reader },
		},
		Home: &measuretest.Home{Texts: true}, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: clock.Now,
		Open: func(context.Context, servers.Target, string) (servers.Session, error) {
			return serverstest.New("app"), nil
		},
	})
	defer one.Close(t.Context())
	for range 3 {
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Minute)
	}
	if len(reader.of) != 2 || len(reader.of[0]) != 4 || len(reader.of[1]) != 2 || !slices.Contains(reader.of[1], left) {
		t.Errorf("asked for %v", reader.of)
	}
}

// TestTextsCostAtMostAHundredth: C13. In an hour of 2.8 s an answer, 36 s are spent on them,
// and every statement has its text at the end.
func TestTextsCostAtMostAHundredth(t *testing.T) {
	t.Parallel()
	for takes, most := range map[time.Duration]int{2800 * time.Millisecond: 13, 0: 60} {
		clock := clocktest.At(time.Now().Truncate(time.Minute))
		reader := &slow{clock: clock, takes: takes}
		home := &measuretest.Home{Texts: true}
		one := measure.New(measure.Config{
			Engine: measure.Engine{
				Name: fleet.PostgreSQL, SessionsEvery: time.Minute, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return reader },
			},
			Home: home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: clock.Now,
			Open: func(context.Context, servers.Target, string) (servers.Session, error) {
				return serverstest.New("app"), nil
			},
		})
		hour, told := clock.Now().Add(time.Hour), make(map[string]bool)
		for next := clock.Now(); next.Before(hour); next = next.Add(time.Minute) {
			clock.Advance(next.Sub(clock.Now()))
			if err := one.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		one.Close(t.Context())
		for _, b := range home.Batches {
			for _, sample := range b.Statements {
				for _, s := range sample.Statements {
					if s.Text != "" {
						told[s.Key] = true
					}
				}
			}
		}
		if reader.asked > most || reader.asked < most-2 {
			t.Errorf("with %s an answer they are asked for %d times in an hour, want about %d", takes, reader.asked, most)
		}
		if len(told) < 54 {
			t.Errorf("with %s an answer %d statements have a text", takes, len(told))
		}
	}
}
