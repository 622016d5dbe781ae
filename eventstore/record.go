package eventstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// recordColumns are an event's columns in the order in which decode reads them. The
// log is known to who asks; digest and hash are for who checks the chain.
var recordColumns = [...]string{
	"position", "organization_id", "stream_type", "stream_id", "version", "type", "schema_version",
	"occurred_at", "recorded_at", "data", "metadata",
}

// Record replaces record_send(e) in a statement by that of an event's columns alone: e is a row
// of events, of which record_send would send every column. So every statement that reads events
// sends them in the same form, and also runs in psql.
func Record(statement string) string {
	return strings.ReplaceAll(statement, "record_send(e)", "record_send(ROW(e."+strings.Join(recordColumns[:], ", e.")+"))")
}

// errShortRecord reports bytes that are not what Record sends.
var errShortRecord = errors.New("page of events ends early")

// errUnordered reports a page that was put together in another order than it was read.
var errUnordered = errors.New("page of events is not in order of position")

// DecodeRecords reads a page of events, one after the other as Record sends them, in
// order of position: string_agg keeps the order of a sorted subquery, and to sort again
// costs it a third of what reading a page costs. They share the page's bytes. Digest and
// Hash are not part of it.
func DecodeRecords(log Log, page []byte) ([]Event, error) {
	events := make([]Event, 0, pageSize)
	names := make(map[string]string)
	for len(page) > 0 {
		events = append(events, Event{Log: log})
		rest, err := events[len(events)-1].decode(page, names)
		if err != nil {
			return nil, err
		}
		if last := len(events) - 1; last > 0 && events[last].Position <= events[last-1].Position {
			return nil, errUnordered
		}
		page = rest
	}
	return events, nil
}

// decode reads one event in the format of record_send: the number of columns, then type
// id, length and bytes of each. names keeps one copy of each name of a type.
func (e *Event) decode(row []byte, names map[string]string) (rest []byte, err error) {
	if len(row) < 4 || binary.BigEndian.Uint32(row) != uint32(len(recordColumns)) {
		return nil, errShortRecord
	}
	row = row[4:]
	var column [len(recordColumns)][]byte
	for i := range column {
		if len(row) < 8 {
			return nil, errShortRecord
		}
		size := int(int32(binary.BigEndian.Uint32(row[4:])))
		row = row[8:]
		if size < 0 || len(row) < size {
			return nil, errShortRecord
		}
		column[i], row = row[:size:size], row[size:]
	}
	for i, size := range [len(recordColumns)]int{0: 8, 1: 16, 3: 16, 4: 8, 6: 4, 7: 8, 8: 8} {
		if size != 0 && len(column[i]) != size {
			return nil, fmt.Errorf("%s of an event has %d bytes: %w", recordColumns[i], len(column[i]), errShortRecord)
		}
	}
	name := func(b []byte) string {
		s, ok := names[string(b)]
		if !ok {
			s = string(b)
			names[s] = s
		}
		return s
	}
	e.Position, e.OrganizationID = number(column[0]), uuid.UUID(column[1])
	e.StreamType, e.Stream, e.Version = name(column[2]), uuid.UUID(column[3]), number(column[4])
	e.Type, e.SchemaVersion = name(column[5]), int(int32(binary.BigEndian.Uint32(column[6])))
	e.OccurredAt, e.RecordedAt = instantOf(column[7]), instantOf(column[8])
	e.Data, e.Metadata = column[9], column[10]
	return row, nil
}

func number(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// instantOf reads a timestamptz. Not by time.Time.Add: its Duration reaches no further
// than 292 years.
func instantOf(b []byte) time.Time { return time.UnixMicro(number(b) + postgresEpoch).UTC() }
