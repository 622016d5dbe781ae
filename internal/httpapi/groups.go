package httpapi

import (
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/trace"

	"muster/commands"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/fleet"
	"muster/internal/httpapi/ingest"
	"muster/internal/httpapi/operations"
	"muster/internal/httpapi/reports"
	"muster/internal/httpapi/signin"
	"muster/internal/httpapi/tiles"
	"muster/internal/telemetry"
)

// Groups answer every operation of openapi.yaml, each with what it needs. New hands
// the cookies and the contract to those that need them.
type Groups struct {
	*signin.MemberRoutes
	*reports.ReportRoutes
	*fleet.ServerRoutes
	*tiles.TileRoutes
	*operations.OperatorRoutes
	*ingest.FeedRoutes
}

var _ api.StrictServerInterface = Groups{}

// Front is what a request passes before a group sees it, and what that stands on. All
// of it is needed but for what says otherwise.
type Front struct {
	DB       *sqlx.DB // keeps the answers of idempotency keys
	Accounts *accounts.Store
	Commands *commands.Service  // whose limits are told
	Metrics  *telemetry.Metrics // counts requests
	Tracer   trace.Tracer       // nil: requests make no spans
	App      fs.FS              // the built web application; nil where the binary is without

	Log *slog.Logger
	Now func() time.Time

	PublicURL       *url.URL // without a path
	InsecureCookies bool
	TrustedProxies  []netip.Prefix
	CORSOrigins     []string
	Unlimited       bool // MUSTER_RATE_LIMITS=off
}
