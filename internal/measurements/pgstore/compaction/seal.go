package compaction

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/claim_quiet.sql
	claimQuiet string
	//go:embed sql/seal.sql
	sealHours string
	//go:embed sql/delete_raw.sql
	deleteRaw string
	//go:embed sql/attended.sql
	attended string
)

const (
	// AwayAfter is the time without an intake after which samples count as held up.
	AwayAfter = time.Hour
	// Settled is how long late samples may take to come; nothing is sealed meanwhile.
	Settled = 6 * time.Hour
)

// sealGroup is how many hours one transaction seals: some 15,000 raw samples.
const sealGroup = 64

// Seal closes hours for which no sample has arrived for as long as raw samples are kept, and
// deletes their raw samples and data beyond its retention. It returns the number of sealed
// hours. Any number of processes may do it.
//
// It waits for senders that are late because they could not send before (Attend): while the
// intake is away for more than an hour, and in the six hours after that, it does nothing.
func (c *Compactor) Seal(ctx context.Context) (hours int, err error) {
	if ok, err := statement.One[bool](ctx, c.ledger.DB, "look whether the intake was away", attended, AwayAfter, Settled); err != nil || !ok {
		return 0, err
	}
	if _, err := c.Compact(ctx); err != nil && !ledger.IsAway(ctx, err) { // what is not compacted is not sealed
		return 0, err
	}
	err = c.round(ctx, claimQuiet, sealGroup, func(ctx context.Context, g *group, claimed []tables.Bucket) error {
		sealed, err := g.seal(ctx, claimed)
		hours += sealed
		return err
	}, c.ledger.Retention.Raw)
	if err != nil {
		return hours, fmt.Errorf("seal hours: %w", err)
	}
	return hours, c.Forget(ctx)
}

func (g *group) seal(ctx context.Context, claimed []tables.Bucket) (int, error) {
	hours := make([]tables.HourOfWeek, len(claimed))
	for i, hour := range claimed {
		hours[i] = hour.OfWeek()
	}
	sealed, err := statement.All[tables.Bucket](ctx, g.Tx, fmt.Sprintf("seal %d hours", len(hours)), sealHours,
		append(statement.Columns(hours), g.Ledger.Retention.Raw)...)
	if err != nil {
		return 0, err
	}
	type reaching struct {
		tables.Bucket
		Seconds float64
	}
	rows := make([]reaching, len(sealed))
	for i, hour := range sealed {
		rows[i] = reaching{hour, g.Kind(hour.Series).Reach().Seconds()}
	}
	return len(rows), statement.Exec(ctx, g.Tx, fmt.Sprintf("delete the raw samples of %d hours", len(rows)), deleteRaw, statement.Columns(rows)...)
}
