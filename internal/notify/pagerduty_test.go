package notify_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel/pagerduty"
)

// service is PagerDuty's Events API as its documentation has it (developer.pagerduty.com, "Send an
// Alert Event" and "Events API v2 Overview"): a trigger opens an alert with a dedup_key that has
// none open, and what else comes for such a key is dropped.
type service struct {
	*testing.T
	mu     sync.Mutex
	answer func(n int, w http.ResponseWriter) int // what the nth post gets; 0: it is taken
	log    []string
	state  map[string]string
	last   map[string]any
}

const integrationKey = "R0123456789abcdef0123456789ABCDE"

var documented = map[string]*regexp.Regexp{
	"event_action": regexp.MustCompile(`^(trigger|acknowledge|resolve)$`), "dedup_key": regexp.MustCompile(`^.{1,255}$`),
	"routing_key": regexp.MustCompile(`^` + integrationKey + `$`),
}

func (p *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e map[string]any
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil || r.URL.Path != "/v2/enqueue" || r.Method != http.MethodPost {
		p.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	for member, form := range documented {
		if !form.MatchString(fmt.Sprint(e[member])) {
			p.Errorf("%s is %v", member, e[member])
		}
	}
	action, key := e["event_action"].(string), e["dedup_key"].(string)
	if action == "trigger" {
		payload, _ := e["payload"].(map[string]any)
		summary, _ := payload["summary"].(string)
		if n := utf8.RuneCountInString(summary); n < 1 || n > 1024 || payload["source"] == "" ||
			!slices.Contains([]any{"critical", "error", "warning", "info"}, payload["severity"]) {
			p.Errorf("a trigger has %v", payload)
		}
		if _, err := time.Parse(time.RFC3339, payload["timestamp"].(string)); err != nil {
			p.Error(err)
		}
		p.last = payload
	}
	p.log = append(p.log, action)
	if code := p.answer(len(p.log), w); code != 0 {
		w.WriteHeader(code)
		return
	}
	switch open := p.state[key] == "triggered" || p.state[key] == "acknowledged"; {
	case action == "trigger" && !open:
		p.state[key] = "triggered"
	case action == "acknowledge" && open:
		p.state[key] = "acknowledged"
	case action == "resolve" && open:
		p.state[key] = "resolved"
	}
	w.WriteHeader(http.StatusAccepted)
}

// states are those of the incidents, sorted.
func (p *service) states() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, s := range p.state {
		all = append(all, s)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (p *service) heard() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, " ")
}

func (s *scene) pagerDuty(answer func(n int, w http.ResponseWriter) int, events ...notification.EventType) *service {
	s.Helper()
	p := &service{T: s.T, state: map[string]string{}, answer: answer}
	server := httptest.NewServer(p)
	s.Cleanup(server.Close)
	s.rule(s.channel(notifying.CreateChannel{Name: "Pager", Kind: pagerduty.Name, Address: notification.Address{URL: server.URL, Secret: integrationKey}}),
		func(t *notification.Terms) { t.Match.Events = events })
	return p
}

func takes(int, http.ResponseWriter) int { return 0 }

// TestPagerDutyFollowsAnAlert: raised, acknowledged and resolved in Muster is triggered,
// acknowledged and resolved there, although the rule asks for what is raised alone.
func TestPagerDutyFollowsAnAlert(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.pagerDuty(takes, notification.AlertRaised)
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.await("it is triggered", func() bool { return p.states() == "triggered" })
	if p.last["severity"] != "critical" || p.last["source"] != "prod-orders" || !strings.HasPrefix(p.last["summary"].(string), "lag") {
		t.Errorf("triggered %v", p.last)
	}
	_, err := s.commands.AcknowledgeAlert(t.Context(), s.actor, s.alertOf("lag"))
	must(t, err)
	s.follow()
	s.await("it is acknowledged", func() bool { return p.states() == "acknowledged" })
	s.ends("lag")
	s.follow()
	s.await("it is resolved", func() bool { return p.states() == "resolved" })
	s.fires(alert.Warning, "<@U1> [x](http://evil.example)")
	s.follow()
	s.await("another is triggered", func() bool { return p.states() == "resolved triggered" })
	if p.last["severity"] != "warning" || !strings.HasPrefix(p.last["summary"].(string), "<@U1> [x](http://evil.example)") { // it is data there
		t.Errorf("triggered %v", p.last)
	}
}

// TestPagerDutyOnBadDays: busy, broken, twice, and over before it was reached.
func TestPagerDutyOnBadDays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer func(n int, w http.ResponseWriter) int
		heard  string
	}{
		"busy in the middle": {func(n int, w http.ResponseWriter) int {
			w.Header().Set("Retry-After", "1")
			return map[bool]int{true: 429}[n == 2]
		}, "trigger trigger trigger"},
		"broken in the middle": {func(n int, _ http.ResponseWriter) int { return map[bool]int{true: 503}[n == 2] }, "trigger trigger trigger trigger"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			p := s.pagerDuty(test.answer)
			s.fires(alert.Info, "one", "two", "over")
			s.ends("over")
			s.follow()
			s.process("a", s.sender)
			s.await("both are triggered", func() bool { return p.states() == "triggered triggered" })
			s.await("it is sent", func() bool { return strings.HasPrefix(s.story(), "sent") })
			if heard := strings.Join(strings.Fields(strings.ReplaceAll(p.heard(), "resolve", "")), " "); heard != test.heard {
				t.Errorf("PagerDuty heard %s", p.heard())
			}
		})
	}
	t.Run("it refuses an event", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		p := s.pagerDuty(func(int, http.ResponseWriter) int { return http.StatusBadRequest })
		s.fires(alert.Info, "one")
		s.follow()
		s.process("a", s.sender)
		s.wantStory("failed raised:one")
		if p.heard() != "trigger" {
			t.Errorf("PagerDuty heard %s", p.heard())
		}
	})
	t.Run("a test", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		p := s.pagerDuty(takes)
		channels, err := s.reader.Channels(t.Context(), s.org.ID, nil)
		must(t, err)
		tested, err := s.sender.Test(t.Context(), s.org, channels[0].ID)
		if err != nil || !tested.OK || tested.Code != http.StatusAccepted || p.heard() != "trigger resolve" || p.states() != "resolved" {
			t.Errorf("%+v, %v: %s", tested, err, p.heard())
		}
	})
}
