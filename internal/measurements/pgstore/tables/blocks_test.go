package tables

import (
	"os"
	"testing"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

const ensureSeries = `INSERT INTO measured_series (organization_id, kind, subject, engine) VALUES ($1, $2, $3, $4) ON CONFLICT (organization_id, kind, subject) DO NOTHING`

// TestBlocks holds the tables to what every store of blocks promises.
func TestBlocks(t *testing.T) {
	t.Parallel()
	blockstest.Run(t, func(t testing.TB) blockstest.Backend {
		db := pgtest.DB(t)
		return blockstest.Backend{Store: Blocks{db}, Ledger: db, Series: func(s blocks.Series) blocks.Series {
			if _, err := db.ExecContext(t.Context(), ensureSeries, s.Organization, s.Kind, s.Subject, s.Engine); err != nil {
				t.Fatal(err)
			}
			if err := db.GetContext(t.Context(), &s.ID, `SELECT id FROM measured_series WHERE organization_id = $1 AND kind = $2 AND subject = $3`, s.Organization, s.Kind, s.Subject); err != nil {
				t.Fatal(err)
			}
			return s
		}}
	})
}
