package httpapi

import (
	"context"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/trace"

	"muster/commands"
	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/blobs"
	"muster/internal/intake/agents"
	"muster/internal/intake/feed"
	"muster/internal/mail"
	"muster/internal/measurements"
	"muster/internal/measurements/drops"
	"muster/internal/oidc"
	"muster/internal/readiness"
	"muster/internal/telemetry"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/audit"
	"muster/projections/exceptions"
	"muster/projections/fleet"
	"muster/projections/history"
)

// Dependencies are what the API stands on. All of them are needed but for those
// that say otherwise.
type Dependencies struct {
	DB         *sqlx.DB
	Commands   *commands.Service
	Accounts   *accounts.Store
	Events     *eventstore.Store
	History    *history.Reader
	Fleet      *fleet.Reader
	Alerts     *alerts.Reader
	Audit      *audit.Reader
	Exceptions *exceptions.Reader
	Checks     *catalogue.Catalogue
	Servers    *assessment.Store
	Jobs       *jobs.Queue
	Tiles      *measurements.Tiles
	Drops      *drops.Book
	Feed       feed.Doors
	Agents     agents.Doors

	Projections Projections
	Waiter      projections.Waiter
	DeadLetters *topic.DeadLetters
	Connections Connections
	Blobs       *blobs.Store
	Outbox      *mail.Outbox   // nil where a mail server is set
	OIDC        *oidc.Provider // nil: people sign in with passwords only
	App         fs.FS          // the built web application; nil where the binary is without
	// FillDemo fills a demo organization in the background and returns at once;
	// filling one again changes nothing.
	FillDemo func(accounts.Organization)
	Metrics  *telemetry.Metrics // shown at GET /metrics
	Tracer   trace.Tracer       // nil: requests make no spans
	Ready    *readiness.Board
	Build    Build

	Log *slog.Logger
	Now func() time.Time

	PublicURL       *url.URL // without a path
	InsecureCookies bool
	TrustedProxies  []netip.Prefix
	CORSOrigins     []string
	Unlimited       bool // MUSTER_RATE_LIMITS=off
}

// Projections is the machinery that keeps the read models; *projections.Runner
// is one.
type Projections interface {
	Statuses(ctx context.Context) ([]projections.Status, error)
	RequestRebuild(ctx context.Context, name string, options projections.RebuildOptions) error
	Diff(ctx context.Context, name string) (d projections.Difference, ok bool, err error)
}

// Connections reaches the servers that have a DSN; *collect.Collector is one.
type Connections interface {
	// Try shows that a server can be assessed, or says why it cannot.
	Try(ctx context.Context, engine domain.Engine, dsn string) error
	// Request makes an instance due now.
	Request(ctx context.Context, organization, instance uuid.UUID) error
}

// Build says what runs here.
type Build struct{ Version, Commit, BuiltAt, GoVersion string }
