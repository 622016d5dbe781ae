package findings

import (
	"context"
	_ "embed"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

//go:embed sql/assignments.sql
var assignmentsSQL string

// Assignment is what people said of who closes a finding. It stays while the finding is gone, and
// is there again when the finding comes back.
type Assignment struct {
	Finding  uuid.UUID  `db:"finding_id"`
	Assignee *uuid.UUID `db:"assignee_id"` // nil: nobody
	Ticket   string     `db:"ticket_url"`  // empty: none
}

// Assignments returns those of some findings, by their ids; a finding that nobody said anything of has none.
func Assignments(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, rows []Finding) (map[uuid.UUID]Assignment, error) {
	ids := make([]uuid.UUID, len(rows))
	for i, f := range rows {
		ids[i] = f.ID
	}
	found, err := statement.All[Assignment](ctx, q, "read who closes findings", assignmentsSQL, organization, statement.IDs(ids))
	out := make(map[uuid.UUID]Assignment, len(found))
	for _, a := range found {
		out[a.Finding] = a
	}
	return out, err
}
