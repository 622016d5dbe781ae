package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/ensure_series.sql
	ensureSeries string
	//go:embed sql/lock_series.sql
	lockSeries string
)

// series is a row of measured_series that we hold.
type series struct {
	ID           int64     `db:"series_id"`
	Organization uuid.UUID `db:"organization_id"`
	Kind         string
	Subject      string
	Engine       fleet.Engine
	WatchedFrom  *time.Time `db:"watched_from"` // of statements: when their first interval began
}

// block is the series as its blocks are known by.
func (s series) block() blocks.Series {
	return blocks.Series{ID: s.ID, Organization: s.Organization, Kind: s.Kind, Subject: s.Subject, Engine: s.Engine}
}

// seriesKey is what a series of an organization is known by.
type seriesKey struct{ kind, subject string }

// held are the series of a batch, locked, and the database's time.
type held struct {
	series map[seriesKey]int64
	rows   map[int64]series
	now    time.Time
}

// hold makes the series of arrivals, and of sessions that are only counted, where they
// are missing, and locks all of them until the transaction ends. The error is an
// *blocks.UnavailableError where the head takes no more of one.
func (s *Store) hold(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, arrived []codec.Arrival, sessions []measurements.SessionSample) (held, error) {
	engines := make(map[seriesKey]fleet.Engine)
	for _, one := range sessions {
		engines[seriesKey{codec.Sessions, one.Instance.String()}] = one.Engine
	}
	for _, a := range arrived {
		engines[seriesKey{a.Kind, a.Subject}] = a.Engine
	}
	type wanted struct{ Kind, Subject, Engine string }
	var all []wanted
	for key, engine := range engines {
		all = append(all, wanted{key.kind, key.subject, string(engine)})
	}
	args := append([]any{organization}, statement.Columns(all)...)
	if err := statement.Exec(ctx, tx, fmt.Sprintf("make %d series", len(all)), ensureSeries, args...); err != nil {
		return held{}, err
	}
	type locked struct {
		series
		Now  time.Time
		Full bool // the head takes no more of it
	}
	rows, err := statement.All[locked](ctx, tx, fmt.Sprintf("hold %d series", len(all)), lockSeries,
		append(args[:3:3], HeadBound)...)
	h := held{series: make(map[seriesKey]int64, len(rows)), rows: make(map[int64]series, len(rows))}
	for _, row := range rows {
		key := seriesKey{row.Kind, row.Subject}
		if row.Full {
			return held{}, row.refused()
		}
		h.series[key], h.rows[row.ID], h.now = row.ID, row.series, row.Now
		if arrives := engines[key]; arrives != row.Engine {
			s.log.WarnContext(ctx, "samples of another engine than their series is of", "series", row.ID, "of", row.Engine, "sent", arrives)
		}
	}
	if err == nil && len(rows) < len(all) { // it was there, and is gone: nothing else deletes series
		return held{}, &measurements.DeletedError{Organization: organization}
	}
	return h, err
}
