package commands

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/exception"
)

// GrantException puts an exception in force until it lapses or is revoked.
// Errors: *NotFoundError, *RuleError with invalid_state, also where its time is
// over.
func (s *Service) GrantException(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.decideException(ctx, actor, id, func(x *exception.Exception, now time.Time) ([]exception.Event, error) {
		return x.Grant(now)
	})
}
