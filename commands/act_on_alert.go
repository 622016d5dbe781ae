package commands

import (
	"context"

	"github.com/google/uuid"
)

// AcknowledgeAlert says that the actor knows of an alert. Errors:
// *NotFoundError, *RuleError with invalid_state.
func (s *Service) AcknowledgeAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	panic("not yet")
}

// MuteAlert takes an alert out of every count. Errors as AcknowledgeAlert.
func (s *Service) MuteAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	panic("not yet")
}

// UnmuteAlert lets an alert count again. Errors as AcknowledgeAlert.
func (s *Service) UnmuteAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	panic("not yet")
}

// ResolveAlert closes an alert. Errors as AcknowledgeAlert.
func (s *Service) ResolveAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	panic("not yet")
}
