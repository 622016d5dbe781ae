package commands_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/testing/longtest"
)

// firing is what a machine sees now of what began two minutes before the start.
func (h *house) firing(key string, set ...func(*alert.Firing)) alert.Firing {
	f := alert.Firing{
		Key: "alertmanager/" + key, Title: "Disk full", Severity: alert.Warning,
		StartsAt: start.Add(-2 * time.Minute), SeenAt: h.clock.Now(),
	}
	for _, s := range set {
		s(&f)
	}
	return f
}

func ends(at time.Time) func(*alert.Firing) { return func(f *alert.Firing) { f.EndsAt = at } }

func starts(at time.Time) func(*alert.Firing) { return func(f *alert.Firing) { f.StartsAt = at } }

func over(at time.Time) func(*alert.Firing) {
	return func(f *alert.Firing) { f.EndsAt, f.Resolved = at, true }
}

// fire records firings, and none is dropped.
func (h *house) fire(firings ...alert.Firing) {
	h.Helper()
	dropped, _, err := h.RecordFirings(h.Context(), usecase.Actor{OrganizationID: h.org.ID, Component: "ingest"}, firings)
	if err != nil || dropped > 0 {
		h.Fatal(dropped, err)
	}
}

// under are the alerts that there were under a key, the newest last.
func (h *house) under(key string) (ids []uuid.UUID) {
	h.Helper()
	err := h.db.SelectContext(h.Context(), &ids, `SELECT stream_id FROM events
		WHERE type = 'alert.raised' AND convert_from(data, 'UTF8')::jsonb ->> 'key' = $1 ORDER BY position`, "alertmanager/"+key)
	if err != nil {
		h.Fatal(err)
	}
	return ids
}

// TestLongAThousandFiringAlertsForHours: resent all the time they cost an event
// an hour, while what a reader joins is up to date.
func TestLongAThousandFiringAlertsForHours(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newHouse(t)
	const alerts, hours, step = 1_000, 3, 10 // resent every ten minutes; TestAnAlertThatFiresEveryMinuteRecordsFewEvents has every one
	for minute := 0; minute <= hours*60; minute += step {
		firings := make([]alert.Firing, alerts)
		for i := range firings {
			firings[i] = h.firing(fmt.Sprint(i), ends(h.clock.Now().Add(4*step*time.Minute)), func(f *alert.Firing) {
				f.Description = fmt.Sprintf("%d %% full", minute%100) // a template with the latest value in it
			})
		}
		h.fire(firings...)
		h.clock.Advance(step * time.Minute)
	}
	if n, want := h.alertEvents(), alerts*(1+hours); n != want {
		t.Errorf("%d events, want %d: one at the start and one an hour", n, want)
	}
	if n := h.count("alert_last_seen WHERE last_triggered_at = $1 AND key LIKE 'alertmanager/%'", start.Add(hours*time.Hour)); n != alerts {
		t.Errorf("%d are seen up to the end", n)
	}
	h.wantKeysTold()
}

func TestAnAlertThatFiresEveryMinuteRecordsFewEvents(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fire(h.firing("a"))
	id := h.under("a")[0]
	for range 6 * 60 {
		h.clock.Advance(time.Minute)
		h.fire(h.firing("a"))
	}
	if n := len(h.types(id)); n != 7 {
		t.Errorf("%d events in six hours", n)
	}
	h.fire(h.firing("a", over(h.clock.Now())))
	var closed alert.AutoResolved
	h.last(id, &closed)
	if !closed.LastTriggeredAt.Equal(start.Add(6*time.Hour)) || h.count("alert_last_seen") != 0 {
		t.Errorf("it ended as %+v", closed)
	}
}

// TestAPairOfServers: two Prometheus servers see one alert, a few seconds apart,
// each with an end of its own; neither undoes what a person did.
func TestAPairOfServers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	one, two := start.Add(-time.Minute), start.Add(-time.Minute+7*time.Second)
	for range 10 {
		now := h.clock.Now()
		h.fire(h.firing("a", starts(two), ends(now.Add(4*time.Minute))))
		h.fire(h.firing("a", starts(one), ends(now.Add(3*time.Minute))))
		h.clock.Advance(time.Minute)
	}
	id := h.under("a")[0]
	h.wantTypes("a pair", id, "raised", "changed") // the second one began earlier
	if n := h.count("alert_last_seen WHERE ends_at = $1", start.Add(13*time.Minute)); n != 1 {
		t.Error("the earlier end holds")
	}
	if _, err := h.ResolveAlert(t.Context(), h.actor, id); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(time.Minute)
	h.fire(h.firing("a", starts(one)), h.firing("a", starts(two)))
	if got := h.under("a"); len(got) != 1 {
		t.Error("it was opened again")
	}
	h.fire(h.firing("a", starts(start.Add(time.Minute))))
	if got := h.under("a"); len(got) != 2 {
		t.Error("a later start is a new alert")
	}
	h.wantKeysTold()
}

// TestFiringsInOrder: one call may hold a whole life, and the next one.
func TestFiringsInOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.clock.Advance(time.Hour)
	minute := func(m int) time.Time { return start.Add(time.Duration(m) * time.Minute) }
	life := []alert.Firing{
		h.firing("a", starts(minute(0)), func(f *alert.Firing) { f.SeenAt = minute(1) }),
		h.firing("b", starts(minute(0))),
		h.firing("a", starts(minute(0)), over(minute(5))),
		h.firing("a", starts(minute(10)), func(f *alert.Firing) { f.SeenAt = minute(11) }),
		h.firing("a", starts(minute(0)), over(minute(5))), // once more: it is over already
		h.firing("a", starts(minute(10)), over(minute(15))),
		h.firing("a", starts(minute(20))),
	}
	for range 2 {
		h.fire(life...)
		ids := h.under("a")
		if len(ids) != 3 {
			t.Fatalf("%d alerts", len(ids))
		}
		h.wantTypes("the first", ids[0], "raised", "auto_resolved")
		h.wantTypes("the second", ids[1], "raised", "auto_resolved")
		h.wantTypes("the third", ids[2], "raised")
	}
	if n := h.count("alert_last_seen"); n != 2 {
		t.Errorf("%d rows for two open alerts", n)
	}
	h.wantKeysTold()
}

// TestAMessageClosesEndedAlerts, whether or not the sweep came before it.
func TestAMessageClosesEndedAlerts(t *testing.T) {
	t.Parallel()
	for _, swept := range []bool{false, true} {
		t.Run(fmt.Sprintf("swept %t", swept), func(t *testing.T) {
			t.Parallel()
			messageAfterTheEnd(t, swept)
		})
	}
}

func messageAfterTheEnd(t *testing.T, swept bool) {
	h := newHouse(t)
	end := start.Add(4 * time.Minute)
	h.fire(h.firing("a", ends(end)))
	h.clock.Advance(10 * time.Minute)
	if swept {
		if n, _, err := h.EndFirings(t.Context(), 10); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	h.fire(h.firing("a", ends(h.clock.Now().Add(4*time.Minute))))
	ids := h.under("a")
	if len(ids) != 2 {
		t.Fatalf("%d alerts", len(ids))
	}
	var closed alert.AutoResolved
	h.last(ids[0], &closed)
	if diff := cmp.Diff(alert.AutoResolved{ResolvedAt: end, LastTriggeredAt: start, Lapsed: true}, closed); diff != "" {
		t.Errorf("the first (-want +got):\n%s", diff)
	}
	var raised alert.Raised
	h.last(ids[1], &raised)
	if !raised.FirstTriggeredAt.Equal(end) || !raised.After.Equal(end) {
		t.Errorf("it goes on from %s", raised.FirstTriggeredAt)
	}
	h.wantKeysTold()
}

// TestMessagesInAnyOrder: whatever order the messages of two episodes come in,
// nothing fires afterwards that is over.
func TestMessagesInAnyOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	minute := func(m int) time.Time { return start.Add(time.Duration(m) * time.Minute) }
	h.clock.Advance(time.Hour)
	var orders [][]int
	for _, a := range []int{0, 1, 2, 3} {
		for _, b := range []int{0, 1, 2, 3} {
			for _, c := range []int{0, 1, 2, 3} {
				if d := 6 - a - b - c; a != b && b != c && a != c {
					orders = append(orders, []int{a, b, c, d})
				}
			}
		}
	}
	for n, order := range orders {
		key := fmt.Sprint(n)
		seen := func(m int) func(*alert.Firing) { return func(f *alert.Firing) { f.SeenAt = minute(m) } }
		messages := []alert.Firing{
			h.firing(key, starts(minute(0)), seen(1)), h.firing(key, starts(minute(0)), over(minute(5))),
			h.firing(key, starts(minute(10)), seen(11)), h.firing(key, starts(minute(10)), over(minute(15))),
		}
		for _, m := range order {
			h.fire(messages[m])
		}
		ids := h.under(key)
		if a := h.folded(ids[len(ids)-1]); !a.State().Closed() {
			t.Errorf("in the order %v it fires for ever: %v", order, h.types(ids[len(ids)-1]))
		}
	}
	h.wantKeysTold()
}

// TestClocksOfSenders: a time in the future or an absurd start counts as now, and nothing is
// refused.
func TestClocksOfSenders(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ahead, absurd := start.Add(48*time.Hour), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for key, f := range map[string]alert.Firing{
		"ahead":  h.firing("ahead", starts(ahead), func(f *alert.Firing) { f.SeenAt = ahead }, ends(ahead)),
		"absurd": h.firing("absurd", starts(absurd), func(f *alert.Firing) { f.SeenAt = absurd }),
	} {
		h.fire(f)
		var raised alert.Raised
		h.event(h.under(key)[0], "alert.raised", &raised)
		if !raised.CreatedAt.Equal(start) || !raised.FirstTriggeredAt.Equal(start) || !raised.LastTriggeredAt.Equal(start) {
			t.Errorf("%s: %+v", key, raised)
		}
	}
	h.fire(h.firing("over", starts(ahead), over(ahead.Add(time.Hour))))
	var closed alert.AutoResolved
	h.event(h.under("over")[0], "alert.auto_resolved", &closed)
	if !closed.ResolvedAt.Equal(start) {
		t.Errorf("over at %s", closed.ResolvedAt)
	}
	// Our own clock runs back between two messages: nothing that was seen is lost.
	h.clock.Advance(-time.Minute)
	h.fire(h.firing("absurd"))
	if n := h.count("alert_last_seen WHERE last_triggered_at = $1", start); n != 2 {
		t.Errorf("%d are still seen up to the start", n)
	}
}

func TestUnusableFirings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mine, theirs := uuid.New(), uuid.New()
	at := func(id uuid.UUID) func(*alert.Firing) { return func(f *alert.Firing) { f.InstanceID = id } }
	h.fire(h.firing("taken", at(theirs)))
	token := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest", Limit: []uuid.UUID{mine}}
	rule := &alert.Rule{ID: "x", Name: "\xff"}
	firings := []alert.Firing{
		h.firing("a", at(mine)),
		h.firing("b", at(theirs)), h.firing("c"), h.firing("taken", at(mine)),
		h.firing("d", at(mine), func(f *alert.Firing) { f.Title = "" }),
		h.firing("e", at(mine), func(f *alert.Firing) { f.Description = "\x00" }),
		h.firing("f", at(mine), func(f *alert.Firing) { f.Rule = rule }),
		h.firing(string(make([]byte, 1001)), at(mine)),
		h.firing("", at(mine), func(f *alert.Firing) { f.Key = "" }),
	}
	dropped, mark, err := h.RecordFirings(t.Context(), token, firings)
	if dropped != 7 || mark.Position != 3 || err != nil {
		t.Errorf("dropped %d of 9, at %d, %v", dropped, mark.Position, err)
	}
	if n := h.count("stream_keys WHERE stream_type = 'alert'"); n != 3 {
		t.Errorf("%d keys", n)
	}
	long := strings.Repeat("ä", 10_000)
	h.fire(h.firing("long", func(f *alert.Firing) {
		f.Title, f.Description, f.Rule = long, long, &alert.Rule{ID: long, Name: long[:400]}
	}))
	var raised alert.Raised
	h.event(h.under("long")[0], "alert.raised", &raised)
	kept := func(n int) string { return long[:2*n] + "…" }
	if raised.Title != kept(499) || raised.Description != kept(1999) || *raised.Rule != (alert.Rule{ID: kept(199), Name: long[:400]}) {
		t.Errorf("of long texts there are %q", []string{raised.Title, raised.Description, raised.Rule.ID, raised.Rule.Name})
	}
}

func TestEndFirings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	end := start.Add(4 * time.Minute)
	for n := range 5 {
		h.fire(h.firing(fmt.Sprint(n), ends(end)))
	}
	h.fire(h.firing("later", ends(end.Add(time.Microsecond))), h.firing("open"))
	_, eve := h.organization("Other")
	if _, _, err := h.RecordFirings(ctx, h.as(eve), []alert.Firing{h.firing("0", ends(end))}); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(4*time.Minute - time.Microsecond)
	sweep := func(limit, want int) {
		t.Helper()
		n, mark, err := h.EndFirings(ctx, limit)
		if n != want || err != nil || (mark.Position > 0) != (want > 0) {
			t.Errorf("%d ended, want %d; %v, %v", n, want, mark, err)
		}
	}
	sweep(100, 0)
	h.clock.Advance(time.Microsecond)
	sweep(2, 2)
	sweep(100, 4)
	sweep(100, 0)
	h.clock.Advance(time.Microsecond)
	sweep(100, 1)
	if n := h.count("alert_last_seen"); n != 1 {
		t.Errorf("%d are open still", n)
	}
	h.wantKeysTold()
}

// TestSweepsRaceWithMessages: each alert is closed once. If it is seen again at the same
// moment, it fires on, as itself or as a new one.
func TestSweepsRaceWithMessages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const alerts = 20
	var firings []alert.Firing
	for n := range alerts {
		firings = append(firings, h.firing(fmt.Sprint(n), ends(start.Add(time.Minute))))
	}
	h.fire(firings...)
	h.clock.Advance(2 * time.Minute)
	ended := make([]int, 6)
	together(6, func(n int) (err error) {
		if n%2 == 0 {
			ended[n], _, err = h.EndFirings(t.Context(), 100)
			return err
		}
		var again []alert.Firing
		for i := range alerts / 2 {
			again = append(again, h.firing(fmt.Sprint((i*7+n)%(alerts/2)), ends(start.Add(time.Hour))))
		}
		_, _, err = h.RecordFirings(t.Context(), h.actor, again)
		return err
	}, t)
	for n := range alerts {
		ids := h.under(fmt.Sprint(n))
		h.wantTypes("the first one", ids[0], "raised", "auto_resolved")
		if again := n < alerts/2; again != (len(ids) == 2) {
			t.Errorf("alert %d, seen again %t: %d in all", n, again, len(ids))
		}
	}
	if sum := ended[0] + ended[2] + ended[4]; sum < alerts/2 || sum > alerts {
		t.Errorf("the sweeps say that they ended %d", sum)
	}
	h.wantKeysTold()
}

// TestMachinesAndPeopleAtOnce: a person's word holds in whatever order.
func TestMachinesAndPeopleAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fire(h.firing("a", ends(start.Add(time.Minute))))
	id := h.under("a")[0]
	h.clock.Advance(30 * time.Second)
	together(6, func(n int) error {
		if n == 0 {
			_, err := h.ResolveAlert(t.Context(), h.actor, id)
			return err
		}
		_, _, err := h.RecordFirings(t.Context(), h.actor, []alert.Firing{h.firing("a", ends(start.Add(2*time.Minute)))})
		return err
	}, t)
	h.wantTypes("in the end", id, "raised", "resolved")
	if ids := h.under("a"); len(ids) != 1 || h.count("alert_last_seen") != 0 {
		t.Errorf("%d alerts", len(ids))
	}
	var rule *usecase.RuleError
	if _, err := h.ResolveAlert(t.Context(), h.actor, id); !errors.As(err, &rule) {
		t.Error(err)
	}
}
