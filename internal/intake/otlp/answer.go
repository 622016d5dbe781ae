package otlp

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/intake/hostmetrics"
)

// Answer is an ExportMetricsServiceResponse. The zero value says that all is well.
type Answer struct {
	Rejected int // data points
	Message  string
}

// AnswerTo says what became of a message. Points of names that are not read are no
// reason to tell anybody: a collector sends dozens of metrics.
func AnswerTo(m *hostmetrics.Message) Answer {
	a := Answer{Rejected: m.Refused()}
	if a.Rejected == 0 {
		return a
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(m.Dropped)) {
		if n := m.Dropped[reason]; n > 0 && reason != hostmetrics.NotUsed {
			parts = append(parts, fmt.Sprintf("%s: %d", reason, n))
		}
	}
	a.Message = "Data points that cannot be used, by reason: " + strings.Join(parts, ", ")
	return a
}

// Protobuf writes the answer as such.
func (a Answer) Protobuf() []byte {
	if a == (Answer{}) {
		return nil
	}
	var partial []byte
	partial = protowire.AppendTag(partial, 1, protowire.VarintType)
	partial = protowire.AppendVarint(partial, uint64(a.Rejected))
	partial = protowire.AppendTag(partial, 2, protowire.BytesType)
	partial = protowire.AppendString(partial, a.Message)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
}

// RejectedText is the number as JSON has it, where numbers of 64 bits are texts.
func (a Answer) RejectedText() string { return strconv.Itoa(a.Rejected) }
