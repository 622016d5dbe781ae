package remotewrite

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/protowalk"
)

// Decode2 reads a message of remote_write 2.0 that came at receipt. The error is an
// *intake.UnreadableError.
func Decode2(body []byte, receipt time.Time) (*Message, error) {
	symbols, err := symbolsOf(body)
	if err != nil {
		return nil, intake.NotA(V2, err)
	}
	m := newMessage(receipt)
	read := symbols.labels                                                                              // once: a method value is allocated
	err = protowalk.Each(body, 5, func(series []byte) error { return m.series(series, fields2, read) }) // timeseries
	if err != nil {
		return nil, intake.NotA(V2, err)
	}
	return m, nil
}

// maxSymbols is a hundred times as many as the largest message of Prometheus has.
const maxSymbols = 1 << 20

// symbols are the texts of a message of 2.0, as places in it: a slice each would take twelve
// times a message of 32 MiB.
type symbols struct {
	body  []byte
	spans []span
}

type span struct{ start, end uint32 }

// symbolsOf walks over the message once, so that it is known to be one.
func symbolsOf(body []byte) (symbols, error) {
	s := symbols{body: body}
	n := 0
	for message := protowalk.In(body); message.Next(); {
		if message.IsMessage(4) {
			n++
		}
	}
	if n > maxSymbols {
		return symbols{}, fmt.Errorf("%d symbols, of which a message has %d at most", n, maxSymbols)
	}
	s.spans = make([]span, 0, n)
	message := protowalk.In(body)
	for message.Next() {
		if message.IsMessage(4) {
			end := len(body) - message.Left()
			s.spans = append(s.spans, span{uint32(end - len(message.Bytes)), uint32(end)})
		}
	}
	return s, message.Err()
}

// text is a symbol; ok is false if there is none with that number.
func (s symbols) text(reference uint64) (text []byte, ok bool) {
	if reference >= uint64(len(s.spans)) {
		return nil, false
	}
	at := s.spans[reference]
	return s.body[at.start:at.end], true
}

// labels reads the labels of a series of 2.0: references to name and value in turn.
func (s symbols) labels(series []byte) (means meaning, labels hostmetrics.Labels, reason intake.Reason, err error) {
	var name []byte
	var seen intake.Names
	odd, unread := false, false
	take := func(reference uint64) {
		text, ok := s.text(reference)
		switch {
		case !ok:
			reason = intake.Malformed
		case !odd:
			name = text
		case seen.Again(name):
			reason = intake.DuplicateLabel
		case string(name) != string(metricName):
			labels.SetPrometheus(name, text)
		default:
			labels.Name = text
			means = meaningOf(text)
			unread = means == (meaning{})
		}
		odd = !odd
	}
	fields := protowalk.In(series)
	for fields.Next() && !unread && reason == "" {
		switch {
		case fields.Is(1, protowire.VarintType): // each by itself, as old encoders do
			take(fields.Bits)
		case fields.IsMessage(1):
			for packed := fields.Bytes; len(packed) > 0 && !unread && reason == ""; {
				reference, n := protowire.ConsumeVarint(packed)
				if n < 0 {
					return meaning{}, labels, "", protowire.ParseError(n)
				}
				packed = packed[n:]
				take(reference)
			}
		}
	}
	if odd && !unread && reason == "" {
		reason = intake.Malformed
	}
	return means, labels, reason, fields.Err()
}
