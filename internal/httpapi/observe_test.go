package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/httpapi/wire"
	"muster/internal/process/telemetry"
)

// TestCallersCannotInventLabels: paths, methods and codes that callers invent share one label, and no label has
// their content.
func TestCallersCannotInventLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := testutil.CollectAndCount(w.deps.Metrics.Requests)
	for _, path := range []string{"/nothing/here", "/api/v1/nothing", "/api/v1/reports/0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a55", "/%6eothing", "/nothing?x=y"} {
		for _, method := range []string{"GET", "BREW", "brew", "PROPFIND"} {
			w.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "http://muster.test"+path, nil))
		}
	}
	if made := testutil.CollectAndCount(w.deps.Metrics.Requests) - before; made > 3 {
		t.Errorf("twenty inventions made %d figures", made)
	}
	families, err := w.deps.Metrics.Gather()
	must(t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if v := label.GetValue(); strings.Contains(v, "nothing") || strings.Contains(strings.ToLower(v), "brew") || strings.Contains(v, "0199f0d2") {
					t.Errorf("%s has %s=%q", family.GetName(), label.GetName(), v)
				}
			}
		}
	}
}

func TestSignInsAndProblemsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.deps.Commands.AddMember(context.Background(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "cli"},
		commands.NewMember{Email: "eve@ours.example", Name: "Eve", Role: organization.Viewer, Password: goodPassword})
	must(t, err)
	for password, status := range map[string]int{"wrong": 401, goodPassword: 200} {
		w.post(person{}, "/api/v1/session", map[string]any{"email": "eve@ours.example", "password": password}).is(status)
	}
	w.get(person{}, "/api/v1/reports").is(401)
	m := w.deps.Metrics
	for what, got := range map[string]float64{
		"signed in":       testutil.ToFloat64(m.SignIns.WithLabelValues("password", "signed_in")),
		"refused":         testutil.ToFloat64(m.SignIns.WithLabelValues("password", "refused")),
		"unauthenticated": testutil.ToFloat64(m.Problems.WithLabelValues("unauthenticated")),
	} {
		if got != 1 {
			t.Errorf("%s: counted %v times", what, got)
		}
	}
}

// TestRequestIsASpan: in the caller's trace, with nothing of theirs in it, and
// the log's lines and the request's id say which.
func TestRequestIsASpan(t *testing.T) {
	t.Parallel()
	recorded := tracetest.NewSpanRecorder()
	var log bytes.Buffer
	s := observed(&log)
	s.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorded)).Tracer("test")
	handler := s.outermost(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wire.CallOf(r.Context()).Route = "/api/v1/invitations/:token"
		s.Log.InfoContext(r.Context(), "inside")
		panic("a fault")
	}))
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	request := httptest.NewRequest("POST", "/api/v1/invitations/secret-token?q=secret-query", nil)
	request.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	request.Header.Set("User-Agent", "secret-agent")
	answered := httptest.NewRecorder()
	handler.ServeHTTP(answered, request)

	ended := recorded.Ended()
	if len(ended) != 1 || ended[0].Name() != "POST /api/v1/invitations/:token" || ended[0].SpanContext().TraceID().String() != trace {
		t.Fatalf("spans %v", ended)
	}
	text, err := json.Marshal(tracetest.SpanStubsFromReadOnlySpans(ended))
	must(t, err)
	if strings.Contains(string(text), "secret-") || strings.Contains(string(text), "a fault") || !strings.Contains(string(text), "internal_error") {
		t.Errorf("the span is %s", text)
	}
	if answered.Code != 500 || answered.Header().Get("X-Request-Id") != trace {
		t.Errorf("answered %d, id %s", answered.Code, answered.Header().Get("X-Request-Id"))
	}
	if strings.Contains(log.String(), "secret-") || strings.Count(log.String(), `"requestId":"`+trace+`","traceId":"`+trace+`"`) != 3 {
		t.Errorf("the log says\n%s", log.String())
	}
}

func TestATruncatedAnswerIsCountedAsSuch(t *testing.T) {
	t.Parallel()
	s := observed(&bytes.Buffer{})
	server := httptest.NewServer(s.outermost(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(200)
		panic("in the middle")
	})))
	defer server.Close()
	if answer, err := http.Get(server.URL); err == nil {
		answer.Body.Close()
		t.Error("half an answer looks whole")
	}
	if n := testutil.CollectAndCount(s.Metrics.Requests); n != 1 {
		t.Fatalf("%d figures", n)
	}
	if n := testutil.ToFloat64(s.Metrics.Problems.WithLabelValues("internal_error")); n != 0 {
		t.Error("a problem was counted that nobody was told")
	}
	families, err := s.Metrics.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == "muster_http_request_duration_seconds" && !strings.Contains(f.String(), `value:"aborted"`) {
			t.Errorf("counted as %s", f)
		}
	}
}

// observed is a server of which only the outermost layer works.
func observed(log *bytes.Buffer) *server {
	return &server{Front: Front{
		Metrics: telemetry.New("test", "abc"), Now: time.Now, PublicURL: &url.URL{Scheme: "http", Host: "muster.test"},
		Log: slog.New(telemetry.LogHandler(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	}}
}

// BenchmarkOutermost shows what observing costs: nothing around the handler, the
// layer without traces, and with them.
func BenchmarkOutermost(b *testing.B) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	off, on := observed(nil), observed(nil)
	off.Log, on.Log = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	on.Tracer = sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter())).Tracer("bench")
	for name, handler := range map[string]http.Handler{"bare": answer, "off": off.outermost(answer), "on": on.outermost(answer)} {
		b.Run(name, func(b *testing.B) {
			request := httptest.NewRequest("GET", "/api/v1/session", nil)
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
	}
}
