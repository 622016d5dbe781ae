package commands_test

import (
	"testing"
	"time"

	"muster/domain/report"
)

// TestRepeatedDownloadsAreRecordedOnceAnHour: a person who fetches a report again and again, also from eight
// windows at the same time, is recorded once an hour.
func TestRepeatedDownloadsAreRecordedOnceAnHour(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.request(h.actor).ReportID
	h.ready(id)
	fetch := func(int) error {
		_, err := h.RecordDownload(t.Context(), h.actor, id, report.PDFFile)
		return err
	}
	together(8, fetch, t)
	h.clock.Advance(30 * time.Minute)
	together(2, fetch, t)
	ben := h.as(h.member("ben@example.org"))
	if _, err := h.RecordDownload(t.Context(), ben, id, report.PDFFile); err != nil {
		t.Fatal(err)
	}
	if n := h.count("events WHERE stream_id = $1 AND type = 'report.downloaded'", id); n != 2 {
		t.Errorf("%d downloads of two people within an hour are recorded", n)
	}
}
