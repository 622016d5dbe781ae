package otlp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"muster/internal/intake"
	"muster/internal/intake/jsonwalk"
)

// DecodeJSON reads a request in protobuf's JSON form that came at receipt. The error
// is an *intake.UnreadableError.
func DecodeJSON(body []byte, receipt time.Time) (*Message, error) {
	m := newMessage(receipt)
	if err := readRequest(m, body); err != nil {
		return nil, intake.NotA(requestName, err)
	}
	return m, nil
}

func readRequest(m *Message, body []byte) error {
	return resources(body, "resourceMetrics", func(item []byte) error { return readJSONResource(m, item) })
}

// resources goes through those of a request.
func resources(body []byte, name string, do func(item []byte) error) error {
	if !json.Valid(body) {
		return errors.New("no JSON, or something follows it")
	}
	var all []byte
	if err := jsonwalk.Members(body, jsonwalk.To(name, &all)); err != nil {
		return err
	}
	return jsonwalk.Elements(all, do)
}

func readJSONResource(m *Message, item []byte) error {
	var resource, attributes, scopes []byte
	if err := jsonwalk.Members(item, jsonwalk.To("resource", &resource), jsonwalk.To("scopeMetrics", &scopes)); err != nil {
		return err
	}
	if err := jsonwalk.Members(resource, jsonwalk.To("attributes", &attributes)); err != nil {
		return err
	}
	var of labels
	m.Databases.NextResource()
	if err := readJSONAttributes(attributes, of.setResource, &of.twice); err != nil {
		return err
	}
	return jsonwalk.Elements(scopes, func(item []byte) error {
		var metrics []byte
		if err := jsonwalk.Members(item, jsonwalk.To("metrics", &metrics)); err != nil {
			return err
		}
		return jsonwalk.Elements(metrics, func(item []byte) error { return readJSONMetric(m, of, item) })
	})
}

// readJSONAttributes reads a list of KeyValue. twice becomes true where one comes twice,
// or where a member of one does.
func readJSONAttributes(attributes []byte, set func(name, value []byte), twice *bool) error {
	var seen intake.Names
	return jsonwalk.Elements(attributes, func(item []byte) error {
		var key, held, asText, asInt, asDouble []byte
		err := jsonwalk.Members(item, jsonwalk.To("key", &key), jsonwalk.To("value", &held))
		if err == nil {
			err = jsonwalk.Members(held, jsonwalk.To("stringValue", &asText), jsonwalk.To("intValue", &asInt), jsonwalk.To("doubleValue", &asDouble))
		}
		if errors.Is(err, jsonwalk.ErrTwice) {
			*twice = true
			return nil
		}
		if err != nil {
			return err
		}
		name, err := jsonwalk.Text(key)
		if err != nil {
			return err
		}
		value, err := number(asInt)
		if asDouble != nil {
			value, err = number(asDouble)
		}
		if asText != nil {
			value, err = jsonwalk.Text(asText)
		}
		if seen.Again(name) {
			*twice = true
		} else {
			set(name, value)
		}
		return err
	})
}

func readJSONMetric(m *Message, resource labels, item []byte) error {
	var name []byte
	var of [summary + 1][]byte // by kind
	err := jsonwalk.Members(item, jsonwalk.To("name", &name), jsonwalk.To("gauge", &of[gauge]), jsonwalk.To("sum", &of[sum]), jsonwalk.To("histogram", &of[histogram]),
		jsonwalk.To("exponentialHistogram", &of[exponentialHistogram]), jsonwalk.To("summary", &of[summary]))
	if err != nil {
		return err
	}
	if name, err = jsonwalk.Text(name); err != nil {
		return err
	}
	into := metric{to: m, resource: resource}
	into.name(name)
	for kind, points := range of {
		if points == nil {
			continue
		}
		if err := readJSONPoints(&into, kind, points); err != nil {
			return err
		}
	}
	return nil
}

// readJSONPoints reads what holds data points, as all kinds do.
func readJSONPoints(into *metric, kind int, item []byte) error {
	var points, temporality []byte
	if err := jsonwalk.Members(item, jsonwalk.To("dataPoints", &points), jsonwalk.To("aggregationTemporality", &temporality)); err != nil {
		return err
	}
	temporality, err := number(temporality)
	if err != nil {
		return err
	}
	into.judge(kind, string(temporality) == strconv.Itoa(cumulative) || string(temporality) == "AGGREGATION_TEMPORALITY_CUMULATIVE")
	unused, used := 0, 0
	err = jsonwalk.Elements(points, func(item []byte) error {
		if into.reason != "" {
			unused++
			return nil
		}
		used++
		return readJSONPoint(into, item)
	})
	into.to.Names.Add(into.called, into.reason, unused)
	into.to.Names.Add(into.called, "", used)
	into.to.Pass(into.reason, unused)
	return err
}

func readJSONPoint(into *metric, item []byte) error {
	var nanos, flags, asDouble, asInt, attributes []byte
	err := jsonwalk.Members(item, jsonwalk.To("timeUnixNano", &nanos), jsonwalk.To("flags", &flags), jsonwalk.To("asDouble", &asDouble),
		jsonwalk.To("asInt", &asInt), jsonwalk.To("attributes", &attributes))
	if errors.Is(err, jsonwalk.ErrTwice) {
		into.to.Pass(intake.DuplicateLabel, 1)
		return nil
	}
	if err != nil {
		return err
	}
	p := point{labels: into.resource}
	if p.nanos, err = unsigned(nanos); err != nil {
		return err
	}
	if p.flags, err = unsigned(flags); err != nil {
		return err
	}
	for _, value := range [][]byte{asDouble, asInt} {
		if value, err = number(value); err != nil {
			return err
		}
		if len(value) == 0 {
			continue
		}
		if p.value, err = strconv.ParseFloat(string(value), 64); err != nil && p.value == 0 { // too large is infinite
			return err
		}
		p.valued = true
	}
	if err := readJSONAttributes(attributes, into.set(&p), &p.labels.twice); err != nil {
		return err
	}
	into.addPoint(&p)
	return nil
}

// number is one as it is written; those of 64 bits are texts in this form of JSON, and
// so is what JSON has no number for.
func number(value []byte) ([]byte, error) {
	if len(value) == 0 {
		return nil, nil
	}
	switch value[0] {
	case '{', '[', 't', 'f':
		return nil, fmt.Errorf("%.20q is no number", value)
	case '"':
		return value[1 : len(value)-1], nil
	}
	return value, nil
}

func unsigned(value []byte) (uint64, error) {
	written, err := number(value)
	if err != nil || len(written) == 0 {
		return 0, err
	}
	return strconv.ParseUint(string(written), 10, 64)
}
