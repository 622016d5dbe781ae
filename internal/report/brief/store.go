package brief

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/internal/postgres/statement"
)

// Keep stores the brief of a report, in the transaction that records that the report is ready.
func Keep(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, b report.Brief) error {
	encoded, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode the brief of a report: %w", err)
	}
	return statement.Exec(ctx, tx, "keep the brief of a report", `INSERT INTO report_briefs (report_id, organization_id, brief) VALUES ($1, $2, $3)
		ON CONFLICT (report_id) DO UPDATE SET brief = excluded.brief`, id, organization, encoded)
}

// Read returns the briefs of reports of an organization by id. Those that have none are not in it.
func Read(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, ids ...uuid.UUID) (map[uuid.UUID]report.Brief, error) {
	briefs := map[uuid.UUID]report.Brief{}
	if len(ids) == 0 {
		return briefs, nil
	}
	rows, err := statement.All[struct {
		ID    uuid.UUID `db:"report_id"`
		Brief []byte    `db:"brief"`
	}](ctx, q, "read the briefs of reports", `SELECT report_id, brief FROM report_briefs WHERE organization_id = $1 AND report_id = ANY ($2)`, organization, ids)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		var b report.Brief
		if err := json.Unmarshal(row.Brief, &b); err != nil {
			return nil, fmt.Errorf("read the brief of report %s: %w", row.ID, err)
		}
		briefs[row.ID] = b
	}
	return briefs, nil
}

// Forget deletes the brief of a report.
func Forget(ctx context.Context, q sqlx.ExecerContext, organization, id uuid.UUID) error {
	return statement.Exec(ctx, q, "forget the brief of a report", `DELETE FROM report_briefs WHERE organization_id = $1 AND report_id = $2`, organization, id)
}
