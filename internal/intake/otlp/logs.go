package otlp

import (
	"errors"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/intake"
	"muster/internal/intake/jsonwalk"
	"muster/internal/intake/protowalk"
	"muster/internal/intake/receivers"
)

// logsName of the message, as errors have it.
const logsName = "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest"

// Fields of a LogRecord that are read.
const (
	recordTime     = 1
	recordValues   = 6 // attributes
	recordObserved = 11
	recordEvent    = 12
)

// record is a LogRecord; its attributes begin with its resource's.
type record struct {
	attributes      receivers.Attributes
	twice           bool // an attribute is there twice
	event           []byte
	nanos, observed uint64
}

// add passes the record on. A record without a time has the time at which it was observed.
func (r *record) add(m *receivers.Message) {
	if r.twice {
		m.Pass(intake.DuplicateLabel, 1)
		return
	}
	nanos := r.nanos
	if nanos == 0 {
		nanos = r.observed
	}
	m.Event(r.event, &r.attributes, timeOf(nanos))
}

// DecodeLogsProtobuf reads a request of logs that came at receipt. The error is an
// *intake.UnreadableError.
func DecodeLogsProtobuf(body []byte, receipt time.Time) (*receivers.Message, error) {
	m := receivers.New(receipt)
	err := protowalk.Each(body, 1, func(resourceLogs []byte) error { return readLogs(m, resourceLogs) })
	if err != nil {
		return nil, intake.NotA(logsName, err)
	}
	return m, nil
}

// readLogs reads a ResourceLogs. The resource may come after its records.
func readLogs(m *receivers.Message, resourceLogs []byte) error {
	var of record
	err := protowalk.Each(resourceLogs, 1, func(resource []byte) error {
		return readAttributes(resource, 1, of.attributes.Set, &of.twice)
	})
	if err != nil {
		return err
	}
	return protowalk.Each(resourceLogs, 2, func(scopeLogs []byte) error {
		return protowalk.Each(scopeLogs, 2, func(item []byte) error { return readRecord(m, of, item) })
	})
}

// readRecord reads a LogRecord. If its name is not one that is used, its attributes are not
// read.
func readRecord(m *receivers.Message, resource record, item []byte) error {
	r := resource
	fields := protowalk.In(item)
	for fields.Next() {
		switch {
		case fields.Is(recordTime, protowire.Fixed64Type):
			r.nanos = fields.Bits
		case fields.Is(recordObserved, protowire.Fixed64Type):
			r.observed = fields.Bits
		case fields.IsMessage(recordEvent):
			r.event = fields.Bytes
		}
	}
	if fields.Err() != nil {
		return fields.Err()
	}
	if len(r.event) > 0 && !receivers.IsEvent(r.event) {
		m.Pass(intake.NotUsed, 1)
		return nil
	}
	err := readAttributes(item, recordValues, r.attributes.Set, &r.twice)
	if err == nil {
		r.add(m)
	}
	return err
}

// DecodeLogsJSON is DecodeLogsProtobuf of protobuf's JSON form.
func DecodeLogsJSON(body []byte, receipt time.Time) (*receivers.Message, error) {
	m := receivers.New(receipt)
	if err := resources(body, "resourceLogs", func(item []byte) error { return readJSONLogs(m, item) }); err != nil {
		return nil, intake.NotA(logsName, err)
	}
	return m, nil
}

func readJSONLogs(m *receivers.Message, item []byte) error {
	var resource, attributes, scopes []byte
	if err := jsonwalk.Members(item, jsonwalk.To("resource", &resource), jsonwalk.To("scopeLogs", &scopes)); err != nil {
		return err
	}
	if err := jsonwalk.Members(resource, jsonwalk.To("attributes", &attributes)); err != nil {
		return err
	}
	var of record
	if err := readJSONAttributes(attributes, of.attributes.Set, &of.twice); err != nil {
		return err
	}
	return jsonwalk.Elements(scopes, func(item []byte) error {
		var records []byte
		if err := jsonwalk.Members(item, jsonwalk.To("logRecords", &records)); err != nil {
			return err
		}
		return jsonwalk.Elements(records, func(item []byte) error { return readJSONRecord(m, of, item) })
	})
}

func readJSONRecord(m *receivers.Message, resource record, item []byte) error {
	var nanos, observed, event, attributes []byte
	err := jsonwalk.Members(item, jsonwalk.To("timeUnixNano", &nanos), jsonwalk.To("observedTimeUnixNano", &observed),
		jsonwalk.To("eventName", &event), jsonwalk.To("attributes", &attributes))
	if errors.Is(err, jsonwalk.ErrTwice) {
		m.Pass(intake.DuplicateLabel, 1)
		return nil
	}
	if err != nil {
		return err
	}
	r := resource
	if r.event, err = jsonwalk.Text(event); err != nil {
		return err
	}
	if r.nanos, err = unsigned(nanos); err != nil {
		return err
	}
	if r.observed, err = unsigned(observed); err != nil {
		return err
	}
	if len(r.event) > 0 && !receivers.IsEvent(r.event) {
		m.Pass(intake.NotUsed, 1)
		return nil
	}
	if err := readJSONAttributes(attributes, r.attributes.Set, &r.twice); err != nil {
		return err
	}
	r.add(m)
	return nil
}
