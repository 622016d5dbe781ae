package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/mail/mailtest"
)

// receivers are the other ends of channels: a webhook's, a chat's, an Alertmanager's, and a
// mail server.
type receivers struct {
	mails   *mailtest.Server
	refuses int // every so many messages one is refused after it was taken
	behind  alertmanager

	mu     sync.Mutex
	posts  int
	hooks  map[uuid.UUID]hooked      // by the delivery
	chats  map[string]int            // how many events each tells, by its text, and so once
	fed    map[uuid.UUID]time.Time   // when each alert ends, as last said
	ended  map[uuid.UUID]bool        // of which it was said that they are over
	before map[string]map[string]int // how often a message came, by the kind of its receiver
}

// alertmanager is a real one behind ours; nil: there is none.
type alertmanager interface {
	take(t *testing.T, body []byte)
	compare(t *testing.T, facts []fact)
}

// hooked is what a webhook was told.
type hooked struct {
	body   string
	events int
}

// serve is where they are.
func (r *receivers) serve(t *testing.T) string {
	t.Helper()
	r.hooks, r.chats, r.fed, r.ended, r.before = map[uuid.UUID]hooked{}, map[string]int{}, map[uuid.UUID]time.Time{}, map[uuid.UUID]bool{}, map[string]map[string]int{}
	takes := map[string]func(*testing.T, *http.Request, []byte) string{
		"/webhook": r.takeHook, "/chat": r.takeChat, "/api/v2/alerts": r.takeAlerts,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return // its sender died before it had sent all of it, so that it was not taken
		}
		time.Sleep(rand.N(40 * time.Millisecond)) // they are far away: so that some die while they wait
		r.mu.Lock()
		defer r.mu.Unlock()
		take := takes[request.URL.Path]
		if take == nil {
			t.Errorf("posted to %s", request.URL.Path)
			return
		}
		key := take(t, request, body)
		seen := r.before[request.URL.Path]
		if seen == nil {
			seen = map[string]int{}
			r.before[request.URL.Path] = seen
		}
		seen[key]++
		if r.posts++; r.posts%r.refuses == 0 && seen[key] == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	r.mails.DropNext(1)
	return server.URL
}

func (r *receivers) takeHook(t *testing.T, request *http.Request, body []byte) string {
	var told struct {
		ID      uuid.UUID
		Events  []struct{ ID uuid.UUID }
		Omitted int
	}
	if err := json.Unmarshal(body, &told); err != nil || request.Header.Get("Webhook-Id") != told.ID.String() {
		t.Errorf("a webhook: %v, %s under the id %s", err, body, request.Header.Get("Webhook-Id"))
	}
	if before, again := r.hooks[told.ID]; again && before.body != string(body) {
		t.Errorf("%s was sent as\n%s\nand as\n%s", told.ID, before.body, body)
	}
	r.hooks[told.ID] = hooked{string(body), len(told.Events) + told.Omitted}
	return told.ID.String()
}

var andMore = regexp.MustCompile(`\nand (\d+) more$`)

func (r *receivers) takeChat(t *testing.T, _ *http.Request, body []byte) string {
	var told struct{ Text string }
	if err := json.Unmarshal(body, &told); err != nil {
		t.Errorf("a chat: %v, %s", err, body)
	}
	n := strings.Count(told.Text, "\n• <")
	if more := andMore.FindStringSubmatch(told.Text); more != nil {
		left, _ := strconv.Atoi(more[1])
		n += left
	}
	r.chats[told.Text] = n
	return told.Text
}

func (r *receivers) takeAlerts(t *testing.T, _ *http.Request, body []byte) string {
	var told []struct {
		Labels struct {
			ID uuid.UUID `json:"muster_alert_id"`
		}
		EndsAt time.Time
	}
	if err := json.Unmarshal(body, &told); err != nil {
		t.Errorf("an Alertmanager: %v, %s", err, body)
	}
	for _, a := range told {
		r.fed[a.Labels.ID] = a.EndsAt
		if !a.EndsAt.After(time.Now()) {
			r.ended[a.Labels.ID] = true
		}
	}
	if r.behind != nil {
		r.behind.take(t, body)
	}
	return string(body)
}

// mailed is how often the mail of each delivery came.
func (r *receivers) mailed() map[string]int {
	times := map[string]int{}
	for _, m := range r.mails.Mails() {
		delivery, _, ok := strings.Cut(strings.TrimPrefix(m.Header("Message-Id"), "<"), ".")
		if ok && strings.Contains(m.Header("Message-Id"), "@notifications.") {
			times[delivery]++
		}
	}
	return times
}

// got says whether a delivery came at its receiver, where that is told its id.
func (c *telling) got(kind string, delivery uuid.UUID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch kind {
	case "webhook":
		_, came := c.hooks[delivery]
		return came
	case "email":
		return c.mailed()[delivery.String()] > 0
	}
	return true
}

// compareCounts holds how much came against how much was sent.
func (c *telling) compareCounts(t *testing.T, kind string, deliveries, events int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	messages, told := deliveries, events
	switch kind {
	case "webhook":
		messages, told = len(c.hooks), 0
		for _, h := range c.hooks {
			told += h.events
		}
	case "chat":
		messages, told = len(c.chats), 0
		for _, n := range c.chats {
			told += n
		}
	}
	if messages != deliveries || told != events {
		t.Errorf("%s: %d messages with %d events came, of %d with %d", kind, messages, told, deliveries, events)
	}
}

// compareFed holds what the Alertmanager was told of each alert against what became of it.
func (c *telling) compareFed(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.facts {
		endsAt, told := c.fed[f.alert]
		over := slices.Contains(c.facts, fact{f.alert, "alert.resolved"})
		switch {
		case !told:
			t.Errorf("the Alertmanager was never told of %v", f)
		case over != c.ended[f.alert], !over && !endsAt.After(time.Now()):
			t.Errorf("to the Alertmanager %v ends at %s, which it did: %v", f.alert, endsAt, over)
		}
	}
}

// counts says how many messages came, and how many of them again.
func (c *telling) counts() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := ""
	for path, seen := range c.before {
		again := 0
		for _, n := range seen {
			again += n - 1
		}
		said += fmt.Sprintf("%s: %d and %d again; ", path, len(seen), again)
	}
	mails, again := 0, 0
	for _, n := range c.mailed() {
		mails, again = mails+1, again+n-1
	}
	return said + fmt.Sprintf("mails: %d and %d again", mails, again)
}
