package writing

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
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/ensure_series.sql
	ensureSeries string
	//go:embed sql/lock_series.sql
	lockSeries string
)

// ErrHeadBound is why samples are refused.
var ErrHeadBound = fmt.Errorf("hours that are over could not be put there for %.0f hours, and no more is taken in of their hosts and instances until they can", ledger.HeadBound.Hours())

// refused says that the head takes no more of a series.
func refused(s tables.Series) error {
	return &blocks.UnavailableError{Part: fmt.Sprintf("the server that has %s %s", s.Kind, s.Subject), Err: ErrHeadBound}
}

// seriesKey is what a series of an organization is known by.
type seriesKey struct{ kind, subject string }

// held are the series of a batch, locked, and the database's time.
type held struct {
	series map[seriesKey]int64
	rows   map[int64]tables.Series
	now    time.Time
}

// statementsOf is the series of an instance's statements.
func (h held) statementsOf(instance uuid.UUID) int64 {
	return h.series[seriesKey{codec.Statements, instance.String()}]
}

// hold makes the series of arrivals, and of sessions that are only counted, where they
// are missing, and locks all of them until the transaction ends. The error is an
// *blocks.UnavailableError where the head takes no more of one.
func (w *Writer) hold(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, arrived []codec.Arrival, sessions []measurements.SessionSample) (held, error) {
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
		tables.Series
		Now  time.Time
		Full bool // the head takes no more of it
	}
	rows, err := statement.All[locked](ctx, tx, fmt.Sprintf("hold %d series", len(all)), lockSeries,
		append(args[:3:3], ledger.HeadBound)...)
	h := held{series: make(map[seriesKey]int64, len(rows)), rows: make(map[int64]tables.Series, len(rows))}
	for _, row := range rows {
		key := seriesKey{row.Kind, row.Subject}
		if row.Full {
			return held{}, refused(row.Series)
		}
		h.series[key], h.rows[row.ID], h.now = row.ID, row.Series, row.Now
		if arrives := engines[key]; arrives != row.Engine {
			w.ledger.Log.WarnContext(ctx, "samples of another engine than their series is of", "series", row.ID, "of", row.Engine, "sent", arrives)
		}
	}
	if err == nil && len(rows) < len(all) { // it was there, and is gone: nothing else deletes series
		return held{}, &measurements.DeletedError{Organization: organization}
	}
	return h, err
}
