package otlp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/internal/intake"
)

// Rejected says how many data points could not be used, and why. What is not read is no
// reason to tell anybody: a collector sends dozens of metrics.
func Rejected(r intake.Receipt) (points int, message string) { return rejected("Data points", r) }

// RejectedRecords is the same of a request of logs.
func RejectedRecords(r intake.Receipt) (records int, message string) {
	return rejected("Log records", r)
}

func rejected(what string, r intake.Receipt) (n int, message string) {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(r.Dropped)) {
		if n := r.Dropped[reason]; n > 0 && reason.IsFault() {
			parts = append(parts, fmt.Sprintf("%s: %d", reason, n))
		}
	}
	if len(parts) == 0 {
		return 0, ""
	}
	return r.Refused(), what + " that cannot be used, by reason: " + strings.Join(parts, ", ")
}

// Answer is an ExportMetricsServiceResponse, or one of logs, as protobuf; it is empty where
// all is well.
func Answer(rejected int, message string) []byte {
	if rejected == 0 {
		return nil
	}
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(rejected))
	partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), message)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
}
