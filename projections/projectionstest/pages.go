package projectionstest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/projections"
)

// PagesMayBeCutAnywhere holds that a projection's rows are the same whether its logs are
// applied event by event, as they come, or in pages, as a rebuild does.
func PagesMayBeCutAnywhere(t *testing.T, db *sqlx.DB, p projections.Projection) {
	t.Helper()
	logs := make([][]projections.Event, len(p.Logs))
	for i, log := range p.Logs {
		for e, err := range eventstore.New(db).Read(t.Context(), log, eventstore.Filter{}) {
			event := projections.Event{Event: e}
			if err == nil && p.Decode != nil {
				event.Fact, err = p.Decode(e)
			}
			if err != nil {
				t.Fatal(err)
			}
			logs[i] = append(logs[i], event)
		}
	}
	singly := rowsOf(t, db, p, logs, 1)
	for _, size := range []int{2, 7, 150, 1_000_000} {
		for table, rows := range rowsOf(t, db, p, logs, size) {
			if !slices.Equal(singly[table], rows) {
				t.Errorf("%s by pages of %d\n%q\nand one by one\n%q", table, size, rows, singly[table])
			}
		}
	}
}

// rowsOf are the rows of each table after the logs were applied in pages of a size.
func rowsOf(t *testing.T, db *sqlx.DB, p projections.Projection, logs [][]projections.Event, size int) map[string][]string {
	t.Helper()
	tx := db.MustBeginTx(t.Context(), nil)
	defer func() { _ = tx.Rollback() }()
	schema := fmt.Sprintf("pages_of_%d", size)
	tx.MustExec(`CREATE SCHEMA ` + schema + `; SET LOCAL search_path TO ` + schema + `, public;` + p.Schema)
	for _, log := range logs {
		for page := range slices.Chunk(log, size) {
			if err := p.Apply(t.Context(), tx, page); err != nil {
				t.Fatalf("pages of %d: %v", size, err)
			}
		}
	}
	var tables []string
	if err := tx.Select(&tables, `SELECT tablename FROM pg_tables WHERE schemaname = $1`, schema); err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][]string)
	for _, table := range tables {
		all := []string{}
		if err := tx.Select(&all, `SELECT t::text FROM `+table+` t ORDER BY 1`); err != nil || len(all) == 0 {
			t.Fatalf("%d rows of %s, %v", len(all), table, err)
		}
		rows[table] = all
	}
	return rows
}
