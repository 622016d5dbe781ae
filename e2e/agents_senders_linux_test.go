package e2e

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/exp/api/remote"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"muster/internal/intake/remotewrite/remotewritetest"
)

// bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// sendRemoteWrite2 sends series with the client of Prometheus' own library.
func sendRemoteWrite2(t *testing.T, server *running, token string, series []remotewritetest.Series) {
	t.Helper()
	api, err := remote.NewAPI(server.base, remote.WithAPIPath("/ingest/v1/prometheus/write"), remote.WithAPIHTTPClient(&http.Client{Transport: bearer(token)}))
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, s := range series {
		want += len(s.Samples)
	}
	stats, err := api.Write(t.Context(), remote.WriteV2MessageType, remotewritetest.V2(series...))
	if err != nil || stats.Samples != want {
		t.Fatalf("of %d samples %d were written: %v", want, stats.Samples, err)
	}
}

// sendOTLP sends series under the names of the hostmetrics receiver, with
// OpenTelemetry's exporter: protobuf, packed, one message a scrape.
func sendOTLP(t *testing.T, server *running, token string, series []remotewritetest.Series) {
	t.Helper()
	exporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(server.base+"/ingest/v1/otlp/v1/metrics"),
		otlpmetrichttp.WithHeaders(map[string]string{"Authorization": "Bearer " + token}), otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exporter.Shutdown(context.Background()) })
	for _, scrape := range hostMetrics(series) {
		message := &metricdata.ResourceMetrics{Resource: resource.NewSchemaless(attribute.String("host.name", "db01"))}
		scope := metricdata.ScopeMetrics{}
		for name, points := range scrape {
			scope.Metrics = append(scope.Metrics, metricdata.Metrics{Name: name, Data: metricdata.Sum[float64]{
				Temporality: metricdata.CumulativeTemporality, IsMonotonic: name == "system.cpu.time", DataPoints: points,
			}})
		}
		message.ScopeMetrics = append(message.ScopeMetrics, scope)
		if err := exporter.Export(t.Context(), message); err != nil {
			t.Fatal(err)
		}
	}
}

// scrape is what a collector tells at one time, by the names of metrics.
type scrape map[string][]metricdata.DataPoint[float64]

func (s scrape) addSample(name string, at int64, value float64, pairs ...string) {
	var attributes []attribute.KeyValue
	for i := 0; i+1 < len(pairs); i += 2 {
		attributes = append(attributes, attribute.String(pairs[i], pairs[i+1]))
	}
	s[name] = append(s[name], metricdata.DataPoint[float64]{Time: time.UnixMilli(at), Value: value, Attributes: attribute.NewSet(attributes...)})
}

// hostMetrics says what node_exporter's series say as a collector does, by time.
func hostMetrics(series []remotewritetest.Series) map[int64]scrape {
	type volume struct {
		at                         int64
		device, mountpoint, fstype string
	}
	sizes := map[volume]map[string]float64{} // by node_exporter's name
	out := map[int64]scrape{}
	for _, s := range series {
		name := s.Labels["__name__"]
		for _, sample := range s.Samples {
			if out[sample.At] == nil {
				out[sample.At] = scrape{}
			}
			switch name {
			case "node_cpu_seconds_total":
				out[sample.At].addSample("system.cpu.time", sample.At, sample.Value, "cpu", "cpu"+s.Labels["cpu"], "state", collectorState(s.Labels["mode"]))
			case "node_memory_MemTotal_bytes":
				out[sample.At].addSample("system.memory.limit", sample.At, sample.Value)
			case "node_memory_MemAvailable_bytes":
				out[sample.At].addSample("system.linux.memory.available", sample.At, sample.Value)
			default:
				v := volume{sample.At, s.Labels["device"], s.Labels["mountpoint"], s.Labels["fstype"]}
				if sizes[v] == nil {
					sizes[v] = map[string]float64{}
				}
				sizes[v][name] = sample.Value
			}
		}
	}
	for v, bytes := range sizes {
		size, free, available := bytes["node_filesystem_size_bytes"], bytes["node_filesystem_free_bytes"], bytes["node_filesystem_avail_bytes"]
		for state, value := range map[string]float64{"used": size - free, "free": available, "reserved": free - available} {
			out[v.at].addSample("system.filesystem.usage", v.at, value, "device", v.device, "mountpoint", v.mountpoint, "type", v.fstype, "state", state)
		}
	}
	return out
}

// collectorState is what a collector calls a mode of node_exporter.
func collectorState(mode string) string {
	switch mode {
	case "iowait":
		return "wait"
	case "irq":
		return "interrupt"
	}
	return mode
}
