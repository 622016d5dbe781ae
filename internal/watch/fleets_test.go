package watch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/watch/status"
)

// simulated is a fleet whose servers are tried every ten seconds, each at its own time, with
// the alerts of the watch.
type simulated struct {
	t      *testing.T
	now    time.Time
	facts  map[uuid.UUID]*status.Fact
	ids    []uuid.UUID
	open   map[signOf]bool
	raised []string
	closed []string
}

func newSimulated(t *testing.T, servers int) *simulated {
	t.Helper()
	f := &simulated{t: t, now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), facts: map[uuid.UUID]*status.Fact{}, open: map[signOf]bool{}}
	for n := range servers {
		id := uuid.UUID{15: byte(n + 1)}
		f.ids = append(f.ids, id)
		f.facts[id] = &status.Fact{
			Source: status.Muster, Part: status.Connection, OK: true, Since: f.now.Add(-time.Hour), TriedAt: f.now.Add(-f.phase(n)),
		}
	}
	return f
}

// phase is when a server is tried, within ten seconds.
func (f *simulated) phase(n int) time.Duration {
	return time.Duration(n) * 10 * time.Second / time.Duration(max(len(f.ids), n+1, 1))
}

// saw notes the outcome of an attempt.
func (f *simulated) saw(n int, ok bool, since time.Time) {
	fact := f.facts[f.ids[n]]
	if fact.OK && !ok {
		fact.Fell = append(fact.Fell, since)
	}
	if fact.OK != ok {
		fact.Since = since
	}
	fact.OK, fact.TriedAt, fact.Code, fact.Sentence = ok, f.now, "timeout", "It did not answer within 10s."
}

// state is how the servers are.
func (f *simulated) state() (state fleetState, ids []uuid.UUID) {
	state = fleetState{of: map[uuid.UUID]status.Status{}, open: f.open, settings: SettingsOf(nil, organization.Watch{SilentMinutes: 5})}
	for id, fact := range f.facts {
		state.of[id] = status.Decide([]status.Fact{*fact}, f.now, nil)
	}
	return state, state.count()
}

// judge does what a judgement does with the states.
func (f *simulated) judge() {
	state, ids := f.state()
	alone, patience := !state.many(), state.patience(f.now)
	var signs []Sign
	for _, id := range ids {
		signs = append(signs, state.signs(id, f.now, alone, patience)...)
	}
	for _, s := range append(signs, state.together(f.now)...) {
		of := signOf{s.InstanceID, s.Rule}
		was := f.open[of]
		delete(f.open, of)
		if s.Value > 0 {
			f.open[of] = true
			if !was {
				f.raised = append(f.raised, fmt.Sprint(s.InstanceID[15]))
			}
		} else if was {
			f.closed = append(f.closed, fmt.Sprint(s.InstanceID[15]))
		}
	}
}

// TestAllServersStopAnswering: a network that drops everything. Servers are known to be down
// one after the other, over ten seconds, 20 seconds after that. One alert covers all of them
// within a minute, whenever the watch judges.
func TestAllServersStopAnswering(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{5, 6, 9, 40, 150} {
		for offset := range 10 {
			f := newSimulated(t, servers)
			began := f.now
			const statement, connection = 9200 * time.Millisecond, 10500 * time.Millisecond
			for second := 1; second <= 60; second++ {
				f.now = began.Add(time.Duration(second) * time.Second)
				for n := range f.ids {
					broke := began.Add(f.phase(n) + statement)
					if !f.now.Before(broke.Add(connection)) && (f.facts[f.ids[n]].OK || second%20 == n%20) {
						f.saw(n, false, broke)
					}
				}
				if second%10 == offset {
					f.judge()
				}
			}
			if len(f.raised) != 1 || f.raised[0] != "0" {
				t.Errorf("%d servers, judged %d s later: raised are %v", servers, offset, f.raised)
			}
		}
	}
}

// TestOneOfManyStopsAnswering: its alert waits for the others to be tried, and comes within a
// minute.
func TestOneOfManyStopsAnswering(t *testing.T) {
	t.Parallel()
	f := newSimulated(t, 40)
	began, told := f.now, 0
	for second := 1; second <= 60; second++ {
		f.now = began.Add(time.Duration(second) * time.Second)
		for n := range f.ids {
			if n == 7 && second >= 29 {
				f.saw(n, false, began.Add(19*time.Second))
			} else if n != 7 && second%10 == n%10 {
				f.saw(n, true, f.now)
			}
		}
		if second%10 == 9 {
			f.judge()
		}
		if told == 0 && len(f.raised) > 0 {
			told = second
		}
	}
	if len(f.raised) != 1 || f.raised[0] != "8" || told != 29 {
		t.Errorf("raised are %v, after %d s", f.raised, told)
	}
}

// TestMusterSleepsWhileAllServersAreDown: it is unknown whether they are back, so their alert
// stays one alert, and closes when half of them are up.
func TestMusterSleepsWhileAllServersAreDown(t *testing.T) {
	t.Parallel()
	f := newSimulated(t, 40)
	down := f.now
	for range 4 {
		f.now = f.now.Add(10 * time.Second)
		for n := range f.ids {
			f.saw(n, false, down)
		}
		f.judge()
	}
	if len(f.raised) != 1 {
		t.Fatalf("raised are %v", f.raised)
	}
	f.now = f.now.Add(10 * time.Minute)
	if state, _ := f.state(); state.together(f.now) != nil {
		t.Error("something is said of servers that nobody looked at")
	}
	f.judge()
	for n := range f.ids { // it is tried one after the other whether they are back
		f.now = f.now.Add(250 * time.Millisecond)
		f.saw(n, n >= 15, f.now)
		f.judge()
		if closed := len(f.closed) > 0; closed != (n >= 34) {
			t.Fatalf("with %d tried, of which %d are down, closed are %v", n+1, min(n+1, 15), f.closed)
		}
		if n < 34 && len(f.raised) != 1 {
			t.Fatalf("with %d tried, raised are %v", n+1, f.raised)
		}
	}
}

// TestAllServersKeepGoingDown, as behind a network that flaps: one alert.
func TestAllServersKeepGoingDown(t *testing.T) {
	t.Parallel()
	f := newSimulated(t, 40)
	for range 6 {
		for n := range f.ids {
			f.saw(n, false, f.now)
		}
		f.now = f.now.Add(5 * time.Second)
		for n := range f.ids {
			f.saw(n, true, f.now)
		}
		f.judge()
		f.now = f.now.Add(15 * time.Second)
		for n := range f.ids {
			f.saw(n, true, f.now)
		}
	}
	if len(f.raised) != 1 || f.raised[0] != "0" || len(f.closed) > 0 {
		t.Errorf("raised are %v, closed %v", f.raised, f.closed)
	}
	for range 40 {
		f.now = f.now.Add(10 * time.Second)
		for n := range f.ids {
			f.saw(n, true, f.now)
		}
		f.judge()
	}
	if len(f.raised) != 1 || len(f.closed) != 1 {
		t.Errorf("at last raised are %v, closed %v", f.raised, f.closed)
	}
}

// TestAServerThatRestartsEveryTwoMinutes: one alert, whatever its pace is, and not one every other
// minute.
func TestAServerThatRestartsEveryTwoMinutes(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{20 * time.Second, 100 * time.Second, 2 * time.Minute, 149 * time.Second, 160 * time.Second, 4 * time.Minute} {
		f := newSimulated(t, 1)
		began := f.now
		for f.now.Before(began.Add(30 * time.Minute)) {
			f.now = f.now.Add(time.Second)
			since := f.now.Sub(began) % every
			if since == 0 {
				f.saw(0, false, f.now)
			} else {
				f.saw(0, true, f.now)
			}
			if f.now.Sub(began)%(10*time.Second) == 5*time.Second {
				f.judge()
			}
		}
		want := 1
		if 2*every > status.Lately { // of five minutes, it went down in two
			want = 0
		}
		if len(f.raised) != want || len(f.closed) > 0 {
			t.Errorf("every %s: raised %d times, closed %d", every, len(f.raised), len(f.closed))
		}
		for range 31 {
			f.now = f.now.Add(10 * time.Second)
			f.saw(0, true, f.now)
			f.judge()
		}
		if len(f.raised) != want || len(f.closed) != want {
			t.Errorf("every %s, at last: raised %d times, closed %d", every, len(f.raised), len(f.closed))
		}
	}
}

// TestSomeOfManyGoDown: which outages are one alert, and which are one a server.
func TestSomeOfManyGoDown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		servers, down int
		apart         time.Duration // from one to the next
		after         time.Duration // the first judgement that may tell of any
		raised        int
	}{
		"one of 40":                      {40, 1, 0, 10 * time.Second, 1},
		"three at once wait for others":  {40, 3, 0, 25 * time.Second, 3},
		"half of them":                   {40, 20, 0, 25 * time.Second, 20},
		"most of them":                   {40, 21, 0, 25 * time.Second, -1},
		"most of them, over ten minutes": {40, 21, 30 * time.Second, 10 * time.Second, 21},
		"all of four":                    {4, 4, 0, 25 * time.Second, 4},
		"all of five":                    {5, 5, 0, 25 * time.Second, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newSimulated(t, test.servers)
			began, told := f.now, time.Duration(0)
			for f.now.Before(began.Add(time.Duration(test.down)*test.apart + 40*time.Second)) {
				for n := range f.ids {
					down := began.Add(time.Duration(n) * test.apart)
					f.saw(n, n >= test.down || f.now.Before(down), down)
				}
				f.judge()
				if told == 0 && len(f.raised) > 0 {
					told = f.now.Sub(began)
				}
				f.now = f.now.Add(time.Second)
			}
			many := slices.Contains(f.raised, "0")
			if told != test.after || many != (test.raised < 0) || len(f.raised) != max(test.raised, 1) {
				t.Errorf("raised are %v, after %s", f.raised, told)
			}
		})
	}
}

// TestAnAlertOfOneServerLastsBesideTheAlertOfMany: it was raised before the others went down.
func TestAnAlertOfOneServerLastsBesideTheAlertOfMany(t *testing.T) {
	t.Parallel()
	f := newSimulated(t, 40)
	began := f.now
	f.open[signOf{f.ids[0], Down}] = true
	f.open[signOf{f.ids[1], Silent}] = true
	f.now = began.Add(time.Minute)
	for n := range f.ids {
		f.saw(n, false, began)
	}
	state, ids := f.state()
	if !state.many() {
		t.Fatal("they are not many")
	}
	said := map[Rule]float64{}
	for _, id := range ids {
		for _, s := range state.signs(id, f.now, false, confirm) {
			said[s.Rule] = s.Value
		}
	}
	if said[Down] != 1 || said[Silent] != -1 || len(said) != 2 {
		t.Errorf("said is %v", said)
	}
}
