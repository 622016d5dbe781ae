package alert_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/alert"
)

func TestActionsOfMembers(t *testing.T) {
	t.Parallel()
	acknowledge := func(a *alert.Alert) (events, error) { return a.Acknowledge() }
	mute := func(a *alert.Alert) (events, error) { return a.Mute(time.Time{}) }
	muteUntil := func(a *alert.Alert) (events, error) { return a.Mute(at(60)) }
	endMute := func(now int) func(*alert.Alert) (events, error) {
		return func(a *alert.Alert) (events, error) { return a.EndMute(at(now)), nil }
	}
	unmute := func(a *alert.Alert) (events, error) { return a.Unmute() }
	resolve := func(a *alert.Alert) (events, error) {
		return a.Resolve(at(30), alert.Seen{LastTriggeredAt: at(20), StartedAt: at(1)})
	}
	resolved := alert.Resolved{ResolvedAt: at(15), LastTriggeredAt: at(10)}
	over := alert.AutoResolved{ResolvedAt: at(15), LastTriggeredAt: at(10)}
	for _, c := range []struct {
		name  string
		given events
		when  func(*alert.Alert) (events, error)
		then  events
		err   error
	}{
		{name: "acknowledged", given: events{raised(0, 10)}, when: acknowledge, then: events{alert.Acknowledged{}}},
		{name: "acknowledged though muted", given: events{raised(0, 10), alert.Muted{}}, when: acknowledge, then: events{alert.Acknowledged{}}},
		{name: "acknowledged twice", given: events{raised(0, 10), alert.Acknowledged{}}, when: acknowledge,
			err: &alert.TransitionError{From: alert.AcknowledgedState, Event: "alert.acknowledged"}},
		{name: "acknowledged when it was over", given: events{raised(0, 10), over}, when: acknowledge,
			err: &alert.TransitionError{From: alert.AutoResolvedState, Event: "alert.acknowledged"}},
		{name: "acknowledged though nobody raised it", when: acknowledge, err: &alert.TransitionError{Event: "alert.acknowledged"}},

		{name: "muted", given: events{raised(0, 10)}, when: mute, then: events{alert.Muted{}}},
		{name: "muted when it was over", given: events{raised(0, 10), over}, when: mute, then: events{alert.Muted{}}},
		{name: "muted twice", given: events{raised(0, 10), alert.Muted{}}, when: mute, err: &alert.MutedError{Muted: true}},
		{name: "muted though nobody raised it", when: mute, err: &alert.TransitionError{Event: "alert.muted"}},
		{name: "muted until a time", given: events{raised(0, 10)}, when: muteUntil, then: events{alert.MutedUntil{Until: at(60)}}},
		{name: "muted until the same time twice", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}}, when: muteUntil,
			err: &alert.MutedError{Muted: true}},
		{name: "muted until another time", given: events{raised(0, 10), alert.MutedUntil{Until: at(50)}}, when: muteUntil,
			then: events{alert.MutedUntil{Until: at(60)}}},
		{name: "muted for good after a while", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}}, when: mute, then: events{alert.Muted{}}},
		{name: "muted for a while after for good", given: events{raised(0, 10), alert.Muted{}}, when: muteUntil,
			then: events{alert.MutedUntil{Until: at(60)}}},
		{name: "muted until a time when it was over", given: events{raised(0, 10), over}, when: muteUntil, then: events{alert.MutedUntil{Until: at(60)}}},
		{name: "muted until a time though nobody raised it", when: muteUntil, err: &alert.TransitionError{Event: "alert.muted_until"}},
		{name: "the mute's time has come", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}}, when: endMute(60),
			then: events{alert.MuteEnded{Until: at(60)}}},
		{name: "the mute's time has come after it was resolved", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}, resolved}, when: endMute(61),
			then: events{alert.MuteEnded{Until: at(60)}}},
		{name: "the mute's time has not come", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}}, when: endMute(59)},
		{name: "the mute ended", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}, alert.MuteEnded{Until: at(60)}}, when: endMute(61)},
		{name: "the mute was taken back", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}, alert.Unmuted{}}, when: endMute(61)},
		{name: "the mute is for good", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}, alert.Muted{}}, when: endMute(61)},
		{name: "unmuted before its time", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}}, when: unmute, then: events{alert.Unmuted{}}},
		{name: "unmuted after its time", given: events{raised(0, 10), alert.MutedUntil{Until: at(60)}, alert.MuteEnded{Until: at(60)}}, when: unmute, err: &alert.MutedError{}},
		{name: "unmuted", given: events{raised(0, 10), alert.Muted{}}, when: unmute, then: events{alert.Unmuted{}}},
		{name: "unmuted when it was resolved", given: events{raised(0, 10), alert.Muted{}, resolved}, when: unmute, then: events{alert.Unmuted{}}},
		{name: "unmuted twice", given: events{raised(0, 10), alert.Muted{}, alert.Unmuted{}}, when: unmute, err: &alert.MutedError{}},
		{name: "unmuted though nobody raised it", when: unmute, err: &alert.TransitionError{Event: "alert.unmuted"}},

		{name: "resolved, with what was seen beside the log", given: events{raised(0, 10)}, when: resolve,
			then: events{alert.Resolved{ResolvedAt: at(30), LastTriggeredAt: at(20), StartedAt: at(1)}}},
		{name: "resolved after the log was ahead", given: events{raised(5, 25), alert.Acknowledged{}}, when: resolve,
			then: events{alert.Resolved{ResolvedAt: at(30), LastTriggeredAt: at(25)}}},
		{name: "resolved twice", given: events{raised(0, 10), resolved}, when: resolve,
			err: &alert.TransitionError{From: alert.ResolvedState, Event: "alert.resolved"}},
		{name: "resolved when it was over", given: events{raised(0, 10), over}, when: resolve,
			err: &alert.TransitionError{From: alert.AutoResolvedState, Event: "alert.resolved"}},
		{name: "resolved though nobody raised it", when: resolve, err: &alert.TransitionError{Event: "alert.resolved"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.when(folded(c.given))
			if diff := cmp.Diff(c.then, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if !same(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
		})
	}
}

func same(got, want error) bool {
	switch want := any(want).(type) {
	case nil:
		return got == nil
	case *alert.TransitionError:
		var e *alert.TransitionError
		return errors.As(got, &e) && *e == *want
	case *alert.MutedError:
		var e *alert.MutedError
		return errors.As(got, &e) && *e == *want
	}
	return false
}

// TestTransitions compares every pair of a state and an event with the specification: an alert
// is raised once, is acknowledged if it is open and not yet acknowledged, changes and fires
// until it is closed, is closed once, and can always be muted.
func TestTransitions(t *testing.T) {
	t.Parallel()
	const none alert.State = ""
	open := map[alert.State]bool{alert.Open: true, alert.AcknowledgedState: true}
	for _, state := range append(alert.States(), none) {
		for _, event := range alert.Events() {
			name := alert.Name(event)
			var want alert.State
			var allowed bool
			switch event.(type) {
			case alert.Raised:
				want, allowed = alert.Open, state == none
			case alert.Acknowledged:
				want, allowed = alert.AcknowledgedState, state == alert.Open
			case alert.Resolved:
				want, allowed = alert.ResolvedState, open[state]
			case alert.AutoResolved:
				want, allowed = alert.AutoResolvedState, open[state]
			case alert.Changed, alert.TriggeredAgain, alert.StillFiring:
				want, allowed = state, open[state]
			case alert.Muted, alert.MutedUntil, alert.Unmuted, alert.MuteEnded, alert.Noted:
				want, allowed = state, state != none
			default:
				t.Errorf("%s: say what it does", name)
			}
			if !allowed {
				want = state
			}
			if got, ok := alert.Next(state, event); got != want || ok != allowed {
				t.Errorf("%s in %q leads to %q, %t; want %q, %t", name, state, got, ok, want, allowed)
			}
		}
	}
	for _, s := range alert.States() {
		if s.Closed() == open[s] {
			t.Errorf("%s is both open and closed, or neither", s)
		}
	}
}

func TestReceived(t *testing.T) {
	t.Parallel()
	type times struct {
		starts, seen, ends time.Time
		resolved           bool
	}
	var never time.Time
	for _, c := range []struct {
		name      string
		sent, got times
	}{
		{"as it should be", times{at(-5), at(-1), at(3), false}, times{at(-5), at(-1), at(3), false}},
		{"without an end", times{at(-5), at(0), never, false}, times{at(-5), at(0), never, false}},
		{"from the future", times{at(5), at(6), at(9), false}, times{at(0), at(0), at(9), false}},
		{"over in the future", times{at(5), at(6), at(9), true}, times{at(0), at(0), at(0), true}},
		{"an end that has come", times{at(-5), at(0), at(0), false}, times{at(-5), at(0), at(0), true}},
		{"an end that has passed", times{at(-5), at(0), at(-2), false}, times{at(-5), at(-2), at(-2), true}},
		{"over without an end", times{at(-5), at(-1), never, true}, times{at(-5), at(-1), at(0), true}},
		{"over before it began", times{at(-5), at(0), at(-9), true}, times{at(-9), at(-9), at(-9), true}},
		{"seen before it began", times{at(-1), at(-5), never, false}, times{at(-1), at(-1), never, false}},
		{"without any time", times{}, times{at(0), at(0), never, false}},
	} {
		f := alert.Firing{StartsAt: c.sent.starts, SeenAt: c.sent.seen, EndsAt: c.sent.ends, Resolved: c.sent.resolved}.Received(at(0))
		if got := (times{f.StartsAt, f.SeenAt, f.EndsAt, f.Resolved}); got != c.got {
			t.Errorf("%s: %v, want %v", c.name, got, c.got)
		}
	}
}
