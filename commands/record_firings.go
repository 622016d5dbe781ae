package commands

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
)

// Firing is what a machine saw of an alert just now: Alertmanager, or the
// built-in watch. It knows nothing of what people did with it.
type Firing struct {
	// Key is what the alert is known by, unique in the organization with its
	// prefix: "alertmanager/<fingerprint>", "watch/<rule>/<subject>".
	Key         string
	Title       string
	Description string
	Severity    alert.Severity
	Rule        *alert.Rule
	InstanceID  uuid.UUID // uuid.Nil: of the organization only
	DatabaseID  uuid.UUID
	StartsAt    time.Time
	SeenAt      time.Time // when it was seen firing: receipt, or EndsAt where that is earlier
	EndsAt      time.Time // zero: open end. When it is over unless it is seen again, or was over
	Resolved    bool      // it is over, at EndsAt
}

// RecordFirings records what a machine saw. Its order is kept for each key.
// It never undoes what a person did: an alert that somebody resolved stays
// resolved until a later StartsAt. dropped is how many of them could not be
// used: text that cannot be kept, or beyond the instances of an ingest token.
func (s *Service) RecordFirings(ctx context.Context, actor Actor, firings []Firing) (dropped int, mark Mark, err error) {
	panic("not yet")
}

// EndFirings closes the alerts whose end has passed without another message, at
// most limit of them, and says how many there were.
func (s *Service) EndFirings(ctx context.Context, limit int) (int, Mark, error) {
	panic("not yet")
}
