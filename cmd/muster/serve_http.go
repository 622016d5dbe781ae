package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"muster/internal/accounts"
	"muster/internal/config"
	"muster/internal/httpapi"
	"muster/internal/httpapi/operations"
	"muster/internal/intake/agents"
	"muster/internal/intake/collect"
	"muster/internal/intake/feed"
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
	ctx context.Context, group *errgroup.Group, collector *collect.Collector, fillDemo func(accounts.Organization), begun <-chan struct{},
) (*http.Server, error) {
	if !p.cfg.Roles.Has(config.API) {
		return nil, nil
	}
	public, err := url.Parse(p.cfg.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("--public-url: %w", err)
	}
	outbox, err := p.outbox()
	if err != nil {
		return nil, err
	}
	provider, err := p.identityProvider(public)
	if err != nil {
		return nil, err
	}
	app, err := web.App()
	if err != nil {
		app = nil
		p.log.Warn("this binary is without the pages: it was built without the web application", "error", err)
	}
	handler, err := httpapi.New(httpapi.Dependencies{
		DB: p.db, Commands: p.commands, Accounts: p.accounts, Events: p.events,
		History: p.history, Fleet: p.fleet, Audit: p.audit, Alerts: p.alerts, Exceptions: p.exceptions, Checks: p.checks, Servers: p.facts, Jobs: p.queue,
		Tiles: p.tiles(), Drops: p.drops,
		Feed:        feed.New(p.commands, p.places, p.intake, time.Now),
		Agents:      agents.New(agents.Config{Places: p.places, Store: p.intake, Commands: p.commands, Now: time.Now}),
		Projections: p.runner, Waiter: p.runner, DeadLetters: p.runner.DeadLetters(),
		Connections: collector, FillDemo: fillDemo, Blobs: p.blobs, Outbox: outbox, OIDC: provider, App: app, Metrics: p.metrics, Tracer: p.export.Tracer(), Ready: p.ready,
		Build: operations.Build{
			Version: version, Commit: buildCommit(), BuiltAt: buildSetting("vcs.time"), GoVersion: runtime.Version(),
		},
		Log: p.log, Now: time.Now,
		PublicURL: public, InsecureCookies: p.cfg.InsecureCookies,
		TrustedProxies: p.cfg.TrustedProxies, CORSOrigins: p.cfg.CORSOrigins, Unlimited: !p.cfg.RateLimits,
	})
	if err != nil {
		return nil, fmt.Errorf("set up the API: %w", err)
	}
	server := &http.Server{
		Handler: handler, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: readHeaderTimeout, WriteTimeout: writeTimeout, // how long a body may take is the API's to say
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	group.Go(func() error {
		if err := server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve HTTP: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-begun:
			return unlessStopped(p.greet(ctx))
		}
	})
	return server, nil
}
