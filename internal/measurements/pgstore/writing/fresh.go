package writing

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
)

// databaseSample is a database's part of a raw sample.
type databaseSample struct {
	tables.Bucket // of the statements' series, by its very time
	database      uuid.UUID
}

// keepSamples stores what is accepted of a batch. It returns what was new and, of the
// statements, the samples that were: the first of each database and time. Busy time is
// kept with those only, since what comes again is not what is known of that time.
func (w *Writer) keepSamples(ctx context.Context, tx *sqlx.Tx, h held, b measurements.Batch, accepted []placed) ([]placed, []measurements.StatementSample, error) {
	var busy, others []placed
	for _, a := range accepted {
		if a.Kind == codec.Busy {
			busy = append(busy, a)
		} else {
			others = append(others, a)
		}
	}
	news, err := w.keepRaw(ctx, tx, h, others)
	if err != nil || len(b.Statements) == 0 {
		return news, nil, err
	}
	fresh := make(map[databaseSample]bool)
	for _, a := range news {
		if a.Kind != codec.Statements {
			continue
		}
		d, err := codec.DecodeStatements(a.Body)
		if err != nil {
			return nil, nil, fmt.Errorf("read the statements of series %d at %s: %w", a.series, a.At, err)
		}
		for _, of := range d {
			fresh[databaseSample{tables.At(a.series, a.At), of.Database}] = true
		}
	}
	var left []placed
	for _, a := range busy {
		at := tables.At(h.series[seriesKey{codec.Statements, a.Subject}], a.At)
		if a.Body, err = codec.BusyOf(a.Body, func(database uuid.UUID) bool { return fresh[databaseSample{at, database}] }); err != nil {
			return nil, nil, fmt.Errorf("read the busy time of series %d at %s: %w", a.series, a.At, err)
		}
		if len(a.Body) > 0 {
			left = append(left, a)
		}
	}
	var samples []measurements.StatementSample
	for _, sample := range b.Statements {
		key := databaseSample{tables.At(h.statementsOf(sample.Instance), instant.Cut(sample.At)), sample.Database}
		if fresh[key] {
			delete(fresh, key) // of two in one batch the first is kept
			samples = append(samples, sample)
		}
	}
	more, err := w.keepRaw(ctx, tx, h, left)
	return append(news, more...), samples, err
}
