package notifications

import (
	"time"

	"muster/commands"
	"muster/internal/accounts"
	"muster/internal/notify"
	"muster/internal/watch"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/fleet"
)

// NotificationRoutes are the operations on channels, rules and deliveries.
type NotificationRoutes struct {
	Commands *commands.Service
	Accounts *accounts.Store
	Told     *notify.Reader
	Sender   *notify.Sender
	Alerts   *alerts.Reader
	Fleet    *fleet.Reader
	Waiter   projections.Waiter
	History  *watch.History // what watch rules would have raised
	Now      func() time.Time
}
