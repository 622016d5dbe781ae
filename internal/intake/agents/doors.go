package agents

import (
	"context"
	"time"

	"muster/commands"
	"muster/domain/alert"
	"muster/internal/intake"
	"muster/internal/intake/alertmanager"
	"muster/internal/intake/otlp"
	"muster/internal/intake/places"
	"muster/internal/intake/remotewrite"
)

// Doors are those of standard agents, one for each form of message. What they take are
// the bytes of one, unpacked.
type Doors struct {
	RemoteWrite1, RemoteWrite2, OTLPProtobuf, OTLPJSON *HostDoor
	Webhook, AlertmanagerAPI                           *FiringDoor
}

// Config is what all doors stand on.
type Config struct {
	Places   *places.Resolver
	Store    intake.Store
	Commands Commands
	Now      func() time.Time
}

// Commands records alerts; *commands.Service does.
type Commands interface {
	RecordFirings(ctx context.Context, actor commands.Actor, firings []alert.Firing) (dropped int, mark commands.Mark, err error)
}

// New returns the doors.
func New(c Config) Doors {
	return Doors{
		RemoteWrite1: &HostDoor{c, remotewrite.Decode1}, RemoteWrite2: &HostDoor{c, remotewrite.Decode2},
		OTLPProtobuf: &HostDoor{c, otlp.DecodeProtobuf}, OTLPJSON: &HostDoor{c, otlp.DecodeJSON},
		Webhook: &FiringDoor{c, alertmanager.DecodeWebhook}, AlertmanagerAPI: &FiringDoor{c, alertmanager.DecodeAlerts},
	}
}
