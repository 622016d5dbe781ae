package pgstore

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
)

var (
	//go:embed sql/ensure_series.sql
	ensureSeries string
	//go:embed sql/lock_series.sql
	lockSeries string
)

// series is a row of measured_series that we hold.
type series struct {
	id     int64
	name   string // of the kind
	engine fleet.Engine
}

// seriesKey is what a series of an organization is known by.
type seriesKey struct{ kind, subject string }

// held are the series of a batch, locked, and the database's time.
type held struct {
	series map[seriesKey]series
	now    time.Time
}

// hold makes the series of arrivals that are missing and locks all of them until the
// transaction ends.
func (s *Store) hold(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, arrived []arrival) (held, error) {
	engines := make(map[seriesKey]fleet.Engine)
	for _, a := range arrived {
		engines[seriesKey{a.kind, a.subject}] = a.engine
	}
	keys := make([]seriesKey, 0, len(engines))
	for key := range engines {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b seriesKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.subject, b.subject))
	})
	var kinds, subjects, ofEngine []string
	for _, key := range keys {
		kinds, subjects, ofEngine = append(kinds, key.kind), append(subjects, key.subject), append(ofEngine, string(engines[key]))
	}
	if _, err := tx.ExecContext(ctx, ensureSeries, organization, kinds, subjects, ofEngine); err != nil {
		return held{}, fmt.Errorf("make %d series: %w", len(keys), err)
	}
	h := held{series: make(map[seriesKey]series, len(keys))}
	err := query(ctx, tx, func(row scanner) error {
		var one series
		var key seriesKey
		if err := row.Scan(&one.id, &key.kind, &key.subject, &one.engine, &h.now); err != nil {
			return err
		}
		one.name, h.series[key] = key.kind, one
		if arrives := engines[key]; arrives != one.engine {
			s.log.WarnContext(ctx, "samples of another engine than their series is of", "series", one.id, "of", one.engine, "sent", arrives)
		}
		return nil
	}, lockSeries, organization, kinds, subjects)
	if err != nil {
		return held{}, fmt.Errorf("hold %d series: %w", len(keys), err)
	}
	return h, nil
}
