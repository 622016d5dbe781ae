package alert_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
)

// firing is what a machine sees at a minute of what began at another.
func firing(starts, seen int, set ...func(*alert.Firing)) alert.Firing {
	d := lasting(0, 0)
	f := alert.Firing{Key: key, Title: d.Title, Severity: d.Severity, InstanceID: d.InstanceID, StartsAt: at(starts), SeenAt: at(seen)}
	for _, s := range set {
		s(&f)
	}
	return f
}

// until has a firing end by itself.
func until(minute int) func(*alert.Firing) {
	return func(f *alert.Firing) { f.EndsAt = at(minute) }
}

// ended is a message, come at the end, that it is over.
func ended(starts, ends int) alert.Firing {
	return firing(starts, ends, until(ends), func(f *alert.Firing) { f.Resolved = true })
}

func TestFire(t *testing.T) {
	t.Parallel()
	worse := func(f *alert.Firing) { f.Severity = alert.Critical }
	retold := func(f *alert.Firing) { f.Description = "91 % full" }
	elsewhere := func(f *alert.Firing) { f.DatabaseID = uuid.UUID{2} }
	another := func(f *alert.Firing) { f.InstanceID = uuid.UUID{3} }
	nowhere := func(f *alert.Firing) { f.InstanceID = uuid.Nil }
	inDatabase := lasting(0, 1)
	inDatabase.DatabaseID = uuid.UUID{2}
	seen := func(last, started int) alert.Seen {
		return alert.Seen{LastTriggeredAt: at(last), StartedAt: at(started)}
	}
	ending := func(s alert.Seen, minute int) alert.Seen {
		s.EndsAt = at(minute)
		return s
	}
	saying := func(s alert.Seen, description string) alert.Seen {
		s.Title, s.Description = lasting(0, 0).Title, description
		return s
	}
	// changed are the details of the alert with what a firing says of it.
	changed := func(f alert.Firing, created, from, to int) alert.Changed {
		d := lasting(created, to)
		d.Description, d.Severity, d.InstanceID, d.DatabaseID = f.Description, f.Severity, f.InstanceID, f.DatabaseID
		d.FirstTriggeredAt = at(from)
		return alert.Changed{Details: d}
	}
	after := func(minute, from, to int) alert.Event {
		return alert.Raised{Key: key, After: at(minute), Details: lasting(from, to)}
	}
	var (
		byMessage = alert.AutoResolved{ResolvedAt: at(15), LastTriggeredAt: at(14)}
		byPerson  = alert.Resolved{ResolvedAt: at(15), LastTriggeredAt: at(14), StartedAt: at(7)}
		byItself  = alert.AutoResolved{ResolvedAt: at(15), LastTriggeredAt: at(11), Lapsed: true}
	)
	for _, c := range []struct {
		name  string
		given events
		seen  alert.Seen
		when  alert.Firing
		then  alert.Outcome
	}{
		{"new", nil, alert.Seen{}, firing(0, 1, until(5)), alert.Outcome{Anew: true, Events: events{raised(0, 1)}, Seen: ending(seen(1, 0), 5)}},
		{"new and over", nil, alert.Seen{}, ended(0, 9), alert.Outcome{Anew: true, Events: events{
			raised(0, 9), alert.AutoResolved{ResolvedAt: at(9), LastTriggeredAt: at(9)}}}},

		// While it is open.
		{"the same again", events{raised(0, 1)}, seen(1, 0), firing(0, 1), alert.Outcome{Seen: seen(1, 0)}},
		{"seen again", events{raised(0, 1)}, seen(1, 0), firing(0, 2), alert.Outcome{Seen: seen(2, 0)}},
		{"an older message", events{raised(0, 1)}, seen(9, 0), firing(0, 3), alert.Outcome{Seen: seen(9, 0)}},
		{"seen again, acknowledged and muted", events{raised(0, 1), alert.Acknowledged{}, alert.Muted{}}, seen(1, 0), firing(0, 2),
			alert.Outcome{Seen: seen(2, 0)}},
		{"its end moves", events{raised(0, 1)}, ending(seen(1, 0), 5), firing(0, 2, until(6)), alert.Outcome{Seen: ending(seen(2, 0), 6)}},
		{"a pair's second server names an earlier end", events{raised(0, 1)}, ending(seen(1, 0), 5), firing(0, 1, until(4)),
			alert.Outcome{Seen: ending(seen(1, 0), 5)}},
		{"its end is open now", events{raised(0, 1)}, ending(seen(1, 0), 5), firing(0, 2), alert.Outcome{Seen: seen(2, 0)}},
		{"the hour", events{raised(0, 1)}, seen(60, 0), firing(0, 61),
			alert.Outcome{Events: events{alert.StillFiring{LastTriggeredAt: at(61)}}, Seen: seen(61, 0)}},
		{"retold", events{raised(0, 1)}, seen(1, 0), firing(0, 60, retold), alert.Outcome{Seen: saying(seen(60, 0), "91 % full")}},
		{"retold as it was", events{raised(0, 1)}, saying(seen(1, 0), "91 % full"), firing(0, 2), alert.Outcome{Seen: seen(2, 0)}},
		{"over, and retold since", events{raised(0, 1)}, saying(seen(8, 0), "91 % full"), ended(0, 9), alert.Outcome{Events: events{
			changed(firing(0, 9, retold), 0, 0, 9), alert.AutoResolved{ResolvedAt: at(9), LastTriggeredAt: at(9)}}}},
		{"retold at the hour", events{raised(0, 1)}, seen(1, 0), firing(0, 61, retold),
			alert.Outcome{Events: events{changed(firing(0, 61, retold), 0, 0, 61)}, Seen: seen(61, 0)}},
		{"worse", events{raised(0, 1)}, seen(1, 0), firing(0, 2, worse),
			alert.Outcome{Events: events{changed(firing(0, 2, worse), 0, 0, 2)}, Seen: seen(2, 0)}},
		{"in a database", events{raised(0, 1)}, seen(1, 0), firing(0, 2, elsewhere),
			alert.Outcome{Events: events{changed(firing(0, 2, elsewhere), 0, 0, 2)}, Seen: seen(2, 0)}},
		{"of an instance that is removed", events{raised(0, 1)}, seen(1, 0), firing(0, 2, nowhere), alert.Outcome{Seen: seen(2, 0)}},
		{"of an instance that is removed, with its database", events{alert.Raised{Key: key, Details: inDatabase}}, seen(1, 0), firing(0, 2, nowhere),
			alert.Outcome{Seen: seen(2, 0)}},
		{"of a database that is removed", events{alert.Raised{Key: key, Details: inDatabase}}, seen(1, 0), firing(0, 2), alert.Outcome{Seen: seen(2, 0)}},
		{"of an instance that is registered again", events{alert.Raised{Key: key, Details: inDatabase}}, seen(1, 0), firing(0, 2, another),
			alert.Outcome{Events: events{changed(firing(0, 2, another), 0, 0, 2)}, Seen: seen(2, 0)}},
		{"a pair's second server, which started first", events{raised(0, 1)}, seen(1, 0), firing(-1, 2),
			alert.Outcome{Events: events{changed(firing(0, 2), 0, -1, 2)}, Seen: seen(2, 0)}},
		{"a pair's second server, which started later", events{raised(0, 1)}, seen(1, 0), firing(3, 4), alert.Outcome{Seen: seen(4, 3)}},
		{"a pair's first server after its second", events{raised(0, 1)}, seen(4, 3), firing(0, 5), alert.Outcome{Seen: seen(5, 3)}},
		{"two minutes' silence", events{raised(0, 1)}, seen(9, 0), firing(11, 12), alert.Outcome{Seen: seen(12, 11)}},
		{"three minutes' silence", events{raised(0, 1)}, seen(9, 0), firing(12, 13), alert.Outcome{
			Events: events{alert.TriggeredAgain{FirstTriggeredAt: at(0), LastTriggeredAt: at(13), StartedAt: at(12)}}, Seen: seen(13, 12)}},
		{"an hour's silence, and worse", events{raised(0, 1)}, seen(9, 0), firing(90, 91, worse), alert.Outcome{Events: events{
			alert.TriggeredAgain{FirstTriggeredAt: at(0), LastTriggeredAt: at(91), StartedAt: at(90)}, changed(firing(90, 91, worse), 0, 0, 91)}, Seen: seen(91, 90)}},
		{"three minutes' silence, and retold", events{raised(0, 1)}, seen(9, 0), firing(12, 13, retold), alert.Outcome{Events: events{
			alert.TriggeredAgain{FirstTriggeredAt: at(0), LastTriggeredAt: at(13), StartedAt: at(12)}, changed(firing(12, 13, retold), 0, 0, 13)}, Seen: seen(13, 12)}},
		{"an hour's silence", events{raised(0, 1)}, seen(9, 0), firing(90, 91), alert.Outcome{
			Events: events{alert.TriggeredAgain{FirstTriggeredAt: at(0), LastTriggeredAt: at(91), StartedAt: at(90)}}, Seen: seen(91, 90)}},
		{"a start from before the alert before", events{after(0, 5, 6)}, seen(6, 5), firing(-9, 7), alert.Outcome{Seen: seen(7, 5)}},
		{"a start from just after it", events{after(0, 5, 6)}, seen(6, 5), firing(1, 7), alert.Outcome{
			Events: events{changed(firing(1, 7), 5, 1, 7)}, Seen: seen(7, 5)}},

		// Over.
		{"over", events{raised(0, 1)}, seen(8, 0), ended(0, 9),
			alert.Outcome{Events: events{alert.AutoResolved{ResolvedAt: at(9), LastTriggeredAt: at(9)}}}},
		{"over, with a start that no event names", events{raised(0, 1)}, seen(8, 3), ended(0, 9),
			alert.Outcome{Events: events{alert.AutoResolved{ResolvedAt: at(9), LastTriggeredAt: at(9), StartedAt: at(3)}}}},
		{"over, with a start that only its end names", events{raised(0, 1)}, seen(1, 0), ended(8, 9),
			alert.Outcome{Events: events{alert.AutoResolved{ResolvedAt: at(9), LastTriggeredAt: at(9), StartedAt: at(8)}}}},
		{"over before it was last seen", events{raised(0, 1)}, seen(8, 0), ended(0, 5),
			alert.Outcome{Events: events{alert.AutoResolved{ResolvedAt: at(5), LastTriggeredAt: at(8)}}}},
		{"an older episode is over", events{raised(0, 1)}, seen(8, 0), ended(-9, -5), alert.Outcome{Seen: seen(8, 0)}},
		{"an older episode of the same alert is over", events{raised(0, 1)}, seen(20, 12), ended(0, 9), alert.Outcome{Seen: seen(20, 12)}},

		{"the end of the alert before, told again", events{after(15, 15, 17)}, seen(17, 15), ended(0, 15), alert.Outcome{Seen: seen(17, 15)}},
		{"over a moment after the alert before", events{after(15, 15, 17)}, seen(17, 15), ended(0, 16),
			alert.Outcome{Events: events{alert.AutoResolved{ResolvedAt: at(16), LastTriggeredAt: at(17)}}}},
		{"over the moment that it began", events{after(15, 15, 17)}, seen(17, 15), ended(15, 15),
			alert.Outcome{Events: events{alert.AutoResolved{ResolvedAt: at(15), LastTriggeredAt: at(17)}}}},
		{"over before a person closed the alert before", events{after(15, 8, 12)}, seen(12, 8), ended(8, 12),
			alert.Outcome{Events: events{alert.AutoResolved{ResolvedAt: at(12), LastTriggeredAt: at(12)}}}},

		// Closed by a message.
		{"over twice", events{raised(0, 1), byMessage}, alert.Seen{}, ended(0, 15), alert.Outcome{}},
		{"over again, and began before", events{raised(0, 1), byMessage}, alert.Seen{}, ended(10, 16), alert.Outcome{}},
		{"another one, over", events{raised(0, 1), byMessage}, alert.Seen{}, ended(16, 17), alert.Outcome{Anew: true, Events: events{
			after(15, 16, 17), alert.AutoResolved{ResolvedAt: at(17), LastTriggeredAt: at(17)}}}},
		{"it fires still, as another sender says", events{raised(0, 1), byMessage}, alert.Seen{}, firing(0, 16), alert.Outcome{ // C2.
			Anew: true, Events: events{after(15, 15, 16)}, Seen: seen(16, 15)}},
		{"seen before it was over, told afterwards", events{raised(0, 1), byMessage}, alert.Seen{}, firing(0, 15), alert.Outcome{}},
		{"it fires anew", events{raised(0, 1), byMessage}, alert.Seen{}, firing(16, 17), alert.Outcome{
			Anew: true, Events: events{after(15, 16, 17)}, Seen: seen(17, 16)}},
		{"it fired anew before it was said to be over", events{raised(0, 1), byMessage}, alert.Seen{}, firing(12, 17), alert.Outcome{
			Anew: true, Events: events{after(15, 12, 17)}, Seen: seen(17, 12)}},

		// Closed by a person.
		{"it fires still, as somebody knows", events{raised(0, 1), byPerson}, alert.Seen{}, firing(0, 99), alert.Outcome{}},
		{"so says a pair's second server", events{raised(0, 1), byPerson}, alert.Seen{}, firing(7, 99), alert.Outcome{}},
		{"a start that nobody could know of", events{raised(0, 1), byPerson}, alert.Seen{}, firing(8, 99), alert.Outcome{
			Anew: true, Events: events{after(15, 8, 99)}, Seen: seen(99, 8)}},

		// Closed by its end.
		{"it fires still", events{raised(0, 1), byItself}, alert.Seen{}, firing(0, 17), alert.Outcome{
			Anew: true, Events: events{after(15, 15, 17)}, Seen: seen(17, 15)}},
		{"seen before its end, told afterwards", events{raised(0, 1), byItself}, alert.Seen{}, firing(0, 15), alert.Outcome{}},
		{"it was over before its end", events{raised(0, 1), byItself}, alert.Seen{}, ended(0, 13), alert.Outcome{}},
		{"it fires anew after its end", events{raised(0, 1), byItself}, alert.Seen{}, firing(16, 17), alert.Outcome{
			Anew: true, Events: events{after(15, 16, 17)}, Seen: seen(17, 16)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantOutcome(t, c.given, c.then, folded(c.given).Fire(c.when, c.seen))
		})
	}
}

func TestLapse(t *testing.T) {
	t.Parallel()
	seen := alert.Seen{LastTriggeredAt: at(6), StartedAt: at(3), EndsAt: at(10)}
	over := alert.AutoResolved{ResolvedAt: at(10), LastTriggeredAt: at(6), StartedAt: at(3), Lapsed: true}
	open := alert.Seen{LastTriggeredAt: at(6)}
	for _, c := range []struct {
		name  string
		given events
		seen  alert.Seen
		now   time.Time
		then  events
	}{
		{"a moment before its end", events{raised(0, 1)}, seen, at(10).Add(-time.Microsecond), nil},
		{"at its end", events{raised(0, 1)}, seen, at(10), events{over}},
		{"long after, acknowledged", events{raised(0, 1), alert.Acknowledged{}}, seen, at(500), events{over}},
		{"without an end", events{raised(0, 1)}, open, at(500), nil},
		{"closed", events{raised(0, 1), over}, seen, at(500), nil},
		{"never raised", nil, seen, at(500), nil},
	} {
		wantOutcome(t, c.given, alert.Outcome{Events: c.then}, alert.Outcome{Events: folded(c.given).Lapse(c.now, c.seen)})
		if t.Failed() {
			t.Fatal(c.name)
		}
	}
}
