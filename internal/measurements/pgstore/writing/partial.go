package writing

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
)

//go:embed sql/mark_partial.sql
var markPartial string

// stretchOf is from the first to the last of some times.
type stretchOf struct{ First, Last time.Time }

// partialIn are the times of the samples that are of a part only, by series.
func partialIn(b measurements.Batch) map[seriesKey]stretchOf {
	found := make(map[seriesKey]stretchOf)
	add := func(kind string, instance uuid.UUID, at time.Time) {
		key, at := seriesKey{kind, instance.String()}, instant.Cut(at)
		s, ok := found[key]
		if !ok {
			s = stretchOf{at, at}
		}
		if at.Before(s.First) {
			s.First = at
		}
		if at.After(s.Last) {
			s.Last = at
		}
		found[key] = s
	}
	for _, s := range b.Sessions {
		if s.Partial && s.Part != measurements.OnlyCounts {
			add(codec.Sessions, s.Instance, s.At)
			add(codec.Activity, s.Instance, s.At)
		}
	}
	for _, s := range b.Statements {
		if s.Partial {
			add(codec.Statements, s.Instance, s.At)
		}
	}
	return found
}

// keepPartial marks the series of partial samples. A series is marked from its first such
// sample to its last, whoever sent the samples in between: a figure is rather called partial
// than not.
func keepPartial(ctx context.Context, tx *sqlx.Tx, h held, b measurements.Batch) error {
	type marked struct {
		Series int64
		stretchOf
	}
	var rows []marked
	for key, s := range partialIn(b) {
		rows = append(rows, marked{h.series[key], s})
	}
	if len(rows) == 0 {
		return nil
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("note that samples of %d series are of a part", len(rows)), markPartial, statement.Columns(rows)...)
}
