package pgtest

import (
	_ "embed" // the query
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
)

//go:embed sql/tables.sql
var tablesQuery string

// Mentions returns the rows of a database in which a text occurs, in either case,
// by their table ("schema.table"). Of bytes it sees what is ASCII in them. It is
// for tests of what must not be there, wherever somebody may have put it.
func Mentions(t testing.TB, db *sqlx.DB, text string) map[string][]string {
	t.Helper()
	var tables []struct {
		Name    string `db:"name"`
		Columns string `db:"columns"`
	}
	if err := db.SelectContext(t.Context(), &tables, tablesQuery); err != nil {
		t.Fatal(err)
	}
	mentions := map[string][]string{}
	for _, table := range tables {
		var rows []string
		query := fmt.Sprintf(`SELECT row FROM (SELECT concat_ws(' | ', %s) AS row FROM %s) AS r WHERE position(lower($1) IN lower(row)) > 0`, table.Columns, table.Name)
		if err := db.SelectContext(t.Context(), &rows, query, text); err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 {
			mentions[table.Name] = rows
		}
	}
	return mentions
}
