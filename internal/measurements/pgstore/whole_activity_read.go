package pgstore

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed" // the statements
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/activityrow"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/whole_activity_read.sql
	readWholeActivity string
	//go:embed sql/whole_activity_pieces.sql
	readPieces string
)

// wholeReading is one read of activity from the rows of a whole. First it adds up what each line comes
// to in the window, from sums where a row has them and all of it is in the window. Then it reads
// the lines that are shown, with their classes. Both are of one instant.
type wholeReading struct {
	whole
	window
	measurements.ActivityQuery
	what   string
	rows   []organizationRow
	places map[uint64]int32 // of keys, by the hashes of their ids
	hashes []uint64
	sums   []float64 // of each key
}

// organizationRow is a row of a whole, which has sums, lines or both.
type organizationRow struct {
	activityrow.Row
	start    time.Time
	inWindow uint64             // which of its slots are
	has      *activityrow.Sums  // nil: a program from before wrote it
	of       []lineSum          // of each line
	parts    [columns]rowPieces // where lines and classes are read from
	lines    []placedLine       // those that are added up
}

// lineSum is what a line comes to in the window, and the place of its key; uncounted: its state does
// not count.
type lineSum struct {
	place int32
	sum   float64
}

const uncounted = -1

// placedLine is a line, the place of its key, and its classes if these are known.
type placedLine struct {
	place int32
	activityrow.Line
	classes []byte
}

// wholeActivity reads activity from the rows of a whole: first which lines are the greatest, and
// then these. All others are the rest.
func (s *Store) wholeActivity(ctx context.Context, of whole, w window, q measurements.ActivityQuery) (part measurements.ActivityPart, err error) {
	r := wholeReading{whole: of, window: w, ActivityQuery: q, places: make(map[uint64]int32)}
	r.what = fmt.Sprintf("read the activity by %s of %s", q.By, of)
	err = transact.Once(ctx, s.db, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, func(tx *sqlx.Tx) error {
		if err := r.readSums(ctx, tx); err != nil {
			return err
		}
		lines := s.newLines(w.buckets, r.knowsClasses(), q)
		most := min(s.linesOfWhole, s.mostNumbers/w.buckets)
		if q.Limit > 0 {
			most = min(most, q.Limit)
		}
		shown, hidden := r.greatest(most)
		many := hidden > most // the totals tell what all of them come to
		if err := r.readLines(ctx, tx, func(place int32) bool { return shown[place] || !many && r.sums[place] > 0 }); err != nil {
			return err
		}
		if err := r.addTo(lines, shown, many); err != nil {
			return err
		}
		part = lines.part()
		part.RestLines = hidden
		if rest, there := r.places[restHash]; there && shown[rest] {
			part.RestLines++
		}
		return nil
	})
	return part, err
}

// restHash is that of the line of the rest.
var restHash = func() uint64 {
	id := activityrow.IDOf(measurements.ActivityKey{Rest: true})
	return id.Hash()
}()

// readSums reads the rows, and what their lines come to in the window. Sums are of all slots of a row:
// that of a week has its days and the week.
func (r *wholeReading) readSums(ctx context.Context, tx *sqlx.Tx) error {
	type stored struct {
		Start                time.Time
		Sums, Lines, Classes []byte
	}
	all := r.Limit == 0 || r.row == timegrid.Week
	found, err := statement.All[stored](ctx, tx, r.what, readWholeActivity, r.Organization, string(r.Engine), string(r.By), string(r.row),
		r.row.Floor(r.Start()), r.End(), all, r.Start(), r.End().Add(-r.row.Width()))
	if err != nil {
		return err
	}
	r.rows = make([]organizationRow, len(found))
	for i, one := range found {
		row := &r.rows[i]
		row.start = one.Start.UTC()
		for slot := range r.slots(row.start) {
			row.inWindow |= 1 << slot
		}
		row.parts[ofClasses] = wholePiece(one.Classes)
		if err := r.take(row, one.Sums, one.Lines); err != nil {
			return fmt.Errorf("%s from %s on: %w", r.what, one.Start, err)
		}
	}
	return nil
}

// take reads a row.
func (r *wholeReading) take(row *organizationRow, sums, lines []byte) (err error) {
	if sums != nil {
		has, err := activityrow.DecodeSums(sums)
		if err != nil {
			return err
		}
		row.has, row.Row = &has, activityrow.Row{Sampled: has.Sampled, Told: has.Told, Totals: has.Totals}
	}
	if lines == nil {
		row.of = make([]lineSum, row.has.Len())
		for j := range row.of {
			one := row.has.At(j)
			row.of[j] = r.add(one.Hash, one.State, one.Sum)
		}
		return nil
	}
	if row.Row, err = activityrow.Decode(lines); err != nil {
		return err
	}
	if row.has != nil && len(row.Lines) != row.has.Len() {
		return rowbytes.ErrBytes
	}
	row.of = make([]lineSum, len(row.Lines))
	for j := range row.of {
		line := &row.Lines[j]
		sum, err := line.Sum(row.inWindow)
		if err != nil {
			return err
		}
		row.of[j] = r.add(line.ID.Hash(), line.State(), sum)
	}
	return nil
}

// add adds the sum of a line to that of its key, unless its state does not count.
func (r *wholeReading) add(hash uint64, state measurements.State, sum float64) lineSum {
	if !r.Counts(state) {
		return lineSum{place: uncounted}
	}
	place, known := r.places[hash]
	if !known {
		place = int32(len(r.sums))
		r.places[hash] = place
		r.hashes, r.sums = append(r.hashes, hash), append(r.sums, 0)
	}
	r.sums[place] += sum
	return lineSum{place, sum}
}

// knowsClasses says whether all rows have sums, and classes with them.
func (r *wholeReading) knowsClasses() bool {
	return !slices.ContainsFunc(r.rows, func(row organizationRow) bool { return row.has == nil })
}

// greatest says which keys are among so many greatest ones, or are the rest, and how many others have
// sessions in the window.
func (r *wholeReading) greatest(most int) (shown []bool, hidden int) {
	shown = greatest(r.sums, most, func(i, j int) int { return cmp.Compare(r.hashes[i], r.hashes[j]) })
	for place, sum := range r.sums {
		if rest := r.hashes[place] == restHash; rest || sum == 0 {
			shown[place] = rest && sum > 0
		}
		if sum > 0 && !shown[place] {
			hidden++
		}
	}
	return shown, hidden
}

// readLines gives rows the lines that are wanted, with their classes.
func (r *wholeReading) readLines(ctx context.Context, tx *sqlx.Tx, wanted func(place int32) bool) error {
	var pieces []piece
	for i := range r.rows {
		row := &r.rows[i]
		row.eachWanted(wanted, func(_ int, at [columns]span) {
			for column := range at {
				if column == ofClasses || row.Lines == nil {
					row.parts[column].want(at[column])
				}
			}
		})
		for column, part := range row.parts {
			for _, one := range part.missing() {
				pieces = append(pieces, piece{row.start, column == ofClasses, one.from, one.size})
			}
		}
	}
	var found [][]byte
	if len(pieces) > 0 {
		var err error
		args := append([]any{r.Organization, string(r.Engine), string(r.By), string(r.row)}, statement.Columns(pieces)...)
		if found, err = statement.All[[]byte](ctx, tx, r.what+" (lines)", readPieces, args...); err != nil {
			return err
		}
	}
	for i := range r.rows {
		row := &r.rows[i]
		for column := range row.parts {
			found = row.parts[column].take(found)
		}
		if err := row.takeLines(wanted); err != nil {
			return fmt.Errorf("%s from %s on: %w", r.what, row.start, err)
		}
	}
	return nil
}

// eachWanted hands the lines that are wanted to take, each with where it is.
func (row *organizationRow) eachWanted(wanted func(place int32) bool, take func(line int, at [columns]span)) {
	var at [columns]span
	if row.has != nil {
		at[ofLines].from = int32(row.has.First())
	}
	for j, one := range row.of {
		if row.has != nil {
			has := row.has.At(j)
			at[ofLines].size, at[ofClasses].size = int32(has.Size), int32(has.Classes)
		}
		if one.place != uncounted && wanted(one.place) {
			take(j, at)
		}
		for column := range at {
			at[column].from += at[column].size
		}
	}
}

// takeLines takes the lines that are wanted out of what was read.
func (row *organizationRow) takeLines(wanted func(place int32) bool) (err error) {
	row.eachWanted(wanted, func(j int, at [columns]span) {
		if err != nil {
			return
		}
		one := placedLine{place: row.of[j].place}
		if row.Lines != nil {
			one.Line = row.Lines[j]
		} else if one.Line, err = activityrow.DecodeLine(row.parts[ofLines].bytes(at[ofLines])); err != nil {
			return
		}
		if row.has != nil {
			if one.classes = row.parts[ofClasses].bytes(at[ofClasses]); one.ID.Hash() != row.has.At(j).Hash {
				err = rowbytes.ErrBytes
			}
		}
		row.lines = append(row.lines, one)
	})
	return err
}

// addTo adds the lines that are shown, and the others as the rest: each of them, or, if they are many,
// what all lines have more than those that are shown.
func (r *wholeReading) addTo(l *activityLines, shown []bool, many bool) error {
	rest := restOf(measurements.ActivityKey{})
	lineOf := make([]int, len(r.sums)) // of each key, one more
	for i := range r.rows {
		row := &r.rows[i]
		for slot, bucket := range r.slots(row.start) {
			l.sampled[bucket], l.told[bucket] = row.Sampled>>slot&1 == 1, row.Told>>slot&1 == 1
		}
		for j := range row.lines {
			one := &row.lines[j]
			key := one.ID.Key()
			if !shown[one.place] {
				key = rest
			}
			if r.sums[one.place] == 0 || many && key.Rest { // nothing of it is in the window, or the totals tell
				continue
			}
			if lineOf[one.place] == 0 {
				lineOf[one.place] = l.line(key) + 1
			}
			if err := r.addLine(l, row, one, l.values[lineOf[one.place]-1]); err != nil {
				return err
			}
		}
	}
	if !many {
		return nil
	}
	return r.addRest(l)
}

// addLine adds a line, with its classes behind its buckets.
func (r *wholeReading) addLine(l *activityLines, row *organizationRow, one *placedLine, to measurements.Values) error {
	buckets := len(l.sampled)
	if err := one.AddTo(to[:buckets], r.Index(row.start)-r.first, r.first, r.end); err != nil || !l.classes {
		return err
	}
	sums, err := one.ByClass(one.classes, row.inWindow)
	for class, sum := range sums {
		to[buckets+class] += sum
	}
	return err
}

// addRest adds what all lines have more than those that are there.
func (r *wholeReading) addRest(l *activityLines) error {
	left := make(measurements.Values, len(l.sampled))
	for i := range r.rows {
		row := &r.rows[i]
		for j := range row.Totals {
			if !r.Counts(row.Totals[j].State()) {
				continue
			}
			if err := row.Totals[j].AddTo(left, r.Index(row.start)-r.first, r.first, r.end); err != nil {
				return err
			}
		}
	}
	const rounding = 1e-9 // of a total, far above the error of short numbers
	for bucket, total := range left {
		for _, values := range l.values {
			left[bucket] -= values[bucket]
		}
		if left[bucket] < total*rounding {
			left[bucket] = 0
		}
	}
	copy(l.values[l.line(restOf(measurements.ActivityKey{}))], left)
	return nil
}
