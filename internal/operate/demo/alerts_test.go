package demo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/accounts"
	"muster/projections/alerts"
	"muster/projections/projectionstest"
)

const day = 24 * time.Hour

// told are the facts about alerts in the log, by type.
func (s *scene) told() map[string]int {
	s.Helper()
	return s.tally(`SELECT type FROM events WHERE stream_type = 'alert'`)
}

func (s *scene) alerts() *alerts.Reader {
	return alerts.NewReader(s.db, nil, usecase.Registry().Decode)
}

// page is what the list has first, the worst first.
func (s *scene) page(o accounts.Organization, closed, muted bool) []alerts.Alert {
	s.Helper()
	found, _, err := s.alerts().Page(s.Context(), alerts.Query{
		Organization: o.ID, Closed: &closed, Muted: &muted, Order: alerts.BySeverity, Descending: true, Page: 1, Size: 100,
	})
	must(s.T, err)
	return found
}

// settled waits until the list has what the log has.
func (s *scene) settled(mark usecase.Mark, err error) {
	s.Helper()
	must(s.T, err)
	projectionstest.Follow(s.T, s.runner, mark.Log, mark.Position)
}

func TestTheDemoHasAlerts(t *testing.T) {
	t.Parallel()
	s, o := newFilledScene(t)
	if told := s.told(); told["alert.raised"] < 300 || told["alert.acknowledged"] != 3 || told["alert.muted"] != 1 || told["alert.noted"] != 4 {
		t.Errorf("the log tells %v", told)
	}
	now := s.clock.Now()
	open, before, err := s.alerts().Open(t.Context(), o.ID, fleet.Scope{}, now.Add(-7*day))
	if err != nil || open < 5 || open == before {
		t.Errorf("%d are open, %d seven days before, %v", open, before, err)
	}
	for length, size := range map[time.Duration]timegrid.Size{day: timegrid.Hour, 7 * day: timegrid.Day, 30 * day: timegrid.Day} {
		active, resolved, err := s.alerts().History(t.Context(), o.ID, fleet.Scope{}, timegrid.Window{From: now.Add(-length), To: now, Size: size})
		must(t, err)
		if n := filled(active); n < len(active)/2 {
			t.Errorf("over %s: %d of %d buckets have an alert", length, n, len(active))
		}
		if filled(resolved) == 0 {
			t.Errorf("over %s: none was resolved", length)
		}
	}
	recent, total, err := s.alerts().Page(t.Context(), alerts.Query{
		Organization: o.ID, From: now.Add(-day), To: now.Add(time.Hour), Order: alerts.ByLastTriggered, Descending: true, Page: 1, Size: 10,
	})
	if err != nil || len(recent) != 10 {
		t.Errorf("the digest has %d of %d, %v", len(recent), total, err)
	}
	worst := s.page(o, false, false)
	if len(worst) == 0 || worst[0].Severity != "critical" {
		t.Errorf("the worst that is open: %+v", worst)
	}
	elsewhere := 0
	for _, a := range worst {
		if a.Instance == nil {
			elsewhere++
		}
	}
	if elsewhere == 0 {
		t.Error("no open alert belongs to the organization only")
	}
}

func filled(counts []int64) (n int) {
	for _, c := range counts {
		if c > 0 {
			n++
		}
	}
	return n
}

func TestALaterStartContinuesTheAlerts(t *testing.T) {
	t.Parallel()
	s, _ := newFilledScene(t)
	first := s.told()
	s.filled(s.Demo)
	if n := s.told(); n["alert.raised"] != first["alert.raised"] || len(n) != len(first) {
		t.Errorf("the same start again: %v, before %v", n, first)
	}
	s.clock.Advance(3 * day)
	o := s.filled(s.Demo)
	later := s.told()
	if later["alert.raised"] < first["alert.raised"]+20 || later["alert.acknowledged"] != 3 || later["alert.muted"] != 1 || later["alert.noted"] != 4 {
		t.Errorf("three days later: %v, before %v", later, first)
	}
	closed := func(told map[string]int) int { return told["alert.resolved"] + told["alert.auto_resolved"] }
	if now, before := later["alert.raised"]-closed(later), first["alert.raised"]-closed(first); now < 1 || closed(later)-closed(first) < before-2 {
		t.Errorf("%d are open, %d were, and %d have been closed since", now, before, closed(later)-closed(first))
	}
	if n := s.count(`events WHERE stream_type = 'alert' AND type = 'alert.triggered_again'`); n > 0 {
		t.Errorf("%d fired again", n)
	}
	if muted := s.page(o, false, true); len(muted) != 1 {
		t.Errorf("muted: %+v", muted)
	}
	events := s.count(`events`)
	s.filled(s.Demo)
	if now := s.count(`events`); now != events {
		t.Errorf("%d events more", now-events)
	}
}

// What somebody does with the demo's alerts stays, but for an alert that still
// fires: that is raised anew, as any sender would.
func TestActionsOnAlertsSurviveALaterStart(t *testing.T) {
	t.Parallel()
	s, o := newFilledScene(t)
	visitor := usecase.Actor{OrganizationID: o.ID, MemberID: uuid.New()}
	muted, open := s.page(o, false, true), s.page(o, false, false)
	s.settled(s.Commands.UnmuteAlert(t.Context(), visitor, muted[0].ID))
	s.settled(s.Commands.MuteAlert(t.Context(), visitor, open[0].ID))
	s.settled(s.Commands.ResolveAlert(t.Context(), visitor, open[1].ID))
	before := s.told()
	s.filled(s.Demo)
	after := s.told()
	if after["alert.raised"] != before["alert.raised"]+1 || after["alert.muted"] != before["alert.muted"] || after["alert.unmuted"] != 1 {
		t.Errorf("the next start: %v, before %v", after, before)
	}
	if again := s.page(o, false, true); len(again) != 1 || again[0].ID != open[0].ID {
		t.Errorf("muted now: %+v", again)
	}
}

// A demo that keeps running goes on sending: whatever is open counts as firing in the
// minute that is going on, what has ended is closed, and what somebody closed stays so.
// A server that somebody removed holds up no alert of another.
func TestAlertsGoOnFiring(t *testing.T) {
	t.Parallel()
	s, o := newFilledScene(t)
	visitor := usecase.Actor{OrganizationID: o.ID, MemberID: uuid.New()}
	s.settled(s.Commands.ResolveAlert(t.Context(), visitor, s.page(o, false, false)[0].ID))
	gone := s.hostOf("demo-mongo-events-01").Instances[0]
	s.settled(s.Commands.RemoveInstance(t.Context(), visitor, gone))

	began := s.clock.Now()
	s.clock.Advance(4 * time.Hour)
	closed := func() int { told := s.told(); return told["alert.resolved"] + told["alert.auto_resolved"] }
	before := closed()
	sent, err := s.FireOnce(t.Context(), o, began)
	must(t, err)
	if !sent.Equal(s.clock.Now()) {
		t.Errorf("it was sent at %s", sent)
	}
	if n := closed() - before; n == 0 {
		t.Error("none has ended in four hours")
	}
	s.sameIsFiring(o, gone)
	s.clock.Advance(time.Minute)
	_, err = s.FireOnce(t.Context(), o, sent)
	must(t, err)
	s.sameIsFiring(o, gone)
	if raised, keys := s.told()["alert.raised"], s.count(`stream_keys WHERE stream_type = 'alert'`); raised != keys {
		t.Errorf("%d alerts were raised under %d keys", raised, keys)
	}
}

// sameIsFiring holds the bucket of the minute that is going on against the key figure:
// both count every open alert, but for those of a server that is gone.
func (s *scene) sameIsFiring(o accounts.Organization, gone uuid.UUID) {
	s.Helper()
	at := s.clock.Now()
	active, _, err := s.alerts().History(s.Context(), o.ID, fleet.Scope{}, timegrid.Window{From: at.Add(-time.Hour), To: at, Size: timegrid.Minute})
	must(s.T, err)
	open, _, err := s.alerts().Open(s.Context(), o.ID, fleet.Scope{}, at.Add(-7*day))
	must(s.T, err)
	for _, a := range s.page(o, false, false) {
		if a.Instance != nil && a.Instance.ID == gone {
			open--
		}
	}
	if firing := active[len(active)-1]; firing < 5 || firing != open {
		s.Errorf("%d are firing now, and %d are open of servers that are there", firing, open)
	}
}

// A process that dies at either side of the alerts is completed.
func TestAlertsAreCompleted(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]int{"before they are sent": 1, "before anybody does something about them": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, nil)
			ctx, die := context.WithCancel(t.Context())
			dying := s.process(s.db, nil)
			dying.Wait = func(context.Context, usecase.Mark) bool {
				if waits--; waits > 0 {
					return true
				}
				die()
				return false
			}
			if _, err := fill(ctx, dying); !errors.Is(err, context.Canceled) {
				t.Fatalf("it ended with %v", err)
			}
			if told := s.told(); told["alert.acknowledged"]+told["alert.muted"] > 0 {
				t.Fatalf("it died too late: %v", told)
			}
			s.filled(s.Demo)
			told := s.told()
			if told["alert.raised"] < 300 || told["alert.acknowledged"] != 3 || told["alert.muted"] != 1 || told["alert.noted"] != 4 {
				t.Errorf("completed: %v", told)
			}
			if n := s.count(`(SELECT key FROM stream_keys WHERE stream_type = 'alert') k`); n != told["alert.raised"] {
				t.Errorf("%d alerts under %d keys", told["alert.raised"], n)
			}
		})
	}
}
