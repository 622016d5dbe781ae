package httpapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/trace"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/assistant"
	"muster/internal/httpapi/chartmarks"
	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/fleet"
	"muster/internal/httpapi/ingest"
	"muster/internal/httpapi/maintenance"
	"muster/internal/httpapi/notifications"
	"muster/internal/httpapi/objectives"
	"muster/internal/httpapi/operations"
	"muster/internal/httpapi/pages"
	"muster/internal/httpapi/proofs"
	"muster/internal/httpapi/reports"
	"muster/internal/httpapi/schedules"
	"muster/internal/httpapi/signin"
	"muster/internal/httpapi/tiles"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/budgets"
	"muster/internal/process/telemetry"
	projected "muster/projections/fleet"
)

// server is what a request passes before a handler sees it, and the handlers.
type server struct {
	Front
	Groups
	contract  *contract.Contract
	routes    map[string]*contract.Route
	requests  *limiter
	downloads *limiter
	intake    *turnstile
	arrival   arrival
	writes    time.Duration // of a request that writes
	writing   atomic.Int64  // how many do, but for /ingest, which has turns
	origins   *http.CrossOriginProtection
	page      http.Handler // the web application's document
	Cookies   wire.Cookies
}

// New returns the whole surface as one handler. It fails where a route has no
// row in the table of roles and scopes, or a row has no route.
func New(f Front, g Groups) (http.Handler, error) {
	c, err := ourContract()
	if err != nil {
		return nil, err
	}
	handler, _, err := build(f, g, c)
	return handler, err
}

// build changes nothing in c: tests build many servers of one contract.
func build(f Front, g Groups, c *contract.Contract) (_ http.Handler, _ *server, err error) {
	s := &server{
		Front: f, Groups: g, contract: c, routes: maps.Clone(c.Routes),
		Cookies:  wire.Cookies{PublicURL: f.PublicURL, Insecure: f.InsecureCookies},
		requests: newLimiter(defaultPolicy, f.Now), downloads: newLimiter(downloadPolicy, f.Now),
		intake:  newTurnstile(f.Now),
		arrival: defaultArrival, writes: wire.WriteTimeout,
	}
	if g.Public {
		s.openTheTrees()
	}
	g.Cookies = s.Cookies
	g.ContractJSON, g.ContractYAML = c.JSON, c.YAML
	if s.origins, err = s.trustedOrigins(); err != nil {
		return nil, nil, err
	}
	engine, err := s.engine()
	if err != nil {
		return nil, nil, err
	}
	if err := s.everyRouteHasItsRow(engine.Routes()); err != nil {
		return nil, nil, err
	}
	inner, err := compressed(s.cors(s.shortLine(engine)))
	if err != nil {
		return nil, nil, err
	}
	whole := s.outermost(headAsGet(inner))
	return whole, s, g.OpenTools(c, whole, admits)
}

func (s *server) engine() (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	if err := engine.SetTrustedProxies(wire.List(s.TrustedProxies, netip.Prefix.String)); err != nil {
		return nil, fmt.Errorf("trusted proxies: %w", err)
	}
	engine.Use(s.gate, s.once)
	engine.NoRoute(s.nothingHere)
	engine.NoMethod(s.wrongMethod)
	for _, o := range api.Operations(s.Groups) {
		engine.Handle(o.Method, contract.Slashed(o.Path), s.serve(o))
	}
	return engine, s.registerPages(engine)
}

// openTheTrees lets anyone read checkpoints and tiles.
func (s *server) openTheTrees() {
	for key, row := range s.routes {
		if strings.HasPrefix(row.Path, treesPath) {
			open := *row
			open.Roles, open.Scopes = []organization.Role{contract.Anyone}, nil
			s.routes[key] = &open
		}
	}
}

// treesPath is where the logs' trees are.
const treesPath = "/proof/"

// registerPages routes the pages, each with a row that lets anyone in.
func (s *server) registerPages(engine *gin.Engine) error {
	site, err := pages.New(s.App, s.Cookies.OverPlainHTTP())
	if err != nil {
		return err
	}
	s.page = site.Application
	for _, page := range site.Pages {
		s.routes[contract.RouteKey(http.MethodGet, page.Address)] = &contract.Route{
			Method: http.MethodGet, Path: page.Address, Roles: []organization.Role{contract.Anyone}, Page: true,
		}
		engine.GET(page.Address, gin.WrapH(page))
	}
	return nil
}

// serve reads and answers the requests of one operation. The handler has a context of its
// own: gin reuses its contexts from one request to the next, while database/sql may still
// be watching the one it was given. The race detector found it reading the next request's.
func (s *server) serve(o api.Operation) gin.HandlerFunc {
	return func(c *gin.Context) {
		request, err := o.Read(c.Request, c.Param)
		if err != nil {
			s.unread(c, err)
			return
		}
		if err := o.Answer(c.Copy(), c.Writer, request); err != nil {
			s.fail(c, err)
		}
	}
}

// unread answers a request that passed validation and still does not fit the
// generated types: openapi.yaml then says less than it should.
func (s *server) unread(c *gin.Context, err error) {
	s.Log.WarnContext(c, "validated request does not decode", "route", c.FullPath(), "error", err)
	s.fail(c, &wire.Problem{Code: "invalid_parameter", Detail: "The request does not have the expected form."})
	c.Abort()
}

func (s *server) nothingHere(c *gin.Context) {
	if pages.AsksForPage(c.Request) {
		c.Header("Content-Security-Policy", pages.ContentSecurityPolicy)
		c.Status(http.StatusNotFound)
		s.page.ServeHTTP(c.Writer, c.Request)
		return
	}
	s.lost(c, &wire.Problem{Code: "not_found", Detail: "There is nothing at this address."})
}

func (s *server) wrongMethod(c *gin.Context) {
	h := c.Writer.Header()
	if allow := h.Get("Allow"); strings.Contains(allow, http.MethodGet) {
		h.Set("Allow", strings.Replace(allow, http.MethodGet, "GET, HEAD", 1))
	}
	s.lost(c, &wire.Problem{Code: "method_not_allowed", Detail: "This address takes " + h.Get("Allow") + "."})
}

// lost answers what no route takes: with a problem, counted like a request.
func (s *server) lost(c *gin.Context, p *wire.Problem) {
	if !s.Unlimited {
		if refused := s.requests.allow(c.Writer.Header(), networkKey(c.ClientIP())); refused != nil {
			p = refused
		}
	}
	s.fail(c, p)
}

// everyRouteHasItsRow compares what gin routes with the table.
func (s *server) everyRouteHasItsRow(registered gin.RoutesInfo) error {
	var problems []error
	seen := map[string]bool{}
	for _, r := range registered {
		key := contract.RouteKey(r.Method, r.Path)
		seen[key] = true
		if s.routes[key] == nil {
			problems = append(problems, fmt.Errorf("route %s has no row of role and scope", key))
		}
	}
	for key := range s.routes {
		if !seen[key] {
			problems = append(problems, fmt.Errorf("row %s has no route", key))
		}
	}
	return errors.Join(problems...)
}

// Groups answer every operation of openapi.yaml, each with what it needs. New hands
// the cookies and the contract to those that need them.
type Groups struct {
	*signin.MemberRoutes
	*reports.ReportRoutes
	*fleet.ServerRoutes
	*chartmarks.MarkRoutes
	*tiles.TileRoutes
	*operations.OperatorRoutes
	*ingest.FeedRoutes
	*proofs.ProofRoutes
	*schedules.ScheduleRoutes
	*notifications.NotificationRoutes
	*maintenance.WindowRoutes
	*objectives.ObjectiveRoutes
	*assistant.ToolRoutes
}

// Front is what a request passes before a group sees it, and what that stands on. All
// of it is needed but for what says otherwise.
type Front struct {
	DB       *sqlx.DB // keeps the answers of idempotency keys
	Accounts *accounts.Store
	Servers  *projected.Reader  // whose selectors say who sees what
	Commands *commands.Service  // whose limits are told
	Metrics  *telemetry.Metrics // counts requests
	Budgets  *budgets.Book      // of senders
	Tracer   trace.Tracer       // nil: requests make no spans
	App      fs.FS              // the built web application; nil where the binary is without

	Log *slog.Logger
	Now func() time.Time

	PublicURL       *url.URL // without a path
	InsecureCookies bool
	TrustedProxies  []netip.Prefix
	CORSOrigins     []string
	Unlimited       bool // MUSTER_RATE_LIMITS=off

	// Stuck says whether the database does not commit in time, without asking it; nil:
	// nobody knows.
	Stuck func() bool
}

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.yaml
//go:generate go run oapi-codegen/compact.go
//go:generate go run oapi-codegen/pack.go

//go:embed openapi.yaml.gz
var packedContract []byte

// openapiYAML unpacks openapi.yaml.
func openapiYAML() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packedContract))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// ourContract is openapi.yaml, read once a process, which may be tests with many
// servers: it takes a tenth of a second.
var ourContract = sync.OnceValues(func() (*contract.Contract, error) {
	text, err := openapiYAML()
	if err != nil {
		return nil, fmt.Errorf("unpack openapi.yaml: %w", err)
	}
	return contract.Load(text)
})
