package reports

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
	"muster/internal/proof"
	"muster/internal/report/control/evidence"
	"muster/internal/report/snapshot"
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
	// Gather returns the inputs of a report that nobody has requested.
	Gather func(ctx context.Context, organization uuid.UUID, queued report.Queued, at time.Time) (snapshot.Document, error)
	Waiter projections.Waiter
	Log    *slog.Logger
	Now    func() time.Time
}
