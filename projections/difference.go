package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
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

// DifferentRow is one differing row in both generations; null where it is missing.
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
	Name string `db:"name"`
	Key  string `db:"key"` // its columns, with commas
}

// tablesOf lists a generation's tables with their primary keys.
func tablesOf(ctx context.Context, tx *sqlx.Tx, schema string) ([]table, error) {
	var tables []table
	err := tx.SelectContext(ctx, &tables, selectTables, schema)
	return tables, err
}

// compare counts differing rows of two generations as the transaction sees them.
func compare(ctx context.Context, tx *sqlx.Tx, oldSchema, newSchema string) ([]TableDifference, error) {
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
			return nil, fmt.Errorf("compare %s: %w", t.Name, err)
		}
		all = append(all, d)
	}
	return all, nil
}

func compareTable(ctx context.Context, tx *sqlx.Tx, t table, oldSchema, newSchema string) (TableDifference, error) {
	key := strings.Split(t.Key, ",")
	join := make([]string, len(key))
	for i, column := range key {
		c := quoted(column)
		join[i] = "o." + c + " = n." + c
	}
	query := strings.NewReplacer(
		"{{old}}", quoted(oldSchema, t.Name),
		"{{new}}", quoted(newSchema, t.Name),
		"{{join}}", strings.Join(join, " AND "),
		"{{first}}", quoted(key[0]),
	).Replace(selectDifference)
	d := TableDifference{Table: t.Name}
	var samples []byte
	err := tx.QueryRowContext(ctx, query, samplesKept).Scan(&d.Rows, &d.OnlyOld, &d.OnlyNew, &d.Different, &samples)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(samples, &d.Samples)
}
