package telemetry

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapeTimeout bounds what one scrape may ask of the database.
const scrapeTimeout = 2 * time.Second

// Metrics is one process's registry with the figures that code counts itself.
type Metrics struct {
	registry *prometheus.Registry

	// Requests is the time from the first byte of a request to the last of its
	// answer, in seconds, by route pattern, method and status class.
	Requests *prometheus.HistogramVec
	// Jobs counts handled jobs by kind and outcome (done, retried, dead).
	Jobs *prometheus.CounterVec
	// Mails counts delivery attempts by outcome (sent, deferred, refused).
	Mails *prometheus.CounterVec
	// Builds is the time from Queued to Ready or Failed, in seconds, by kind and outcome.
	Builds *prometheus.HistogramVec
}

// New returns a registry with the Go and process collectors registered.
func New(version, commit string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		Requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "muster_http_request_duration_seconds", Help: "Time to answer a request.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 10),
		}, []string{"route", "method", "status"}),
		Jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "muster_jobs_total", Help: "Jobs handled, by kind and outcome.",
		}, []string{"kind", "outcome"}),
		Mails: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "muster_mails_total", Help: "Attempts to deliver a mail, by outcome.",
		}, []string{"outcome"}),
		Builds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "muster_report_duration_seconds", Help: "Time from request to the end of the build.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2.5, 10),
		}, []string{"kind", "outcome"}),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "muster_build_info", Help: "Always 1; the labels say which build this is.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit},
	}, func() float64 { return 1 })
	m.registry.MustRegister(m.Requests, m.Jobs, m.Mails, m.Builds, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the registry in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Reading is one value read at scrape time.
type Reading struct {
	Labels []string
	Value  float64
}

// Gauge registers a figure that read fetches at every scrape. It must be called
// once for each name, while the process is wired.
func (m *Metrics) Gauge(name, help string, labels []string, read func(context.Context) ([]Reading, error)) {
	m.registry.MustRegister(&gauge{
		desc: prometheus.NewDesc(name, help, labels, nil),
		read: read,
	})
}

type gauge struct {
	desc *prometheus.Desc
	read func(context.Context) ([]Reading, error)
}

func (g *gauge) Describe(ch chan<- *prometheus.Desc) { ch <- g.desc }

func (g *gauge) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	readings, err := g.read(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(g.desc, err)
		return
	}
	for _, r := range readings {
		ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, r.Value, r.Labels...)
	}
}
