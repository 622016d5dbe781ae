package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"muster/internal/accounts"
	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
)

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
