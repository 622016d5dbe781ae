// Package remotewritetest makes messages of remote_write for tests and benchmarks.
package remotewritetest

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/klauspost/compress/snappy"
	writev2 "github.com/prometheus/client_golang/exp/api/remote/genproto/v2"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/encoding/protowire"
)

// Sample is a value of a series; At counts milliseconds since 1970.
type Sample struct {
	At    int64
	Value float64
}

// Series is a time series with its labels, __name__ among them.
type Series struct {
	Labels  map[string]string
	Again   []string // labels behind those, names and values in turn; a name may be there already
	Samples []Sample
}

// One returns a series of one sample; labels are names and values in turn.
func One(name string, at time.Time, value float64, labels ...string) Series {
	s := Series{Labels: map[string]string{model.MetricNameLabel: name}, Samples: []Sample{{at.UnixMilli(), value}}}
	for i := 0; i+1 < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
	}
	return s
}

// inOrder are the labels sorted by name, and those that come again.
func (s Series) inOrder() (labels []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		labels = append(labels, name, s.Labels[name])
	}
	return append(labels, s.Again...)
}

// StaleNaN is the value of a staleness marker.
func StaleNaN() float64 { return math.Float64frombits(0x7ff0000000000002) }

// Scrape returns what a Prometheus makes of an exporter's text, each series with more
// labels.
func Scrape(text io.Reader, at time.Time, more map[string]string) ([]Series, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("parse a scrape: %w", err)
	}
	var out []Series
	for _, name := range slices.Sorted(maps.Keys(families)) {
		vector, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.TimeFromUnixNano(at.UnixNano())}, families[name])
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		for _, sample := range vector {
			labels := maps.Clone(more)
			for name, value := range sample.Metric {
				labels[string(name)] = string(value)
			}
			out = append(out, Series{Labels: labels, Samples: []Sample{{at.UnixMilli(), float64(sample.Value)}}})
		}
	}
	return out, nil
}

// V1 encodes a prometheus.WriteRequest, labels in their order, metadata at the end as
// Prometheus does.
func V1(series ...Series) []byte {
	var message []byte
	for _, s := range series {
		var item []byte
		for labels := range slices.Chunk(s.inOrder(), 2) {
			var label []byte
			label = protowire.AppendString(protowire.AppendTag(label, 1, protowire.BytesType), labels[0])
			label = protowire.AppendString(protowire.AppendTag(label, 2, protowire.BytesType), labels[1])
			item = protowire.AppendBytes(protowire.AppendTag(item, 1, protowire.BytesType), label)
		}
		for _, at := range s.Samples {
			var sample []byte
			sample = protowire.AppendFixed64(protowire.AppendTag(sample, 1, protowire.Fixed64Type), math.Float64bits(at.Value))
			sample = protowire.AppendVarint(protowire.AppendTag(sample, 2, protowire.VarintType), uint64(at.At))
			item = protowire.AppendBytes(protowire.AppendTag(item, 2, protowire.BytesType), sample)
		}
		message = protowire.AppendBytes(protowire.AppendTag(message, 1, protowire.BytesType), item)
	}
	return protowire.AppendBytes(protowire.AppendTag(message, 3, protowire.BytesType), []byte{8, 1})
}

// V2 makes an io.prometheus.write.v2.Request.
func V2(series ...Series) *writev2.Request {
	symbols := writev2.NewSymbolTable()
	r := &writev2.Request{}
	for _, s := range series {
		item := &writev2.TimeSeries{Metadata: &writev2.Metadata{Type: writev2.Metadata_METRIC_TYPE_GAUGE}}
		for _, text := range s.inOrder() {
			item.LabelsRefs = append(item.LabelsRefs, symbols.Symbolize(text))
		}
		for _, at := range s.Samples {
			item.Samples = append(item.Samples, &writev2.Sample{Value: at.Value, Timestamp: at.At})
		}
		r.Timeseries = append(r.Timeseries, item)
	}
	r.Symbols = symbols.Symbols()
	return r
}

// V2Bytes encodes such a message.
func V2Bytes(series ...Series) []byte {
	r := V2(series...)
	body := make([]byte, r.SizeVT())
	if _, err := r.MarshalToSizedBufferVT(body); err != nil {
		panic(err) // it is of our making
	}
	return body
}

// Pack compresses a message as remote_write has it.
func Pack(message []byte) string { return string(snappy.Encode(nil, message)) }
