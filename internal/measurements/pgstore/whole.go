package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/concurrency/pause"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/placement"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/whole_register.sql
	registerWholes string
	//go:embed sql/whole_find.sql
	findWholes string
	//go:embed sql/whole_due.sql
	dueWholes string
	//go:embed sql/whole_hold.sql
	holdWhole string
	//go:embed sql/whole_take.sql
	takeMarks string
	//go:embed sql/whole_take_missing.sql
	takeMissing string
	//go:embed sql/whole_series.sql
	wholeSeries string
	//go:embed sql/whole_miss.sql
	missDays string
	//go:embed sql/whole_postpone.sql
	postponeWhole string
	//go:embed sql/whole_hold_all.sql
	holdWholes string
	//go:embed sql/whole_delete.sql
	deleteWholes string
)

const (
	// wholeFrom is the number of series from which on there are rows together: fewer are read
	// in the time of one statement.
	wholeFrom = 32
	// wholeInterval is how often the loop looks for rows to make, or longer if making them
	// would take more than a part of a core.
	wholeInterval = 2 * time.Second
	wholeShare    = 5
	// wholeRows is how many rows of series one transaction may read of each width: some
	// 0.2 s. What is older waits, the newest hours never do.
	wholeRows = 60_000
	// fewestHours are the hours that one takes whatever the number of series.
	fewestHours = 4
)

// whole is all series of an organization that have a kind and an engine.
type whole struct {
	Organization uuid.UUID
	Kind         string
	Engine       fleet.Engine
}

func (w whole) String() string {
	return fmt.Sprintf("the whole of %s %s of %s", w.Engine, w.Kind, w.Organization)
}

// with are the arguments of its statements.
func (w whole) with(more ...any) []any {
	return append([]any{w.Organization, w.Kind, string(w.Engine)}, more...)
}

// runWhole makes rows of wholes until ctx ends, in a part of a core.
func (s *Store) runWhole(ctx context.Context, share int, make func(context.Context) (int, error)) error {
	for {
		began := time.Now()
		if _, err := make(ctx); err != nil && ctx.Err() == nil {
			s.ledger.Log.WarnContext(ctx, "rows of whole organizations could not be made, trying again", "error", err)
		}
		rest := min(time.Duration(share-1)*time.Since(began), time.Duration(share)*2*wholeInterval)
		if err := pause.For(ctx, max(wholeInterval, rest)); err != nil {
			return err
		}
	}
}

// findWholes adds those without a mark.
func (s *Store) findWholes(ctx context.Context) (int, error) {
	n, err := statement.Affected(ctx, s.db, "find whole organizations", findWholes, s.wholeFrom)
	return int(n), err
}

// Whole makes the rows of whole organizations anew if series have been rolled up, and some of
// the missing ones. It returns their number; 0: nothing is left that no other process works on.
// Any number of processes may do it. One that cannot be made is logged and waits; it is no
// error, and the others continue.
func (s *Store) Whole(ctx context.Context) (made int, err error) {
	tiles, err := s.wholeTiles(ctx)
	if err != nil {
		return tiles, err
	}
	activities, err := s.wholeActivities(ctx)
	return tiles + activities, err
}

// wholeTiles makes rows of tiles.
func (s *Store) wholeTiles(ctx context.Context) (int, error) {
	return s.makeWholes(ctx, codec.Hosts, codec.Sessions, codec.Statements)
}

// wholeActivities makes rows of activity, which takes longer: tiles do not wait for it.
func (s *Store) wholeActivities(ctx context.Context) (int, error) {
	return s.makeWholes(ctx, codec.Activity)
}

func (s *Store) makeWholes(ctx context.Context, kinds ...string) (made int, err error) {
	if ready, err := s.ready(ctx); err != nil || !ready {
		return 0, err
	}
	if err := statement.Exec(ctx, s.db, "take in whole organizations", registerWholes, s.wholeFrom); err != nil {
		return 0, err
	}
	due, err := statement.All[whole](ctx, s.db, "look which whole organizations are to be made", dueWholes, kinds)
	if err != nil {
		return 0, err
	}
	for _, w := range due {
		did := false
		err := transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
			did, err = s.makeWhole(ctx, tx, w)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return made, ctx.Err()
		case placement.HasMoved(err): // which Roll says
			return made, nil
		case err != nil:
			s.ledger.Log.ErrorContext(ctx, "rows of a whole organization cannot be made, trying again later", "whole", w.String(), "error", err)
			if err := statement.Exec(ctx, s.db, "postpone "+w.String(), postponeWhole, w.with()...); err != nil {
				return made, err
			}
		case did:
			made++
		}
	}
	return made, nil
}

// makeWhole makes what is due of a whole, unless another process is at it.
func (s *Store) makeWhole(ctx context.Context, tx *sqlx.Tx, of whole) (did bool, err error) {
	if err := s.AtHome(ctx, tx); err != nil {
		return false, err
	}
	type held struct {
		Begun bool
		At    time.Time
	}
	row, ok, err := statement.Find[held](ctx, tx, "hold "+of.String(), holdWhole, of.with()...)
	if err != nil || !ok {
		return false, err
	}
	m := making{whole: of, store: s, tx: tx}
	if !row.Begun {
		return true, m.begin(ctx)
	}
	if err := m.take(ctx); err != nil || len(m.dirty) == 0 {
		return false, err
	}
	if err := m.remakeAll(ctx, row.At); err != nil {
		return false, err
	}
	return true, statement.Exec(ctx, tx, "note that it went well", `UPDATE wholes SET failures = 0
		WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND failures > 0`, of.with()...)
}

// remakeAll makes the rows anew that contain dirty hours.
func (m *making) remakeAll(ctx context.Context, now time.Time) error {
	if m.Kind == codec.Activity {
		return m.remakeActivity(ctx)
	}
	for _, w := range m.windows(now) {
		if err := m.remake(ctx, w); err != nil {
			return fmt.Errorf("make the %s from %s to %s: %w", w.Size, w.From, w.To, err)
		}
	}
	return nil
}

// making is one transaction that makes rows of a whole, which it holds.
type making struct {
	whole
	store  *Store
	tx     *sqlx.Tx
	series subjects             // in order
	dirty  map[time.Time]uint64 // hours, and which minutes of them
}

// findSeries reads which series there are: after the marks, so that none of a mark is missing.
func (m *making) findSeries(ctx context.Context) (err error) {
	m.series, err = statement.All[subject](ctx, m.tx, "find the series of "+m.String(), wholeSeries, m.with()...)
	return err
}

// begin records which days have data, including everything that is marked by now.
func (m *making) begin(ctx context.Context) error {
	if err := statement.Exec(ctx, m.tx, "take the marks of "+m.String(), `DELETE FROM whole_marks
		WHERE organization_id = $1 AND kind = $2 AND engine = $3`, m.with()...); err != nil {
		return err
	}
	if err := m.store.crash("begin"); err != nil {
		return err
	}
	if err := m.findSeries(ctx); err != nil {
		return err
	}
	ever := windowOf(timegrid.Window{From: time.Time{}, To: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), Size: timegrid.Day})
	found := make(map[time.Time]struct{})
	err := m.store.eachRow(ctx, ever, true, m.series, func(_ int, week time.Time, row []byte) error {
		days, err := codec.FilledDays(m.Kind, row)
		for _, day := range days {
			found[week.AddDate(0, 0, day)] = struct{}{}
		}
		return err
	})
	if err != nil {
		return err
	}
	var days []time.Time
	for day := range found {
		days = append(days, day)
	}
	return statement.Exec(ctx, m.tx, fmt.Sprintf("note %d days of %s", len(days), m.String()), missDays, m.with(days)...)
}

// take takes the marks of the newest hours away and, where that leaves room, days that
// are missing.
func (m *making) take(ctx context.Context) error {
	type marked struct {
		Hour    time.Time
		Minutes int64
	}
	known, err := statement.One[int](ctx, m.tx, "count the series of "+m.String(), `SELECT count(*) FROM measured_series
		WHERE organization_id = $1 AND kind = $2 AND engine = $3`, m.with()...)
	if err != nil {
		return err
	}
	if m.Kind == codec.Activity {
		known *= activityRows
	}
	hours := max(fewestHours, m.store.wholeRows/max(1, known))
	rows, err := statement.All[marked](ctx, m.tx, "take marks of "+m.String(), takeMarks, m.with(hours)...)
	if err != nil {
		return err
	}
	m.dirty = make(map[time.Time]uint64)
	for _, row := range rows {
		m.dirty[row.Hour.UTC()] |= uint64(row.Minutes)
	}
	if len(m.dirty) < hours {
		days, err := statement.All[time.Time](ctx, m.tx, "take what is missing of "+m.String(), takeMissing, m.with(max(1, (hours-len(m.dirty))/24))...)
		if err != nil {
			return err
		}
		for _, day := range days {
			for n := range 24 {
				m.dirty[day.UTC().Add(time.Duration(n)*time.Hour)] = codec.AllMinutes
			}
		}
	}
	if err := m.store.crash("take"); err != nil {
		return err
	}
	return m.findSeries(ctx)
}

// deleteWholes deletes the rows that an organization has as a whole, with the transaction
// that deletes its series.
func (s *Store) deleteWholes(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error {
	if _, err := statement.One[int](ctx, tx, "hold the rows of a whole organization", holdWholes, organization); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "delete the rows of a whole organization", deleteWholes, organization)
}

// ready says that the head has all that it had before a crash.
func (s *Store) ready(ctx context.Context) (bool, error) {
	ready, known, err := statement.Find[bool](ctx, s.db, "look whether the head is complete", `SELECT ready FROM head_state`)
	return ready && known, err
}
