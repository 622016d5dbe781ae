package accounts

import (
	"context"

	"github.com/jmoiron/sqlx"

	"muster/internal/statement"
)

// EndSessions signs everybody of the installation out. A restored backup would
// bring back sessions that were revoked since it was made.
func (s *Store) EndSessions(ctx context.Context, q sqlx.ExtContext) error {
	return statement.Exec(ctx, q, "end all sessions", `DELETE FROM sessions`)
}
