package alert_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/domain/alert"
)

// TestAnAlertEndsWhenEverySenderResolvesIt: of several senders of one alert none ends what another sees
// firing. C2.
func TestAnAlertEndsWhenEverySenderResolvesIt(t *testing.T) {
	t.Parallel()
	type said = alert.Firing
	by := func(sender string, f said) said {
		f.Sender = sender
		return f
	}
	fires := func(sender string, starts, seen int) said { return by(sender, firing(starts, seen, until(seen+4))) } // of Prometheus
	holds := func(sender string, starts, seen int) said { return by(sender, firing(starts, seen)) }                // of Alertmanager
	ends := func(sender string, starts, at int) said { return by(sender, ended(starts, at)) }
	person := said{Key: "a person resolves it"}
	for name, c := range map[string]struct {
		told []said
		want string // after each: whether it is open, and which alert it is
	}{
		"a pair of Prometheus": {
			[]said{fires("p1", 0, 1), fires("p2", 1, 2), ends("p2", 1, 3), fires("p1", 0, 4), ends("p2", 1, 3), ends("p1", 0, 5)},
			"open1 open1 open1 open1 open1 closed1",
		},
		"one of the pair dies": {
			[]said{fires("p1", 0, 1), fires("p2", 1, 2), ends("p2", 1, 3), fires("p3", 90, 91)}, "open1 open1 open1 open2",
		},
		"one that ended fires again": {
			[]said{fires("p1", 0, 1), fires("p2", 1, 2), ends("p2", 1, 3), fires("p1", 0, 4), fires("p2", 4, 5), ends("p1", 0, 6), ends("p2", 4, 7)},
			"open1 open1 open1 open1 open1 open1 closed1",
		},
		"the first one to end started earlier": {
			[]said{fires("p1", 0, 1), fires("p2", 3, 4), ends("p1", 0, 2), ends("p2", 3, 5)}, "open1 open1 open1 closed1",
		},
		"two Alertmanagers": {
			[]said{holds("a1", 0, 1), holds("a2", 0, 2), ends("a1", 0, 3), holds("a2", 0, 240), ends("a1", 0, 3), ends("a2", 0, 250)},
			"open1 open1 open1 open1 open1 closed1",
		},
		"a cluster, whose other member says that it is over": {
			[]said{holds("a1", 0, 1), ends("a2", 0, 3)}, "open1 closed1",
		},
		"a cluster that changed hands": {
			[]said{holds("a1", 0, 1), holds("a2", 0, 2), ends("a2", 0, 3), holds("", 24*60+3, 24*60+4)}, "open1 open1 open1 open2",
		},
		"a stranger does not end what Prometheus sees": {
			[]said{fires("p1", 0, 1), ends("p9", 0, 2), ends("p1", 0, 3)}, "open1 open1 closed1",
		},
		"senders that cannot be told apart": {
			[]said{fires("", 0, 1), fires("", 1, 2), ends("", 1, 3), fires("", 0, 4), ends("", 1, 3), ends("", 0, 5)},
			"open1 open1 closed1 open2 open2 closed2",
		},
		"senders that share a name": {
			[]said{fires("x", 0, 1), ends("x", 0, 3), fires("x", 0, 4), ends("x", 0, 3), ends("x", 0, 5)},
			"open1 closed1 open2 open2 closed2",
		},
		"a person": {
			[]said{fires("p1", 0, 1), fires("p2", 1, 2), person, fires("p1", 0, 4), ends("p2", 1, 5), fires("p1", 0, 6), ends("p1", 0, 7), fires("p1", 9, 10)},
			"open1 open1 closed1 closed1 closed1 closed1 closed1 open2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, seen, alerts := new(alert.Alert), alert.Seen{}, 0
			var got []string
			fold := func(events events) {
				for _, e := range events {
					a.Apply(e)
				}
				if a.State().Closed() {
					seen = alert.Seen{}
				}
			}
			for _, f := range c.told {
				if f.Key == person.Key {
					events, err := a.Resolve(at(3), seen)
					if err != nil {
						t.Fatal(err)
					}
					fold(events)
				} else {
					now := f.SeenAt
					fold(a.Lapse(now, seen))
					o := a.Fire(f.Received(now), seen)
					if o.Anew {
						a, alerts = new(alert.Alert), alerts+1
					}
					seen = o.Seen
					fold(o.Events)
				}
				is := "open"
				if a.State().Closed() {
					is = "closed"
				}
				got = append(got, fmt.Sprint(is, alerts))
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
