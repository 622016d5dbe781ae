package remotewrite

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/protowalk"
	"muster/internal/intake/receivers"
)

// Names of the messages, as a content type has them.
const (
	V1 = "prometheus.WriteRequest"
	V2 = "io.prometheus.write.v2.Request"
)

// Message is what a request says of hosts and, apart from that, of databases.
type Message struct {
	*hostmetrics.Message
	Databases *receivers.Message
}

func newMessage(receipt time.Time) *Message {
	return &Message{Message: hostmetrics.New(receipt), Databases: receivers.New(receipt)}
}

// meaning is what the name of a series means. The zero value is not read.
type meaning struct {
	metric hostmetrics.Metric
	up     receivers.Up
}

func meaningOf(name []byte) meaning {
	if metric := hostmetrics.NodeExporter(name); metric != 0 {
		return meaning{metric: metric}
	}
	if metric := hostmetrics.WindowsExporter(name); metric != 0 {
		return meaning{metric: metric}
	}
	return meaning{up: receivers.UpOf(name)}
}

// staleNaN are the bits of a staleness marker (Prometheus' model/value).
const staleNaN = 0x7ff0000000000002

var metricName = []byte("__name__")

// Decode1 reads a message of remote_write 1.0 that came at receipt. The error is an
// *intake.UnreadableError.
func Decode1(body []byte, receipt time.Time) (*Message, error) {
	m := newMessage(receipt)
	err := protowalk.Each(body, 1, func(series []byte) error { return m.series(series, fields1, labels1) }) // timeseries; 3 is metadata
	if err != nil {
		return nil, intake.NotA(V1, err)
	}
	return m, nil
}

// numbers are those of a time series' fields.
type numbers struct{ samples, exemplars, histograms protowire.Number }

var (
	fields1 = numbers{samples: 2, exemplars: 3, histograms: 4}
	fields2 = numbers{samples: 2, histograms: 3, exemplars: 4}
)

// labelled reads the labels of a series. reason is why it cannot be used; means is zero if it
// is not read.
type labelled func(series []byte) (means meaning, labels hostmetrics.Labels, reason intake.Reason, err error)

func (m *Message) series(series []byte, of numbers, read labelled) error {
	means, labels, reason, err := read(series)
	if err != nil {
		return err
	}
	if means == (meaning{}) && reason == "" {
		reason = intake.NotUsed
	}
	into := m.sink(means, &labels, reason)
	unused, used := 0, 0
	fields := protowalk.In(series)
	for fields.Next() {
		switch {
		case fields.IsMessage(of.samples) && reason != "":
			unused++
		case fields.IsMessage(of.samples):
			used++
			if err := addSample(into, fields.Bytes); err != nil {
				return err
			}
		case fields.IsMessage(of.histograms):
			m.Histograms++
		case fields.IsMessage(of.exemplars):
			m.Exemplars++
		}
	}
	m.Pass(reason, unused)
	m.Names.Add(labels.Name, reason, unused)
	m.Names.Add(labels.Name, "", used)
	return fields.Err()
}

// sink takes the samples of a series.
type sink interface {
	Add(at time.Time, value float64)
	Stale(at time.Time)
}

// sink is what takes the samples of a series; nil where the series cannot be used.
func (m *Message) sink(means meaning, labels *hostmetrics.Labels, reason intake.Reason) sink {
	switch {
	case reason != "":
		return nil
	case means.up != 0:
		return attempts{m.Databases, means.up, receivers.Place{Instance: string(labels.Instance), Address: string(labels.Address)}}
	}
	series := m.Series(means.metric, labels)
	return &series
}

// attempts takes the samples of an exporter's up metric.
type attempts struct {
	to    *receivers.Message
	up    receivers.Up
	place receivers.Place
}

func (a attempts) Add(at time.Time, value float64) { a.to.Attempt(a.up, a.place, at, value) }

// Stale says nothing of the server: it is the exporter that is gone.
func (a attempts) Stale(time.Time) { a.to.Pass(intake.NotUsed, 1) }

// addSample takes one sample; both versions have the same.
func addSample(into sink, sample []byte) error {
	var bits, at uint64
	fields := protowalk.In(sample)
	for fields.Next() {
		switch {
		case fields.Is(1, protowire.Fixed64Type):
			bits = fields.Bits
		case fields.Is(2, protowire.VarintType):
			at = fields.Bits
		}
	}
	if fields.Err() != nil {
		return fields.Err()
	}
	if bits == staleNaN {
		into.Stale(time.UnixMilli(int64(at)))
	} else {
		into.Add(time.UnixMilli(int64(at)), math.Float64frombits(bits))
	}
	return nil
}

// labels1 reads the labels of a series of 1.0. They are sorted by name, and few
// names come before __name__.
func labels1(series []byte) (means meaning, labels hostmetrics.Labels, reason intake.Reason, err error) {
	var seen intake.Names
	fields := protowalk.In(series)
	for fields.Next() {
		if !fields.IsMessage(1) {
			continue
		}
		var name, value []byte
		label := protowalk.In(fields.Bytes)
		for label.Next() {
			switch {
			case label.IsMessage(1):
				name = label.Bytes
			case label.IsMessage(2):
				value = label.Bytes
			}
		}
		if label.Err() != nil {
			return meaning{}, labels, "", label.Err()
		}
		if seen.Again(name) {
			return meaning{}, labels, intake.DuplicateLabel, nil
		}
		if string(name) != string(metricName) {
			labels.SetPrometheus(name, value)
			continue
		}
		labels.Name = value
		if means = meaningOf(value); means == (meaning{}) {
			return meaning{}, labels, "", nil
		}
	}
	return means, labels, "", fields.Err()
}
