package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"muster/internal/httpapi/signin"
	"muster/internal/httpapi/wire"
)

// other is the label of what is not one of ours: anybody may invent paths and
// methods, and must not make figures by it.
const other = "other"

// methods are those that figures tell apart.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// traced opens the request's span where traces are exported. Either way the
// request is in the caller's trace, if they named one, and so are the jobs that
// it leads to.
func (s *server) traced(r *http.Request) (context.Context, trace.Span) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	if s.Tracer == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	return s.Tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer))
}

// seen is what figures, span and log say of a request. Of its path that is the
// pattern, because a path may hold an invitation, and nothing says who sent it.
type seen struct {
	route, method string
	status        int
	class         string // 2xx; "aborted" where the answer was cut off
	code          string // of the problem, if it is one
	took          time.Duration
}

func (s *server) observe(ctx context.Context, c *wire.Call, v seen) {
	v.route = cmp.Or(c.Route, other)
	if !slices.Contains(methods, v.method) {
		v.method = other
	}
	v.status = cmp.Or(v.status, http.StatusOK) // where nothing was written net/http says so
	v.class = cmp.Or(v.class, strconv.Itoa(v.status/100)+"xx")
	if v.code = c.Problem; v.code != "" {
		if wire.Codes[v.code].Status == http.StatusUnprocessableEntity {
			v.code = "rule"
		}
		s.Metrics.Problems.WithLabelValues(v.code).Inc()
	}
	s.Metrics.Requests.WithLabelValues(v.route, v.method, v.class).Observe(v.took.Seconds())
	s.observeSignIn(c, v)
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		v.describe(span, c.RequestID)
	}
	s.Log.DebugContext(ctx, "request", "method", v.method, "route", v.route, "status", v.status, "code", v.code, "took", v.took)
}

// observeSignIn counts attempts to sign in. One that opened a session has handed
// out its cookie.
func (s *server) observeSignIn(c *wire.Call, v seen) {
	var method string
	switch c.Operation {
	case "signIn":
		method = "password"
	case "finishOIDC":
		method = "oidc"
	default:
		return
	}
	outcome := "refused"
	opened := slices.ContainsFunc(c.Header.Values("Set-Cookie"), func(cookie string) bool {
		value, ok := strings.CutPrefix(cookie, s.Cookies.Session()+"=")
		return ok && !strings.HasPrefix(value, ";")
	})
	switch {
	case v.status >= http.StatusInternalServerError:
		outcome = "failed"
	case opened:
		outcome = "signed_in"
	case v.code == "login_throttled", strings.HasSuffix(c.Header.Get("Location"), "reason="+signin.ReasonThrottled):
		outcome = "throttled"
	}
	s.Metrics.SignIns.WithLabelValues(method, outcome).Inc()
}

// describe names the span by OpenTelemetry's conventions for HTTP servers, less
// what may say who asked or for what: url.path, url.query, client.address,
// user_agent.original.
func (v seen) describe(span trace.Span, requestID string) {
	method := v.method
	if method == other {
		method = "_OTHER"
	}
	span.SetName(strings.Replace(v.method, other, "HTTP", 1) + " " + v.route)
	span.SetAttributes(
		attribute.String("http.request.method", method),
		attribute.String("http.route", v.route),
		attribute.Int("http.response.status_code", v.status),
		attribute.String("muster.request.id", requestID),
	)
	if v.code != "" {
		span.SetAttributes(attribute.String("error.type", v.code))
	}
	if v.status >= http.StatusInternalServerError || v.class == aborted {
		span.SetStatus(otelcodes.Error, "")
	}
}

// aborted is the class of an answer that was cut off.
const aborted = "aborted"
