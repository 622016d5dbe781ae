package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/mail/mailtest"
	"muster/internal/testing/pgtest"
)

// hour is how an hour goes by.
type hour struct {
	steps          int // in which it passes; each is followed before the next comes
	workers, kills int
	eachMinute     int // alerts that are raised
	refused        int // every so many messages a receiver refuses one that it has taken
	behind         alertmanager
}

func tellAnHour(t *testing.T, h hour) {
	t.Helper()
	settings := []string{"--job-lease=1s", "--channel-networks=127.0.0.0/8"}
	out := receivers{mails: mailtest.Start(t, mailtest.Options{}), refuses: h.refused, behind: h.behind}
	settings = append(settings, "--smtp-url", "smtp://"+out.mails.Addr+"?starttls=off")
	c := &telling{house: newHouse(t, append(settings, "--roles=api,projections,collectors")...), receivers: &out, known: map[string]uuid.UUID{}}
	c.feed = client{base: c.server.base, token: strings.TrimSpace(c.must(t, "token", "create", "--kind", "ingest", "--email", "ana@acme.example"))}
	c.tellEverything(t)
	args := append(append(c.flags(), settings...), "serve", "--roles=workers")
	var workers []*running
	for range h.workers {
		workers = append(workers, launch(t, nil, args...))
	}
	db := pgtest.Connect(t, c.url)
	killed := 0
	for step := range h.steps {
		for minute := range 60 / h.steps {
			c.minute(t, step*60/h.steps+minute, h.eachMinute)
		}
		for killed < h.kills*(step+1)/h.steps {
			victim := c.atWork(t, db, workers)
			// Not a wait for anything: between which two steps it dies is up to chance.
			time.Sleep(rand.N(40 * time.Millisecond))
			workers[victim].kill(t)
			workers[victim] = launch(t, nil, args...)
			killed++
		}
		eventually(t, "what happens is followed", func() bool { return c.is(t, db, logsAreFollowed) })
	}
	eventually(t, "all is told", func() bool {
		return c.is(t, db, logsAreFollowed+` AND NOT EXISTS (SELECT FROM deliveries WHERE status = 'pending')`)
	})
	c.compare(t)
	t.Logf("%d kills, %d events, %s", killed, len(c.facts), c.counts())
}

// fact is something that happened to an alert.
type fact struct {
	alert uuid.UUID
	event string
}

// telling is a house that tells through a channel of each kind.
type telling struct {
	house
	*receivers
	feed     client
	channels map[string]uuid.UUID // by their kinds
	known    map[string]uuid.UUID // the alerts' ids, by those of the feed
	facts    []fact
	minutes  int // beside those of the hour
}

func (c *telling) tellEverything(t *testing.T) {
	t.Helper()
	at := c.serve(t)
	var me struct{ Items []struct{ ID uuid.UUID } }
	c.ana.get(t, "/api/v1/members", &me)
	c.channels = map[string]uuid.UUID{}
	for _, channel := range []map[string]any{
		{"kind": "webhook", "url": at + "/webhook", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		{"kind": "chat", "url": at + "/chat"},
		{"kind": "alertmanager", "url": at},
		{"kind": "email", "memberIds": []uuid.UUID{me.Items[0].ID}},
	} {
		channel["name"] = channel["kind"]
		var made struct{ ID uuid.UUID }
		c.ana.call(t, http.StatusCreated, http.MethodPost, "/api/v1/channels", channel, &made)
		c.channels[channel["kind"].(string)] = made.ID
	}
	c.ana.call(t, http.StatusCreated, http.MethodPost, "/api/v1/notification-rules", map[string]any{
		"name": "Everything", "match": map[string]any{}, "groupSeconds": 0,
		"channelIds": []uuid.UUID{c.channels["webhook"], c.channels["chat"], c.channels["alertmanager"], c.channels["email"]},
	}, nil)
}

// minute raises alerts, and resolves every second one of the minute before.
func (c *telling) minute(t *testing.T, n, each int) {
	t.Helper()
	now := time.Now().UTC()
	var items []map[string]any
	say := func(minute, k int, state string) {
		id := fmt.Sprintf("%d-%d", minute, k)
		item := map[string]any{
			"externalId": id, "title": "Alert " + id, "severity": "warning", "state": state,
			"createdAt": now, "firstTriggeredAt": now, "lastTriggeredAt": now,
		}
		if state == "Resolved" {
			item["resolvedAt"] = now
		}
		items = append(items, item)
	}
	for k := range each {
		say(n, k, "Open")
		if _, was := c.known[fmt.Sprintf("%d-%d", n-1, k)]; was && (n+k)%2 == 0 {
			say(n-1, k, "Resolved")
		}
	}
	var taken struct {
		Alerts []struct {
			ExternalID string
			ID         uuid.UUID
		}
	}
	c.feed.call(t, http.StatusOK, http.MethodPost, alertsPath, map[string]any{"alerts": items}, &taken)
	for _, a := range taken.Alerts {
		event := "alert.raised"
		if _, seen := c.known[a.ExternalID]; seen {
			event = "alert.resolved"
		}
		c.known[a.ExternalID] = a.ID
		c.facts = append(c.facts, fact{a.ID, event})
	}
}

// atWork waits until a worker holds a delivery, and returns which.
func (c *telling) atWork(t *testing.T, db *sqlx.DB, workers []*running) (at int) {
	t.Helper()
	for {
		held := within(time.Second, func() bool {
			at = slices.IndexFunc(workers, func(w *running) bool { return w.holds(t, db, "notify") })
			return at >= 0
		})
		if held {
			return at
		}
		c.minutes += 2
		c.minute(t, 60+c.minutes, 1) // all was told before anybody looked
	}
}

// logsAreFollowed says that the logs are followed to their ends.
const logsAreFollowed = `NOT EXISTS (SELECT FROM checkpoints c JOIN log_head h USING (log) WHERE c.consumer_group = 'notify' AND c.position < h.position)`

func (c *telling) is(t *testing.T, db *sqlx.DB, condition string) (is bool) {
	t.Helper()
	if err := db.Get(&is, "SELECT "+condition); err != nil {
		t.Fatal(err)
	}
	return is
}

// delivered is a delivery as the API has it.
type delivered struct {
	ID      uuid.UUID
	Status  string
	Channel struct{ ID uuid.UUID }
	Events  []struct {
		ID, AlertID uuid.UUID
		Type        string
	}
}

// compare holds what the receivers got against what happened.
func (c *telling) compare(t *testing.T) {
	t.Helper()
	for kind, channel := range c.channels {
		told, facts, events, deliveries := map[uuid.UUID]bool{}, map[fact]int{}, 0, 0
		for cursor := ""; ; {
			var page struct {
				Items      []delivered
				NextCursor string
			}
			c.ana.get(t, "/api/v1/deliveries?limit=100&channelId="+channel.String()+cursor, &page)
			for _, d := range page.Items {
				c.ana.get(t, "/api/v1/deliveries/"+d.ID.String(), &d) // with all its events
				if d.Status != "sent" {
					t.Errorf("%s: delivery %s is %s", kind, d.ID, d.Status)
				}
				if !c.got(kind, d.ID) {
					t.Errorf("%s: delivery %s says that it was sent, and never came", kind, d.ID)
				}
				deliveries++
				for _, e := range d.Events {
					if told[e.ID] {
						t.Errorf("%s: event %s is in two deliveries", kind, e.ID)
					}
					told[e.ID] = true
					if f := (fact{e.AlertID, e.Type}); slices.Contains(c.facts, f) { // and none of the house's own watch
						facts[f]++
					}
					events++
				}
			}
			if page.NextCursor == "" {
				break
			}
			cursor = "&cursor=" + page.NextCursor
		}
		if len(facts) != len(c.facts) {
			t.Errorf("%s: %d were told, %d happened", kind, len(facts), len(c.facts))
		}
		for _, f := range c.facts {
			if facts[f] != 1 {
				t.Errorf("%s: %v was told %d times", kind, f, facts[f])
			}
		}
		c.compareCounts(t, kind, deliveries, events)
		if kind == "alertmanager" {
			c.compareFed(t)
			if c.behind != nil {
				c.behind.compare(t, c.facts)
			}
		}
	}
}

// holds says whether the process works at this moment on a job of one of these kinds.
func (r *running) holds(t *testing.T, db *sqlx.DB, kinds ...string) (holds bool) {
	t.Helper()
	err := db.Get(&holds, `SELECT EXISTS (SELECT FROM jobs WHERE worker_id LIKE $1 AND dead_at IS NULL AND kind = ANY ($2))`,
		fmt.Sprintf("%%/%d/%%", r.pid), kinds)
	if err != nil {
		t.Fatal(err)
	}
	return holds
}
