package clickhouse_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore"
)

// tilesWhileAway checks the statement of docs/operators.md about tiles while a shard is away.
// Hours that have been over for ten minutes are on the shards, so a window that reaches into
// one of them needs the shards of its series, however short it is. Fleets with 32 series and
// more have rows of their own in PostgreSQL, from which a tile without a filter is read.
func tilesWhileAway(t *testing.T, ledger *sqlx.DB, s *clickhouse.Store, gone *clickhousetest.Server) {
	store := pgstore.NewOn(ledger, s, quiet())
	tiles := &measurements.Tiles{Store: store, Log: quiet()}
	small, large := uuid.New(), uuid.New()
	now := time.Now().UTC()
	over, cpu := timegrid.Hour.Floor(now).Add(-2*time.Hour), 40.0
	var databases []uuid.UUID
	for organization, hosts := range map[uuid.UUID]int{small: 12, large: 40} {
		b := measurements.Batch{Organization: organization}
		for n := range hosts {
			instance, database := uuid.New(), uuid.New()
			for _, at := range []time.Time{over.Add(5 * time.Minute), now.Add(-time.Second)} {
				b.Hosts = append(b.Hosts, measurements.HostSample{Host: fmt.Sprint("host-", n), At: at, CPUPercent: &cpu})
				b.Sessions = append(b.Sessions, measurements.SessionSample{Instance: instance, Engine: fleet.PostgreSQL, Database: database,
					At: at, Interval: time.Minute, Active: 2, Waits: map[string]int64{"Lock": 1}})
				b.Statements = append(b.Statements, measurements.StatementSample{Instance: instance, Engine: fleet.PostgreSQL, Database: database,
					At: at, Interval: time.Minute, Statements: []measurements.Statement{{Key: "a", Calls: 1, TotalMs: 10}}})
			}
			if organization == small {
				databases = append(databases, database)
			}
		}
		if _, err := store.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []func() error{
		func() error { _, err := store.Roll(t.Context()); return err },
		func() error {
			for {
				if made, err := store.Whole(t.Context()); err != nil || made == 0 {
					return err
				}
			}
		},
		func() error {
			_, err := ledger.ExecContext(t.Context(), `UPDATE measured_hours SET arrived_at = arrived_at - interval '11 minutes'`)
			return err
		},
		func() error { _, err := store.Compact(t.Context()); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	gone.Kill(t)
	defer gone.Restart(t)
	lately := timegrid.Window{From: timegrid.Minute.Floor(now.Add(-2 * time.Second)), To: timegrid.Minute.Floor(now).Add(time.Minute), Size: timegrid.Minute}
	before := timegrid.Window{From: over, To: over.Add(50 * time.Minute), Size: timegrid.Minute}
	utilization := func(organization uuid.UUID, w timegrid.Window) (measurements.Utilization, error) {
		return tiles.Utilization(t.Context(), organization, measurements.HostScope{}, w)
	}
	if u, err := utilization(small, lately); err != nil || u.HostCount != 12 {
		t.Errorf("of an hour that is not over: %d hosts, %v", u.HostCount, err)
	}
	var away *blocks.UnavailableError
	if u, err := utilization(small, before); !errors.As(err, &away) {
		t.Errorf("50 minutes of an hour that is over, of 12 hosts: %d hosts, %v", u.HostCount, err)
	}
	if u, err := utilization(large, before); err != nil || u.HostCount != 40 || u.CPUPercent[5] != cpu {
		t.Errorf("50 minutes of an hour that is over, of 40 hosts: %d hosts, %v", u.HostCount, err)
	}
	queries, err := tiles.QueryPerformance(t.Context(), small, fleet.Scope{}, before, now)
	if err != nil || !queries.Incomplete || len(queries.Engines) > 0 || slices.ContainsFunc(queries.AvgMs, func(v float64) bool { return !math.IsNaN(v) }) {
		t.Errorf("query performance of an hour that is over: %+v, %v", queries, err)
	}
	waits, err := tiles.WaitEvents(t.Context(), small, fleet.Scope{}, before)
	if err != nil || !waits.Incomplete || len(waits.Engines) > 0 {
		t.Errorf("wait events of an hour that is over: %+v, %v", waits, err)
	}
	if queries, err := tiles.QueryPerformance(t.Context(), large, fleet.Scope{}, before, now); err != nil || queries.Incomplete || queries.AvgMs[5] != 10 {
		t.Errorf("query performance of 40 instances: %+v, %v", queries, err)
	}
	if card, err := tiles.Connections(t.Context(), small, databases, now); err != nil || card.Incomplete || card.Active != 24 {
		t.Errorf("connections: %+v, %v", card, err)
	}
}
