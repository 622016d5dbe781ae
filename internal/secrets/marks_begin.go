package secrets

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// MarksSchema is the migration that programs know which make marks.
const MarksSchema = 122

// marksPatience is how long programs from before marks may run beside this one and have their
// events accepted. It uses this process's clock, so that SQL cannot prolong it.
const marksPatience = 24 * time.Hour

// Begun is what BeginMarks found or did.
type Begun struct {
	Until map[string]int64 // by log: up to here an event may be without a mark
	Open  bool             // programs from before still run, so any event may be
	Noted bool             // it is new or has changed
	Odd   string           // what was wrong with the file beside the key, which is written anew; empty: nothing
}

func (b Begun) String() string {
	var places []string
	for _, log := range slices.Sorted(maps.Keys(b.Until)) {
		places = append(places, Place{log, b.Until[log]}.String())
	}
	return strings.Join(places, ", ")
}

// BeginMarks records up to where the logs have events from programs that made no marks: at the
// first start on a database, and once more when the last such program has gone. older says
// whether one runs. The note is sealed in the database and is beside the key file (or in the
// spare directory), where SQL cannot reach it; the later of the two counts. A log that is
// shorter than its note was restored: later events have marks.
func (r *Ring) BeginMarks(ctx context.Context, db *sqlx.DB, spare string, now time.Time, older func(ctx context.Context) (bool, error)) (Begun, error) {
	runs, err := older(ctx)
	if err != nil {
		return Begun{}, err
	}
	return r.note(ctx, db, r.marksFiles(spare), func(known begun, heads map[string]int64, at time.Time) begun {
		if known.Seq == 0 {
			return begun{Seq: 1, Since: now, Open: runs, Until: heads, At: at}
		}
		next := known
		if known.Open && (!runs || now.Sub(known.Since) > marksPatience) {
			next.Open, next.Until, next.At = false, heads, at
		}
		next.Until = maps.Clone(next.Until)
		for log, head := range heads {
			if head < next.Until[log] {
				next.Until[log], next.At = head, time.Time{}
			}
		}
		if next.Open != known.Open || !maps.Equal(next.Until, known.Until) {
			next.Seq++
		}
		return next
	})
}

// AcceptUnmarked records that every event up to now may be without a mark: an operator says
// that an earlier program has run again since marks began, or that the note was lost.
func (r *Ring) AcceptUnmarked(ctx context.Context, db *sqlx.DB, spare string, now time.Time, record func(Begun) error) (Begun, error) {
	return r.note(ctx, db, r.marksFiles(spare), func(known begun, heads map[string]int64, at time.Time) begun {
		return begun{Seq: known.Seq + 1, Since: now, Until: heads, At: at}
	}, record)
}

// note replaces the note by what decide makes of the known one, the logs' heads and the time at
// which they are there by the database's clock. The row
// of the current key makes processes take turns.
func (r *Ring) note(
	ctx context.Context, db *sqlx.DB, files []string, decide func(known begun, heads map[string]int64, at time.Time) begun, record ...func(Begun) error,
) (done Begun, err error) {
	var next begun
	err = transact.Once(ctx, db, nil, func(tx *sqlx.Tx) error {
		if _, err := lockCurrent(ctx, tx); err != nil {
			return err
		}
		installation, err := Fingerprint(ctx, tx, "id")
		if err != nil {
			return err
		}
		rows, err := statement.Map[string, []byte](ctx, tx, "read what marks are held against", `SELECT name, sealed FROM marks`)
		if err != nil {
			return err
		}
		heads, err := headsOf(ctx, tx)
		if err != nil {
			return err
		}
		row := r.begunIn(rows)
		file, odd := begunFile(files, installation)
		known := r.recall(row)
		if file.Seq > known.Seq {
			known = file
		}
		if known.Seq == 0 && odd != "" { // somebody began to make marks under this key: it is no first start
			known = begun{Seq: 1, Until: map[string]int64{}}
		}
		at, err := statement.One[time.Time](ctx, tx, "read the database's clock", `SELECT clock_timestamp()`)
		if err != nil {
			return err
		}
		next = decide(known, heads, at.UTC())
		next.Installation = installation
		done = Begun{Until: next.Until, Open: next.Open, Noted: next.Seq != known.Seq, Odd: odd}
		for _, tell := range record {
			if err := tell(done); err != nil {
				return err
			}
		}
		if !next.equal(row) {
			if err := r.keepMarks(ctx, tx, begunName, next); err != nil {
				return err
			}
		}
		if next.equal(file) {
			return nil
		}
		return r.keepFile(files, next) // before the commit: a note that only the file has counts
	})
	if err == nil {
		r.recall(next)
	}
	return done, err
}

// headsOf is how far each log goes.
func headsOf(ctx context.Context, q sqlx.QueryerContext) (map[string]int64, error) {
	return statement.Map[string, int64](ctx, q, "read the heads of the logs", `SELECT log, position FROM log_head`)
}

// keepMarks seals a value into its row.
func (r *Ring) keepMarks(ctx context.Context, tx *sqlx.Tx, name string, value any) error {
	sealed, err := r.sealMarks(name, value)
	if err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "keep what marks are held against", `INSERT INTO marks (name, sealed) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed`, name, sealed)
}

// resealMarks seals every row again under the current key. A row that was changed stays as it
// is: it vouches for nothing, and must not stand in the way of a new key.
func (r *Ring) resealMarks(ctx context.Context, tx *sqlx.Tx) error {
	rows, err := statement.Map[string, []byte](ctx, tx, "read what marks are held against", `SELECT name, sealed FROM marks FOR UPDATE`)
	if err != nil {
		return err
	}
	for name, sealed := range rows {
		context := []byte("muster marks " + name)
		plain, err := r.Open(sealed, context)
		if err != nil || r.SealedUnder(sealed) == r.Fingerprint() {
			continue
		}
		if sealed, err = r.Seal(plain, context); err != nil {
			return err
		}
		if err := statement.Exec(ctx, tx, fmt.Sprintf("seal %q of marks again", name), `UPDATE marks SET sealed = $2 WHERE name = $1`, name, sealed); err != nil {
			return err
		}
	}
	return nil
}

// retireMarks keeps the mark keys of all keys but the current one, with how far the logs go.
// What is kept of a key that was retired before and stayed in the file is not extended.
func (r *Ring) retireMarks(ctx context.Context, tx *sqlx.Tx) error {
	if err := r.resealMarks(ctx, tx); err != nil {
		return err
	}
	heads, err := headsOf(ctx, tx)
	if err != nil {
		return err
	}
	before, err := r.Marks(ctx, tx)
	if err != nil {
		return err
	}
	for _, k := range r.Keys()[1:] {
		if _, ok := before.retired[k.Fingerprint()]; ok {
			continue
		}
		if err := r.keepMarks(ctx, tx, retiredPrefix+k.Fingerprint(), retiredMarks{Key: k.markKey(), Until: heads}); err != nil {
			return err
		}
	}
	return nil
}
