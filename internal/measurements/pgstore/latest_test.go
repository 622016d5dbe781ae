package pgstore

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// TestConnections sums the newest samples that count yet (readings, 23).
func TestConnections(t *testing.T) {
	t.Parallel()
	s, organization := newStore(t), uuid.New()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	orders, billing, other := uuid.New(), uuid.New(), uuid.New()
	ofPostgres, ofOracle := uuid.New(), uuid.New()
	open := func(instance uuid.UUID, engine fleet.Engine, database uuid.UUID, ago, interval time.Duration, active int64) {
		write(t, s, measurements.Batch{Organization: organization, Sessions: []measurements.SessionSample{{
			Instance: instance, Engine: engine, Database: database, At: now.Add(-ago), Interval: interval,
			Active: active, Idle: 2, Waiting: 3, IdleInTransaction: 4, Other: 5}}})
	}
	open(ofPostgres, fleet.PostgreSQL, orders, 20*time.Second, 10*time.Second, 10)
	open(ofPostgres, fleet.PostgreSQL, orders, 30*time.Second, 10*time.Second, 700) // late
	open(ofPostgres, fleet.PostgreSQL, orders, 20*time.Second, 10*time.Second, 700) // again: the first stays
	open(ofPostgres, fleet.PostgreSQL, billing, 90*time.Second, 30*time.Second, 20)
	open(ofPostgres, fleet.PostgreSQL, other, 0, 0, 400)
	open(ofOracle, fleet.Oracle, other, 0, 0, 4000)
	for _, c := range []struct {
		name      string
		engine    fleet.Engine
		databases []uuid.UUID
		after     time.Duration
		sampled   time.Duration // before now
		active    int64
	}{
		{"both", fleet.PostgreSQL, []uuid.UUID{orders, billing}, 0, 90 * time.Second, 30},
		{"named twice", fleet.PostgreSQL, []uuid.UUID{orders, orders}, 0, 20 * time.Second, 10},
		{"three intervals are over", fleet.PostgreSQL, []uuid.UUID{orders, billing}, time.Microsecond, 20 * time.Second, 10},
		{"at least a minute", fleet.PostgreSQL, []uuid.UUID{orders, billing}, 40 * time.Second, 20 * time.Second, 10},
		{"nothing is left", fleet.PostgreSQL, []uuid.UUID{orders, billing}, 41 * time.Second, 0, 0},
		{"another engine", fleet.Oracle, []uuid.UUID{orders, billing, other}, 0, 0, 4000},
		{"of no database", fleet.PostgreSQL, nil, 0, 0, 0},
	} {
		got, err := s.Connections(t.Context(), organization, c.engine, c.databases, now.Add(c.after))
		if err != nil {
			t.Fatal(err)
		}
		n := map[bool]int64{true: 0, false: 1}[c.active == 0]
		if c.active == 30 {
			n = 2
		}
		want := measurements.OpenConnections{Active: c.active, Idle: 2 * n, Waiting: 3 * n, IdleInTransaction: 4 * n, Other: 5 * n}
		if n > 0 {
			want.SampledAt = now.Add(-c.sampled)
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}
