package commands

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/exception"
)

// RevokeException refuses an exception that was asked for, or takes back one
// that was granted. Errors: *NotFoundError, *RuleError with invalid_state, also
// for one that has lapsed.
func (s *Service) RevokeException(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.decideException(ctx, actor, id, func(x *exception.Exception, now time.Time) ([]exception.Event, error) {
		return x.Revoke(now)
	})
}
