package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/statement"
)

var (
	//go:embed sql/map_hosts.sql
	mapHosts string
	//go:embed sql/latest.sql
	upsertLatest string
	//go:embed sql/connections.sql
	sumConnections string
)

// The shortest time that a sample of sessions counts, and how many of its own
// intervals it does (readings, 23).
const (
	countsAtLeast   = 60 * time.Second
	countsIntervals = 3
)

// keepMappings notes what runs on the hosts, as the newest sample of each names it. A
// sample without a list says nothing; an empty one says that it is nothing we know.
func keepMappings(ctx context.Context, tx *sqlx.Tx, h held, samples []measurements.HostSample) error {
	newest := make(map[int64]*measurements.HostSample)
	for i := range samples {
		of := &samples[i]
		id := h.series[seriesKey{hosts, of.Host}].id
		if known, ok := newest[id]; of.Instances != nil && (!ok || of.At.After(known.At)) {
			newest[id] = of
		}
	}
	if len(newest) == 0 {
		return nil
	}
	var rows buckets
	var instances []string
	for id, of := range newest {
		rows.addBucket(bucket{id, of.At})
		instances = append(instances, array(of.Instances))
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("note what runs on %d hosts", len(newest)), mapHosts, rows.series, instances, rows.starts)
}

// array is a list of ids as PostgreSQL writes it: unnest would take a list of lists
// for one list.
func array(ids []uuid.UUID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// keepLatest keeps the newest sample of each database's sessions.
func keepLatest(ctx context.Context, tx *sqlx.Tx, h held, samples []measurements.SessionSample) error {
	newest := make(map[uuid.UUID]*measurements.SessionSample)
	for i := range samples {
		of := &samples[i]
		if known, ok := newest[of.Database]; !ok || of.At.After(known.At) {
			newest[of.Database] = of
		}
	}
	if len(newest) == 0 {
		return nil
	}
	var rows buckets
	var databases []uuid.UUID
	var until []time.Time
	var active, idle, waiting, inTransaction, other []int64
	for database, of := range newest {
		rows.addBucket(bucket{h.series[seriesKey{sessions, of.Instance.String()}].id, of.At})
		databases, until = append(databases, database), append(until, of.At.Add(max(countsIntervals*of.Interval, countsAtLeast)))
		active, idle, waiting = append(active, of.Active), append(idle, of.Idle), append(waiting, of.Waiting)
		inTransaction, other = append(inTransaction, of.IdleInTransaction), append(other, of.Other)
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("keep the latest sessions of %d databases", len(newest)), upsertLatest, rows.series, uuids(databases), rows.starts, until, active, idle, waiting, inTransaction, other)
}

// Connections is documented at measurements.Store.
func (s *Store) Connections(ctx context.Context, organization uuid.UUID, engine fleet.Engine, databases []uuid.UUID, now time.Time) (measurements.OpenConnections, error) {
	var c measurements.OpenConnections
	var sampled *time.Time
	err := s.db.QueryRowContext(ctx, sumConnections, organization, string(engine), uuids(databases), now).
		Scan(&sampled, &c.Active, &c.Idle, &c.Waiting, &c.IdleInTransaction, &c.Other)
	if err != nil {
		return measurements.OpenConnections{}, fmt.Errorf("sum the connections of %d databases: %w", len(databases), err)
	}
	if sampled != nil {
		c.SampledAt = sampled.UTC()
	}
	return c, nil
}
