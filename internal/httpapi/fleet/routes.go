package fleet

import (
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/intake/heartbeat"
	"muster/internal/measurements"
	"muster/internal/report/control"
	"muster/internal/report/control/evidence"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/exceptions"
	"muster/projections/fleet"
	"muster/projections/health"
)

// ServerRoutes are the operations on instances, alerts and exceptions.
type ServerRoutes struct {
	DB          *sqlx.DB
	Commands    *commands.Service
	Accounts    *accounts.Store
	Fleet       *fleet.Reader
	Alerts      *alerts.Reader
	Exceptions  *exceptions.Reader
	Health      *health.Reader
	Checks      *catalogue.Catalogue
	Servers     *assessment.Store
	Controls    *control.Reader
	Evidence    *evidence.Maker
	Connections Connections
	Tiles       *measurements.Tiles
	Hosts       Hosts
	Agents      *heartbeat.Store
	Waiter      projections.Waiter
	Now         func() time.Time
}
