package pgstore

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/waitclass"
	"muster/internal/postgres/statement"
	"muster/internal/testing/pgtest"
)

// TestNewKindsBeginWithTheSecondStep: until then a program from before may run, which cannot roll them
// up. Everything else is kept as ever.
func TestNewKindsBeginWithTheSecondStep(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	db.MustExec(`ALTER TABLE measured_series DROP CONSTRAINT measured_series_kinds, DROP CONSTRAINT measured_series_figures`)
	organization := uuid.New()
	s := New(db, slog.New(slog.DiscardHandler))
	write := func(minute int) {
		t.Helper()
		if _, err := s.Write(t.Context(), measurements.Batch{Organization: organization, Sessions: []measurements.SessionSample{{
			Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.UUID{2}, At: time.Now().Add(-time.Duration(minute) * time.Minute), Active: 1,
			Waits: map[string]int64{"Lock": 1}, Doing: []measurements.Doing{{State: measurements.Waits, Wait: "Lock", Event: "relation", Sessions: 1}},
		}}, Servers: []measurements.ServerSample{{
			Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, At: time.Now().Add(-time.Duration(minute) * time.Minute),
			Figures: []measurements.ServerFigure{
				{Figure: measurements.OldestTransaction, Telling: measurements.Told, Value: 1}, {Figure: measurements.ReplicationLag, Telling: measurements.Told, Value: 1},
			},
		}}}); err != nil {
			t.Fatal(err)
		}
	}
	kinds := func(want ...string) {
		t.Helper()
		got, err := statement.All[string](t.Context(), db, "list kinds", `SELECT kind FROM measured_series UNION ALL SELECT name FROM measured_names ORDER BY 1`)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v are kept, want %v; %v", got, want, err)
		}
	}
	figures := func(want ...measurements.Figure) {
		t.Helper()
		body, err := statement.One[[]byte](t.Context(), db, "read the newest sample", `SELECT body FROM raw_samples JOIN measured_series ON id = series_id WHERE kind = 'server' ORDER BY at DESC LIMIT 1`)
		if err != nil {
			t.Fatal(err)
		}
		var got []measurements.Figure
		if err := codec.EachFigure(body, func(of measurements.FigureOf, _ codec.FigureSum) { got = append(got, of.Figure) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%v are kept, want %v", got, want)
		}
	}
	write(4)
	kinds("sessions")
	db.MustExec(`ALTER TABLE measured_series ADD CONSTRAINT measured_series_kinds CHECK (true)`)
	write(3) // it asks again in half a minute
	kinds("sessions")
	s.AskEvery = 0
	write(2)
	kinds("activity", "relation", "sessions")
	db.MustExec(`ALTER TABLE measured_series DROP CONSTRAINT measured_series_kinds, ADD CONSTRAINT measured_series_kinds CHECK (kind <> 'server' OR true)`)
	write(1)
	kinds("activity", "relation", "server", "sessions")
	figures(measurements.OldestTransaction)
	db.MustExec(`ALTER TABLE measured_series ADD CONSTRAINT measured_series_figures CHECK (true)`)
	write(0)
	figures(measurements.OldestTransaction, measurements.ReplicationLag)
}

// TestTenThousandSessions of one database, no two of which are alike: every figure has all of them, 200 combinations are
// kept one by one, and the others as one, on the CPU and waiting.
func TestTenThousandSessions(t *testing.T) {
	t.Parallel()
	s, organization, at := keepsPeople(t), uuid.New(), timegrid.Minute.Floor(time.Now()).Add(-time.Minute)
	const half = 5000
	sample := measurements.SessionSample{
		Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.UUID{2}, At: at, Interval: 10 * time.Second,
		Active: half, Waits: map[string]int64{"Lock": half},
	}
	for i := range half {
		for _, d := range []measurements.Doing{{State: measurements.OnCPU}, {State: measurements.Waits, Wait: "Lock", Event: "tuple"}} {
			d.User, d.Application, d.Client, d.Statement, d.Sessions = fmt.Sprint("user", i), fmt.Sprint("app", i%7), fmt.Sprint("10.0.0.", i), fmt.Sprint(i), 1
			sample.Doing = append(sample.Doing, d)
		}
	}
	write(t, s, measurements.Batch{Organization: organization, Sessions: []measurements.SessionSample{sample}})
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := timegrid.Window{From: at, To: at.Add(time.Minute), Size: timegrid.Minute}
	waits, err := s.WaitEvents(t.Context(), organization, fleet.PostgreSQL, fleet.Scope{}, w)
	if err != nil || waits.Waiting[waitclass.Locks][0] != half {
		t.Errorf("%g sessions wait, %v", waits.Waiting[waitclass.Locks][0], err)
	}
	for by, lines := range map[measurements.Dimension]int{measurements.DimState: 2, measurements.DimUser: measurements.MaxDoings + 1, measurements.DimInstance: 1} {
		part, err := s.Activity(t.Context(), organization, fleet.PostgreSQL, fleet.Scope{Filtered: true, Instances: []uuid.UUID{{1}}}, w, measurements.ActivityQuery{By: by})
		sum := 0.0
		for _, line := range part.Lines {
			sum += line[0]
		}
		if err != nil || sum != 2*half || len(part.Lines) > lines {
			t.Errorf("by %s: %g sessions in %d lines, want %d in %d at most; %v", by, sum, len(part.Lines), 2*half, lines, err)
		}
	}
	names, err := statement.One[int](t.Context(), s.db, "count names", `SELECT count(*) FROM measured_names WHERE organization_id = $1`, organization)
	if err != nil || names == 0 || names > 3*measurements.MaxDoings+1 {
		t.Errorf("%d names are kept, %v", names, err)
	}
}
