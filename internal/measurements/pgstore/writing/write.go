package writing

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/compaction"
	"muster/internal/measurements/pgstore/dictionary"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/measurements/pgstore/placement"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/sealed.sql
	sealedAmong string
	//go:embed sql/stored_raw.sql
	storedRaw string
	//go:embed sql/update_raw.sql
	updateRaw string
)

// unpacked is how young the start of an hour is that cannot be packed yet, with ten minutes
// to spare for clocks that differ.
const unpacked = compaction.OverAfter - 10*time.Minute

// Writer stores samples.
type Writer struct {
	dictionary *dictionary.Dictionary
	ledger     *ledger.Ledger
	begun      begun

	// AskEvery is how often a process asks whether it may keep newer kinds: half a minute, but in
	// tests.
	AskEvery time.Duration
}

// Of returns the writer of a ledger and its dictionary.
func Of(l *ledger.Ledger, d *dictionary.Dictionary) *Writer {
	return &Writer{dictionary: d, ledger: l, AskEvery: askEvery}
}

// Write is documented at measurements.Store.
func (w *Writer) Write(ctx context.Context, b measurements.Batch) (measurements.Receipt, error) {
	var err error
	if b.Sessions, b.Servers, err = w.dictionary.WithoutPeople(ctx, b.Organization, b.Sessions, b.Servers); err != nil {
		return measurements.Receipt{}, err
	}
	if err = w.dictionary.SetNameKey(ctx, &b); err != nil {
		return measurements.Receipt{}, err
	}
	takes, err := w.takes(ctx)
	if err != nil {
		return measurements.Receipt{}, err
	}
	arrived, err := arrivals(b, takes)
	if err != nil {
		return measurements.Receipt{}, err
	}
	var receipt measurements.Receipt
	var noted Entered
	err = transact.Once(ctx, w.ledger.DB, nil, func(tx *sqlx.Tx) error {
		if b.Guard != nil {
			if err := b.Guard(ctx, tx); err != nil {
				return err
			}
		}
		ours, err := inTurn(ctx, tx, b)
		if err != nil {
			return err
		}
		counted := len(b.Statements) - len(ours)
		if counted > 0 { // by another sender, before
			b.Statements = ours
			if arrived, err = arrivals(b, takes); err != nil {
				return err
			}
		}
		if len(arrived) > 0 || len(b.Sessions) > 0 {
			receipt, noted, err = w.Keep(ctx, tx, b, arrived)
		}
		receipt.Counted = counted
		return err
	})
	if err != nil {
		return measurements.Receipt{}, err
	}
	w.dictionary.RememberStatements(noted.Noted)
	w.dictionary.RememberNames(noted.NotedNames)
	return receipt, nil
}

// arrivals are those of a batch, without the kinds and figures that may not be kept yet.
func arrivals(b measurements.Batch, takes kinds) ([]codec.Arrival, error) {
	if !takes.Figures {
		b.Servers = codec.WithoutLaterFigures(b.Servers)
	}
	all, err := codec.Arrivals(b)
	if err != nil {
		return nil, fmt.Errorf("encode %d samples: %w", b.Len(), err)
	}
	return slices.DeleteFunc(all, func(a codec.Arrival) bool { return !takes.may(a.Kind) }), nil
}

// Entered is what the dictionary has once a batch is committed.
type Entered struct {
	dictionary.Noted
	dictionary.NotedNames
}

// Keep stores what is in time, in the caller's transaction, and returns which statements and names the dictionary has once that
// is committed. Names come first: whoever deletes them holds what NoteStatements may wait for.
func (w *Writer) Keep(ctx context.Context, tx *sqlx.Tx, b measurements.Batch, arrived []codec.Arrival) (receipt measurements.Receipt, known Entered, err error) {
	h, err := w.hold(ctx, tx, b.Organization, arrived, b.Sessions)
	if err != nil {
		return receipt, known, err
	}
	accepted, receipt, err := w.inTime(ctx, tx, h, arrived)
	if err != nil {
		return receipt, known, err
	}
	news, samples, err := w.keepSamples(ctx, tx, h, b, accepted)
	if err != nil {
		return receipt, known, err
	}
	if err := w.mark(ctx, tx, news); err != nil {
		return receipt, known, err
	}
	names := make(map[uint64]bool) // of samples that are stored
	for _, a := range news {
		if err := codec.EachName(a.Kind, a.Body, func(hash uint64) { names[hash] = true }); err != nil {
			return receipt, known, err
		}
	}
	if known.NotedNames, err = w.dictionary.NoteNames(ctx, tx, b, names); err != nil {
		return receipt, known, err
	}
	if known.Noted, err = w.dictionary.NoteStatements(ctx, tx, b.Organization, h.statementsOf, h.now, samples); err != nil {
		return receipt, known, err
	}
	if err := keepWatched(ctx, tx, h, samples); err != nil {
		return receipt, known, err
	}
	if err := keepMappings(ctx, tx, h, b.Hosts); err != nil {
		return receipt, known, err
	}
	if err := keepPartial(ctx, tx, h, b); err != nil {
		return receipt, known, err
	}
	for _, one := range b.Sessions {
		if one.Part == measurements.OnlyCounts {
			receipt.Accepted.Sessions++
		}
	}
	return receipt, known, keepLatest(ctx, tx, h, b.Sessions)
}

// placed is an arrival with its series.
type placed struct {
	codec.Arrival
	series int64
	packed []byte // what a block has of its time; its body has that in front
}

// hour is the hour that it falls into.
func (p *placed) hour() tables.Bucket { return tables.At(p.series, timegrid.Hour.Floor(p.At)) }

// inTime gives arrivals their series, and leaves out what falls into an hour that is
// sealed.
func (w *Writer) inTime(ctx context.Context, tx *sqlx.Tx, h held, arrived []codec.Arrival) (accepted []placed, receipt measurements.Receipt, err error) {
	old := make(map[tables.Bucket]bool) // hours that may be sealed; true: they are
	placements := make([]placed, len(arrived))
	unsealed := w.ledger.Retention.Unsealed()
	for i, arrival := range arrived {
		a := placed{Arrival: arrival, series: h.series[seriesKey{arrival.Kind, arrival.Subject}]}
		placements[i] = a
		if at := a.hour(); at.Start.Before(h.now.Add(-unsealed)) {
			old[at] = false
		}
	}
	if err := sealed(ctx, tx, old); err != nil {
		return nil, receipt, err
	}
	for _, a := range placements {
		if old[a.hour()] {
			count(&receipt.TooLate, a.Kind, a.Count)
			continue
		}
		count(&receipt.Accepted, a.Kind, a.Count)
		accepted = append(accepted, a)
	}
	return accepted, receipt, nil
}

// sealed sets those of hours that are sealed.
func sealed(ctx context.Context, tx *sqlx.Tx, hours map[tables.Bucket]bool) error {
	if len(hours) == 0 {
		return nil
	}
	var asked []tables.HourOfWeek
	for b := range hours {
		asked = append(asked, b.OfWeek())
	}
	found, err := statement.All[tables.Bucket](ctx, tx, fmt.Sprintf("look which of %d hours are sealed", len(asked)), sealedAmong, statement.Columns(asked)...)
	for _, b := range found {
		hours[b.OnGrid()] = true
	}
	return err
}

func count(c *measurements.SampleCounts, kind string, n int) {
	switch kind {
	case codec.Hosts:
		c.Hosts += n
	case codec.Sessions: // their activity is of the same samples
		c.Sessions += n
	case codec.Servers:
		c.Servers += n
	case codec.Statements:
		c.Statements += n
	}
}

// joinPacked joins arrivals with what blocks have of their times, and leaves out those that
// bring nothing new.
func (w *Writer) joinPacked(ctx context.Context, tx *sqlx.Tx, h held, accepted []placed) ([]placed, error) {
	old := make(map[tables.Bucket]bool) // hours that may be packed
	for _, a := range accepted {
		if at := a.hour(); at.Start.Before(h.now.Add(-unpacked)) {
			old[at] = true
		}
	}
	packed, err := tables.Packed(ctx, tx, slices.Collect(maps.Keys(old)))
	if err != nil || len(packed) == 0 {
		return accepted, err
	}
	var ranges []blocks.Range
	var of []int
	for i, a := range accepted {
		if packed[a.hour()] {
			ranges = append(ranges, blocks.Range{Series: h.rows[a.series].Block(), From: a.At, To: a.At.Add(time.Microsecond)})
			of = append(of, i)
		}
	}
	repeated := make(map[int]bool)
	if err := w.ledger.Placement.AtHome(ctx, tx); placement.HasMoved(err) { // the sender asks again, and finds a process that was restarted
		return nil, &blocks.UnavailableError{Part: "another store", Err: err}
	} else if err != nil {
		return nil, err
	}
	err = blocks.EachSample(ctx, w.ledger.Blocks, tx, ranges, func(place int, _ time.Time, body []byte) error {
		a := &accepted[of[place]]
		merged, differs, err := w.ledger.Kinds(a.Kind).Merge(body, a.Body)
		if err != nil {
			return fmt.Errorf("merge a repeated sample of series %d at %s: %w", a.series, a.At, err)
		}
		if !differs {
			repeated[of[place]] = true
		}
		a.Body, a.packed = merged, slices.Clone(body)
		return nil
	})
	var left []placed
	for i, a := range accepted {
		if !repeated[i] {
			left = append(left, a)
		}
	}
	return left, err
}

// keepRaw stores arrivals, and returns those that brought something new.
func (w *Writer) keepRaw(ctx context.Context, tx *sqlx.Tx, h held, accepted []placed) ([]placed, error) {
	accepted, err := w.joinPacked(ctx, tx, h, accepted)
	if err != nil || len(accepted) == 0 {
		return nil, err
	}
	var rows []tables.Stored
	repeated := make(map[tables.Bucket]placed, len(accepted)) // by their very time
	for _, a := range accepted {
		key := tables.At(a.series, a.At)
		rows = append(rows, tables.StoredAs(key, a.Body))
		repeated[key] = a
	}
	kept, err := w.ledger.Raw.Insert(ctx, tx, fmt.Sprintf("keep %d raw samples", len(rows)), rows)
	if err != nil {
		return nil, err
	}
	var news []placed
	for _, b := range kept {
		key := b.OnGrid()
		one := repeated[key]
		if one.Kind == codec.Statements { // what a block has of it is in front
			one.Body = one.Body[len(one.packed):]
		}
		news = append(news, one)
		delete(repeated, key)
	}
	changed, err := w.mergeRaw(ctx, tx, repeated)
	return append(news, changed...), err
}

// mergeRaw joins what has come again with what is stored, and returns what was changed;
// of statements with what is new of it.
func (w *Writer) mergeRaw(ctx context.Context, tx *sqlx.Tx, repeated map[tables.Bucket]placed) (changed []placed, err error) {
	if len(repeated) == 0 {
		return nil, nil
	}
	what := fmt.Sprintf("merge %d repeated samples", len(repeated))
	known, err := statement.All[tables.Stored](ctx, tx, what, storedRaw, statement.Columns(slices.Collect(maps.Keys(repeated)))...)
	if err != nil {
		return nil, err
	}
	var rows []tables.Stored
	for _, row := range known {
		key := row.OnGrid()
		again := repeated[key]
		merged, differs, err := w.ledger.Kinds(again.Kind).Merge(row.Body, again.Body)
		if err != nil {
			return nil, fmt.Errorf("%s: series %d at %s: %w", what, key.Series, key.Start, err)
		}
		if differs {
			if again.Kind == codec.Statements { // what is stored stays in front
				again.Body = merged[len(row.Body):]
			}
			rows, changed = append(rows, tables.StoredAs(key, merged)), append(changed, again)
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return changed, statement.Exec(ctx, tx, fmt.Sprintf("keep %d merged samples", len(rows)), updateRaw, statement.Columns(rows)...)
}
