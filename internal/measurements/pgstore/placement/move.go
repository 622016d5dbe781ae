package placement

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/packing"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// moveSeries is the number of series whose blocks of a table are in memory at once.
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

// Home is where blocks can be.
type Home struct {
	Store blocks.Movable
	Place string // what block_home calls it
}

// Here is the ledger's own database.
func (p *Placement) Here() Home { return Home{tables.Blocks{DB: p.db}, ""} }

// OvertakenError says that another copy was begun since this one was, or that what it had
// copied was dropped.
type OvertakenError struct{}

func (*OvertakenError) Error() string {
	return "another copy was begun meanwhile, or what was copied was dropped; nothing was switched"
}

// mover copies blocks from one home to another.
type mover struct {
	db       *sqlx.DB // the ledger
	from, to Home
	tell     func(Moving)
	id       uuid.UUID     // of this copy, in block_home
	since    string        // the mark of from: what was put later is in the last step
	doubt    []DifferError // of each series the first block that Comparing found to differ
	Moving
}

// Move copies all blocks from one home to another, compares them, and records that they are
// there. It may be stopped and called again: existing blocks are read and not put again. Others
// continue meanwhile; they wait only in the last step, which handles what they have put since
// the first one began. The error is a *DifferError if both differ, a *blocks.UnavailableError
// if a part of either is away, a *ForeignError if to is another installation's, an
// *OvertakenError if another process is moving them, and a *MovedError if the blocks are in
// neither home; then nothing has been switched.
func (p *Placement) Move(ctx context.Context, from, to Home, tell func(Moving)) error {
	are, err := p.Place(ctx)
	if err != nil || are == to.Place {
		return err
	}
	if are != from.Place {
		return &MovedError{are, from.Place}
	}
	m := &mover{db: p.db, from: from, to: to, tell: tell, id: uuid.New()}
	if err := m.leaveOut(ctx, p.db); err != nil {
		return err
	}
	if err := p.alone(ctx, m.begin); err != nil {
		return err
	}
	for _, step := range []Step{Copying, Comparing} {
		m.Moving = Moving{Step: step}
		if err := m.all(ctx); err != nil {
			return err
		}
	}
	if err := m.judge(ctx); err != nil {
		return err
	}
	m.Moving = Moving{Step: Switching}
	return p.alone(ctx, m.change)
}

// alone runs a function while nothing else is made from blocks.
func (p *Placement) alone(ctx context.Context, do func(ctx context.Context, tx *sqlx.Tx) error) error {
	return transact.Once(ctx, p.db, nil, func(tx *sqlx.Tx) error {
		err := statement.Exec(ctx, tx, "wait for whoever makes something of blocks", `SELECT pg_advisory_xact_lock(hashtextextended('block_home', 0))`)
		if err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// begin notes which copy this is, and from when on others' changes are left to the last step.
func (m *mover) begin(ctx context.Context, tx *sqlx.Tx) (err error) {
	if err := statement.Exec(ctx, tx, "note that blocks are copied", `UPDATE block_home SET copy = $1`, m.id); err != nil {
		return err
	}
	m.since, err = m.from.Store.Mark(ctx)
	return err
}

// all copies, or compares, the blocks of all series.
func (m *mover) all(ctx context.Context) error {
	series, err := tables.AllSeries(ctx, m.db)
	if err != nil {
		return err
	}
	return m.some(ctx, nil, series)
}

// some does that for some of them; tx is that of the last step.
func (m *mover) some(ctx context.Context, tx *sqlx.Tx, of []tables.Series) error {
	for _, table := range blocks.Tables() {
		m.Table, m.Done, m.Of = table, 0, len(of)
		for part := range slices.Chunk(of, moveSeries) {
			if err := m.part(ctx, tx, part); err != nil {
				return err
			}
			m.Done += len(part)
			m.tell(m.Moving)
		}
	}
	return nil
}

func (m *mover) part(ctx context.Context, tx *sqlx.Tx, of []tables.Series) error {
	differ, err := m.differ(ctx, tx, of)
	if err != nil || len(differ) == 0 {
		return err
	}
	if m.Step == Comparing {
		for _, one := range differ {
			if n := len(m.doubt); n == 0 || m.doubt[n-1].Series.ID != one.Series.ID {
				m.doubt = append(m.doubt, DifferError{one.Series, m.Table, one.Start})
			}
		}
		return nil
	}
	if err := m.put(ctx, tx, differ); err != nil || m.Step == Copying {
		return err
	}
	if differ, err = m.differ(ctx, tx, of); err == nil && len(differ) > 0 { // what was put now is compared now
		err = &DifferError{differ[0].Series, m.Table, differ[0].Start}
	}
	return err
}

// put puts blocks of series that are still there: an organization that is being deleted
// takes its series with it, and waits for who holds them.
func (m *mover) put(ctx context.Context, tx *sqlx.Tx, differ []blocks.Block) error {
	if tx == nil {
		return transact.Once(ctx, m.db, nil, func(tx *sqlx.Tx) error { return m.put(ctx, tx, differ) })
	}
	ids := make([]int64, len(differ))
	for i, one := range differ {
		ids[i] = one.Series.ID
	}
	held, err := statement.All[int64](ctx, tx, "hold series", `SELECT id FROM measured_series WHERE id = ANY ($1) ORDER BY id FOR KEY SHARE`, ids)
	if err != nil {
		return err
	}
	differ = slices.DeleteFunc(differ, func(one blocks.Block) bool {
		_, there := slices.BinarySearch(held, one.Series.ID)
		return !there
	})
	return m.to.Store.Put(ctx, tx, m.Table, differ)
}

// differ are the blocks of series that are not the same in both places, as they should be.
func (m *mover) differ(ctx context.Context, tx *sqlx.Tx, of []tables.Series) (differ []blocks.Block, err error) {
	ranges := make([]blocks.Range, len(of))
	for i, one := range of {
		ranges[i] = blocks.Range{Series: one.Block(), From: time.Unix(0, 0).UTC(), To: time.Unix(1<<32-1, 0).UTC()}
	}
	// There first: the other copy is read later and may be newer, and is left to the last step.
	there := make(map[tables.Bucket][]byte)
	err = m.to.Store.Each(ctx, tx, m.Table, ranges, func(place int, start time.Time, body []byte) error {
		there[tables.At(of[place].ID, start)] = slices.Clone(body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.from.Store.Each(ctx, nil, m.Table, ranges, func(place int, start time.Time, body []byte) error {
		key := tables.At(of[place].ID, start)
		m.Rows, m.Bytes = m.Rows+1, m.Bytes+int64(len(body))
		was, known := there[key]
		delete(there, key)
		if !known || !sameBlock(m.Table, of[place].Kind, key.Start, body, was) {
			differ = append(differ, blocks.Block{Series: of[place].Block(), Start: key.Start, Body: slices.Clone(body)})
		}
		return nil
	})
	if err != nil || m.Step == Comparing { // what was forgotten meanwhile is forgotten there, too
		return differ, err
	}
	for key := range there {
		gone := slices.IndexFunc(of, func(one tables.Series) bool { return one.ID == key.Series })
		differ = append(differ, blocks.Block{Series: of[gone].Block(), Start: key.Start})
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
		samples, err := packing.Unpack(start, body, start, start.Add(blocks.RawWidth))
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

// changed are the series for which blocks were put since the first step began.
func (m *mover) changed(ctx context.Context, db sqlx.QueryerContext) ([]tables.Series, error) {
	put := make(map[blocks.Series]bool)
	err := m.from.Store.Changed(ctx, m.since, func(one blocks.Series) error {
		put[blocks.Series{Organization: one.Organization, Kind: one.Kind, Subject: one.Subject}] = true
		return nil
	})
	if err != nil || len(put) == 0 {
		return nil, err
	}
	all, err := tables.AllSeries(ctx, db)
	return slices.DeleteFunc(all, func(one tables.Series) bool {
		return !put[blocks.Series{Organization: one.Organization, Kind: one.Kind, Subject: one.Subject}]
	}), err
}

// judge finds the first block that differs although none of its series was put since.
func (m *mover) judge(ctx context.Context) error {
	if len(m.doubt) == 0 {
		return nil
	}
	changed, err := m.changed(ctx, m.db)
	if err != nil {
		return err
	}
	for _, one := range m.doubt {
		if !slices.ContainsFunc(changed, func(of tables.Series) bool { return of.ID == one.Series.ID }) {
			return &one
		}
	}
	return nil
}

// change copies the blocks that others have put since the first step began, while no process
// puts more, and records the new place.
func (m *mover) change(ctx context.Context, tx *sqlx.Tx) error {
	changed, err := m.changed(ctx, tx)
	if err != nil {
		return err
	}
	if err := m.some(ctx, tx, changed); err != nil {
		return err
	}
	if err := m.leaveOut(ctx, tx); err != nil {
		return err
	}
	n, err := statement.Affected(ctx, tx, "note where blocks are", `UPDATE block_home SET place = $1, begun = false, copy = NULL WHERE copy = $2`, m.to.Place, m.id)
	if err == nil && n == 0 {
		return &OvertakenError{}
	}
	return err
}

// ForeignError says that a store has measurements of an organization that this
// installation does not know: it is another's.
type ForeignError struct{ Organization uuid.UUID }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("there are measurements of organization %s, which this installation does not know; name a database of its own", e.Organization)
}

// leaveOut deletes there the data of organizations that have been deleted here since it was
// copied. The error is a *ForeignError if it finds others that are not known here.
func (m *mover) leaveOut(ctx context.Context, db sqlx.QueryerContext) error {
	found := make(map[uuid.UUID]bool)
	err := m.to.Store.Series(ctx, func(s blocks.Series) error {
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
			if err := m.to.Store.DeleteOrganization(ctx, organization); err != nil {
				return err
			}
		}
	}
	return nil
}
