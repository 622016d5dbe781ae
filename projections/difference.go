package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// samplesKept is how many differing rows of each sort a difference shows.
const samplesKept = 10

// Difference is how a rebuilt generation differs from the one it replaces, both
// at the same positions.
type Difference struct {
	Projection string            `json:"projection"`
	Old        string            `json:"old"` // consumer groups
	New        string            `json:"new"`
	Positions  map[string]int64  `json:"positions"` // by log
	Tables     []TableDifference `json:"tables"`
}

// TableDifference counts the rows of one table that differ and shows some.
type TableDifference struct {
	Table     string         `json:"table"`
	Rows      int64          `json:"rows"` // in the new generation
	OnlyOld   int64          `json:"onlyOld"`
	OnlyNew   int64          `json:"onlyNew"`
	Different int64          `json:"different"`
	Samples   []DifferentRow `json:"samples"`
}

// DifferentRow is one differing row as it is in either generation; null where it is not.
type DifferentRow struct {
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

// Empty tells whether both generations hold the same.
func (d Difference) Empty() bool {
	for _, t := range d.Tables {
		if t.OnlyOld+t.OnlyNew+t.Different > 0 {
			return false
		}
	}
	return true
}

// table is a table of a generation as the catalog knows it.
type table struct {
	name string
	key  []string
}

// tablesOf lists a generation's tables with their primary keys.
func tablesOf(ctx context.Context, tx Tx, schema string) ([]table, error) {
	rows, err := tx.QueryContext(ctx, selectTables, schema)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var tables []table
	for rows.Next() {
		var name, key string
		if err := rows.Scan(&name, &key); err != nil {
			return nil, err
		}
		tables = append(tables, table{name: name, key: strings.Split(key, ",")})
	}
	return tables, rows.Err()
}

// compare counts differing rows of two generations as the transaction sees them.
func compare(ctx context.Context, tx Tx, oldSchema, newSchema string) ([]TableDifference, error) {
	// Whole tables, unlike the page that may have come before (enterPage).
	if _, err := tx.ExecContext(ctx, `SET LOCAL enable_seqscan TO DEFAULT`); err != nil {
		return nil, err
	}
	tables, err := tablesOf(ctx, tx, newSchema)
	if err != nil {
		return nil, err
	}
	var all []TableDifference
	for _, t := range tables {
		d, err := compareTable(ctx, tx, t, oldSchema, newSchema)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", t.name, err)
		}
		all = append(all, d)
	}
	return all, nil
}

func compareTable(ctx context.Context, tx Tx, t table, oldSchema, newSchema string) (TableDifference, error) {
	join := make([]string, len(t.key))
	for i, column := range t.key {
		c := pgx.Identifier{column}.Sanitize()
		join[i] = "o." + c + " = n." + c
	}
	first := pgx.Identifier{t.key[0]}.Sanitize()
	query := strings.NewReplacer(
		"{{old}}", pgx.Identifier{oldSchema, t.name}.Sanitize(),
		"{{new}}", pgx.Identifier{newSchema, t.name}.Sanitize(),
		"{{join}}", strings.Join(join, " AND "),
		"{{first}}", first,
	).Replace(selectDifference)
	d := TableDifference{Table: t.name}
	var samples []byte
	err := tx.QueryRowContext(ctx, query, samplesKept).Scan(&d.Rows, &d.OnlyOld, &d.OnlyNew, &d.Different, &samples)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(samples, &d.Samples)
}
