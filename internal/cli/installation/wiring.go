package installation

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/handlers"
	"muster/handlers/gather/daily"
	"muster/internal/cli/command"
	"muster/internal/intake/collect"
	"muster/internal/mail"
	"muster/internal/measurements"
	"muster/internal/notify"
	"muster/internal/operate/deletion"
	"muster/internal/report/control/evidence"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
)

// Dispatcher puts what happens into deliveries.
func (in *Installation) Dispatcher() *notify.Dispatcher {
	return &notify.Dispatcher{DB: in.DB, Events: in.Events, Registry: usecase.Registry(), Queue: in.Queue, Now: in.Clock.Now,
		Alerts: func(ctx context.Context) error { return in.Runner.Ready(ctx) }}
}

// Parts is everything that the handlers of reports need.
func (in *Installation) Parts(collector *collect.Collector) (handlers.Parts, error) {
	renderer, err := pdf.New(pdf.Build{Version: command.Version(), Commit: command.BuildCommit()})
	if err != nil {
		return handlers.Parts{}, err
	}
	from, err := mail.ParseFrom(in.Config.MailFrom)
	if err != nil {
		return handlers.Parts{}, err
	}
	transport, err := in.Transport()
	if err != nil {
		return handlers.Parts{}, err
	}
	return handlers.Parts{
		DB: in.DB, Queue: in.Queue, Events: in.Events, Registry: usecase.Registry(),
		Reports: in.Commands, Accounts: in.Accounts, Blobs: in.Blobs, Renderer: renderer,
		Gatherer:  in.gatherer(collector),
		Retention: in.Config.ReportRetention, MailWait: handlers.MailWait,
		Composer: &mail.Composer{From: from, Now: in.Clock.Now}, Transport: transport, PublicURL: in.Config.PublicURL, Proofs: in.Proofs, Now: in.Clock.Now, Log: in.Log,
	}, nil
}

// gatherer gathers the inputs of reports.
func (in *Installation) gatherer(collector *collect.Collector) *handlers.Inputs {
	return &handlers.Inputs{
		DB: in.DB, Events: in.Events, Fleet: in.Fleet, Facts: in.Facts, Logged: in.logged(), Keys: in.Signing,
		Assessor: collector, Accounts: in.Accounts, History: in.History, Exceptions: in.Exceptions, Health: in.Health, Alerts: in.Alerts, Measurements: in.Samples,
		Days:   in.days(),
		Waiter: in.Runner, Blobs: in.Blobs,
		Catalogue: in.Checks, Feed: in.Known,
		PublicURL: in.Config.PublicURL, Now: in.Clock.Now,
	}
}

// days counts the figures of daily digests.
func (in *Installation) days() *daily.Reader {
	return &daily.Reader{
		DB: in.DB, Events: in.Events, Decode: usecase.Registry().Decode, Accounts: in.Accounts, Exceptions: in.Exceptions,
		History: in.History, Schedules: in.Schedules, Catalogue: in.Checks, Feed: in.Known,
		Statements: &measurements.Tiles{Store: in.Samples, Log: in.Log}, Names: in.Samples,
	}
}

// Preview gathers the inputs of a report that nobody has requested.
func (in *Installation) Preview(collector *collect.Collector) func(context.Context, uuid.UUID, report.Queued, time.Time) (snapshot.Document, error) {
	return func(ctx context.Context, organization uuid.UUID, queued report.Queued, at time.Time) (snapshot.Document, error) {
		doc, err := in.gatherer(collector).Gather(ctx, handlers.Gathering{OrganizationID: organization, Queued: queued, RequestedAt: at})
		return snapshot.Normalize(doc), err
	}
}

// Transport is the mail server, or the outbox where none is set. There is one in a
// process: its check knows what became of its mails.
func (in *Installation) Transport() (mail.Transport, error) {
	if in.mailer != nil {
		return in.mailer, nil
	}
	if in.Config.SMTPURL == "" {
		outbox, err := mail.NewOutbox(in.Config.Outbox())
		if err != nil {
			return nil, err
		}
		in.mailer = outbox
		return outbox, nil
	}
	c, err := mail.ParseSMTPURL(in.Config.SMTPURL)
	if err != nil {
		return nil, err
	}
	c.Hello = in.Config.SMTPHello
	c.Met = in.Certificates.Met("mail")
	server, err := mail.NewSMTP(c)
	if err != nil {
		return nil, err
	}
	in.mailer = server
	return server, nil
}

// EvidenceMaker is what makes evidence of controls.
func (in *Installation) EvidenceMaker() *evidence.Maker {
	return &evidence.Maker{
		DB: in.DB, Controls: in.Controls(), Accounts: in.Accounts, Checks: in.Checks,
		Checkpoints: in.Checkpoints, Signing: in.Signing, Stamp: in.Proofs.Stamp, Log: in.Log,
	}
}

// Deletion is what deletes organizations.
func (in *Installation) Deletion() *deletion.Deletion {
	return &deletion.Deletion{DB: in.DB, Commands: in.Commands, Accounts: in.Accounts, Measurements: in.Samples, Blobs: in.Blobs}
}
