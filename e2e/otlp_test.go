package e2e

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// callersTrace is the trace that a caller says their request is part of.
const callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// collector is an OpenTelemetry collector that keeps what it is sent.
type collector struct {
	server *httptest.Server

	mu       sync.Mutex
	spans    []*tracepb.Span
	metrics  map[string]bool
	text     strings.Builder
	requests int
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: map[string]bool{}}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := c.take(r.URL.Path, body); err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
	}))
	t.Cleanup(c.server.Close)
	return c
}

func (c *collector) take(path string, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	if path == "/v1/metrics" {
		var sent metricspb.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &sent); err != nil {
			return err
		}
		c.text.WriteString(prototext.Format(&sent))
		for _, r := range sent.GetResourceMetrics() {
			for _, s := range r.GetScopeMetrics() {
				for _, m := range s.GetMetrics() {
					c.metrics[m.GetName()] = true
				}
			}
		}
		return nil
	}
	var sent tracespb.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &sent); err != nil {
		return err
	}
	c.text.WriteString(prototext.Format(&sent))
	for _, r := range sent.GetResourceSpans() {
		for _, s := range r.GetScopeSpans() {
			c.spans = append(c.spans, s.GetSpans()...)
		}
	}
	return nil
}

// env has a process send everything here, and soon.
func (c *collector) env() []string {
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.server.URL, "OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_METRIC_EXPORT_INTERVAL=2000"}
}

// everything is all that was sent, as text.
func (c *collector) everything() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// find returns the spans of a name.
func (c *collector) find(name string, fits func(*tracepb.Span) bool) *tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.GetName() == name && fits(s) {
			return s
		}
	}
	return nil
}

// await waits for a span.
func (c *collector) await(t *testing.T, name string, fits func(*tracepb.Span) bool) (found *tracepb.Span) {
	t.Helper()
	eventually(t, "the collector has "+name, func() bool {
		found = c.find(name, fits)
		return found != nil
	})
	return found
}

func attributeOf(s *tracepb.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

func childOf(parent *tracepb.Span) func(*tracepb.Span) bool {
	return func(s *tracepb.Span) bool {
		return string(s.GetTraceId()) == string(parent.GetTraceId()) && string(s.GetParentSpanId()) == string(parent.GetSpanId())
	}
}

// followed holds the spans of one report to one chain: the caller's trace, the
// request in it, its statements, the build that links to the request, the
// build's steps, the mail that links to the build.
func (c *collector) followed(t *testing.T, report uuid.UUID) {
	t.Helper()
	of := func(s *tracepb.Span) bool { return attributeOf(s, "muster.report.id") == report.String() }
	request := c.await(t, "POST /api/v1/reports", func(s *tracepb.Span) bool { return hex.EncodeToString(s.GetTraceId()) == callersTrace })
	if request.GetTraceState() != "muster=test" || attributeOf(request, "http.route") != "/api/v1/reports" {
		t.Errorf("the request's span is %v", request)
	}
	insert := c.await(t, "INSERT", func(s *tracepb.Span) bool {
		return string(s.GetTraceId()) == string(request.GetTraceId()) && strings.Contains(attributeOf(s, "db.query.text"), "INTO jobs")
	})
	build := c.await(t, "process build", of)
	if !linksTo(build, request) || string(build.GetTraceId()) == string(request.GetTraceId()) {
		t.Errorf("the build %v does not link to the request, %v", build, insert)
	}
	for _, step := range []string{"gather", "keep inputs", "render"} {
		c.await(t, step, childOf(build))
	}
	mail := c.await(t, "process mail", func(s *tracepb.Span) bool {
		return of(s) && s.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR
	})
	if !linksTo(mail, build) {
		t.Errorf("the mail %v does not link to the build", mail)
	}
	c.await(t, "send mail", childOf(mail))
	for _, name := range []string{"muster_http_request_duration_seconds", "muster_job_duration_seconds", "muster_report_duration_seconds",
		"muster_mails_total", "muster_sign_ins_total", "muster_http_problems_total", "muster_ingest_items_total", "muster_db_connections",
		"muster_projection_lag_events", "muster_jobs", "go_goroutines"} {
		eventually(t, "the collector has the figure "+name, func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.metrics[name]
		})
	}
}

// linksTo says whether a span links to another, or to something in its trace
// that it was the cause of.
func linksTo(s, to *tracepb.Span) bool {
	return slices.ContainsFunc(s.GetLinks(), func(l *tracepb.Span_Link) bool {
		return string(l.GetTraceId()) == string(to.GetTraceId())
	})
}

// TestDisabledTelemetrySendsNothing: by default, and where a setting turns it off.
func TestDisabledTelemetrySendsNothing(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	i := install(t)
	server := serving(t, append(c.env(), "OTEL_SDK_DISABLED=true"), i.flags()...)
	visitor{base: server.base}.must(t, http.StatusOK, http.MethodGet, "/api/v1/session", nil)
	server.stop(t)
	if c.requests != 0 {
		t.Errorf("%d exports came", c.requests)
	}
}

// TestAnUnreachableCollectorDelaysNothing: a collector that hangs, or is not there, slows no request and no
// stop.
func TestAnUnreachableCollectorDelaysNothing(t *testing.T) {
	t.Parallel()
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(hanging.CloseClientConnections)
	i := install(t)
	server := serving(t, []string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + hanging.URL + "/v1/traces", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://127.0.0.1:1/v1/metrics",
		"OTEL_BSP_SCHEDULE_DELAY=10", "OTEL_METRIC_EXPORT_INTERVAL=200",
	}, i.flags()...)
	for range 100 {
		visitor{base: server.base}.must(t, http.StatusOK, http.MethodGet, "/api/v1/session", nil)
	}
	eventually(t, "the log says that exporting fails", func() bool {
		return strings.Contains(server.logged.String(), "exporting to OpenTelemetry fails")
	})
	server.stop(t)
}
