package measure_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
	"muster/internal/watch/status"
)

// counting is a reader of a server with one statement, which runs once in ten seconds and
// whose counters begin anew at reset.
type counting struct {
	idle
	clock          *clocktest.Clock
	started, reset *time.Time
}

func (c counting) Statements(context.Context, *measure.Line) (*measure.List, error) {
	now := c.clock.Now()
	clocks := measure.Clocks{Now: now.UnixMicro(), Started: c.started.UnixMicro(), Reset: c.reset.UnixMicro()}
	calls := int64(now.Sub(*c.reset) / (10 * time.Second))
	return measure.NewList(clocks, clocks, []measure.Entry{{Key: measure.Key{Entry: measure.Statement{1}}, Statement: measure.Statement{1}, Calls: calls, TotalMs: float64(calls)}}), nil
}

// TestResetsOfStatisticsAreReported: a reset of a server's statement statistics, and how often it happened in
// an hour, is reported with the statements, which are measured (I-25). A restart is no reset.
func TestResetsOfStatisticsAreReported(t *testing.T) {
	t.Parallel()
	clock := clocktest.At(time.Date(2026, 11, 27, 6, 0, 0, 0, time.UTC))
	started, reset := clock.Now().Add(-time.Hour), clock.Now().Add(-time.Hour)
	target, err := servers.Parse(fleet.PostgreSQL, "postgres://muster@db01.example/app")
	if err != nil {
		t.Fatal(err)
	}
	home := &measuretest.Home{To: target}
	session := serverstest.New("app")
	session.On("SELECT sessions")
	server := measure.New(measure.Config{
		Engine: measure.Engine{Name: fleet.PostgreSQL, SessionsEvery: 10 * time.Second, StatementsEvery: time.Minute,
			NewReader: func() measure.Reader { return counting{clock: clock, started: &started, reset: &reset} }},
		Instance: uuid.MustParse("00000000-0000-7000-8000-000000000000"), Home: home, Gate: measure.NewGate(1),
		Open: func(context.Context, servers.Target, string) (servers.Session, error) { return session, nil },
		Log:  slog.New(slog.DiscardHandler), Now: clock.Now,
	})
	said := func() (last measurements.Reached) {
		for _, b := range home.Batches {
			for _, r := range b.Reached {
				if r.Part == string(status.Statements) {
					last = r
				}
			}
		}
		return last
	}
	minutes := func(n int, each func()) {
		for range n {
			each()
			for range 6 {
				if err := server.Turn(t.Context()); err != nil {
					t.Fatal(err)
				}
				clock.Advance(10 * time.Second)
			}
		}
	}
	expect := func(when, words string) {
		t.Helper()
		got := said()
		if !got.Up || got.Part == "" || (words == "") != (got.Code == "") || !strings.Contains(got.Sentence, words) {
			t.Errorf("%s the statements are said to be %+v, want %q", when, got, words)
		}
	}
	minutes(3, func() {})
	expect("without a reset", "")
	minutes(1, func() { reset = clock.Now().Add(-time.Second) })
	minutes(2, func() {})
	expect("after one reset", "were reset in 1 interval of the last hour. Calls between the last reading and the reset")
	minutes(5, func() { reset = clock.Now().Add(-time.Second) })
	minutes(1, func() {})
	expect("after five more", "were reset in 6 intervals of")
	// An interval that could not be stored is not counted twice.
	reset = clock.Now().Add(-time.Second)
	home.Fail = context.DeadlineExceeded
	_ = server.Turn(t.Context())
	clock.Advance(time.Minute)
	minutes(2, func() {})
	expect("after one more that was kept at the second time", "were reset in 7 intervals of")
	minutes(62, func() {})
	expect("an hour later", "")
	started, reset = clock.Now().Add(-time.Second), clock.Now().Add(-time.Second)
	minutes(2, func() {})
	expect("after a restart", "")
}
