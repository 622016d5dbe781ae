package pgstore

import (
	"testing"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/testing/pgtest"
)

// TestBlocks holds the tables to what every store of blocks promises.
func TestBlocks(t *testing.T) {
	t.Parallel()
	blockstest.Run(t, func(t testing.TB) blockstest.Backend {
		db := pgtest.DB(t)
		return blockstest.Backend{Store: tables{db}, Ledger: db, Series: func(s blocks.Series) blocks.Series {
			if _, err := db.ExecContext(t.Context(), ensureSeries, s.Organization, []string{s.Kind}, []string{s.Subject}, []string{string(s.Engine)}); err != nil {
				t.Fatal(err)
			}
			if err := db.GetContext(t.Context(), &s.ID, `SELECT id FROM measured_series WHERE organization_id = $1 AND kind = $2 AND subject = $3`, s.Organization, s.Kind, s.Subject); err != nil {
				t.Fatal(err)
			}
			return s
		}}
	})
}
