package reports

import (
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
	"muster/internal/proof"
	"muster/internal/report/control/evidence"
	"muster/projections"
	"muster/projections/fleet"
	"muster/projections/history"
)

// ReportRoutes are the operations on reports and the download tray.
type ReportRoutes struct {
	DB       *sqlx.DB
	Commands *commands.Service
	Accounts *accounts.Store
	Events   *eventstore.Store
	History  *history.Reader
	Fleet    *fleet.Reader
	Jobs     *jobs.Queue
	Blobs    *blobs.Store
	Proofs   *proof.Maker
	Evidence *evidence.Maker
	Waiter   projections.Waiter
	Log      *slog.Logger
	Now      func() time.Time
}
