package writing

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

//go:embed sql/mark.sql
var markDirty string

// marks are the parts of an hour to roll up.
type marks struct {
	Minutes int64 // a bit each
	Arrived bool  // a sample of the hour itself has
}

// mark says which minutes of which hours have to be rolled up because of samples that are new
// or have changed: their own, and as many after them as one of their kind looks back. Samples
// that come in order have nothing after them. A late one splits the interval of the next in
// two, wherever in that reach it is. That next sample is not searched for: rolling up 1,000
// hosts that are scraped every 15 s takes 4 % of a core, most of it for reading the ten minutes
// before, which is needed in either case.
func (w *Writer) mark(ctx context.Context, tx *sqlx.Tx, news []placed) error {
	if len(news) == 0 {
		return nil
	}
	hours := make(map[tables.Bucket]marks)
	for _, a := range news {
		own := a.hour()
		minute := int(a.At.Sub(own.Start) / time.Minute)
		last := minute + int(w.ledger.Kinds(a.Kind).Reach()/time.Minute)
		hours[own] = marks{hours[own].Minutes | minutes(minute, min(last, codec.MinutesOfHour-1)), true}
		if last >= codec.MinutesOfHour {
			next := tables.At(own.Series, own.Start.Add(time.Hour))
			hours[next] = marks{hours[next].Minutes | minutes(0, last-codec.MinutesOfHour), hours[next].Arrived}
		}
	}
	type markedHour struct {
		tables.Bucket
		marks
	}
	var rows []markedHour
	for b, m := range hours {
		rows = append(rows, markedHour{b, m})
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("mark %d hours to be rolled up", len(rows)), markDirty, statement.Columns(rows)...)
}

// minutes has the bits from one minute of an hour to another, both inclusive.
func minutes(first, last int) int64 {
	return int64(codec.AllMinutes >> (codec.MinutesOfHour - 1 - (last - first)) << first)
}
