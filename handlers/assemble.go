package handlers

import (
	"context"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/blobs"
	"muster/internal/mail"
	"muster/internal/proof"
)

// How many jobs of a kind one process works on at once. A build uses a core
// while it renders and waits for servers before; a mail only waits.
const (
	buildsAtOnce = 2
	mailsAtOnce  = 4
)

// Connections is how many database connections busy workers use at the same
// time beside the pool's common use: one a job and one that listens.
const Connections = buildsAtOnce + mailsAtOnce + 2 + 1

// Parts is everything that the handlers of reports need.
type Parts struct {
	DB        *sqlx.DB
	Queue     *jobs.Queue
	Events    *eventstore.Store
	Registry  *eventstore.Registry
	Reports   *commands.Service
	Accounts  *accounts.Store
	Gatherer  Gatherer
	Renderer  Renderer
	Blobs     *blobs.Store
	Retention Windows
	Composer  *mail.Composer
	Transport mail.Transport
	PublicURL string
	Now       func() time.Time
	Ended     func(kind report.Kind, status report.Status, after time.Duration) // see Builder
	Log       *slog.Logger
}

// Register adds the tasks and chores of reports to w.
func (p Parts) Register(w *Workers) {
	record := p.record()
	w.Add((&Builder{
		DB: p.DB, Queue: p.Queue, Record: record, Reports: p.Reports, Gatherer: p.Gatherer,
		Renderer: p.Renderer, Blobs: p.Blobs, Retention: p.Retention, Now: p.Now, Ended: p.Ended,
	}).Task(buildsAtOnce))
	w.Add((&Mailer{
		Queue: p.Queue, Record: record, Reports: p.Reports, Accounts: p.Accounts,
		Composer: p.Composer, Transport: p.Transport, PublicURL: p.PublicURL,
	}).Task(mailsAtOnce))
	w.Add((&Expirer{DB: p.DB, Queue: p.Queue, Reports: p.Reports}).Task())
	w.Add((&Eraser{Queue: p.Queue, Record: record, Reports: p.Reports, Blobs: p.Blobs}).Task())
	sweeper := &Sweeper{Record: record, Blobs: p.Blobs, Now: p.Now}
	w.Every("sweep stray files", SweepEvery, func(ctx context.Context) error {
		swept, err := sweeper.Sweep(ctx)
		if swept.Deleted > 0 && p.Log != nil {
			p.Log.Info("stray files deleted", "deleted", swept.Deleted, "looked", swept.Looked)
		}
		return err
	})
}

// Rebuilder returns what builds PDFs again from the same parts.
func (p Parts) Rebuilder() *Rebuilder {
	return &Rebuilder{Record: p.record(), Chain: &proof.Prover{Events: p.Events, DB: p.DB}, Blobs: p.Blobs, Renderer: p.Renderer}
}

func (p Parts) record() *ReportStreams {
	return &ReportStreams{Events: p.Events, Registry: p.Registry, DB: p.DB}
}
