package httpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/eventstore/tree"
	"muster/handlers"
	"muster/handlers/gather/daily"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/accounts/oidc"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	keptfeed "muster/internal/assessment/feed/kept"
	"muster/internal/assessment/logged"
	"muster/internal/concurrency/supervise/falls"
	"muster/internal/files/blobs"
	"muster/internal/httpapi/assistant"
	"muster/internal/httpapi/chartmarks"
	"muster/internal/httpapi/fleet"
	"muster/internal/httpapi/ingest"
	"muster/internal/httpapi/maintenance"
	"muster/internal/httpapi/notifications"
	"muster/internal/httpapi/objectives"
	"muster/internal/httpapi/operations"
	"muster/internal/httpapi/proofs"
	"muster/internal/httpapi/reports"
	"muster/internal/httpapi/schedules"
	"muster/internal/httpapi/signin"
	"muster/internal/httpapi/tiles"
	"muster/internal/intake/agents"
	"muster/internal/intake/feed"
	"muster/internal/intake/heartbeat"
	"muster/internal/intake/senders"
	"muster/internal/mail"
	"muster/internal/measurements"
	"muster/internal/measurements/drops"
	"muster/internal/notify"
	"muster/internal/process/readiness"
	"muster/internal/proof"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
	"muster/internal/report/control"
	"muster/internal/report/control/evidence"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot"
	"muster/internal/watch"
	"muster/internal/watch/uptime"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/audit"
	"muster/projections/exceptions"
	projected "muster/projections/fleet"
	"muster/projections/health"
	"muster/projections/history"
	projectedSchedules "muster/projections/schedules"
)

// Dependencies are what the API stands on in a test, each once, however many groups
// stand on it.
type Dependencies struct {
	Front
	Events        *eventstore.Store
	History       *history.Reader
	Fleet         *projected.Reader
	Alerts        *alerts.Reader
	Audit         *audit.Reader
	Exceptions    *exceptions.Reader
	Health        *health.Reader
	Checks        *catalogue.Catalogue
	Servers       *assessment.Store
	Jobs          *jobs.Queue
	Tiles         *measurements.Tiles
	Hosts         fleet.Hosts
	Drops         *drops.Book
	Falls         *falls.Book
	Senders       *senders.Book
	Signing       *signing.Signing
	Checkpoints   *checkpoint.Maker
	ProofPublic   bool
	AssistantsOff bool
	Feed          feed.Doors
	Agents        agents.Doors

	Projections *projections.Runner
	Waiter      projections.Waiter
	DeadLetters *topic.DeadLetters
	Connections fleet.Connections
	Told        *notify.Reader
	Sender      *notify.Sender
	Blobs       *blobs.Store
	Proofs      *proof.Maker
	Outbox      *mail.Outbox   // nil where a mail server is set
	Mail        mail.Transport // a mail server; nil: none is set
	OIDC        *oidc.Provider // nil: people sign in with passwords only
	// FillDemo fills a demo organization in the background and returns at once;
	// filling one again changes nothing.
	FillDemo func(accounts.Organization)
	Ready    *readiness.Board
	Build    operations.Build
}

func (d Dependencies) controls() *control.Reader {
	return &control.Reader{
		Assessments: d.Servers, Log: d.Events, Fleet: d.Fleet, Decode: usecase.Registry().Decode,
		Logged:  &logged.Reader{Facts: d.Servers, Log: d.Events, Decode: usecase.Registry().Decode},
		Backups: serverfacts.Source{DB: d.DB, Accounts: d.Accounts, Fleet: d.Fleet},
	}
}

func (d Dependencies) evidence() *evidence.Maker {
	return &evidence.Maker{
		DB: d.DB, Controls: d.controls(),
		Accounts: d.Accounts, Checks: d.Checks, Checkpoints: d.Checkpoints, Signing: d.Signing, Log: d.Log,
	}
}

func (d Dependencies) groups() Groups {
	return Groups{
		MemberRoutes: &signin.MemberRoutes{
			Accounts: d.Accounts, Commands: d.Commands, Fleet: d.Fleet, Waiter: d.Waiter, OIDC: d.OIDC, FillDemo: d.FillDemo,
			PublicURL: d.PublicURL, Log: d.Log, Mail: d.Mail, Composer: d.Sender.Composer, DB: d.DB, Now: d.Now,
		},
		ReportRoutes: &reports.ReportRoutes{
			DB: d.DB, Commands: d.Commands, Accounts: d.Accounts, Events: d.Events, History: d.History, Fleet: d.Fleet, Jobs: d.Jobs, Blobs: d.Blobs,
			Proofs: d.Proofs, Evidence: d.evidence(), Gather: d.gather, Waiter: d.Waiter, Log: d.Log, Now: d.Now,
		},
		ServerRoutes: &fleet.ServerRoutes{
			DB: d.DB, Commands: d.Commands, Accounts: d.Accounts, Fleet: d.Fleet, Alerts: d.Alerts, Exceptions: d.Exceptions, Health: d.Health,
			Evidence: d.evidence(), Checks: d.Checks, Servers: d.Servers, Controls: d.controls(), Connections: d.Connections, Tiles: d.Tiles, Hosts: d.Hosts, Agents: &heartbeat.Store{DB: d.DB}, Waiter: d.Waiter, Now: d.Now,
		},
		MarkRoutes: &chartmarks.MarkRoutes{
			DB: d.DB, Commands: d.Commands, Accounts: d.Accounts, Fleet: d.Fleet, Audit: d.Audit, Health: d.Health, Tiles: d.Tiles, Waiter: d.Waiter, Now: d.Now,
		},
		TileRoutes: tiles.New(d.DB, d.Tiles, d.Fleet, d.Now, d.Log),
		OperatorRoutes: &operations.OperatorRoutes{
			Accounts: d.Accounts, Commands: d.Commands, Audit: d.Audit, History: d.History, Jobs: d.Jobs, Drops: d.Drops, Senders: d.Senders, Budgets: d.Budgets, Falls: d.Falls, Logs: checkpoint.NewVerifier(d.DB, slog.Default()),
			Projections: d.Projections, DeadLetters: d.DeadLetters, Outbox: d.Outbox, Metrics: d.Metrics, Ready: d.Ready, Build: d.Build, Now: d.Now,
		},
		ProofRoutes:  &proofs.ProofRoutes{Keys: d.Signing, Checkpoints: d.Checkpoints, Trees: tree.New(d.DB), Public: d.ProofPublic},
		ToolRoutes:   &assistant.ToolRoutes{On: !d.AssistantsOff, Accounts: d.Accounts, PublicURL: d.PublicURL, Log: d.Log, Now: d.Now},
		WindowRoutes: &maintenance.WindowRoutes{DB: d.DB, Commands: d.Commands, Fleet: d.Fleet, Waiter: d.Waiter, Now: d.Now},
		ObjectiveRoutes: &objectives.ObjectiveRoutes{
			DB: d.DB, Commands: d.Commands, Fleet: d.Fleet, Judge: uptime.Judge{DB: d.DB, Statements: d.Tiles.Store}, Waiter: d.Waiter, Now: d.Now,
		},
		FeedRoutes: &ingest.FeedRoutes{Feed: d.Feed, Agents: d.Agents, Metrics: d.Metrics, Waiter: d.Waiter, Senders: d.Senders},
		ScheduleRoutes: &schedules.ScheduleRoutes{
			Commands: d.Commands, Accounts: d.Accounts, Fleet: d.Fleet, Schedules: projectedSchedules.NewReader(d.DB), Waiter: d.Waiter, Now: d.Now,
		},
		NotificationRoutes: &notifications.NotificationRoutes{
			Commands: d.Commands, Accounts: d.Accounts, Told: d.Told, Sender: d.Sender, Alerts: d.Alerts, Fleet: d.Fleet, Waiter: d.Waiter, Now: d.Now,
			History: &watch.History{DB: d.DB, Fleet: d.Fleet, Now: d.Now},
		},
	}
}

// gather gathers the inputs of a summary.
func (d Dependencies) gather(ctx context.Context, organization uuid.UUID, queued report.Queued, at time.Time) (snapshot.Document, error) {
	decode := usecase.Registry().Decode
	days := &daily.Reader{
		DB: d.DB, Events: d.Events, Decode: decode, Accounts: d.Accounts, Exceptions: d.Exceptions, History: d.History,
		Schedules: projectedSchedules.NewReader(d.DB), Catalogue: d.Checks, Feed: keptfeed.NewStore(d.DB), Statements: d.Tiles, Names: d.Tiles.Store,
	}
	inputs := handlers.Inputs{
		Days: days, Fleet: d.Fleet,
		DB: d.DB, Events: d.Events, Logged: &logged.Reader{Facts: d.Servers, Log: d.Events, Decode: usecase.Registry().Decode}, Accounts: d.Accounts, Keys: d.Signing,
		Waiter: d.Waiter, Catalogue: d.Checks, Feed: keptfeed.NewStore(d.DB), Now: d.Now,
	}
	return inputs.Gather(ctx, handlers.Gathering{OrganizationID: organization, Queued: queued, RequestedAt: at})
}
