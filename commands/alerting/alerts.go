package alerting

import (
	"muster/commands/inventory"
	"muster/commands/maintenance"
	"muster/commands/usecase"
)

// Alerts runs the use cases of alerts.
type Alerts struct {
	*usecase.Base
	fleet   *inventory.Fleet     // finds the places of alerts
	windows *maintenance.Windows // nil: there are none
}

// New returns the use cases of alerts about the servers of a fleet.
func New(base *usecase.Base, fleet *inventory.Fleet, windows *maintenance.Windows) *Alerts {
	return &Alerts{Base: base, fleet: fleet, windows: windows}
}
