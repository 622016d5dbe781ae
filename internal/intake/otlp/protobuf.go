package otlp

import (
	"math"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/intake"
	"muster/internal/intake/protowalk"
)

// DecodeProtobuf reads a request that came at receipt. The error is an
// *intake.UnreadableError.
func DecodeProtobuf(body []byte, receipt time.Time) (*Message, error) {
	m := newMessage(receipt)
	err := protowalk.Each(body, 1, func(resourceMetrics []byte) error { return readResource(m, resourceMetrics) })
	if err != nil {
		return nil, intake.NotA(requestName, err)
	}
	return m, nil
}

// readResource reads a ResourceMetrics. The resource may come after its metrics.
func readResource(m *Message, resourceMetrics []byte) error {
	var of labels
	m.Databases.NextResource()
	err := protowalk.Each(resourceMetrics, 1, func(resource []byte) error {
		return readAttributes(resource, 1, of.setResource, &of.twice)
	})
	if err != nil {
		return err
	}
	return protowalk.Each(resourceMetrics, 2, func(scopeMetrics []byte) error {
		return protowalk.Each(scopeMetrics, 2, func(item []byte) error { return readMetric(m, of, item) })
	})
}

// readAttributes reads those in a field of a message. twice becomes true where one comes
// twice.
func readAttributes(message []byte, field protowire.Number, set func(name, value []byte), twice *bool) error {
	var seen intake.Names
	return protowalk.Each(message, field, func(attribute []byte) error { return readAttribute(attribute, &seen, set, twice) })
}

// readAttribute reads a KeyValue whose value is text or a number.
func readAttribute(attribute []byte, seen *intake.Names, set func(name, value []byte), twice *bool) error {
	var name, value []byte
	fields := protowalk.In(attribute)
	for fields.Next() {
		switch {
		case fields.IsMessage(1):
			name = fields.Bytes
		case fields.IsMessage(2):
			held := protowalk.In(fields.Bytes)
			for held.Next() {
				switch {
				case held.IsMessage(1):
					value = held.Bytes
				case held.Is(3, protowire.VarintType):
					value = strconv.AppendInt(nil, int64(held.Bits), 10)
				case held.Is(4, protowire.Fixed64Type):
					value = strconv.AppendFloat(nil, math.Float64frombits(held.Bits), 'g', -1, 64)
				}
			}
			if held.Err() != nil {
				return held.Err()
			}
		}
	}
	if seen.Again(name) {
		*twice = true
	} else {
		set(name, value)
	}
	return fields.Err()
}

// readMetric reads a Metric. Its name may follow the points.
func readMetric(m *Message, resource labels, item []byte) error {
	into := metric{to: m, resource: resource}
	err := protowalk.Each(item, 1, func(name []byte) error {
		into.name(name)
		return nil
	})
	if err != nil {
		return err
	}
	fields := protowalk.In(item)
	for fields.Next() {
		if !fields.IsMessage(fields.Number) || fields.Number < gauge || fields.Number > summary {
			continue
		}
		total, err := isCumulative(fields.Bytes)
		if err != nil {
			return err
		}
		into.judge(int(fields.Number), total)
		if err := readPoints(&into, fields.Bytes); err != nil {
			return err
		}
	}
	return fields.Err()
}

// isCumulative reads the temporality of a Sum; other metrics have other fields there.
func isCumulative(points []byte) (total bool, err error) {
	fields := protowalk.In(points)
	for fields.Next() {
		if fields.Is(2, protowire.VarintType) {
			total = fields.Bits == cumulative
		}
	}
	return total, fields.Err()
}

// readPoints reads what holds data points in its first field, as all kinds do.
func readPoints(into *metric, points []byte) error {
	unused, used := 0, 0
	err := protowalk.Each(points, 1, func(item []byte) error {
		if into.reason != "" {
			unused++
			return nil
		}
		used++
		return readPoint(into, item)
	})
	into.to.Names.Add(into.called, into.reason, unused)
	into.to.Names.Add(into.called, "", used)
	into.to.Pass(into.reason, unused)
	return err
}

// readPoint reads a NumberDataPoint.
func readPoint(into *metric, item []byte) error {
	p := point{labels: into.resource}
	var seen intake.Names
	fields := protowalk.In(item)
	for fields.Next() {
		switch {
		case fields.Is(3, protowire.Fixed64Type):
			p.nanos = fields.Bits
		case fields.Is(4, protowire.Fixed64Type):
			p.value, p.valued = math.Float64frombits(fields.Bits), true
		case fields.Is(6, protowire.Fixed64Type):
			p.value, p.valued = float64(int64(fields.Bits)), true
		case fields.IsMessage(7):
			if err := readAttribute(fields.Bytes, &seen, into.set(&p), &p.labels.twice); err != nil {
				return err
			}
		case fields.Is(8, protowire.VarintType):
			p.flags = fields.Bits
		}
	}
	if fields.Err() == nil {
		into.addPoint(&p)
	}
	return fields.Err()
}
