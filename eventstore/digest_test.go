package eventstore_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/eventstore"
)

// The sums were computed by a Python script of ten lines from the layout that
// Digest and Link document. When this fails, every chain out there breaks.
func TestDigestLayoutDoesNotChange(t *testing.T) {
	t.Parallel()
	e := eventstore.Event{
		Log: eventstore.Reports, Position: 7, OrganizationID: ours, StreamType: "report", Stream: streamA, Version: 3,
		Type: "report.step", SchemaVersion: 1, OccurredAt: noon, RecordedAt: noon,
		Data: []byte(`{"n":1}`), Metadata: []byte(`{"actorId":"system:test"}`),
	}
	digest := eventstore.Digest(e)
	wantEqual(t, "digest", hex.EncodeToString(digest[:]), "4a0f0ea11a4072ac4f879fce170ab9b3bc7edba01e01a463e7dd1f407820630d")
	link := eventstore.Link(make([]byte, 32), digest[:], noon)
	wantEqual(t, "hash", hex.EncodeToString(link[:]), "6aceb86deb7c566fea1cc98a351c4642bb50c32b38a67585b927494264e64efb")
}

func drawEvent(t *rapid.T) eventstore.Event {
	text := rapid.StringMatching(`[a-z.]{0,12}`)
	id := rapid.Custom(func(t *rapid.T) uuid.UUID {
		return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	})
	return eventstore.Event{
		Log: eventstore.Log(text.Draw(t, "log")), OrganizationID: id.Draw(t, "organization"),
		StreamType: text.Draw(t, "stream type"), Stream: id.Draw(t, "stream"), Type: text.Draw(t, "type"),
		SchemaVersion: rapid.IntRange(1, 300).Draw(t, "schema version"),
		OccurredAt:    time.UnixMicro(rapid.Int64Range(-1e15, 1e16).Draw(t, "occurred at")),
		Data:          rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
		Metadata:      rapid.SliceOf(rapid.Byte()).Draw(t, "metadata"),
	}
}

// TestDifferentEventsHaveDifferentDigests: bytes move between neighboring fields, which is how an ambiguous
// encoding gives two events one digest.
func TestDifferentEventsHaveDifferentDigests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		same := e
		same.OccurredAt = e.OccurredAt.In(time.FixedZone("", 3600)).Add(300 * time.Nanosecond)
		same.Position, same.Version, same.RecordedAt = 7, 8, time.Now()
		if eventstore.Digest(e) != eventstore.Digest(same) {
			t.Fatal("the zone, less than a microsecond, or what the log assigns changed the digest")
		}
		changed := e
		switch rapid.IntRange(0, 8).Draw(t, "change") {
		case 0:
			changed.Data = append(append([]byte(nil), e.Data...), e.Metadata...)
			changed.Metadata = nil
			if len(e.Metadata) == 0 {
				changed.Metadata = []byte{0}
			}
		case 1:
			changed.Type, changed.StreamType = e.StreamType, e.Type
			if e.Type == e.StreamType {
				changed.Type += "x"
			}
		case 2:
			changed.Log += eventstore.Log(e.StreamType)
			changed.StreamType = ""
			if e.StreamType == "" {
				changed.StreamType = "x"
			}
		case 3:
			changed.OrganizationID, changed.Stream = e.Stream, e.OrganizationID
			if e.Stream == e.OrganizationID {
				changed.Stream[0]++
			}
		case 4:
			changed.SchemaVersion++
		case 5:
			changed.OccurredAt = e.OccurredAt.Add(time.Microsecond)
		case 6:
			changed.Data = append(append([]byte(nil), e.Data...), 0)
		case 7:
			changed.Metadata = append(append([]byte(nil), e.Metadata...), 0)
		case 8:
			changed.Stream[rapid.IntRange(0, 15).Draw(t, "byte")]++
		}
		if eventstore.Digest(e) == eventstore.Digest(changed) {
			t.Fatalf("%+v and %+v have one digest", e, changed)
		}
	})
}
