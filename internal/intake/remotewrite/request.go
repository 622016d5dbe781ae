package remotewrite

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/protowalk"
)

// Names of the messages, as a content type has them.
const (
	V1 = "prometheus.WriteRequest"
	V2 = "io.prometheus.write.v2.Request"
)

// request is a message while it is read.
type request struct{ *hostmetrics.Message }

// staleNaN are the bits of a staleness marker (Prometheus' model/value).
const staleNaN = 0x7ff0000000000002

var metricName = []byte("__name__")

// Decode1 reads a message of remote_write 1.0 that came at receipt. The error is an
// *intake.UnreadableError.
func Decode1(body []byte, receipt time.Time) (*hostmetrics.Message, error) {
	r := request{hostmetrics.New(receipt)}
	err := protowalk.Each(body, 1, func(series []byte) error { return r.series(series, fields1, labels1) }) // timeseries; 3 is metadata
	if err != nil {
		return nil, intake.NotA(V1, err)
	}
	return r.Message, nil
}

// numbers are those of a time series' fields.
type numbers struct{ samples, exemplars, histograms protowire.Number }

var (
	fields1 = numbers{samples: 2, exemplars: 3, histograms: 4}
	fields2 = numbers{samples: 2, histograms: 3, exemplars: 4}
)

// labelled reads the labels of a series. reason is why it cannot be used, metric is 0
// where it is not to be.
type labelled func(series []byte) (metric hostmetrics.Metric, labels hostmetrics.Labels, reason intake.Reason, err error)

func (r request) series(series []byte, of numbers, read labelled) error {
	metric, labels, reason, err := read(series)
	if err != nil {
		return err
	}
	var into hostmetrics.Series
	if metric == 0 && reason == "" {
		reason = intake.NotUsed
	}
	if reason == "" {
		into = r.Series(metric, &labels)
	}
	unused := 0
	fields := protowalk.In(series)
	for fields.Next() {
		switch {
		case fields.IsMessage(of.samples) && reason != "":
			unused++
		case fields.IsMessage(of.samples):
			if err := addSample(&into, fields.Bytes); err != nil {
				return err
			}
		case fields.IsMessage(of.histograms):
			r.Histograms++
		case fields.IsMessage(of.exemplars):
			r.Exemplars++
		}
	}
	r.Pass(reason, unused)
	return fields.Err()
}

// addSample takes one sample; both versions have the same.
func addSample(into *hostmetrics.Series, sample []byte) error {
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
func labels1(series []byte) (metric hostmetrics.Metric, labels hostmetrics.Labels, _ intake.Reason, err error) {
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
			return 0, labels, "", label.Err()
		}
		if string(name) != string(metricName) {
			labels.SetPrometheus(name, value)
		} else if metric = hostmetrics.NodeExporter(value); metric == 0 {
			return 0, labels, "", nil
		}
	}
	return metric, labels, "", fields.Err()
}
