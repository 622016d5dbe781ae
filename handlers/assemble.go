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
	"muster/internal/files/blobs"
	"muster/internal/mail"
	"muster/internal/proof"
)

// How many jobs of a kind and of one organization a process works on at once, and half of
// how many of all organizations (internal/concurrency/fairslots). A build uses a core while it renders and
// waits for servers before; a mail only waits.
const (
	buildsAtOnce = 2
	mailsAtOnce  = 4
	signsAtOnce  = 2 // they wait for a time stamp service
	// rendersAtOnce is how many of the builds of all organizations render.
	rendersAtOnce = 2
	// TellsAtOnce is how many deliveries are sent at once: they wait for their receivers.
	TellsAtOnce = 3
)

// Connections is how many database connections busy workers use at the same time, in addition
// to the pool's common use: one that listens, and one for every second slot. A job has one only
// for the milliseconds of its transactions.
const Connections = buildsAtOnce + mailsAtOnce + signsAtOnce + runsAtOnce + TellsAtOnce + 2 + 1

// Parts is what the handlers of reports stand on. Each takes of it what it needs.
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
	Retention time.Duration // of reports, over what organizations have set (MUSTER_REPORT_RETENTION); 0: as they have
	Composer  *mail.Composer
	Transport mail.Transport
	PublicURL string
	Proofs    *proof.Maker
	Now       func() time.Time
	// Ended is called for every report that became Ready or Failed, with the time since its
	// request; nil: it is not called.
	Ended func(kind report.Kind, status report.Status, after time.Duration)
	Log   *slog.Logger

	// MailWait is how long mails wait for the proof that they carry; 0: not at all.
	MailWait time.Duration

	passed func(ctx context.Context, p point) error // a test's way to stop between two steps
}

// MailWait is enough for a proof, with the time stamps of a service that answers. Without a
// proof by then, mails go without one.
const MailWait = 15 * time.Second

// Register adds the tasks and chores of reports to w.
func Register(w *Workers, p Parts) {
	w.Add((&Builder{Parts: p}).Task(buildsAtOnce))
	w.Add((&Mailer{p}).Task(mailsAtOnce))
	w.Add((&Expirer{p}).Task())
	w.Add((&Eraser{p}).Task())
	w.Add((&Signer{p}).Task())
	w.Add((&Scheduler{p}).Task(runsAtOnce))
	w.Every("sweep stray files", SweepEvery, func(ctx context.Context) error {
		swept, err := (&Sweeper{p}).Sweep(ctx)
		if swept.Deleted > 0 && p.Log != nil {
			p.Log.Info("stray files deleted", "deleted", swept.Deleted, "looked", swept.Looked)
		}
		return err
	})
}
