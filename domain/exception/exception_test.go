package exception_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/exception"
)

type events = []exception.Event

var (
	noon  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	until = noon.AddDate(0, 1, 0)
	asked = exception.Requested{Subject: exception.Subject{CheckID: "PG-S01"}, Reason: "until the move", Until: until}
)

func TestException(t *testing.T) {
	t.Parallel()
	request := func(x *exception.Exception, now time.Time) (events, error) { return x.Request(asked, now) }
	grant := (*exception.Exception).Grant
	revoke := (*exception.Exception).Revoke
	for _, c := range []struct {
		name  string
		given events
		when  func(x *exception.Exception, now time.Time) (events, error)
		at    time.Time // noon unless set
		then  events
		err   error
	}{
		{name: "asked for", when: request, then: events{asked}},
		{name: "asked for with its time over", when: request, at: until, err: &exception.LapsedError{Until: until}},
		{name: "asked for twice", given: events{asked}, when: request,
			err: &exception.TransitionError{From: exception.StatusRequested, Event: "exception.requested"}},

		{name: "granted", given: events{asked}, when: grant, then: events{exception.Granted{}}},
		{name: "granted at the last moment", given: events{asked}, when: grant, at: until.Add(-1), then: events{exception.Granted{}}},
		{name: "granted too late", given: events{asked}, when: grant, at: until, err: &exception.LapsedError{Until: until}},
		{name: "granted twice", given: events{asked, exception.Granted{}}, when: grant,
			err: &exception.TransitionError{From: exception.StatusGranted, Event: "exception.granted"}},
		{name: "granted after it was refused", given: events{asked, exception.Revoked{}}, when: grant,
			err: &exception.TransitionError{From: exception.StatusRevoked, Event: "exception.granted"}},
		{name: "granted though nobody asked", when: grant, err: &exception.TransitionError{Event: "exception.granted"}},

		{name: "refused", given: events{asked}, when: revoke, then: events{exception.Revoked{}}},
		{name: "refused after its time", given: events{asked}, when: revoke, at: until.Add(time.Hour), then: events{exception.Revoked{}}},
		{name: "taken back", given: events{asked, exception.Granted{}}, when: revoke, then: events{exception.Revoked{}}},
		{name: "taken back after it lapsed", given: events{asked, exception.Granted{}}, when: revoke, at: until, err: &exception.LapsedError{Until: until}},
		{name: "taken back twice", given: events{asked, exception.Granted{}, exception.Revoked{}}, when: revoke,
			err: &exception.TransitionError{From: exception.StatusRevoked, Event: "exception.revoked"}},
		{name: "refused though nobody asked", when: revoke, err: &exception.TransitionError{Event: "exception.revoked"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var x exception.Exception
			for _, e := range c.given {
				x.Apply(e)
			}
			now := c.at
			if now.IsZero() {
				now = noon
			}
			got, err := c.when(&x, now)
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
	case *exception.TransitionError:
		var e *exception.TransitionError
		return errors.As(got, &e) && *e == *want
	case *exception.LapsedError:
		var e *exception.LapsedError
		return errors.As(got, &e) && *e == *want
	}
	return false
}

func TestLapsesByTheClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given events
		at    time.Time
		want  exception.Status
	}{
		{nil, until, ""},
		{events{asked}, until.Add(time.Hour), exception.StatusRequested},
		{events{asked, exception.Granted{}}, until.Add(-1), exception.StatusGranted},
		{events{asked, exception.Granted{}}, until, exception.StatusLapsed},
		{events{asked, exception.Granted{}, exception.Revoked{}}, until, exception.StatusRevoked},
	} {
		var x exception.Exception
		for _, e := range c.given {
			x.Apply(e)
		}
		if got := x.StatusAt(c.at); got != c.want {
			t.Errorf("after %d events at %s: %q, want %q", len(c.given), c.at, got, c.want)
		}
	}
}

// TestTransitionsNameEvents holds the table against the events there are.
func TestTransitionsNameEvents(t *testing.T) {
	t.Parallel()
	events := map[string]bool{}
	for _, e := range exception.Events() {
		events[exception.Name(e)] = true
	}
	reached := map[string]bool{}
	for _, row := range exception.Transitions() {
		if !events[row.Event] {
			t.Errorf("%s is no event", row.Event)
		}
		reached[row.Event] = true
	}
	for name := range events {
		if !reached[name] {
			t.Errorf("%s never happens", name)
		}
	}
}
