package wire

import (
	"muster/internal/httpapi/api"
	"muster/internal/measurements/blocking"
)

// BlockingSession is a session as callers see it: hides leaves out whose it is and what it executes.
func BlockingSession(n blocking.Node, hides bool) api.BlockingSession {
	shown := api.BlockingSession{
		Session: n.Session, Kind: api.BlockingKind(n.Kind), StartedAt: UTC(n.Began), Hidden: hides, Database: Optional(n.Database),
		State: Optional(n.State), IdleInTransaction: n.Idle, TransactionSince: UTC(n.Transaction), StateSince: UTC(n.Changed),
		WaitsSince: UTC(n.Waits), WaitsFor: NeverNull(n.For), Lock: Optional(n.Lock), Mode: Optional(n.Mode), Object: Optional(n.Object),
	}
	if !hides {
		shown.User, shown.Application, shown.Client = Optional(n.User), Optional(n.Application), Optional(n.Client)
		shown.Statement, shown.StatementId = Optional(n.Statement), Optional(n.StatementID)
	}
	return shown
}
