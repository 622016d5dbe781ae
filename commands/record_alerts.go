package commands

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
)

// AlertItem is one alert of a batch, as its sender knows it.
type AlertItem struct {
	ExternalID       string
	Title            string
	Severity         alert.Severity
	State            alert.State
	Muted            *bool // nil leaves what is
	CreatedAt        time.Time
	FirstTriggeredAt time.Time
	LastTriggeredAt  time.Time
	ResolvedAt       *time.Time // exactly where State is closed
	Instance         *string    // external ids
	Database         *string
}

// AlertID is the outcome for one AlertItem, in the same order.
type AlertID struct {
	ExternalID string
	ID         uuid.UUID
}

// RecordAlerts takes in a batch of alerts, all or nothing.
func (s *Service) RecordAlerts(ctx context.Context, actor Actor, items []AlertItem) ([]AlertID, Mark, error) {
	panic("not yet")
}
