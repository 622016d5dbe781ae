package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"muster/domain/organization"
	"muster/internal/accounts"
)

// gate is the one place that every matched request passes: it finds the route's
// row, turns away what another site forged, says who is calling, counts the
// request, holds row against caller, and reads the request. A route without a
// row cannot exist: New refuses to build such a server.
func (s *server) gate(c *gin.Context) {
	row := s.routes[routeKey(c.Request.Method, c.FullPath())]
	if row == nil { // 404 and 405 come this way too
		return
	}
	call := callOf(c.Request.Context())
	call.row = row
	defer call.end()
	if !row.slow() {
		limit := requestTimeout
		if row.isIngest() {
			limit += s.arrival.large // its body may take that long to come
		}
		ctx, cancel := context.WithTimeout(c.Request.Context(), limit)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
	}
	if p := s.admit(c, row); p != nil {
		s.fail(c, p)
		c.Abort()
		return
	}
	c.Next() // inside the timeout
}

// requestTimeout ends a request whose database does not answer, as unavailable.
const requestTimeout = 30 * time.Second

// slow says that the request takes as long as the caller's line does.
func (r *route) slow() bool {
	return r.page || r.operation.OperationID == "downloadReport" || r.operation.OperationID == "verifyReport"
}

// takesLarge says that the request's body is megabytes where it is honest.
func (r *route) takesLarge() bool {
	return !r.page && (r.isIngest() || r.operation.OperationID == "verifyReport")
}

func (s *server) admit(c *gin.Context, row *route) *problem {
	ctx := c.Request.Context()
	call := callOf(ctx)
	call.ip = c.ClientIP()
	if row.page {
		return nil
	}
	call.header.Set("Cache-Control", "private, no-store")
	row.deprecation.mark(call.header)
	if p := s.refuseForged(ctx, call, c.Request, row); p != nil {
		return p
	}
	refusal := s.identify(ctx, call, c.Request, row)
	if p := s.count(call, row); p != nil {
		return p
	}
	if refusal != nil && !row.open() {
		return refusal
	}
	if call.principal != nil {
		call.markDemo(call.principal.Organization)
	}
	if p := s.authorize(ctx, call, row); p != nil {
		return p
	}
	if p := row.negotiate(c); p != nil {
		return p
	}
	if row.takesLarge() && c.Request.ContentLength != 0 {
		arriveWithin(c.Writer, s.arrival.large)
	}
	if row.isIngest() {
		if p := s.takeIn(c, call); p != nil {
			return p
		}
	}
	return row.checkRequest(c)
}

// identify finds out who is calling. The header beats the cookie: a program
// that sends a token means the token. What anyone may call outside /api/v1 is
// answered without a look into the database.
func (s *server) identify(ctx context.Context, call *call, r *http.Request, row *route) *problem {
	if row.open() && !strings.HasPrefix(row.path, "/api/v1/") {
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
			return &problem{Code: "unauthenticated", Detail: "The Authorization header must be: Bearer <token>."}
		}
		if strings.HasPrefix(token, "mst_ing_") && !row.isIngest() {
			return &problem{Code: "unauthenticated", Detail: "An ingest token works under /ingest/v1 only."}
		}
		principal, err = s.Accounts.TokenPrincipal(ctx, token, call.ip)
	} else {
		cookie, none := r.Cookie(s.cookieName())
		if none != nil || row.isIngest() || s.isCrossOrigin(r) {
			return &problem{Code: "unauthenticated", Detail: "Sign in, or send a token."}
		}
		principal, err = s.Accounts.SessionPrincipal(ctx, cookie.Value)
		call.token = cookie.Value
	}
	if err != nil {
		call.token = ""
		return s.toProblem(ctx, err)
	}
	call.principal = &principal
	return nil
}

// count takes the request from the caller's quota: the member's, whichever
// token or session they use, else the network's. Probes are never refused, and
// /ingest pushes back by its own means.
func (s *server) count(call *call, row *route) *problem {
	if s.Unlimited || row.isIngest() {
		return nil
	}
	key := networkKey(call.ip)
	if call.principal != nil {
		key = "member:" + call.principal.Member.ID.String()
	}
	p := s.requests.allow(call.header, key)
	if limit, ok := s.counted(row); ok {
		addToList(call.header, "RateLimit-Policy", limit.String())
	}
	if row.path == "/healthz" || row.path == "/readyz" {
		return nil
	}
	if p == nil && row.operation.OperationID == "downloadReport" {
		p = s.downloads.allow(call.header, key)
	}
	return p
}

// authorize holds the caller against the row.
func (s *server) authorize(ctx context.Context, call *call, row *route) *problem {
	if row.open() {
		return nil
	}
	if call.principal == nil {
		return &problem{Code: "unauthenticated", Detail: "Sign in, or send a token."}
	}
	p := *call.principal
	if !slices.Contains(row.roles, roleOf(p)) {
		s.recordRefusal(ctx, call, row, "role")
		return &problem{Code: "forbidden", Detail: "The role " + string(roleOf(p)) + " may not do this."}
	}
	if !hasScope(p, row.scopes...) {
		s.recordRefusal(ctx, call, row, "scope")
		return &problem{Code: "forbidden", Detail: "The token needs the scope " + strings.Join(texts(row.scopes), " or ") + "."}
	}
	return nil
}

func roleOf(p accounts.Principal) organization.Role {
	if p.Method == accounts.MethodIngest {
		return ingest
	}
	return p.Member.Role
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
func (s *server) recordRefusal(ctx context.Context, call *call, row *route, missing string) {
	e := accounts.SecurityEntry{
		OrganizationID: call.principal.Organization.ID, MemberID: call.principal.Member.ID, Type: accounts.Refused,
		IP: call.ip, RequestID: call.requestID, Detail: missing + ": " + row.method + " " + row.path, Once: true,
	}
	if call.principal.Method == accounts.MethodToken || call.principal.Method == accounts.MethodIngest {
		e.Detail += ", token " + call.principal.ID.String()
	}
	s.note(ctx, e)
}

func (s *server) note(ctx context.Context, e accounts.SecurityEntry) {
	if err := s.Accounts.RecordSecurity(ctx, e); err != nil && !errors.Is(err, context.Canceled) {
		s.Log.WarnContext(ctx, "security log", "error", err)
	}
}
