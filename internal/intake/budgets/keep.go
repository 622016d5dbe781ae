package budgets

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/internal/concurrency/pause"
	"muster/internal/postgres/statement"
)

const (
	pace     = 2 * time.Second    // between two writes
	patience = 5 * time.Second    // with a write, for which the first calls of an organization wait
	kept     = 2 * 24 * time.Hour // how old the rows of a day may get
)

// Run writes what is counted until ctx ends, and then once more.
func (b *Book) Run(ctx context.Context) error {
	flush := func(ctx context.Context) error {
		ctx, end := context.WithTimeout(ctx, patience)
		defer end()
		return b.Flush(ctx)
	}
	return pause.Flushing(ctx, pace, time.Second, flush, func(err error) {
		b.log.WarnContext(ctx, "what senders used of their budgets is not written down", "error", err)
	})
}

// Flush writes what is counted, reads what other processes counted, and deletes old days.
// What could not be written stays counted.
func (b *Book) Flush(ctx context.Context) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	b.turn()
	day, unkept, purge := b.day, b.unkept, !b.purged.Equal(b.day)
	b.unkept = map[entry]used{}
	var asked []uuid.UUID
	for organization, a := range b.accounts {
		if a.asked {
			asked = append(asked, organization)
			a.asked = false
		}
	}
	b.mu.Unlock()
	if err := b.write(ctx, unkept); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		for at, u := range unkept {
			sum := b.unkept[at]
			sum.bytes, sum.events = sum.bytes+u.bytes, sum.events+u.events
			b.unkept[at] = sum
		}
		return err
	}
	if err := b.refresh(ctx, day, asked); err != nil || !purge {
		return err
	}
	err := statement.Exec(ctx, b.db, "forget what senders used", `DELETE FROM budget_use WHERE day < $1::date`, day.Add(-kept))
	if err == nil {
		b.mu.Lock()
		b.purged = day
		b.mu.Unlock()
	}
	return err
}

// refresh updates the accounts of organizations from the database, and drops those that were
// not used since the last time.
func (b *Book) refresh(ctx context.Context, day time.Time, asked []uuid.UUID) error {
	var rows []usedRow
	if len(asked) > 0 {
		var err error
		if rows, err = b.read(ctx, day, asked); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.day.Equal(day) {
		return nil
	}
	of := make(map[uuid.UUID][]usedRow, len(asked))
	for _, r := range rows {
		of[r.Organization] = append(of[r.Organization], r)
	}
	current := make(map[uuid.UUID]*account, len(asked))
	for _, organization := range asked {
		if a := b.accounts[organization]; a != nil {
			current[organization] = b.accountOf(organization, of[organization])
			current[organization].asked = a.asked
		}
	}
	for organization, a := range b.accounts {
		if a.asked && current[organization] == nil {
			current[organization] = a
		}
	}
	b.accounts = current
	return nil
}

type usedRow struct {
	Organization uuid.UUID `db:"organization_id"`
	Token        uuid.UUID `db:"token_id"`
	Bytes        int64     `db:"bytes"`
	Events       int64     `db:"events"`
}

func (b *Book) read(ctx context.Context, day time.Time, organizations []uuid.UUID) ([]usedRow, error) {
	return statement.All[usedRow](ctx, b.db, "read what senders used", `SELECT organization_id, token_id, bytes, events FROM budget_use
		WHERE organization_id = ANY($1) AND day = $2::date`, organizations, day)
}

func (b *Book) write(ctx context.Context, unkept map[entry]used) error {
	type row struct {
		Organization, Token [16]byte
		Day                 time.Time
		Bytes, Events       int64
	}
	if len(unkept) == 0 {
		return nil
	}
	rows := make([]row, 0, len(unkept))
	for at, u := range unkept {
		rows = append(rows, row{at.Organization, at.Token, at.day, u.bytes, u.events})
	}
	// In the order of the key: processes that write the same rows do so in one order. Rows of
	// an organization that was deleted meanwhile are left out by the table's trigger.
	return statement.Exec(ctx, b.db, "count what senders used", `
		INSERT INTO budget_use AS kept (organization_id, token_id, day, bytes, events)
		SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::date[], $4::bigint[], $5::bigint[])
		ORDER BY 1, 3, 2
		ON CONFLICT (organization_id, day, token_id) DO UPDATE SET bytes = kept.bytes + excluded.bytes, events = kept.events + excluded.events`,
		statement.Columns(rows)...)
}
