package daily_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/eventstore"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/room"
	"muster/internal/watch/uptime"
)

// TestADigestThatIsMadeAMonthLaterIsTheSame: whatever has happened since.
func TestADigestThatIsMadeAMonthLaterIsTheSame(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for n := range uint64(12) {
		w := s.drawWorld(100 + n)
		before := encoded(t, w.digest())
		w.goesOn()
		d := w.digestAt(w.to.AddDate(0, 1, 0))
		if d.AsOf == nil || d.Delivery.Gone {
			t.Errorf("a digest that is made a month later is as of %v, and its messages are gone: %t", d.AsOf, d.Delivery.Gone)
		}
		d.AsOf = nil
		if after := encoded(t, d); after != before {
			t.Fatalf("world %d\nwas %s\nis  %s", n, before, after)
		}
		if d := w.digestAt(w.to.AddDate(0, 0, 91)); !d.Delivery.Gone {
			t.Error("after 91 days, the digest knows its messages")
		}
	}
}

// goesOn is what happens after the day: everything ends, and more begins.
func (w *world) goesOn() {
	now := w.to.Add(10 * time.Minute)
	w.batches = nil
	for _, a := range w.alerts {
		if !a.at(w.to.AddDate(1, 0, 0)).open {
			continue
		}
		w.says(alert.StreamType, a.id, uuid.NewString(), now, alert.Acknowledged{})
		w.says(alert.StreamType, a.id, uuid.NewString(), now, alert.Muted{})
		over := now
		if w.chance(0.5) { // a feed says late that it was over before the day
			over = w.from.Add(-time.Hour)
		}
		w.says(alert.StreamType, a.id, uuid.NewString(), now, alert.Resolved{ResolvedAt: over, LastTriggeredAt: over})
	}
	for _, at := range []time.Time{now, w.to.Add(-time.Hour)} { // the latter is imported
		id := uuid.New()
		w.says(alert.StreamType, id, machine, now, alert.Raised{Key: id.String(), Details: alert.Details{Title: "New", Severity: alert.Critical, InstanceID: w.pick(), CreatedAt: at, FirstTriggeredAt: at, LastTriggeredAt: at}})
	}
	w.run.Append(eventstore.Fleet, w.batches...)
	w.run.Settle()
	for _, server := range w.servers {
		w.must(uptime.Backfill(w.t.Context(), w.db, w.organization, server.ID, []uptime.Span{{Since: w.to.Add(5 * time.Hour), Until: w.to.Add(9 * time.Hour), Up: true}}))
		w.must(room.RecordSizes(w.t.Context(), w.db, w.organization, room.InstanceSubject(server.ID), w.to.AddDate(0, 0, 2), []room.Size{{Kind: room.Volume, Name: "/data", Used: 1, Limit: 1000}}))
	}
	for _, b := range w.backups {
		end := w.to.Add(20 * time.Minute)
		w.must(backups.Record(w.t.Context(), w.db, w.organization, end, []backups.Look{{
			Instance: b.server, At: end, Source: backups.Feed, Condition: backups.Works, Backups: []backups.Backup{{Kind: backups.Base, FinishedAt: end}},
		}}))
	}
	w.db.MustExec(`UPDATE findings SET gone_at = $2 WHERE organization_id = $1 AND gone_at IS NULL AND first_seen_at <= $2`, w.organization, now)
}

// TestAlertsRecordedAtTheEndOfTheDayDoNotCount: a feed sends the alerts of the day at its end.
func TestAlertsRecordedAtTheEndOfTheDayDoNotCount(t *testing.T) {
	t.Parallel()
	s, open := newStage(t), 0
	for _, seed := range []uint64{1, 2, 4, 5, 7, 8} { // those of whole organizations
		w := s.drawWorld(seed)
		for _, a := range w.alerts {
			if a.at(w.to).open {
				open++
			}
		}
		w.records(`(SELECT '` + w.to.Format(time.RFC3339) + `'::timestamptz)`)
		if d := w.digest(); d.Alerts.Start+d.Alerts.Raised.Total() > 0 {
			t.Errorf("world %d: alerts that came too late count: %+v", seed, d.Alerts)
		}
	}
	if open == 0 {
		t.Error("no alert was open then: the test shows nothing")
	}
}
