package httpapi

import (
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/fleet"
	"muster/internal/httpapi/ingest"
	"muster/internal/httpapi/operations"
	"muster/internal/httpapi/reports"
	"muster/internal/httpapi/signin"
	"muster/internal/httpapi/tiles"
	"muster/internal/httpapi/wire"
)

// handlers answer every operation of openapi.yaml, each group with what it needs.
type handlers struct {
	*signin.MemberRoutes
	*reports.ReportRoutes
	*fleet.ServerRoutes
	*tiles.TileRoutes
	*operations.OperatorRoutes
	*ingest.FeedRoutes
}

var _ api.StrictServerInterface = handlers{}

func newHandlers(d Dependencies, cookies wire.Cookies, c *contract.Contract) handlers {
	return handlers{
		MemberRoutes: &signin.MemberRoutes{
			Accounts: d.Accounts, Commands: d.Commands, Fleet: d.Fleet, Waiter: d.Waiter, OIDC: d.OIDC, FillDemo: d.FillDemo,
			Cookies: cookies, PublicURL: d.PublicURL, Log: d.Log,
		},
		ReportRoutes: &reports.ReportRoutes{
			DB: d.DB, Commands: d.Commands, Accounts: d.Accounts, Events: d.Events, History: d.History, Jobs: d.Jobs, Blobs: d.Blobs,
			Waiter: d.Waiter, Log: d.Log, Now: d.Now,
		},
		ServerRoutes: &fleet.ServerRoutes{
			DB: d.DB, Commands: d.Commands, Accounts: d.Accounts, Fleet: d.Fleet, Alerts: d.Alerts, Exceptions: d.Exceptions,
			Checks: d.Checks, Servers: d.Servers, Connections: d.Connections, Waiter: d.Waiter, Now: d.Now,
		},
		TileRoutes: tiles.New(d.Tiles, d.Fleet, d.Now, d.Log),
		OperatorRoutes: &operations.OperatorRoutes{
			Accounts: d.Accounts, Commands: d.Commands, Audit: d.Audit, History: d.History, Jobs: d.Jobs, Drops: d.Drops,
			Projections: d.Projections, DeadLetters: d.DeadLetters, Outbox: d.Outbox, Metrics: d.Metrics, Ready: d.Ready, Build: d.Build,
			ContractJSON: c.JSON, ContractYAML: openapiYAML, Now: d.Now,
		},
		FeedRoutes: &ingest.FeedRoutes{Feed: d.Feed, Agents: d.Agents, Metrics: d.Metrics, Waiter: d.Waiter},
	}
}
