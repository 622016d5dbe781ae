package budgets

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/postgres/statement"
)

// Use is how much of a budget an organization used.
type Use struct {
	Name        Name
	Limit, Used int64
	TokenLimit  int64
	ResetAt     time.Time // zero: when alerts are resolved
	Tokens      []TokenUse
}

// TokenUse is how much of it a token used.
type TokenUse struct {
	Token  uuid.UUID
	Called string // empty: it is gone
	Used   int64
}

// List returns the budgets of an organization, each with the tokens that used it, the largest
// use first: this process's counts up to now, and those of others up to two seconds ago.
func (b *Book) List(ctx context.Context, organization uuid.UUID) ([]Use, error) {
	if err := b.Flush(ctx); err != nil {
		return nil, err
	}
	type row struct {
		Token  uuid.UUID `db:"token_id"`
		Called string    `db:"called"`
		Bytes  int64     `db:"bytes"`
		Events int64     `db:"events"`
		Open   int64     `db:"open"`
	}
	rows, err := statement.All[row](ctx, b.db, "read how much of the budgets was used", `
		SELECT token_id, coalesce(t.name, '') AS called, coalesce(u.bytes, 0) AS bytes, coalesce(u.events, 0) AS events, coalesce(a.open, 0) AS open
		FROM (SELECT token_id, bytes, events FROM budget_use WHERE organization_id = $1 AND day = $2::date) u
		FULL JOIN (SELECT token_id, open FROM open_alerts WHERE organization_id = $1) a USING (token_id)
		LEFT JOIN tokens t ON t.id = token_id AND t.organization_id = $1`, organization, b.today())
	if err != nil {
		return nil, err
	}
	var list []Use
	for _, name := range Names() {
		u := Use{Name: name, Limit: b.limits.Of(name), TokenLimit: b.limits.OfToken(name), Tokens: []TokenUse{}}
		if name != OpenAlerts {
			u.ResetAt = b.ResetAt()
		}
		for _, r := range rows {
			n := map[Name]int64{Bytes: r.Bytes, Events: r.Events, OpenAlerts: r.Open}[name]
			if r.Token != uuid.Nil && n > 0 {
				u.Tokens = append(u.Tokens, TokenUse{Token: r.Token, Called: r.Called, Used: n})
			}
			if (r.Token == uuid.Nil) == (name == OpenAlerts) { // whose row of all is the sum
				u.Used += n
			}
		}
		slices.SortFunc(u.Tokens, func(x, y TokenUse) int {
			return cmp.Or(cmp.Compare(y.Used, x.Used), slices.Compare(x.Token[:], y.Token[:]))
		})
		list = append(list, u)
	}
	return list, nil
}

// Total is how much an organization used of a budget, and the token that used most of it.
type Total struct {
	Organization uuid.UUID `db:"organization_id"`
	Name         Name      `db:"name"`
	Used         int64     `db:"used"`
	UsedByToken  int64     `db:"by_token"`
}

// Totals are those of all organizations that used anything.
func (b *Book) Totals(ctx context.Context) ([]Total, error) {
	return statement.All[Total](ctx, b.db, "read how much of all budgets was used", `
		WITH day AS (
		    SELECT organization_id, sum(bytes)::bigint AS bytes, max(bytes) AS most_bytes, sum(events)::bigint AS events, max(events) AS most_events
		    FROM budget_use WHERE day = $1::date GROUP BY organization_id)
		SELECT organization_id, 'bytes' AS name, bytes AS used, most_bytes AS by_token FROM day
		UNION ALL SELECT organization_id, 'events', events, most_events FROM day
		UNION ALL SELECT organization_id, 'openAlerts', coalesce(max(open) FILTER (WHERE token_id = $2), 0), coalesce(max(open) FILTER (WHERE token_id <> $2), 0)
		FROM open_alerts GROUP BY organization_id`, b.today(), uuid.Nil)
}
