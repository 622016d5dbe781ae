package operations

import (
	"context"
	"time"

	"muster/commands"
	"muster/eventstore/topic"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/concurrency/supervise/falls"
	"muster/internal/intake/budgets"
	"muster/internal/intake/senders"
	"muster/internal/mail"
	"muster/internal/measurements/drops"
	"muster/internal/process/readiness"
	"muster/internal/process/telemetry"
	"muster/internal/proof/checkpoint"
	"muster/projections"
	"muster/projections/audit"
	"muster/projections/history"
)

// Logs says how far the event logs are verified: checkpoint.Verifier.
type Logs interface {
	Verified(ctx context.Context) ([]checkpoint.Verified, error)
}

// OperatorRoutes are the operations on the service's own state.
type OperatorRoutes struct {
	Accounts    *accounts.Store
	Commands    *commands.Service
	Audit       *audit.Reader
	History     *history.Reader
	Jobs        *jobs.Queue
	Drops       *drops.Book
	Senders     *senders.Book
	Budgets     *budgets.Book
	Falls       *falls.Book
	Logs        Logs
	Projections *projections.Runner
	DeadLetters *topic.DeadLetters
	Outbox      *mail.Outbox // nil where a mail server is set
	Metrics     *telemetry.Metrics
	Ready       *readiness.Board
	Build       Build

	ContractJSON, ContractYAML func() ([]byte, error) // of the server
	Now                        func() time.Time
}
