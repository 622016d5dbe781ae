package otlp

import (
	"math"
	"time"

	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/receivers"
)

// name of the message, as errors have it.
const requestName = "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest"

// noRecordedValue is the flag of a point that has no value.
const noRecordedValue = 1

// cumulative is the temporality of a sum that says how much it is, not how much more.
const cumulative = 2

// Fields of a Metric that hold its points.
const (
	gauge                = 5
	sum                  = 7
	histogram            = 9
	exponentialHistogram = 10
	summary              = 11
)

// Message is what a request of metrics says of hosts and, apart from that, of databases.
type Message struct {
	*hostmetrics.Message
	Databases *receivers.Message
}

func newMessage(receipt time.Time) *Message {
	return &Message{Message: hostmetrics.New(receipt), Databases: receivers.New(receipt)}
}

// labels are the attributes that are read of hosts, and those of databases.
type labels struct {
	host     hostmetrics.Labels
	database receivers.Attributes
	twice    bool // an attribute is there twice
}

func (l *labels) setResource(name, value []byte) {
	l.host.SetResource(name, value)
	l.database.Set(name, value)
}

// metric is what the points of a metric have in common.
type metric struct {
	means    hostmetrics.Metric
	gauge    receivers.Gauge // of a database, where it means nothing of a host
	up       receivers.Up    // of an exporter, likewise
	called   []byte
	resource labels
	reason   intake.Reason // why none of its points can be used
	to       *Message
}

// name says which metric it is.
func (m *metric) name(text []byte) {
	m.called = text
	m.means, m.gauge, m.up = hostmetrics.OpenTelemetry(text), 0, 0
	if m.means == 0 {
		m.gauge, m.up = receivers.GaugeOf(text), receivers.UpOf(text)
	}
}

func (m *metric) unread() bool { return m.means == 0 && m.gauge == 0 && m.up == 0 }

// point is one of a metric's points; its labels begin with the resource's.
type point struct {
	labels labels
	nanos  uint64
	value  float64
	valued bool
	flags  uint64
}

// judge says whether points of a kind can be used.
func (m *metric) judge(kind int, isCumulative bool) {
	switch {
	case m.unread():
		m.reason = intake.NotUsed
	case m.resource.twice:
		m.reason = intake.DuplicateLabel
	case kind == gauge && m.means != hostmetrics.CPUSeconds, kind == sum && isCumulative:
		m.reason = ""
	default:
		m.reason = intake.Unsupported
	}
}

// set keeps an attribute of a point.
func (m *metric) set(p *point) func(name, value []byte) {
	switch {
	case m.gauge != 0:
		return p.labels.database.Set
	case m.up != 0: // by the OpenTelemetry collector's Prometheus receiver, with labels as attributes
		return p.labels.database.SetPrometheus
	}
	return p.labels.host.SetAttribute
}

func (m *metric) addPoint(p *point) {
	at := timeOf(p.nanos)
	if p.labels.twice {
		m.to.Pass(intake.DuplicateLabel, 1)
		return
	}
	if m.means == 0 {
		switch {
		case p.flags&noRecordedValue != 0:
			m.to.Databases.Pass(intake.NotUsed, 1)
		case !p.valued:
			m.to.Databases.Pass(intake.Incomplete, 1)
		case m.up != 0:
			m.to.Databases.Attempt(m.up, p.labels.database.Place(), at, p.value)
		default:
			m.to.Databases.Count(m.gauge, &p.labels.database, at, p.value)
		}
		return
	}
	series := m.to.Series(m.means, &p.labels.host)
	switch {
	case p.flags&noRecordedValue != 0:
		series.Stale(at)
	case !p.valued:
		m.to.Pass(intake.Incomplete, 1)
	default:
		series.Add(at, p.value)
	}
}

// timeOf is zero if the number is beyond the range of a time.
func timeOf(nanos uint64) time.Time {
	if nanos > math.MaxInt64 {
		return time.Time{}
	}
	return time.Unix(0, int64(nanos))
}
