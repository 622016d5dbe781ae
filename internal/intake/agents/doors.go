package agents

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/intake"
	"muster/internal/intake/alertmanager"
	"muster/internal/intake/otlp"
	"muster/internal/intake/remotewrite"
	"muster/internal/intake/resolve"
)

// Doors are those of standard agents, one for each form of message. What they take are
// the bytes of one, unpacked.
type Doors struct {
	RemoteWrite1, RemoteWrite2, OTLPProtobuf, OTLPJSON *HostDoor
	OTLPLogsProtobuf, OTLPLogsJSON                     *LogDoor
	Webhook, AlertmanagerAPI, Grafana                  *FiringDoor
}

// Config is what all doors stand on.
type Config struct {
	Places   *resolve.Resolver
	Store    intake.Store
	Commands Commands
	Now      func() time.Time

	Texts     Texts     // of collectors' statements
	Collected Collected // likewise
}

// Texts says whether an organization keeps the texts of statements; *accounts.Store does.
type Texts interface {
	KeepsTexts(ctx context.Context, organization uuid.UUID) (bool, error)
}

// Collected refuses what Muster measures itself; *assessment.Store does.
type Collected interface {
	// RefuseCollected is an *assessment.CollectedError where a connection is registered.
	RefuseCollected(ctx context.Context, tx sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) error
}

// Commands records alerts; *commands.Service does.
type Commands interface {
	RecordFirings(ctx context.Context, actor usecase.Actor, firings []alert.Firing) (dropped int, mark usecase.Mark, err error)
}

// New returns the doors.
func New(c Config) Doors {
	return Doors{
		RemoteWrite1: &HostDoor{c, remoteWrite(remotewrite.Decode1)}, RemoteWrite2: &HostDoor{c, remoteWrite(remotewrite.Decode2)},
		OTLPProtobuf: &HostDoor{c, openTelemetry(otlp.DecodeProtobuf)}, OTLPJSON: &HostDoor{c, openTelemetry(otlp.DecodeJSON)},
		OTLPLogsProtobuf: &LogDoor{c, otlp.DecodeLogsProtobuf}, OTLPLogsJSON: &LogDoor{c, otlp.DecodeLogsJSON},
		Webhook: &FiringDoor{c, alertmanager.DecodeWebhook}, AlertmanagerAPI: &FiringDoor{c, alertmanager.DecodeAlerts},
		Grafana: &FiringDoor{c, alertmanager.DecodeGrafana},
	}
}
