package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/series_tables.sql
	seriesTables string
	//go:embed sql/hold_some_series.sql
	holdSomeSeries string
)

// seriesAtOnce is how many series one transaction deletes: of each of a host's or an
// instance's there may be some ten thousand rows.
const seriesAtOnce = 20

// DeleteOrganization deletes all measurements of an organization, some series in each
// transaction, each with everything that depends on it. No process can create series for the
// organization any more. It waits for earlier holders of a series, and later ones find none
// (measurements.DeletedError). Blocks elsewhere are deleted last: no process can put any when
// no series is left.
func (s *Store) DeleteOrganization(ctx context.Context, organization uuid.UUID) error {
	tables, err := statement.All[string](ctx, s.db, "list what hangs on series", seriesTables)
	if err != nil {
		return err
	}
	for more := true; more; {
		err := transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
			if err := s.AtHome(ctx, tx); err != nil {
				return err
			}
			ids, err := statement.All[int64](ctx, tx, "hold an organization's series", holdSomeSeries, organization, seriesAtOnce)
			if err != nil {
				return err
			}
			if more = len(ids) > 0; !more {
				return s.deleteWholes(ctx, tx, organization)
			}
			for _, table := range tables {
				query := strings.ReplaceAll(`DELETE FROM {table} WHERE series_id = ANY ($1)`, "{table}", pgx.Identifier{table}.Sanitize())
				if err := statement.Exec(ctx, tx, fmt.Sprintf("delete %d series' rows of %s", len(ids), table), query, ids); err != nil {
					return err
				}
			}
			return statement.Exec(ctx, tx, "delete series", `DELETE FROM measured_series WHERE id = ANY ($1)`, ids)
		})
		if err != nil {
			return err
		}
	}
	return s.ledger.Blocks.DeleteOrganization(ctx, organization)
}
