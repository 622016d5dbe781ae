package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/budgets"
)

// gate is the one place that every matched request passes: it finds the route's
// row, turns away what another site forged, says who is calling, counts the
// request, holds row against caller, and reads the request. A route without a
// row cannot exist: New refuses to build such a server.
func (s *server) gate(c *gin.Context) {
	row := s.routes[contract.RouteKey(c.Request.Method, c.FullPath())]
	if row == nil { // 404 and 405 come this way too
		return
	}
	call := wire.CallOf(c.Request.Context())
	call.Route, call.BodyLimit = row.Path, row.BodyLimit
	if !row.Page {
		call.Operation = row.Operation.OperationID
	}
	defer call.End()
	call.Began, call.Patience = time.Now(), s.writes
	if !row.Slow() {
		limit := wire.RequestTimeout
		switch {
		case row.IsIngest():
			limit = s.arrival.large + s.writes // takeIn begins the latter anew
		case row.Writes():
			limit = s.writes
		}
		ctx, cancel := context.WithTimeout(c.Request.Context(), limit)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
	}
	p := s.admit(c, row)
	if p == nil && row.Writes() && !row.IsIngest() {
		defer s.writing.Add(-1)
		p = s.mayWrite()
	}
	if p != nil {
		s.fail(c, p)
		c.Abort()
		return
	}
	c.Next() // inside the timeout
}

// stuckWrites are as many requests as may write at once while commits do not return: each
// holds one of the connections that reads need, too, for as long as it may take.
const stuckWrites = 4

// mayWrite counts one more that writes, and refuses it where it would only wait.
func (s *server) mayWrite() *wire.Problem {
	if s.writing.Add(1) > stuckWrites && s.Stuck != nil && s.Stuck() {
		return &wire.Problem{Code: "unavailable", Detail: "The database does not commit at the moment. Nothing was changed. Try again."}
	}
	return nil
}

func (s *server) admit(c *gin.Context, row *contract.Route) *wire.Problem {
	ctx := c.Request.Context()
	if row.IsIngest() {
		bounded, cancel := context.WithTimeout(ctx, s.writes) // what comes before the body
		defer cancel()
		ctx = bounded
	}
	call := wire.CallOf(ctx)
	call.IP = c.ClientIP()
	if row.Page {
		return nil
	}
	call.Header.Set("Cache-Control", "private, no-store")
	row.Deprecation.Mark(call.Header)
	if p := s.refuseForged(ctx, call, c.Request, row); p != nil {
		return p
	}
	refusal := s.identify(ctx, call, c.Request, row)
	if p := s.count(call, row); p != nil {
		return p
	}
	if refusal != nil && !row.Open() {
		return refusal
	}
	if call.Principal != nil {
		call.MarkDemo(call.Principal.Organization)
	}
	if p := s.authorize(ctx, call, row); p != nil {
		return p
	}
	if p := row.Negotiate(c); p != nil {
		return p
	}
	if row.TakesLarge() && c.Request.ContentLength != 0 {
		arriveWithin(c.Writer, s.arrival.large)
	}
	if !row.IsIngest() {
		return row.CheckRequest(c)
	}
	from := budgets.Sender{Organization: call.Principal.Organization.ID, Token: call.Principal.ID}
	if err := s.Budgets.Room(ctx, from, budgets.Bytes); err != nil {
		return s.toProblem(ctx, err)
	}
	p := s.takeIn(c, call, row)
	// What was unpacked counts, whatever the call comes to.
	if call.Unpacked > 0 {
		if err := s.Budgets.Spend(c.Request.Context(), from, budgets.Bytes, call.Unpacked); err != nil {
			return s.toProblem(ctx, err)
		}
	}
	return p
}

// identify finds out who is calling. The header beats the cookie: a program
// that sends a token means the token. What anyone may call outside /api/v1 is
// answered without a look into the database.
func (s *server) identify(ctx context.Context, call *wire.Call, r *http.Request, row *contract.Route) *wire.Problem {
	if row.Open() && !strings.HasPrefix(row.Path, "/api/v1/") {
		return nil
	}
	var (
		principal accounts.Principal
		err       error
	)
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		token = strings.TrimSpace(token)
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			return &wire.Problem{Code: "unauthenticated", Detail: "The Authorization header must be: Bearer <token>."}
		}
		if strings.HasPrefix(token, "mst_ing_") && !row.IsIngest() {
			return &wire.Problem{Code: "unauthenticated", Detail: "An ingest token works under /ingest/v1 only."}
		}
		principal, err = s.Accounts.TokenPrincipal(ctx, token, call.IP)
	} else {
		cookie, none := r.Cookie(s.Cookies.Session())
		if none != nil || row.TokensOnly || s.isCrossOrigin(r) {
			return &wire.Problem{Code: "unauthenticated", Detail: "Sign in, or send a token."}
		}
		principal, err = s.Accounts.SessionPrincipal(ctx, cookie.Value)
		call.Token = cookie.Value
	}
	if err != nil {
		call.Token = ""
		return s.toProblem(ctx, err)
	}
	call.Principal = &principal
	call.Teams = s.teamsOf(principal.Organization.ID)
	if principal.Member.Role == organization.Team {
		if err := wire.EnterWorld(ctx, s.Servers, call.Teams, call.Principal); err != nil {
			call.Principal = nil
			return s.toProblem(ctx, err)
		}
	}
	return nil
}

// teamsOf reads the teams of an organization once.
func (s *server) teamsOf(id uuid.UUID) func(ctx context.Context) ([]accounts.Team, error) {
	var teams []accounts.Team
	read := false
	return func(ctx context.Context) (_ []accounts.Team, err error) {
		if !read {
			teams, err = s.Accounts.Teams(ctx, id)
			read = err == nil
		}
		return teams, err
	}
}

// count takes the request from the caller's quota: the member's, whichever
// token or session they use, else the network's. Probes are never refused, and
// /ingest pushes back by its own means.
func (s *server) count(call *wire.Call, row *contract.Route) *wire.Problem {
	if s.Unlimited || row.IsIngest() {
		return nil
	}
	key := networkKey(call.IP)
	if call.Principal != nil {
		key = "member:" + call.Principal.Member.ID.String()
	}
	p := s.requests.allow(call.Header, key)
	if limit, ok := s.counted(call.Operation); ok {
		addToList(call.Header, "RateLimit-Policy", limit.String())
	}
	if row.Path == "/healthz" || row.Path == "/readyz" {
		return nil
	}
	if p == nil && row.Downloads() {
		p = s.downloads.allow(call.Header, key)
	}
	return p
}

func (s *server) authorize(ctx context.Context, call *wire.Call, row *contract.Route) *wire.Problem {
	if row.Open() {
		return nil
	}
	if call.Principal == nil {
		return &wire.Problem{Code: "unauthenticated", Detail: "Sign in, or send a token."}
	}
	p := *call.Principal
	if !admitsRole(p, row) {
		s.recordRefusal(ctx, call, row, "role")
		return &wire.Problem{Code: "forbidden", Detail: "The role " + string(calledRole(p)) + " may not do this."}
	}
	if !hasScope(p, row.Scopes...) {
		s.recordRefusal(ctx, call, row, "scope")
		return &wire.Problem{Code: "forbidden", Detail: "The token needs the scope " + strings.Join(wire.Strings(row.Scopes), " or ") + "."}
	}
	return nil
}

// admits says that a route lets a principal in, whether or not they call it.
func admits(p accounts.Principal, row *contract.Route) bool {
	return row.Open() || admitsRole(p, row) && hasScope(p, row.Scopes...)
}

func admitsRole(p accounts.Principal, row *contract.Route) bool {
	admitting := row.Roles
	if p.World != nil {
		admitting = row.Teams
	}
	return slices.Contains(admitting, roleOf(p))
}

func roleOf(p accounts.Principal) organization.Role {
	if p.Method == accounts.MethodIngest {
		return contract.Ingest
	}
	return p.Member.Role
}

// calledRole is the role as people know it.
func calledRole(p accounts.Principal) organization.Role {
	if p.World != nil {
		return organization.Team
	}
	return roleOf(p)
}

// hasScope says whether one of scopes lets the principal in. A session has
// whatever its role may.
func hasScope(p accounts.Principal, scopes ...organization.Scope) bool {
	if p.Scopes == nil || slices.Contains(p.Scopes, organization.ScopeAdmin) {
		return true
	}
	return slices.ContainsFunc(scopes, func(s organization.Scope) bool { return slices.Contains(p.Scopes, s) })
}

// recordRefusal notes in the security log, once an hour, that somebody may not
// call this route; that it cannot must not turn a refusal into a failure.
func (s *server) recordRefusal(ctx context.Context, call *wire.Call, row *contract.Route, missing string) {
	e := wire.Client(ctx).Entry(call.Principal.Organization.ID, call.Principal.Member.ID, accounts.Refused, missing+": "+row.Method+" "+row.Path)
	if call.Principal.Method == accounts.MethodToken || call.Principal.Method == accounts.MethodIngest {
		e.Detail += ", token " + call.Principal.ID.String()
	}
	wire.NoteOnce(ctx, s.Accounts, s.Log, e)
}

// trustedOrigins tells our own pages and those of the CORS origins from others.
func (s *server) trustedOrigins() (*http.CrossOriginProtection, error) {
	protection := http.NewCrossOriginProtection()
	for _, origin := range append(slices.Clone(s.CORSOrigins), s.origin()) {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("trust origin %q: %w", origin, err)
		}
	}
	return protection, nil
}

// refuseForged refuses what another site makes a signed-in browser send. The
// cookie is SameSite=Lax and bodies are JSON only; this is the third wall.
// Origins allowed for CORS pass, and their cookies are ignored (isCrossOrigin).
func (s *server) refuseForged(ctx context.Context, call *wire.Call, r *http.Request, row *contract.Route) *wire.Problem {
	if s.origins.Check(r) == nil {
		return nil
	}
	if p := s.count(call, row); p != nil {
		return p
	}
	s.recordForged(ctx, r)
	return &wire.Problem{Code: "cross_origin_request", Detail: "The request came from a page of another website."}
}

// recordForged notes, once an hour, in whose browser another site tried its luck.
func (s *server) recordForged(ctx context.Context, r *http.Request) {
	cookie, none := r.Cookie(s.Cookies.Session())
	if none != nil || r.Header.Get("Authorization") != "" {
		return
	}
	org, member, ok, err := s.Accounts.SessionOwner(ctx, cookie.Value)
	if err != nil || !ok {
		return // the request is refused either way
	}
	wire.NoteOnce(ctx, s.Accounts, s.Log, wire.Client(ctx).Entry(org, member, accounts.Refused, "origin"))
}

// origin is our own, as the browser knows us: behind a proxy the Host that we
// see may differ.
func (s *server) origin() string { return s.PublicURL.Scheme + "://" + s.PublicURL.Host }

// isCrossOrigin says that the request comes from a page of a CORS origin.
func (s *server) isCrossOrigin(r *http.Request) bool {
	return slices.Contains(s.CORSOrigins, r.Header.Get("Origin"))
}

const exposedHeaders = "Location, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"

// cors answers the origins on the list, and preflights; without a list it does nothing.
func (s *server) cors(next http.Handler) http.Handler {
	if len(s.CORSOrigins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		if s.isCrossOrigin(r) && (strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/ingest/")) {
			h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
			h.Set("Access-Control-Expose-Headers", exposedHeaders)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
				h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match")
				h.Set("Access-Control-Max-Age", "600")
				h.Set("Cache-Control", "private, no-store")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
