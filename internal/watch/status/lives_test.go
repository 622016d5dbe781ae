package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/internal/testing/pgtest"
	"muster/internal/watch/status"
)

// world is the hidden truth: what runs, and since when it has been in its state.
type world struct {
	now                                          time.Time
	server, host, agent, exporter, network, ours bool
	changed                                      map[string]time.Time
}

func (w *world) flip(what string) {
	at := map[string]*bool{
		"server": &w.server, "host": &w.host, "agent": &w.agent, "exporter": &w.exporter, "network": &w.network, "muster": &w.ours,
	}[what]
	*at = !*at
	w.changed[what] = w.now
}

// steady is for how long all of these have been as they are.
func (w *world) steady(what ...string) time.Duration {
	least := w.now.Sub(noon)
	for _, one := range what {
		if at, ok := w.changed[one]; ok {
			least = min(least, w.now.Sub(at))
		}
	}
	return least
}

// TestLives holds the states of random lives of a server, its host, its agent, its exporter,
// the network and Muster to a simple oracle: whatever ran or did not for over a minute is
// never called the opposite. Sources are drawn: Muster's own connection, an agent, an exporter
// of every 15 or 60 seconds, in every combination.
func TestLives(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	rapid.Check(t, func(t *rapid.T) {
		organization, instance := uuid.New(), uuid.New()
		w := &world{now: noon, server: true, host: true, agent: true, exporter: true, network: true, ours: true, changed: map[string]time.Time{}}
		own := rapid.Bool().Draw(t, "Muster connects")
		agents := rapid.Bool().Draw(t, "an agent")
		scrape := rapid.SampledFrom([]time.Duration{0, 15 * time.Second, time.Minute}).Draw(t, "an exporter every")
		phase := rapid.IntRange(0, 59).Draw(t, "phase")
		listening := w.now
		var pending []status.Observation // what was sent while Muster slept is lost, but for the agent's
		observe := func(source string, part status.Part, ok bool) {
			o := status.Observation{Organization: organization, Instance: instance, Source: source, Part: part, OK: ok, At: w.now}
			if !ok {
				o.Code, o.Sentence = "refused", "Connection refused."
			}
			pending = append(pending, o)
		}
		second := func(n int) {
			w.now = w.now.Add(time.Second)
			every := func(seconds int) bool { return (n+phase)%seconds == 0 }
			if own && w.ours && every(10) {
				observe(status.Muster, status.Connection, w.server && w.host && w.network)
			}
			if agents && w.agent && w.host && w.network && every(10) && w.ours {
				if w.server {
					observe(status.Agent+"a", status.Sessions, true)
				} else {
					observe(status.Agent+"a", status.Connection, false)
				}
			}
			if scrape > 0 && w.exporter && w.host && w.network && w.ours && every(int(scrape.Seconds())) {
				observe(status.Exporter+"pg_up", status.Connection, w.server)
			}
			if w.ours && w.host && w.network && every(15) {
				observe(status.Feed, status.Host, true)
			}
			if !w.ours {
				listening = w.now.Add(time.Second)
				return
			}
			if err := status.Record(t.Context(), db, w.now, pending); err != nil {
				t.Fatal(err)
			}
			pending = pending[:0]
		}
		judge := func() {
			if !w.ours {
				return // nobody can ask
			}
			facts, err := status.Facts(t.Context(), db, organization, instance)
			if err != nil {
				t.Fatal(err)
			}
			is := status.Decide(facts, w.now, &listening)
			describe := func() string {
				return fmt.Sprintf("it is %s (%+v); own %t, agent %t, exporter %s; %+v", is.State, is.Reason, own, agents, scrape, *w)
			}
			const minute = 60 * time.Second
			all := w.steady("server", "host", "agent", "exporter", "network", "muster")
			switch is.State {
			case status.Up: // an exporter alone, and its end with the server's, is silence only after three intervals
				seen := own || agents && w.agent && w.host && w.network || scrape > 0 && w.exporter && w.host && w.network
				if w.steady("server") > minute && !w.server && seen && all > max(minute, scrape+5*time.Second) {
					t.Fatal("it is dead, and " + describe())
				}
				if all > max(3*time.Minute, 3*scrape)+10*time.Second && (!w.server || !w.host || !w.network) {
					t.Fatal("nobody can reach it, and " + describe())
				}
			case status.Down: // where nobody looks any more, what was seen last counts for three intervals
				seen := own || agents && w.agent || scrape > 0 && w.exporter
				if w.server && w.host && w.network && (seen && all > minute+scrape || all > max(3*time.Minute, 3*scrape)+10*time.Second) {
					t.Fatal("it is alive, and " + describe())
				}
			case status.Silent:
				if own {
					t.Fatal("Muster connects, and " + describe())
				}
				if agents && w.agent && w.host && w.network && all > minute {
					t.Fatal("its agent reports, and " + describe())
				}
			case status.Unknown, status.Inactive:
				if (own || agents && w.agent && w.host && w.network) && all > minute {
					t.Fatal("somebody looks, and " + describe())
				}
			}
		}
		n := 0
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			for range rapid.IntRange(1, 400).Draw(t, "seconds") {
				n++
				second(n)
				if n%9 == 0 {
					judge()
				}
			}
			w.flip(rapid.SampledFrom([]string{"server", "host", "agent", "exporter", "network", "muster"}).Draw(t, "what changes"))
		}
	})
}
