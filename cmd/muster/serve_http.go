package main

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
	"muster/internal/concurrency/supervise"
	"muster/internal/config"
	"muster/internal/httpapi"
	"muster/internal/httpapi/fleet"
	"muster/internal/httpapi/ingest"
	"muster/internal/httpapi/notifications"
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
	"muster/web"
)

// Limits of a connection, against clients that are slow on purpose.
const (
	readHeaderTimeout = 10 * time.Second
	writeTimeout      = 5 * time.Minute // a large download, likewise
	idleTimeout       = 2 * time.Minute
	// Above the API's own limit of a request line, which it answers with 414.
	maxHeaderBytes = 1 << 20
)

// startHTTP serves the API and the pages, and says so when there is something to be
// seen on them; nil without the role.
func (p *process) startHTTP(
	ctx context.Context, group *supervise.Group, collector *collect.Collector, fillDemo func(accounts.Organization), begun <-chan struct{},
) (*http.Server, error) {
	if !p.cfg.Roles.Has(config.API) {
		return nil, nil
	}
	public, err := url.Parse(p.cfg.PublicURL)
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
		p.log.Warn("this binary is without the pages: it was built without the web application", "error", err)
	}
	handler, err := httpapi.New(httpapi.Front{
		DB: p.db, Accounts: p.accounts, Commands: p.commands, Metrics: p.metrics, Budgets: p.budgets, Tracer: p.export.Tracer(), App: app, Log: p.log, Now: p.clock.Now,
		PublicURL: public, InsecureCookies: p.cfg.InsecureCookies,
		TrustedProxies: p.cfg.TrustedProxies, CORSOrigins: p.cfg.CORSOrigins, Unlimited: !p.cfg.RateLimits, Stuck: p.commits.Stuck,
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
	transport, err := p.transport()
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
			Accounts: p.accounts, Commands: p.commands, Fleet: p.fleet, Waiter: p.runner, OIDC: provider, FillDemo: fillDemo, PublicURL: public, Log: p.log,
			Mail: server, Composer: sender.Composer, DB: p.db, Now: p.clock.Now,
		},
		ReportRoutes: &reports.ReportRoutes{
			DB: p.db, Commands: p.commands, Accounts: p.accounts, Events: p.events, History: p.history, Fleet: p.fleet, Jobs: p.queue, Blobs: p.blobs,
			Proofs: p.proofs, Evidence: p.evidenceMaker(), Waiter: p.runner, Log: p.log, Now: p.clock.Now,
		},
		ServerRoutes: &fleet.ServerRoutes{
			DB: p.db, Commands: p.commands, Accounts: p.accounts, Fleet: p.fleet, Alerts: p.alerts, Exceptions: p.exceptions, Health: p.health,
			Checks: p.checks, Servers: p.facts, Controls: p.controls(), Evidence: p.evidenceMaker(), Connections: collector, Tiles: figures, Hosts: p.samples, Agents: &heartbeat.Store{DB: p.db}, Waiter: p.runner, Now: p.clock.Now,
		},
		TileRoutes: tiles.New(figures, p.fleet, p.clock.Now, p.log),
		OperatorRoutes: &operations.OperatorRoutes{
			Accounts: p.accounts, Commands: p.commands, Audit: p.audit, History: p.history, Jobs: p.queue, Drops: p.drops, Senders: p.senders, Budgets: p.budgets, Falls: p.falls, Logs: p.verifier,
			Projections: p.runner, DeadLetters: p.runner.DeadLetters(), Outbox: outbox, Metrics: p.metrics, Ready: p.ready, Now: p.clock.Now,
			Build: operations.Build{Version: version, Commit: buildCommit(), BuiltAt: buildSetting("vcs.time"), GoVersion: runtime.Version()},
		},
		ProofRoutes: &proofs.ProofRoutes{Keys: p.signing, Checkpoints: p.checkpoints, Trees: tree.New(p.db), Public: p.cfg.ProofPublic},
		NotificationRoutes: &notifications.NotificationRoutes{
			Commands: p.commands, Accounts: p.accounts, Told: p.told(), Sender: sender, Alerts: p.alerts, Fleet: p.fleet, Waiter: p.runner, Now: p.clock.Now,
		},
		FeedRoutes: &ingest.FeedRoutes{
			Feed:    *p.feed(),
			Agents:  agents.New(agents.Config{Places: p.places, Store: p.intake, Commands: p.commands, Now: p.clock.Now, Texts: p.accounts, Collected: p.facts}),
			Metrics: p.metrics, Waiter: p.runner, Senders: p.senders,
		},
		ScheduleRoutes: &schedules.ScheduleRoutes{
			Commands: p.commands, Accounts: p.accounts, Fleet: p.fleet, Schedules: p.schedules, Waiter: p.runner, Now: p.clock.Now,
		},
	}, nil
}

// feed are the doors of the native feed; the demo sends by them, too.
func (p *process) feed() *feed.Doors {
	return &feed.Doors{
		Commands: p.commands, Places: p.places, Store: p.intake, Texts: p.accounts, Now: p.clock.Now,
		Assessments: p.facts, Accepted: feed.Accepted(p.accepted()), Heartbeats: &heartbeat.Store{DB: p.db}, Servers: p.facts,
	}
}

// identityProvider is who signs people in beside passwords; nil where none is
// set. It is not asked anything before somebody signs in.
func (p *process) identityProvider(public *url.URL) (*oidc.Provider, error) {
	if p.cfg.OIDCIssuer == "" {
		return nil, nil
	}
	secret := ""
	if file := p.cfg.OIDCClientSecretFile; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the secret at the identity provider: %w; --oidc-client-secret-file names it", err)
		}
		if secret = strings.TrimSpace(string(text)); secret == "" {
			return nil, fmt.Errorf("%s, which --oidc-client-secret-file names, is empty", file)
		}
	}
	return oidc.New(oidc.Settings{
		Issuer: p.cfg.OIDCIssuer, ClientID: p.cfg.OIDCClientID, ClientSecret: secret,
		RedirectURL: public.JoinPath(signin.OIDCCallback).String(),
		Sealer:      p.key, Now: p.clock.Now,
	}), nil
}
