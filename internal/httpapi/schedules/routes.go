package schedules

import (
	"time"

	"muster/commands"
	"muster/internal/accounts"
	"muster/projections"
	"muster/projections/fleet"
	"muster/projections/schedules"
)

// ScheduleRoutes are the operations on schedules.
type ScheduleRoutes struct {
	Commands  *commands.Service
	Accounts  *accounts.Store
	Fleet     *fleet.Reader
	Schedules *schedules.Reader
	Waiter    projections.Waiter
	Now       func() time.Time
}
