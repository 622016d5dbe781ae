package chartmarks

import (
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/internal/accounts"
	"muster/internal/measurements"
	"muster/projections"
	"muster/projections/audit"
	"muster/projections/fleet"
	"muster/projections/health"
)

// MarkRoutes are the operations on marks.
type MarkRoutes struct {
	DB       *sqlx.DB
	Commands *commands.Service
	Accounts *accounts.Store
	Fleet    *fleet.Reader
	Audit    *audit.Reader
	Health   *health.Reader
	Tiles    *measurements.Tiles
	Waiter   projections.Waiter
	Now      func() time.Time
}
