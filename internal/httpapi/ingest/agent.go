package ingest

import (
	"context"

	"muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/feed"
	"muster/internal/intake/heartbeat"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/watch"
)

// RecordAgent takes in how an agent is.
func (s *FeedRoutes) RecordAgent(ctx context.Context, r api.RecordAgentRequestObject) (api.RecordAgentResponseObject, error) {
	if err := s.admit(ctx); err != nil {
		return nil, err
	}
	return api.RecordAgent204Response{}, s.Feed.TakeAgent(ctx, wire.Actor(ctx), agentItem(r.Params.XMusterSender, r.Body))
}

func agentItem(sender string, a *api.AgentReport) feed.AgentItem {
	return feed.AgentItem{
		Sender: sender, Name: a.Name, Version: a.Version, Host: a.Host, At: a.At,
		Buffer: heartbeat.Buffer{
			Bytes: a.Buffer.Bytes, MaxBytes: a.Buffer.MaxBytes, Records: a.Buffer.Records, OldestAt: a.Buffer.OldestAt,
			Facts: a.Buffer.Facts, Refused: a.Buffer.Refused, Dropped: a.Buffer.Dropped,
		},
		Loops: wire.List(wire.Value(a.Loops), func(l api.AgentLoop) heartbeat.Loop {
			return heartbeat.Loop{Loop: l.Loop, Falls: l.Falls, LastAt: l.LastAt, InTrouble: l.InTrouble}
		}),
		Servers: wire.List(a.Servers, agentServerItem),
	}
}

func agentServerItem(a api.AgentServer) feed.AgentServerItem {
	one := feed.AgentServerItem{
		Instance: a.Instance,
		Missing:  wire.List(a.MissingGrants, func(g api.AgentMissingGrant) string { return g.Object }),
		Ignored:  wire.List(a.MissingGrants, func(g api.AgentMissingGrant) string { return wire.Value(g.Statement) }),
		Signs:    wire.List(a.Signs, agentSign),
	}
	if i := a.Identity; i != nil {
		one.Identity = &servers.Identity{
			Engine: fleet.Engine(i.Engine), System: i.System, Process: i.Process, Role: string(i.Role), Pooling: servers.Pooling(i.Pooler),
		}
	}
	for _, f := range wire.Value(a.Failing) {
		one.Failing = append(one.Failing, measurements.Reached{
			Part: string(f.Part), Database: wire.Value(f.Database), Code: f.Code, Sentence: f.Sentence, Since: f.Since, At: f.At,
		})
	}
	if a.Error != nil {
		one.Error = &heartbeat.Failure{Class: a.Error.Class, Detail: a.Error.Detail, At: a.Error.At}
	}
	return one
}

func agentSign(s api.AgentSign) watch.Sign {
	sign := watch.Sign{Rule: watch.Rule(s.Rule), Value: s.Value, At: s.At}
	if s.Rule == api.LockWait && wire.Value(s.Advisory) {
		sign.Mount = watch.Advisory
	}
	if d := s.Details; d != nil {
		sign.Details = watch.Details{
			Sessions: wire.Value(d.Sessions), Limit: wire.Value(d.Limit), Kind: wire.Value(d.Kind), Object: wire.Value(d.Object), Session: wire.Value(d.Session),
			Holder: wire.Value(d.Holder), Idle: wire.Value(d.HolderIdle), Database: wire.Value(d.Database), Multi: wire.Value(d.Multixact),
		}
	}
	return sign
}
