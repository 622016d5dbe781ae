package telemetry

import (
	"context"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"muster/internal/concurrency/supervise"
)

// scrapeTimeout bounds what one scrape may ask of the database.
const scrapeTimeout = 2 * time.Second

// Metrics is one process's registry with the figures that code counts itself.
// Every label has values from a list that is fixed when the program is built.
type Metrics struct {
	registry *prometheus.Registry

	// Times in seconds: of a request to the last byte of its answer, by route pattern,
	// method and status class (2xx); of one attempt at a job, by kind and outcome (done,
	// retried, dead, returned); of a report from its request to its end, by kind and
	// outcome (ready, failed).
	Requests, Jobs, Builds *prometheus.HistogramVec

	Problems       *prometheus.CounterVec // refusals and failures, by the contract's code
	SignIns        *prometheus.CounterVec // by method (password, oidc) and outcome (signed_in, refused, throttled, failed)
	Ingested       *prometheus.CounterVec // items recorded, by sort (instance, database, alert; and those of CountSamples)
	IngestDropped  *prometheus.CounterVec // items that could not be used while others were, by route pattern and intake.Reason
	EnginesDropped *prometheus.CounterVec // that a tile was answered without, by tile and engine
	Breaches       *prometheus.CounterVec // that the watch found, by rule (silent, volume, lock_wait, wraparound) and change (began, ended)
	Refused        *prometheus.CounterVec // checkpoints that were not signed, because the log is not what was signed before; by log
	Witnessed      *prometheus.CounterVec // answers of witnesses, by witness, log and answer (cosigned, refused, failed)
	FactsAltered   prometheus.Counter     // uses of assessments that are not the ones that the log recorded
	LoopRestarts   *prometheus.CounterVec // of background loops that fell, by loop
	Mails          *prometheus.CounterVec // delivery attempts, by outcome (sent, deferred, refused)
}

// CountSamples counts samples that were kept, sent or measured by Muster itself.
func (m *Metrics) CountSamples(hosts, sessions, statements int) {
	m.Ingested.WithLabelValues("host_sample").Add(float64(hosts))
	m.Ingested.WithLabelValues("session_sample").Add(float64(sessions))
	m.Ingested.WithLabelValues("statement_sample").Add(float64(statements))
}

// New returns a registry with the Go and process collectors registered.
func New(version, commit string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		Requests: histogram("muster_http_request_duration_seconds", "Time to answer a request.",
			prometheus.ExponentialBuckets(0.001, 2.5, 10), "route", "method", "status"),
		Problems: counter("muster_http_problems_total", "Requests refused or failed, by the code of the answer.", "code"),
		SignIns:  counter("muster_sign_ins_total", "Attempts to sign in, by method and outcome.", "method", "outcome"),
		Ingested: counter("muster_ingest_items_total", "Items recorded for senders, by sort.", "sort"),
		IngestDropped: counter("muster_ingest_dropped_total", "Items of agents' messages that could not be used, by route and reason.",
			"route", "reason"),
		EnginesDropped: counter("muster_tile_engine_dropped_total", "Engines that a tile was answered without, because they could not be read.",
			"tile", "engine"),
		Breaches: counter("muster_watch_breaches_total", "Breaches of a rule that the built-in watch saw begin and end.", "rule", "change"),
		Jobs: histogram("muster_job_duration_seconds", "Time of one attempt at a job, by kind and outcome.",
			prometheus.ExponentialBuckets(0.005, 4, 9), "kind", "outcome"),
		Refused:   counter("muster_checkpoints_refused_total", "Checkpoints that were not signed, because the log is not the one that was signed before.", "log"),
		Witnessed: counter("muster_witness_answers_total", "Answers of witnesses that were asked to cosign a log, by witness, log and answer.", "witness", "log", "answer"),
		FactsAltered: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "muster_facts_altered_total", Help: "Uses of assessments that are not the ones that the log recorded: in reports, controls and evidence, which refuse them. And looks at a server of which what is kept cannot be decoded.",
		}),
		LoopRestarts: counter("muster_loop_restarts_total", "Falls of background loops, each of which was started again.", "loop"),
		Mails:        counter("muster_mails_total", "Attempts to deliver a mail, by outcome.", "outcome"),
		Builds: histogram("muster_report_duration_seconds", "Time from a report's request to its end.",
			// MusterReportsWait of kit/prometheus tells at ten minutes: a quantile is never more
			// than the last bucket's bound.
			append(prometheus.ExponentialBuckets(0.05, 2.5, 10), 600, 1800, 7200), "kind", "outcome"),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "muster_build_info", Help: "Always 1; the labels say which build this is.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit},
	}, func() float64 { return 1 })
	m.registry.MustRegister(m.Requests, m.Problems, m.SignIns, m.Ingested, m.IngestDropped, m.EnginesDropped, m.Breaches, m.Jobs, m.Refused, m.Witnessed, m.FactsAltered, m.LoopRestarts, m.Mails, m.Builds, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// Handler serves the registry in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Gather returns what could be read, and no error for what could not: one
// figure that the database does not give must not take the others with it.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) {
	families, err := m.registry.Gather()
	if len(families) > 0 {
		return families, nil
	}
	return nil, err
}

// Pool shows the state of a connection pool at every scrape.
func (m *Metrics) Pool(stat func() *pgxpool.Stat) {
	connections := func(state string, of func(*pgxpool.Stat) int32) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "muster_db_connections", Help: "Connections of the common pool, by state; max is how many there may be.",
			ConstLabels: prometheus.Labels{"state": state},
		}, func() float64 { return float64(of(stat())) })
	}
	m.registry.MustRegister(
		connections("used", (*pgxpool.Stat).AcquiredConns),
		connections("idle", (*pgxpool.Stat).IdleConns),
		connections("max", (*pgxpool.Stat).MaxConns),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "muster_db_waits_total", Help: "How often somebody waited for a connection of the pool.",
		}, func() float64 { return float64(stat().EmptyAcquireCount()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "muster_db_wait_seconds_total", Help: "Time spent waiting for a connection of the pool.",
		}, func() float64 { return stat().EmptyAcquireWaitTime().Seconds() }),
	)
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
	readings, err := supervise.Value(func() ([]Reading, error) { return g.read(ctx) }) // in a goroutine of the registry's
	if err != nil {
		ch <- prometheus.NewInvalidMetric(g.desc, err)
		return
	}
	for _, r := range readings {
		ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, r.Value, r.Labels...)
	}
}
