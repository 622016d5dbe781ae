package writing

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/map_hosts.sql
	mapHosts string
	//go:embed sql/latest.sql
	upsertLatest string
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
	newest := make(map[string]measurements.HostSample)
	for _, s := range samples {
		if known, ok := newest[s.Host]; s.Instances != nil && (!ok || s.At.After(known.At)) {
			newest[s.Host] = s
		}
	}
	if len(newest) == 0 {
		return nil
	}
	type mapping struct {
		Series    int64
		Instances string // as PostgreSQL writes an array: unnest would take a list of lists for one list
		At        time.Time
	}
	var rows []mapping
	for host, s := range newest {
		rows = append(rows, mapping{h.series[seriesKey{codec.Hosts, host}], "{" + strings.Join(tables.Subjects(s.Instances), ",") + "}", s.At})
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("note what runs on %d hosts", len(rows)), mapHosts, statement.Columns(rows)...)
}

// keepLatest keeps the newest sample of each database's sessions.
func keepLatest(ctx context.Context, tx *sqlx.Tx, h held, samples []measurements.SessionSample) error {
	newest := make(map[uuid.UUID]measurements.SessionSample)
	for _, s := range samples {
		if known, ok := newest[s.Database]; s.Part != measurements.OnlyWaits && (!ok || s.At.After(known.At)) {
			newest[s.Database] = s
		}
	}
	if len(newest) == 0 {
		return nil
	}
	type latest struct {
		Series                                          int64
		Database                                        [16]byte
		At, Until                                       time.Time
		Active, Idle, Waiting, IdleInTransaction, Other int64
		Partial                                         bool
	}
	var rows []latest
	for database, s := range newest {
		rows = append(rows, latest{
			h.series[seriesKey{codec.Sessions, s.Instance.String()}], database, s.At, s.At.Add(max(countsIntervals*s.Interval, countsAtLeast)),
			s.Active, s.Idle, s.Waiting, s.IdleInTransaction, s.Other, s.Partial,
		})
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("keep the latest sessions of %d databases", len(rows)), upsertLatest, statement.Columns(rows)...)
}
