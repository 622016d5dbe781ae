package eventstore_test

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/eventstore"
)

// row is one event in the format of PostgreSQL's record_send.
func row(position int64, data string) []byte {
	eight := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	id := uuid.MustParse("01990000-0000-7000-8000-000000000001")
	const microsTo2026 = 820540800_000_000 // from 2000-01-01 to 2026-01-01
	columns := [][]byte{
		eight(position), id[:], []byte("report"), id[:], eight(1), []byte("report.queued"), {0, 0, 0, 1},
		eight(microsTo2026), eight(microsTo2026 + 1), []byte(data), []byte("{}"),
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(columns)))
	for _, c := range columns {
		b = binary.BigEndian.AppendUint32(b, 17) // the type's id, which nobody reads
		b = binary.BigEndian.AppendUint32(b, uint32(len(c)))
		b = append(b, c...)
	}
	return b
}

func TestPage(t *testing.T) {
	t.Parallel()
	page := append(row(7, `{"a":1}`), row(8, "")...)
	events, err := eventstore.DecodeRecords(eventstore.Reports, page)
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	first := events[0]
	got := []any{first.Log, first.Position, first.StreamType, first.Type, first.Version, first.SchemaVersion, string(first.Data), events[1].Position, len(events[1].Data)}
	want := []any{eventstore.Reports, int64(7), "report", "report.queued", int64(1), 1, `{"a":1}`, int64(8), 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if at := first.RecordedAt.Format("2006-01-02T15:04:05.000000Z07:00"); at != "2026-01-01T00:00:00.000001Z" {
		t.Errorf("recorded at %s", at)
	}
}

// A page that was cut off anywhere is an error, never a shorter page or a panic.
func TestPageThatEndsEarly(t *testing.T) {
	t.Parallel()
	whole := row(7, `{"a":1}`)
	for end := 1; end < len(whole); end++ {
		if events, err := eventstore.DecodeRecords(eventstore.Reports, whole[:end]); err == nil {
			t.Errorf("the first %d of %d bytes decode as %d events", end, len(whole), len(events))
		}
	}
}
