package pgtest

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
)

// Mentions returns the rows of a database in which a text occurs, in either case,
// by their table ("schema.table"). Of bytes it sees what is ASCII in them. It is
// for tests of what must not be there, wherever somebody may have put it.
func Mentions(t testing.TB, db *sqlx.DB, text string) map[string][]string {
	t.Helper()
	var tables []struct {
		Name    string `db:"name"`
		Columns string `db:"columns"`
	}
	if err := db.SelectContext(t.Context(), &tables, `
		SELECT format('%I.%I', n.nspname, c.relname) AS name,
		       string_agg(format(CASE a.atttypid WHEN 'bytea'::regtype THEN 'encode(%I, ''escape'')' ELSE '%I::text' END, a.attname), ', ' ORDER BY a.attnum) AS columns
		FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relkind IN ('r', 'm') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
		GROUP BY 1`); err != nil {
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
