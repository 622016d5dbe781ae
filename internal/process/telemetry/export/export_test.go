package export_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"muster/internal/process/telemetry"
	"muster/internal/process/telemetry/export"
)

// TestExportFollowsTheStandardsVariables, and says which it cannot follow. The
// SDK reads the process's environment, so neither does this test run beside others.
func TestExportFollowsTheStandardsVariables(t *testing.T) {
	const here = "http://127.0.0.1:1"
	for name, c := range map[string]struct {
		env             map[string]string
		traces, exports bool
		says            string
	}{
		"nothing set":    {},
		"both":           {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": here}, traces: true, exports: true},
		"traces only":    {env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": here}, traces: true, exports: true},
		"metrics only":   {env: map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": here}, exports: true},
		"traces to none": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": here, "OTEL_TRACES_EXPORTER": "none"}, exports: true},
		"disabled":       {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": here, "OTEL_SDK_DISABLED": "true"}},
		"another protocol": {
			env:  map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": here, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			says: "http/protobuf",
		},
		"no URL":                 {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "user:secret@collector"}, says: "not a URL"},
		"headers that are none":  {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": here, "OTEL_EXPORTER_OTLP_HEADERS": "secret"}, traces: true, exports: true},
		"attributes, ill formed": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": here, "OTEL_RESOURCE_ATTRIBUTES": "alone"}, traces: true, exports: true, says: "OTEL_RESOURCE_ATTRIBUTES"},
	} {
		t.Run(name, func(t *testing.T) {
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			var said bytes.Buffer
			exporter := export.Start(t.Context(), "v1", "one", telemetry.New("v1", "abc"), slog.New(slog.NewTextHandler(&said, nil)))
			defer exporter.Close()
			if (exporter != nil) != c.exports || (exporter.Tracer() != nil) != c.traces {
				t.Errorf("exports %v, traces %v", exporter, exporter.Tracer())
			}
			if !strings.Contains(said.String(), c.says) || c.says == "" && strings.Contains(said.String(), "WARN") || strings.Contains(said.String(), "secret") {
				t.Errorf("the log says\n%s", said.String())
			}
		})
	}
}
