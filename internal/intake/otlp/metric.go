package otlp

import (
	"math"
	"time"

	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
)

// name of the message, as errors have it.
const requestName = "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest"

// noRecordedValue is the flag of a point that says that there is none.
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

// metric is what the points of a metric have in common.
type metric struct {
	means    hostmetrics.Metric
	resource hostmetrics.Labels
	reason   intake.Reason // why none of its points can be used
	to       *hostmetrics.Message
}

// point is one of a metric's points; its labels begin with the resource's.
type point struct {
	labels hostmetrics.Labels
	nanos  uint64
	value  float64
	valued bool
	flags  uint64
}

// judge says whether points of a kind can be used.
func (m *metric) judge(kind int, isCumulative bool) {
	switch {
	case m.means == 0:
		m.reason = intake.NotUsed
	case kind == gauge && m.means != hostmetrics.CPUSeconds, kind == sum && isCumulative:
		m.reason = ""
	default:
		m.reason = intake.Unsupported
	}
}

func (m *metric) addPoint(p *point) {
	series := m.to.Series(m.means, &p.labels)
	at := time.Time{}
	if p.nanos <= math.MaxInt64 {
		at = time.Unix(0, int64(p.nanos))
	}
	switch {
	case p.flags&noRecordedValue != 0:
		series.Stale(at)
	case !p.valued:
		m.to.Pass(intake.Incomplete, 1)
	default:
		series.Add(at, p.value)
	}
}
