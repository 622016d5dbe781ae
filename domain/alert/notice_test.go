package alert_test

import (
	"testing"

	"github.com/google/uuid"

	"muster/domain/alert"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	notice := func(d alert.Details, set ...func(*alert.Notice)) alert.Notice {
		n := alert.Notice{Details: d, State: alert.Open}
		for _, s := range set {
			s(&n)
		}
		return n
	}
	muted := func(m *bool) func(*alert.Notice) { return func(n *alert.Notice) { n.Muted = m } }
	acknowledged := func(n *alert.Notice) { n.State = alert.AcknowledgedState }
	closed := func(minute int) func(*alert.Notice) {
		return func(n *alert.Notice) { n.State, n.ResolvedAt = alert.ResolvedState, at(minute) }
	}
	over := func(minute int) func(*alert.Notice) {
		return func(n *alert.Notice) { n.State, n.ResolvedAt = alert.AutoResolvedState, at(minute) }
	}
	worse, renamed, moved := lasting(0, 10), lasting(0, 10), lasting(0, 10)
	worse.Severity, renamed.Title, moved.DatabaseID = alert.Critical, "Disk nearly full", uuid.UUID{2}
	worseLater := worse
	worseLater.LastTriggeredAt = at(20)
	wider := lasting(-5, 10)
	wider.CreatedAt = at(0)
	again := lasting(30, 40)
	again.CreatedAt = at(0)
	seen := func(minute int) alert.Seen { return alert.Seen{LastTriggeredAt: at(minute)} }
	resolved := alert.Resolved{ResolvedAt: at(15), LastTriggeredAt: at(10)}

	for _, c := range []struct {
		name  string
		given events
		seen  alert.Seen
		when  alert.Notice
		then  alert.Outcome
	}{
		{"new", nil, alert.Seen{}, notice(lasting(0, 10)), alert.Outcome{Anew: true, Events: events{raised(0, 10)}}},
		{"new, acknowledged and muted", nil, alert.Seen{}, notice(lasting(0, 10), acknowledged, muted(&yes)),
			alert.Outcome{Anew: true, Events: events{raised(0, 10), alert.Acknowledged{}, alert.Muted{}}}},
		{"new, and over long ago", nil, alert.Seen{}, notice(lasting(0, 10), over(12), muted(&no)),
			alert.Outcome{Anew: true, Events: events{raised(0, 10), alert.AutoResolved{ResolvedAt: at(12), LastTriggeredAt: at(10)}}}},

		{"the same again", events{raised(0, 10)}, alert.Seen{}, notice(lasting(0, 10)), alert.Outcome{}},
		{"older news", events{raised(0, 10)}, alert.Seen{}, notice(lasting(0, 9)), alert.Outcome{}},
		{"older news than beside the log", events{raised(0, 10)}, seen(20), notice(lasting(0, 15)), alert.Outcome{Seen: seen(20)}},
		{"seen again", events{raised(0, 10)}, alert.Seen{}, notice(lasting(0, 11)), alert.Outcome{Seen: seen(11)}},
		{"seen again, a minute before the hour", events{raised(0, 10)}, seen(30), notice(lasting(0, 69)), alert.Outcome{Seen: seen(69)}},
		{"seen again, an hour later", events{raised(0, 10)}, seen(69), notice(lasting(0, 70)),
			alert.Outcome{Events: events{alert.StillFiring{LastTriggeredAt: at(70)}}, Seen: seen(70)}},
		{"an hour later without a row beside the log", events{raised(0, 10)}, alert.Seen{}, notice(lasting(0, 70)),
			alert.Outcome{Events: events{alert.StillFiring{LastTriggeredAt: at(70)}}}},

		{"worse", events{raised(0, 10)}, alert.Seen{}, notice(worse), alert.Outcome{Events: events{alert.Changed{Details: worse}}}},
		{"renamed", events{raised(0, 10)}, alert.Seen{}, notice(renamed), alert.Outcome{Events: events{alert.Changed{Details: renamed}}}},
		{"in a database", events{raised(0, 10)}, alert.Seen{}, notice(moved), alert.Outcome{Events: events{alert.Changed{Details: moved}}}},
		{"worse, by a sender who saw it earlier", events{raised(0, 10)}, seen(20), notice(worse),
			alert.Outcome{Events: events{alert.Changed{Details: worseLater}}, Seen: seen(20)}},
		{"began earlier", events{raised(0, 10)}, alert.Seen{}, notice(wider), alert.Outcome{Events: events{alert.Changed{Details: wider}}}},
		{"stopped and fires again", events{raised(0, 10)}, seen(29), notice(again), alert.Outcome{
			Events: events{alert.TriggeredAgain{FirstTriggeredAt: at(30), LastTriggeredAt: at(40)}}, Seen: seen(40)}},
		{"began later than was known, but never stopped", events{raised(0, 10)}, seen(30), notice(again), alert.Outcome{
			Events: events{alert.Changed{Details: again}}, Seen: seen(40)}},

		{"acknowledged", events{raised(0, 10)}, alert.Seen{}, notice(lasting(0, 10), acknowledged), alert.Outcome{Events: events{alert.Acknowledged{}}}},
		{"acknowledged twice", events{raised(0, 10), alert.Acknowledged{}}, alert.Seen{}, notice(lasting(0, 10), acknowledged), alert.Outcome{}},
		{"a resent Open leaves the acknowledgement", events{raised(0, 10), alert.Acknowledged{}}, alert.Seen{}, notice(lasting(0, 10)), alert.Outcome{}},
		{"who does not speak of muting leaves it", events{raised(0, 10), alert.Muted{}}, alert.Seen{}, notice(lasting(0, 10)), alert.Outcome{}},
		{"who does, sets it", events{raised(0, 10), alert.Muted{}}, alert.Seen{}, notice(lasting(0, 10), muted(&no)),
			alert.Outcome{Events: events{alert.Unmuted{}}}},
		{"muted twice", events{raised(0, 10), alert.Muted{}}, alert.Seen{}, notice(lasting(0, 10), muted(&yes)), alert.Outcome{}},

		{"closed, with what was seen beside the log", events{raised(0, 10)}, seen(20), notice(lasting(0, 10), closed(25)),
			alert.Outcome{Events: events{alert.Resolved{ResolvedAt: at(25), LastTriggeredAt: at(20)}}}},
		{"closed, worse and muted", events{raised(0, 10), alert.Acknowledged{}}, alert.Seen{}, notice(worse, over(25), muted(&yes)), alert.Outcome{
			Events: events{alert.Changed{Details: worse}, alert.Muted{}, alert.AutoResolved{ResolvedAt: at(25), LastTriggeredAt: at(10)}}}},
		{"closed after the hour", events{raised(0, 10)}, alert.Seen{}, notice(lasting(0, 80), closed(85)),
			alert.Outcome{Events: events{alert.Resolved{ResolvedAt: at(85), LastTriggeredAt: at(80)}}}},

		{"closed twice", events{raised(0, 10), resolved}, alert.Seen{}, notice(lasting(0, 10), closed(15)), alert.Outcome{}},
		{"closed differently", events{raised(0, 10), resolved}, alert.Seen{}, notice(worse, over(20), muted(&yes)), alert.Outcome{}},
		{"open after somebody closed it", events{raised(0, 10), alert.Muted{}, resolved}, alert.Seen{}, notice(lasting(0, 10)),
			alert.Outcome{Anew: true, Events: events{raised(0, 10)}}},
		{"another one, closed already", events{raised(0, 10), resolved}, alert.Seen{}, notice(lasting(16, 20), closed(21)), alert.Outcome{Anew: true,
			Events: events{raised(16, 20), alert.Resolved{ResolvedAt: at(21), LastTriggeredAt: at(20)}}}},
		{"closed, and began when it was over", events{raised(0, 10), resolved}, alert.Seen{}, notice(lasting(15, 20), closed(21)), alert.Outcome{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantOutcome(t, c.given, c.then, folded(c.given).Update(key, c.when, c.seen))
		})
	}
}
