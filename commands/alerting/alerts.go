package alerting

import (
	"muster/commands/inventory"
	"muster/commands/usecase"
)

// Alerts runs the use cases of alerts.
type Alerts struct {
	*usecase.Base
	fleet *inventory.Fleet // finds the places of alerts
}

// New returns the use cases of alerts about the servers of a fleet.
func New(base *usecase.Base, fleet *inventory.Fleet) *Alerts {
	return &Alerts{Base: base, fleet: fleet}
}
