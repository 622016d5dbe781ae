package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"muster/internal/concurrency/supervise"
)

const (
	scope = "muster" // the service, and the maker of its spans
	// flushTimeout bounds what the last export may add to a stop: workers have
	// 18 of the 20 seconds that serve promises.
	flushTimeout = 2 * time.Second
	// complainEvery is how often an exporter that fails is logged.
	complainEvery = time.Minute
)

// Exporter is a process's way to an OpenTelemetry collector. A nil one exports
// nothing and costs nothing.
type Exporter struct {
	traces  *sdktrace.TracerProvider // nil: no traces
	metrics *sdkmetric.MeterProvider // nil: no metrics
}

// Start exports what the standard OTEL_* variables ask for, over OTLP/HTTP; nil if they
// ask for nothing. An unsupported variable is logged, and its part stays off: telemetry never
// keeps a process from starting. instance identifies this process.
func Start(ctx context.Context, version, instance string, figures prometheus.Gatherer, log *slog.Logger) *Exporter {
	wanted, err := wantedSignals()
	if err != nil {
		log.WarnContext(ctx, "not everything is exported to OpenTelemetry", "error", err)
	}
	if wanted == (signals{}) {
		return nil
	}
	// The SDK reports to the process, not to its creator, and its own logger quotes headers
	// that it cannot read.
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(&complaints{log: log, now: time.Now})
	described, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", scope),
		attribute.String("service.version", version),
		attribute.String("service.instance.id", instance),
	), resource.WithFromEnv())
	if err != nil {
		log.WarnContext(ctx, "OTEL_RESOURCE_ATTRIBUTES cannot be read in full", "error", err)
	}
	export := &Exporter{}
	if wanted.traces {
		if export.traces, err = tracesTo(ctx, described); err != nil {
			log.WarnContext(ctx, "no traces are exported", "error", err)
		}
	}
	if wanted.metrics {
		if export.metrics, err = metricsTo(ctx, described, figures); err != nil {
			log.WarnContext(ctx, "no metrics are exported", "error", err)
		}
	}
	log.InfoContext(ctx, "exporting to OpenTelemetry", "traces", export.traces != nil, "metrics", export.metrics != nil)
	return export
}

func tracesTo(ctx context.Context, described *resource.Resource) (*sdktrace.TracerProvider, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the exporter of traces: %w", err)
	}
	return sdktrace.NewTracerProvider(sdktrace.WithResource(described), sdktrace.WithBatcher(exporter)), nil
}

func metricsTo(ctx context.Context, described *resource.Resource, from prometheus.Gatherer) (*sdkmetric.MeterProvider, error) {
	exporter, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the exporter of metrics: %w", err)
	}
	reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(from))))
	return sdkmetric.NewMeterProvider(sdkmetric.WithResource(described), sdkmetric.WithReader(reader)), nil
}

// Tracer makes the spans of requests and jobs; nil: none are made.
func (e *Exporter) Tracer() trace.Tracer {
	if e == nil || e.traces == nil {
		return nil
	}
	return e.traces.Tracer(scope)
}

// Close sends what has not been sent, for at most two seconds.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	var flushing supervise.Group
	if e.traces != nil {
		flushing.Go(func() error {
			report(e.traces.Shutdown(ctx))
			return nil
		})
	}
	if e.metrics != nil {
		flushing.Go(func() error {
			report(e.metrics.Shutdown(ctx))
			return nil
		})
	}
	report(flushing.Wait())
}

func report(err error) {
	if err != nil {
		otel.Handle(err)
	}
}

// signals are the signals to export.
type signals struct{ traces, metrics bool }

// wantedSignals reads the variables that switch exporting on, and says which
// cannot be followed. The exporters read the others themselves.
func wantedSignals() (signals, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return signals{}, nil
	}
	var wanted signals
	var problems []error
	for _, s := range []struct {
		name string
		want *bool
	}{{"TRACES", &wanted.traces}, {"METRICS", &wanted.metrics}} {
		endpoint := cmp.Or(variable("OTEL_EXPORTER_OTLP_"+s.name+"_ENDPOINT"), variable("OTEL_EXPORTER_OTLP_ENDPOINT"))
		if endpoint == "" || os.Getenv("OTEL_"+s.name+"_EXPORTER") == "none" {
			continue
		}
		protocol := cmp.Or(variable("OTEL_EXPORTER_OTLP_"+s.name+"_PROTOCOL"), variable("OTEL_EXPORTER_OTLP_PROTOCOL"), spoken)
		if protocol != spoken {
			problems = append(problems, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; only %s is spoken, usually on port 4318", protocol, spoken))
			continue
		}
		if u, err := url.Parse(endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			problems = append(problems, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT is not a URL with http:// or https://"))
			continue
		}
		*s.want = true
	}
	return wanted, errors.Join(problems...)
}

// spoken is the one protocol that we speak.
const spoken = "http/protobuf"

func variable(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// complaints logs what the SDK has to say, once a minute at most: a collector
// that is away for a night is one problem, not ten thousand.
type complaints struct {
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	last    time.Time
	dropped int // since last
}

// Handle makes complaints an otel.ErrorHandler.
func (c *complaints) Handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); c.last.IsZero() || now.Sub(c.last) >= complainEvery {
		c.log.Warn("exporting to OpenTelemetry fails", "error", err, "failuresNotLogged", c.dropped)
		c.last, c.dropped = now, 0
		return
	}
	c.dropped++
}
