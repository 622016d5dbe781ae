package commands

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// RecordPeople remembers, in the transaction of Ready, whom the inputs document
// of a report names, and queues its erasure where one of them was erased while it
// was built.
//
// The members' rows are locked first. So either an erasure waits for this
// transaction and then finds the report, or this transaction waits for the
// erasure and finds the member erased.
func (s *Service) RecordPeople(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID, members []uuid.UUID) error {
	if len(members) == 0 {
		return nil
	}
	erased, err := s.Accounts.LockPeople(ctx, tx, organization, members)
	if err != nil {
		return err
	}
	if len(erased) > 0 {
		return s.Jobs.InsertErasure(ctx, tx, organization, report)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO report_people (organization_id, report_id, member_id)
		SELECT $1, $2, unnest($3::uuid[]) ON CONFLICT DO NOTHING`, organization, report, members)
	if err != nil {
		return fmt.Errorf("record whom report %s names: %w", report, err)
	}
	return nil
}
