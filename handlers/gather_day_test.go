package handlers_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
)

// TestADigestIsGatheredAsOfTheEndOfItsDay, in the zone of its schedule, and its bytes can be made again from its inputs.
func TestADigestIsGatheredAsOfTheEndOfItsDay(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	server := e.register("orders", true)
	e.register("retired", false)
	to := e.clock.Now().UTC().Add(2 * time.Minute).Truncate(time.Minute) // after everything that is recorded here
	from := to.Add(-24 * time.Hour)
	raised, id := to.Add(-time.Hour), uuid.New()
	for at, fact := range map[time.Time]any{
		raised: alert.Raised{Key: "k", Details: alert.Details{Title: "orders: Disk full", Severity: alert.Critical, InstanceID: server, CreatedAt: raised, FirstTriggeredAt: raised, LastTriggeredAt: raised}},
	} {
		encoded, err := usecase.Registry().Encode(fact)
		if err != nil {
			t.Fatal(err)
		}
		encoded.OccurredAt = at
		position, err := e.events.Append(t.Context(), eventstore.Fleet, eventstore.Append{
			Organization: e.organization, StreamType: alert.StreamType, Stream: id, Expected: eventstore.NoStream, Events: []eventstore.NewEvent{encoded},
		})
		if err != nil {
			t.Fatal(err)
		}
		e.wait(usecase.Mark{Log: eventstore.Fleet, Position: position})
	}
	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.DailyDigest, report.Scope{From: &from, To: &to, TimeZone: "Asia/Tokyo"}))
	if err != nil {
		t.Fatal(err)
	}
	d := doc.Day
	if d == nil || !d.Whole || d.Servers != 1 || d.Zone.Name != "Asia/Tokyo" || d.Verdict.Critical != 1 || d.Alerts.Raised.Critical != 1 || d.Instruments.Never != 1 {
		t.Fatalf("the day is %+v", d)
	}
	if f := d.Verdict.First; f == nil || f.Server != "orders" || f.What != "Disk full" || f.Alert == nil || *f.Alert != id {
		t.Errorf("first is %+v", f)
	}
	canonical, err := snapshot.Canonicalize(doc)
	if err != nil {
		t.Fatal(err)
	}
	again, err := snapshot.Decode(canonical.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	renderer, err := pdf.New(pdf.Build{})
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for w, doc := range map[io.Writer]snapshot.Document{&first: doc, &second: again} {
		if _, err := renderer.Render(w, doc); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the inputs give other bytes when they are read again")
	}
}
