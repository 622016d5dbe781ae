package budgets

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// CountOpen counts alerts that a transaction opens, and closes, by the token that raised each;
// uuid.Nil: none did. It is an *ExhaustedError where a call of token leaves more alerts open than
// there were, and more than the organization or the token may have; uuid.Nil is never refused.
// The rows stay locked until the transaction ends.
func (b *Book) CountOpen(ctx context.Context, tx sqlx.ExtContext, organization, token uuid.UUID, changes map[uuid.UUID]int64) error {
	parameters, all := withSum(organization, changes)
	// All transactions lock the organization's row first. An earlier program may have opened
	// the alert that is closed here.
	open, err := statement.Map[uuid.UUID, int64](ctx, tx, "count open alerts", `
		WITH change AS (SELECT * FROM unnest($2::uuid[], $3::bigint[]) AS change (token, more))
		INSERT INTO open_alerts AS kept (organization_id, token_id, open)
		SELECT $1, token, greatest(0, more) FROM change ORDER BY token
		ON CONFLICT (organization_id, token_id) DO UPDATE
		SET open = greatest(0, kept.open + (SELECT more FROM change WHERE token = kept.token_id))
		RETURNING token_id, open`, parameters...)
	if err != nil || token == uuid.Nil {
		return err
	}
	if limit := b.limits.OpenAlerts; all > 0 && open[uuid.Nil] > limit {
		return &ExhaustedError{Name: OpenAlerts, Limit: limit, Used: open[uuid.Nil] - all}
	}
	if limit := b.limits.OfToken(OpenAlerts); changes[token] > 0 && open[token] > limit {
		return &ExhaustedError{Name: OpenAlerts, OfToken: true, Limit: limit, Used: open[token] - changes[token]}
	}
	return nil
}

// withSum are the parameters $1 to $3 of a statement on open_alerts: the organization, its tokens,
// and the numbers of each. The sum is the number of uuid.Nil, whose row is the organization's.
func withSum(organization uuid.UUID, of map[uuid.UUID]int64) (parameters []any, sum int64) {
	type row struct {
		Token [16]byte
		N     int64
	}
	rows := make([]row, 0, len(of)+1)
	for token, n := range of {
		sum += n
		if token != uuid.Nil {
			rows = append(rows, row{token, n})
		}
	}
	rows = append(rows, row{uuid.Nil, sum})
	return append([]any{organization}, statement.Columns(rows)...), sum
}

// Recount counts the open alerts of organizations anew where that was last done more than a
// day ago: count says how many there are, by the token that raised them.
func (b *Book) Recount(ctx context.Context, count func(ctx context.Context, tx sqlx.ExtContext, organization uuid.UUID) (map[uuid.UUID]int64, error)) error {
	due, err := statement.All[uuid.UUID](ctx, b.db, "find organizations whose open alerts are to be counted", `
		SELECT o.id FROM organizations o LEFT JOIN open_alerts a ON a.organization_id = o.id AND a.token_id = $1
		WHERE a.counted_at IS NULL OR a.counted_at < clock_timestamp() - interval '1 day' ORDER BY o.id`, uuid.Nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, organization := range due {
		err := transact.Once(ctx, b.db, nil, func(tx *sqlx.Tx) error { return recount(ctx, tx, organization, count) })
		if err != nil {
			errs = append(errs, fmt.Errorf("count the open alerts of organization %s: %w", organization, err))
		}
	}
	return errors.Join(errs...)
}

// recount locks the organization's row first, so no alert is opened or closed meanwhile.
func recount(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, count func(ctx context.Context, tx sqlx.ExtContext, organization uuid.UUID) (map[uuid.UUID]int64, error)) error {
	err := statement.Exec(ctx, tx, "lock the count of open alerts", `INSERT INTO open_alerts AS kept (organization_id, token_id, open, counted_at)
		VALUES ($1, $2, 0, clock_timestamp()) ON CONFLICT (organization_id, token_id) DO UPDATE SET counted_at = excluded.counted_at`, organization, uuid.Nil)
	if err != nil {
		return err
	}
	open, err := count(ctx, tx, organization)
	if err != nil {
		return err
	}
	parameters, _ := withSum(organization, open)
	if err := statement.Exec(ctx, tx, "forget tokens without open alerts", `DELETE FROM open_alerts WHERE organization_id = $1 AND NOT token_id = ANY($2::uuid[])`, parameters[:2]...); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "write down how many alerts are open", `INSERT INTO open_alerts (organization_id, token_id, open)
		SELECT $1, * FROM unnest($2::uuid[], $3::bigint[]) ORDER BY 2
		ON CONFLICT (organization_id, token_id) DO UPDATE SET open = excluded.open`, parameters...)
}
