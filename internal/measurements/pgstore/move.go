package pgstore

import (
	"bytes"
	"context"
	_ "embed" // the statement
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/transact"
	"muster/internal/statement"
)

//go:embed sql/copied_blocks.sql
var copiedBlocks string

// moveSeries is of how many series the blocks of a table are in memory at once.
const moveSeries = 32

// Step is what Move is at.
type Step string

// The steps, in their order.
const (
	Copying   Step = "copying"
	Comparing Step = "comparing"
	Switching Step = "switching" // whoever makes something of blocks waits
)

// Moving is how far Move has come with a table.
type Moving struct {
	Step        Step
	Table       blocks.Table
	Done, Of    int   // series
	Rows, Bytes int64 // read of this step so far, of all tables
}

// DifferError is the first block that is not the same in both places.
type DifferError struct {
	Series blocks.Series
	Table  blocks.Table
	Start  time.Time
}

func (e *DifferError) Error() string {
	return fmt.Sprintf("the copy differs: organization %s, %s %q, table %s, bucket %s; nothing was switched",
		e.Series.Organization, e.Series.Kind, e.Series.Subject, e.Table, e.Start.UTC().Format(time.RFC3339))
}

// mover copies blocks from PostgreSQL.
type mover struct {
	store *Store
	to    blocks.Store
	tell  func(Moving)
	since string // transactions from this one on are in the last step
	Moving
}

// Move copies all blocks of PostgreSQL to another store, compares them, and notes that
// they are there, at place. It may be broken off and called again: what is there already
// is read and not put again. Others go on meanwhile; only in the last step, which is about
// what they have put since the first one began, they wait. The error is a *DifferError
// where both are not the same, a *blocks.UnavailableError where a part of to is away, a
// *ForeignError where to is another installation's, and a *MovedError where the blocks are in neither place; then nothing has been switched.
func (s *Store) Move(ctx context.Context, to blocks.Store, place string, tell func(Moving)) error {
	are, err := statement.One[string](ctx, s.db, "look where blocks are", `SELECT place FROM block_home`)
	if err != nil || are == place {
		return err
	}
	if are != "" {
		return &MovedError{are, place}
	}
	m := &mover{store: s, to: to, tell: tell}
	if err := m.leaveOut(ctx, s.db); err != nil {
		return err
	}
	m.since, err = statement.One[string](ctx, s.db, "note the time", `SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::numeric % 4294967296)::text`)
	if err != nil {
		return err
	}
	for _, step := range []Step{Copying, Comparing} {
		m.Moving = Moving{Step: step}
		if err := m.all(ctx); err != nil {
			return err
		}
	}
	m.Moving = Moving{Step: Switching}
	return transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error { return m.change(ctx, tx, place) })
}

const movedSeries = `SELECT id AS series_id, organization_id, kind, subject, engine FROM measured_series ORDER BY id`

// all copies, or compares, the blocks of all series.
func (m *mover) all(ctx context.Context) error {
	series, err := statement.All[series](ctx, m.store.db, "list series", movedSeries)
	if err != nil {
		return err
	}
	for _, table := range blocks.Tables() {
		m.Table, m.Done, m.Of = table, 0, len(series)
		if err := m.some(ctx, m.store.db, series); err != nil {
			return err
		}
	}
	return nil
}

// some does that for a table.
func (m *mover) some(ctx context.Context, db sqlx.QueryerContext, of []series) error {
	for part := range slices.Chunk(of, moveSeries) {
		differ, err := m.differ(ctx, db, part)
		if err != nil {
			return err
		}
		if m.Step != Comparing && len(differ) > 0 {
			if err := m.to.Put(ctx, nil, m.Table, differ); err != nil {
				return err
			}
		}
		if m.Step == Switching { // what was put now is compared now
			if differ, err = m.differ(ctx, db, part); err != nil {
				return err
			}
		}
		if m.Step != Copying && len(differ) > 0 {
			return &DifferError{differ[0].Series, m.Table, differ[0].Start}
		}
		m.Done += len(part)
		m.tell(m.Moving)
	}
	return nil
}

// differ are the blocks of series that are not the same in both places, as they should be.
// Comparing leaves out those that have changed since the first step began.
func (m *mover) differ(ctx context.Context, db sqlx.QueryerContext, of []series) ([]blocks.Block, error) {
	type row struct {
		stored
		Since bool
	}
	ids, byID, ranges := make([]int64, len(of)), make(map[int64]series, len(of)), make([]blocks.Range, len(of))
	for i, one := range of {
		ids[i], byID[one.ID] = one.ID, one
		ranges[i] = blocks.Range{Series: one.block(), From: time.Unix(0, 0).UTC(), To: time.Unix(1<<32-1, 0).UTC()}
	}
	// There first: what is read here later may be newer, and is left to the last step.
	there := make(map[bucket][]byte)
	err := m.to.Each(ctx, nil, m.Table, ranges, func(place int, start time.Time, body []byte) error {
		there[bucket{ids[place], start.UTC()}] = slices.Clone(body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	here, err := statement.All[row](ctx, db, "read blocks of "+string(m.Table), in(copiedBlocks, m.Table), ids, m.since)
	if err != nil {
		return nil, err
	}
	var differ []blocks.Block
	for _, r := range here {
		key := r.onGrid()
		m.Rows, m.Bytes = m.Rows+1, m.Bytes+int64(len(r.Body))
		was, known := there[key]
		delete(there, key)
		if m.Step == Comparing && r.Since || known && sameBlock(m.Table, byID[r.Series].Kind, key.Start, r.Body, was) {
			continue
		}
		differ = append(differ, blocks.Block{Series: byID[r.Series].block(), Start: key.Start, Body: r.Body})
	}
	if m.Step == Comparing { // what was forgotten here meanwhile is forgotten there, too
		return differ, nil
	}
	for key := range there {
		differ = append(differ, blocks.Block{Series: byID[key.Series].block(), Start: key.Start})
	}
	return differ, nil
}

// sameBlock says that two blocks mean the same. Statements may come back in other bytes.
func sameBlock(table blocks.Table, kind string, start time.Time, a, b []byte) bool {
	if bytes.Equal(a, b) || kind != codec.Statements {
		return bytes.Equal(a, b)
	}
	meaning := func(body []byte) (text string, err error) {
		switch table {
		case blocks.HourDetails, blocks.DayDetails, blocks.ClosedHourDetails, blocks.ClosedDayDetails:
			detail, err := codec.DecodeDetail(body)
			return fmt.Sprint(detail), err
		case blocks.Raw:
		default:
			return string(body), nil
		}
		samples, err := codec.Unpack(start, body, start, start.Add(blocks.RawWidth))
		for _, one := range samples {
			detail, broken := codec.DecodeStatements(one.Body)
			if broken != nil {
				return "", broken
			}
			text += fmt.Sprintln(one.At, detail)
		}
		return text, err
	}
	left, wrong := meaning(a)
	right, broken := meaning(b)
	return wrong == nil && broken == nil && left == right
}

// change copies what others have put since the first step began, while nobody puts more,
// and notes where all of it is now.
func (m *mover) change(ctx context.Context, tx *sqlx.Tx, place string) error {
	if err := statement.Exec(ctx, tx, "wait for whoever makes something of blocks", `SELECT pg_advisory_xact_lock(hashtextextended('block_home', 0))`); err != nil {
		return err
	}
	// Blocks are taken away only beside others of their series that are put (closeDetails).
	tables := make([]string, 0, len(blocks.Tables()))
	for _, table := range blocks.Tables() {
		tables = append(tables, in(`SELECT series_id FROM {table} WHERE age(xmin) <= age($1::text::xid)`, table))
	}
	changed, err := statement.All[series](ctx, tx, "list series with new blocks", `SELECT id AS series_id, organization_id, kind, subject, engine
		FROM measured_series WHERE id IN (`+strings.Join(tables, " UNION ALL ")+`) ORDER BY id`, m.since)
	if err != nil {
		return err
	}
	for _, table := range blocks.Tables() {
		m.Table, m.Done, m.Of = table, 0, len(changed)
		if err := m.some(ctx, tx, changed); err != nil {
			return err
		}
	}
	if err := m.leaveOut(ctx, tx); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "note where blocks are", `UPDATE block_home SET place = $1`, place)
}

// ForeignError says that a store has measurements of an organization that this
// installation does not know: it is another's.
type ForeignError struct{ Organization uuid.UUID }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("there are measurements of organization %s, which this installation does not know; name a database of its own", e.Organization)
}

// leaveOut deletes there what organizations had that have been deleted here since it was
// copied. The error is a *ForeignError where it finds others that are not known here.
func (m *mover) leaveOut(ctx context.Context, db sqlx.QueryerContext) error {
	there, lists := m.to.(interface {
		Series(ctx context.Context, take func(blocks.Series) error) error
	})
	if !lists {
		return nil
	}
	found := make(map[uuid.UUID]bool)
	err := there.Series(ctx, func(s blocks.Series) error {
		found[s.Organization] = true
		return nil
	})
	if err != nil {
		return err
	}
	known, err := statement.All[uuid.UUID](ctx, db, "list organizations that are measured", `SELECT DISTINCT organization_id FROM measured_series`)
	if err != nil {
		return err
	}
	gone, err := statement.All[uuid.UUID](ctx, db, "list organizations that were deleted", `SELECT id FROM deleted_organizations`)
	if err != nil {
		return err
	}
	for organization := range found {
		switch {
		case slices.Contains(known, organization):
		case !slices.Contains(gone, organization):
			return &ForeignError{organization}
		default:
			if err := m.to.DeleteOrganization(ctx, organization); err != nil {
				return err
			}
		}
	}
	return nil
}
