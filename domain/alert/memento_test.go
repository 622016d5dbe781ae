package alert_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/alert"
)

// TestAnyLife draws lives of alerts under one key, from all three kinds of
// callers, and holds of each step that the table allows it, that the memento says
// what the events say, that the same message again changes nothing, and that
// nothing runs backwards.
func TestAnyLife(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := life{T: t, alert: new(alert.Alert)}
		for minute := range rapid.IntRange(1, 60).Draw(t, "messages") {
			l.now = at(minute * rapid.IntRange(1, 3).Draw(t, "pace"))
			switch rapid.IntRange(0, 9).Draw(t, "caller") {
			case 0, 1:
				l.person()
			case 2, 3, 4:
				n := l.notice()
				l.take(l.alert.Update(key, n, l.seen))
				if again := l.alert.Update(key, n, l.seen); len(again.Events) > 0 || !again.Seen.Equal(l.seen) {
					t.Fatalf("a notice told twice: %#v", again)
				}
			default:
				f := l.firing()
				l.addEvents(l.alert.Lapse(l.now, l.seen))
				l.take(l.alert.Fire(f, l.seen))
				l.addEvents(l.alert.Lapse(l.now, l.seen))
				if again := l.alert.Fire(f, l.seen); len(again.Events) > 0 || !again.Seen.Equal(l.seen) {
					t.Fatalf("a firing told twice: %#v", again)
				}
			}
		}
	})
}

// life is the newest alert under a key, with what the caller keeps of it.
type life struct {
	*rapid.T
	now   time.Time
	alert *alert.Alert
	seen  alert.Seen
}

func (l *life) take(o alert.Outcome) {
	if o.Anew {
		if s := l.alert.State(); s != "" && !s.Closed() {
			l.Fatalf("a new alert while one is %s", s)
		}
		l.alert, l.seen = new(alert.Alert), alert.Seen{}
	}
	if !o.Anew && o.Seen.LastTriggeredAt.Before(l.seen.LastTriggeredAt) && !closes(o.Events) {
		l.Fatalf("last seen went back from %s to %s", l.seen.LastTriggeredAt, o.Seen.LastTriggeredAt)
	}
	l.addEvents(o.Events)
	l.seen = o.Seen
}

// addEvents folds events, as the caller does: a closed alert has nothing beside the log.
func (l *life) addEvents(events []alert.Event) {
	for _, e := range events {
		if _, ok := alert.Next(l.alert.State(), e); !ok {
			l.Fatalf("%s of an alert that is %q", alert.Name(e), l.alert.State())
		}
		l.alert.Apply(e)
	}
	if l.alert.State().Closed() {
		l.seen = alert.Seen{}
	}
	if l.alert.State() == "" {
		return
	}
	recalled, ok := alert.Recall(key, l.alert.Memento())
	if !ok || !reflect.DeepEqual(&recalled, l.alert) {
		l.Fatalf("recalled %+v, want %+v", recalled, *l.alert)
	}
}

func closes(events []alert.Event) bool {
	for _, e := range events {
		switch e.(type) {
		case alert.Resolved, alert.AutoResolved:
			return true
		}
	}
	return false
}

func (l *life) person() {
	events, err := []func() ([]alert.Event, error){
		l.alert.Acknowledge, l.alert.Unmute,
		func() ([]alert.Event, error) { return l.alert.Mute(time.Time{}) },
		func() ([]alert.Event, error) { return l.alert.Mute(l.now.Add(time.Hour)) },
		func() ([]alert.Event, error) { return l.alert.EndMute(l.now), nil },
		func() ([]alert.Event, error) { return l.alert.Resolve(l.now, l.seen) },
	}[rapid.IntRange(0, 5).Draw(l.T, "action")]()
	if err == nil {
		l.addEvents(events)
	}
}

func (l *life) details() alert.Details {
	return alert.Details{
		Title:      fmt.Sprintf("title %d", rapid.IntRange(0, 2).Draw(l.T, "title")),
		Severity:   rapid.SampledFrom(alert.Severities()).Draw(l.T, "severity"),
		InstanceID: rapid.SampledFrom([]uuid.UUID{{}, {1}, {2}}).Draw(l.T, "instance"),
		DatabaseID: rapid.SampledFrom([]uuid.UUID{{}, {3}}).Draw(l.T, "database"),
	}
}

func (l *life) about(label string) time.Time {
	return l.now.Add(time.Duration(rapid.IntRange(-90, 5).Draw(l.T, label)) * time.Minute)
}

func (l *life) notice() alert.Notice {
	n := alert.Notice{Details: l.details(), State: rapid.SampledFrom(alert.States()).Draw(l.T, "state")}
	n.CreatedAt, n.FirstTriggeredAt = noon, l.about("first")
	n.LastTriggeredAt = n.FirstTriggeredAt.Add(time.Duration(rapid.IntRange(0, 90).Draw(l.T, "lasting")) * time.Minute)
	if n.State.Closed() {
		n.ResolvedAt = n.LastTriggeredAt.Add(time.Minute)
	}
	if rapid.Bool().Draw(l.T, "speaks of muting") {
		muted := rapid.Bool().Draw(l.T, "muted")
		n.Muted = &muted
	}
	return n
}

func (l *life) firing() alert.Firing {
	d := l.details()
	f := alert.Firing{
		Key:   key,
		Title: d.Title, Severity: d.Severity, InstanceID: d.InstanceID, DatabaseID: d.DatabaseID,
		Sender:   rapid.SampledFrom([]string{"", "one", "two"}).Draw(l.T, "sender"),
		StartsAt: l.about("starts"), SeenAt: l.now, Resolved: rapid.IntRange(0, 4).Draw(l.T, "resolved") == 0,
	}
	if f.Resolved || rapid.Bool().Draw(l.T, "ends") {
		f.EndsAt = l.about("end")
	}
	return f.Received(l.now)
}

// TestTheMementoKeepsTheToken, which no event says.
func TestTheMementoKeepsTheToken(t *testing.T) {
	t.Parallel()
	a := folded(events{raised(0, 1)})
	a.RaisedBy(uuid.UUID{7})
	if recalled, ok := alert.Recall(key, a.Memento()); !ok || recalled.Token() != (uuid.UUID{7}) {
		t.Errorf("recalled %+v, %v", recalled, ok)
	}
}

// TestTheEarlierFormOfAMementoIsRecalled: a release that is started over mementos of the one before folds
// no stream.
func TestTheEarlierFormOfAMementoIsRecalled(t *testing.T) {
	t.Parallel()
	m, err := hex.DecodeString("0201030166840daf1fb1e79a" + "01000000000000000000000000000000" + "03000000000000000000000000000000" +
		"000643f2c7a12000" + "000643f2c7a12001" + "000643f2c7a12002" + "000643f2c7a12003" + strings.Repeat("8000000000000000", 3))
	if err != nil {
		t.Fatal(err)
	}
	a, ok := alert.Recall(key, m)
	if !ok || a.State() != alert.Open || !a.Muted() || a.InstanceID() != (uuid.UUID{1}) || !a.MutedUntil().IsZero() || a.Token() != uuid.Nil {
		t.Fatalf("recalled %+v, %v", a, ok)
	}
	again, ok := alert.Recall(key, a.Memento())
	if !ok || !reflect.DeepEqual(a, again) {
		t.Errorf("recalled %+v, want %+v", again, a)
	}
}

func TestRecallRefusesAnInvalidMemento(t *testing.T) {
	t.Parallel()
	good := folded(events{raised(0, 1)}).Memento()
	change := func(place int, to byte) []byte {
		m := bytes.Clone(good)
		m[place] = to
		return m
	}
	for name, m := range map[string][]byte{
		"nothing": nil, "short": good[:len(good)-1], "long": append(bytes.Clone(good), 0), "another form": change(0, 1),
		"no state": change(1, 0), "an unknown state": change(1, 9), "no severity": change(2, 0), "an unknown severity": change(2, 9),
	} {
		if _, ok := alert.Recall(key, m); ok {
			t.Errorf("%s was recalled", name)
		}
	}
}
