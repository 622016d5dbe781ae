package accounts

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// EndSessions signs everybody of the installation out. A restored backup would
// bring back sessions that were revoked since it was made.
func (s *Store) EndSessions(ctx context.Context, q sqlx.ExtContext) error {
	if _, err := q.ExecContext(ctx, `DELETE FROM sessions`); err != nil {
		return fmt.Errorf("end all sessions: %w", err)
	}
	return nil
}
