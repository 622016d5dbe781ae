package deletion

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"muster/internal/files/blobs"
	"muster/internal/postgres/statement"
)

// Count is how much there is of something that Delete would delete.
type Count struct {
	What string
	N    int64
}

// Count says what Delete would delete, in the order in which a person cares, and how many
// events would stay.
func (d *Deletion) Count(ctx context.Context, organization uuid.UUID) (goes []Count, events int64, err error) {
	files := int64(0)
	for _, err := range d.Blobs.List(ctx, blobs.PrefixOf(organization)) {
		if err != nil {
			return nil, 0, err
		}
		files++
	}
	goes = []Count{{"files of reports", files}}
	counted := map[string]bool{}
	for _, c := range []struct{ what, table string }{
		{"members", "members"}, {"tokens", "tokens"}, {"servers with a connection", "assessment_targets"}, {"assessments", "assessments"},
		{"findings", "findings"}, {"series of measurements, with all their samples", "measured_series"},
	} {
		n, err := d.rowsOf(ctx, c.table, organization)
		if err != nil {
			return nil, 0, err
		}
		goes, counted[c.table] = append(goes, Count{c.what, n}), true
	}
	tables, err := d.tables(ctx)
	if err != nil {
		return nil, 0, err
	}
	var others int64
	for _, table := range tables {
		if !counted[table] {
			n, err := d.rowsOf(ctx, table, organization)
			if err != nil {
				return nil, 0, err
			}
			others += n
		}
	}
	events, err = d.rowsOf(ctx, "events", organization)
	return append(goes, Count{"other rows", others}), events, err
}

func (d *Deletion) rowsOf(ctx context.Context, table string, organization uuid.UUID) (int64, error) {
	query := strings.ReplaceAll(`SELECT count(*) FROM {table} WHERE organization_id = $1`, "{table}", pgx.Identifier{table}.Sanitize())
	return statement.One[int64](ctx, d.DB, fmt.Sprintf("count an organization's rows of %s", table), query, organization)
}
