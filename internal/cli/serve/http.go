package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"muster/eventstore/tree"
	"muster/internal/accounts"
	"muster/internal/accounts/oidc"
	"muster/internal/cli/command"
	"muster/internal/concurrency/supervise"
	"muster/internal/config"
	"muster/internal/httpapi"
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
	"muster/internal/intake/collect"
	"muster/internal/intake/feed"
	"muster/internal/intake/heartbeat"
	"muster/internal/mail"
	"muster/internal/watch"
	"muster/internal/watch/uptime"
	"muster/web"
)

// Limits of a connection, against clients that are slow on purpose.
const (
	readHeaderTimeout = 10 * time.Second
	WriteTimeout      = 5 * time.Minute // a large download, likewise
	IdleTimeout       = 2 * time.Minute
	// Above the API's own limit of a request line, which it answers with 414.
	maxHeaderBytes = 1 << 20
)

// startHTTP serves the API and the pages, and says so when there is something to be
// seen on them; nil without the role.
func (p *process) startHTTP(
	ctx context.Context, group *supervise.Group, collector *collect.Collector, fillDemo func(accounts.Organization), begun <-chan struct{},
) (*http.Server, error) {
	if !p.Config.Roles.Has(config.API) {
		return nil, nil
	}
	public, err := url.Parse(p.Config.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("--public-url: %w", err)
	}
	groups, err := p.groups(public, collector, fillDemo)
	if err != nil {
		return nil, err
	}
	app, err := web.App()
	if err != nil {
		app = nil
		p.Log.Warn("this binary is without the pages: it was built without the web application", "error", err)
	}
	handler, err := httpapi.New(httpapi.Front{
		DB: p.DB, Accounts: p.Accounts, Servers: p.Fleet, Commands: p.Commands, Metrics: p.metrics, Budgets: p.Budgets, Tracer: p.exporter.Tracer(), App: app, Log: p.Log, Now: p.Clock.Now,
		PublicURL: public, InsecureCookies: p.Config.InsecureCookies,
		TrustedProxies: p.Config.TrustedProxies, CORSOrigins: p.Config.CORSOrigins, Unlimited: !p.Config.RateLimits, Stuck: p.commits.Stuck,
	}, groups)
	if err != nil {
		return nil, fmt.Errorf("set up the API: %w", err)
	}
	p.front.opens(handler)
	group.Go(func() error { return p.front.serve("HTTP") })
	group.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-begun:
		}
		if err := p.loops.Finish(ctx, "greet", p.greet); ctx.Err() == nil {
			return err
		}
		return nil // who is asked to stop meanwhile has its connection broken off, and need not greet
	})
	return p.front.server, nil
}

// groups are the API's handlers, each with what it stands on.
func (p *process) groups(public *url.URL, collector *collect.Collector, fillDemo func(accounts.Organization)) (httpapi.Groups, error) {
	transport, err := p.Transport()
	if err != nil {
		return httpapi.Groups{}, err
	}
	outbox, _ := transport.(*mail.Outbox) // nil where a mail server is set
	server := transport
	if outbox != nil {
		server = nil
	}
	provider, err := p.identityProvider(public)
	if err != nil {
		return httpapi.Groups{}, err
	}
	sender, err := p.sender()
	if err != nil {
		return httpapi.Groups{}, err
	}
	figures := p.tiles()
	return httpapi.Groups{
		MemberRoutes: &signin.MemberRoutes{
			Accounts: p.Accounts, Commands: p.Commands, Fleet: p.Fleet, Waiter: p.Runner, OIDC: provider, FillDemo: fillDemo, PublicURL: public, Log: p.Log,
			Mail: server, Composer: sender.Composer, DB: p.DB, Now: p.Clock.Now,
		},
		ReportRoutes: &reports.ReportRoutes{
			DB: p.DB, Commands: p.Commands, Accounts: p.Accounts, Events: p.Events, History: p.History, Fleet: p.Fleet, Jobs: p.Queue, Blobs: p.Blobs,
			Proofs: p.Proofs, Evidence: p.EvidenceMaker(), Gather: p.Preview(collector), Waiter: p.Runner, Log: p.Log, Now: p.Clock.Now,
		},
		ServerRoutes: &fleet.ServerRoutes{
			DB: p.DB, Commands: p.Commands, Accounts: p.Accounts, Fleet: p.Fleet, Alerts: p.Alerts, Exceptions: p.Exceptions, Health: p.Health,
			Checks: p.Checks, Servers: p.Facts, Controls: p.Controls(), Evidence: p.EvidenceMaker(), Connections: collector, Tiles: figures, Hosts: p.Samples, Agents: &heartbeat.Store{DB: p.DB}, Waiter: p.Runner, Now: p.Clock.Now,
		},
		MarkRoutes: &chartmarks.MarkRoutes{
			DB: p.DB, Commands: p.Commands, Accounts: p.Accounts, Fleet: p.Fleet, Audit: p.Audit, Health: p.Health, Tiles: figures, Waiter: p.Runner, Now: p.Clock.Now,
		},
		TileRoutes: tiles.New(p.DB, figures, p.Fleet, p.Clock.Now, p.Log),
		OperatorRoutes: &operations.OperatorRoutes{
			Accounts: p.Accounts, Commands: p.Commands, Audit: p.Audit, History: p.History, Jobs: p.Queue, Drops: p.Drops, Senders: p.Senders, Budgets: p.Budgets, Falls: p.falls, Logs: p.verifier,
			Projections: p.Runner, DeadLetters: p.Runner.DeadLetters(), Outbox: outbox, Metrics: p.metrics, Ready: p.ready, Now: p.Clock.Now,
			Build: operations.Build{Version: command.Version(), Commit: command.BuildCommit(), BuiltAt: command.BuildSetting("vcs.time"), GoVersion: runtime.Version(), Assistants: p.Config.MCP},
		},
		ProofRoutes: &proofs.ProofRoutes{Keys: p.Signing, Checkpoints: p.Checkpoints, Trees: tree.New(p.DB), Public: p.Config.ProofPublic},
		NotificationRoutes: &notifications.NotificationRoutes{
			Commands: p.Commands, Accounts: p.Accounts, Told: p.told(), Sender: sender, Alerts: p.Alerts, Fleet: p.Fleet, Waiter: p.Runner, Now: p.Clock.Now,
			History: &watch.History{DB: p.DB, Fleet: p.Fleet, Now: p.Clock.Now},
		},
		ToolRoutes:   &assistant.ToolRoutes{On: p.Config.MCP, Accounts: p.Accounts, PublicURL: public, Log: p.Log, Now: p.Clock.Now},
		WindowRoutes: &maintenance.WindowRoutes{DB: p.DB, Commands: p.Commands, Fleet: p.Fleet, Waiter: p.Runner, Now: p.Clock.Now},
		ObjectiveRoutes: &objectives.ObjectiveRoutes{
			DB: p.DB, Commands: p.Commands, Fleet: p.Fleet, Judge: uptime.Judge{DB: p.DB, Statements: figures.Store}, Waiter: p.Runner, Now: p.Clock.Now,
		},
		FeedRoutes: &ingest.FeedRoutes{
			Feed:    *p.feed(),
			Agents:  agents.New(agents.Config{Places: p.Places, Store: p.Intake, Commands: p.Commands, Now: p.Clock.Now, Texts: p.Accounts, Collected: p.Facts}),
			Metrics: p.metrics, Waiter: p.Runner, Senders: p.Senders,
		},
		ScheduleRoutes: &schedules.ScheduleRoutes{
			Commands: p.Commands, Accounts: p.Accounts, Fleet: p.Fleet, Schedules: p.Schedules, Waiter: p.Runner, Now: p.Clock.Now,
		},
	}, nil
}

// feed are the doors of the native feed; the demo sends by them, too.
func (p *process) feed() *feed.Doors {
	return &feed.Doors{
		Commands: p.Commands, Places: p.Places, Store: p.Intake, Texts: p.Accounts, Now: p.Clock.Now,
		Assessments: p.Facts, Accepted: feed.Accepted(p.Accepted()), Heartbeats: &heartbeat.Store{DB: p.DB}, Servers: p.Facts,
	}
}

// identityProvider is who signs people in beside passwords; nil where none is
// set. It is not asked anything before somebody signs in.
func (p *process) identityProvider(public *url.URL) (*oidc.Provider, error) {
	if p.Config.OIDCIssuer == "" {
		return nil, nil
	}
	secret := ""
	if file := p.Config.OIDCClientSecretFile; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the secret at the identity provider: %w; --oidc-client-secret-file names it", err)
		}
		if secret = strings.TrimSpace(string(text)); secret == "" {
			return nil, fmt.Errorf("%s, which --oidc-client-secret-file names, is empty", file)
		}
	}
	return oidc.New(oidc.Settings{
		Issuer: p.Config.OIDCIssuer, ClientID: p.Config.OIDCClientID, ClientSecret: secret,
		RedirectURL: public.JoinPath(signin.OIDCCallback).String(),
		Sealer:      p.Key, Now: p.Clock.Now,
	}), nil
}
