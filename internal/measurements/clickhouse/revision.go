package clickhouse

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"strings"

	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/next_revision.sql
	nextRevision string
	//go:embed sql/raise_revision.sql
	raiseRevision string
)

// nextRevision returns a number that is greater than all earlier ones, of this ledger or, if
// clocks are right, of a lost one. It is taken in a transaction of its own: in the caller's,
// all others would wait until that ends.
func (s *Store) nextRevision(ctx context.Context) (uint64, error) {
	within, cancel := context.WithTimeout(ctx, s.limits.Read)
	defer cancel()
	last, err := statement.One[int64](within, s.ledger, "take a revision for blocks", nextRevision)
	return uint64(last), err
}

// overtake makes sure that the ledger's next revisions are greater than those on a server: a
// restored ledger whose clock went backwards would put invisible blocks.
func (s *Store) overtake(ctx context.Context, n *node) error {
	selects := make([]string, len(tables))
	for i, t := range tables {
		selects[i] = "SELECT max(revision) AS revision FROM " + t.local(s.address.Database)
	}
	there, err := n.one(ctx, "SELECT max(revision) FROM ("+strings.Join(selects, " UNION ALL ")+")")
	if err != nil {
		return err
	}
	was, raised, err := statement.Find[int64](ctx, s.ledger, "raise the revision of blocks", raiseRevision, int64(there))
	if raised {
		s.log.WarnContext(ctx, "the ledger of measurements is older than its blocks: it was restored from a backup",
			"host", n.host, "revision", there, "ledger", was)
	}
	if err != nil {
		return fmt.Errorf("compare revisions with %s: %w", n.host, err)
	}
	return nil
}
