package pgstore

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
	"muster/internal/testing/pgtest"
)

// TestKindsBeginWithTheirSecondSteps: until then a program from before may run, which cannot roll them
// up. Everything else is kept as ever.
func TestKindsBeginWithTheirSecondSteps(t *testing.T) {
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
