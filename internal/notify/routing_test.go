package notify_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/notification"
	"muster/domain/team"
	"muster/internal/notify"
	"muster/internal/notify/channel/alertmanager"
	"muster/internal/notify/channel/webhook"
)

// server registers a server with tags, such as "env=prod team=payments".
func (s *scene) server(name, tags string) uuid.UUID {
	s.Helper()
	id, _, err := s.commands.RegisterInstance(s.Context(), s.actor, inventory.Registration{Name: name, Engine: domain.PostgreSQL, Active: true, Tags: tagsOf(tags)})
	must(s.T, err)
	s.caughtUp()
	return id
}

func tagsOf(text string) map[string]string {
	tags := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		tags[key] = value
	}
	return tags
}

// retag replaces all tags of a server.
func (s *scene) retag(id uuid.UUID, tags string) {
	s.Helper()
	_, _, err := s.commands.TagInstances(s.Context(), s.actor, []uuid.UUID{id}, domain.ChangeTags{By: domain.ByPerson, Set: tagsOf(tags)})
	must(s.T, err)
}

// team creates a team, after all others.
func (s *scene) team(name string, selector team.Selector, members ...uuid.UUID) uuid.UUID {
	s.Helper()
	t := commands.Team{Name: name, Terms: team.Terms{Selector: selector}}
	for _, m := range members {
		t.Members = append(t.Members, team.Member{ID: m, Role: "member"})
	}
	id, _, err := s.commands.CreateTeam(s.Context(), s.actor, t)
	must(s.T, err)
	return id
}

// reselect gives a team another selector.
func (s *scene) reselect(id uuid.UUID, selector team.Selector) {
	s.Helper()
	_, err := s.commands.ChangeTeam(s.Context(), s.actor, id, commands.ChangeTeam{Selector: &selector})
	must(s.T, err)
}

func byTags(key string, values ...string) team.Selector {
	return team.Selector{Tags: domain.TagFilter{key: values}}
}

// routes is a rule with a channel of its own, both named after its match.
func (s *scene) routes(name string, m notification.Match) {
	s.Helper()
	c := s.channel(notifying.CreateChannel{Name: name, Kind: webhook.Name, Address: notification.Address{URL: "http://127.0.0.1:9/", Secret: secret}})
	_, _, err := s.commands.CreateNotificationRule(s.Context(), s.actor, notifying.NotificationRule{
		Name: name, Terms: notification.Terms{Match: m, ChannelIDs: []uuid.UUID{c}, Enabled: true, GroupSeconds: 3600},
	})
	must(s.T, err)
}

// firesOn records that alerts fire, or are over, each on a server, which may be uuid.Nil.
func (s *scene) firesOn(over bool, servers map[string]uuid.UUID, others ...uuid.UUID) {
	s.Helper()
	now := s.clock.Now()
	var firings []alert.Firing
	for _, title := range slices.Sorted(maps.Keys(servers)) {
		f := alert.Firing{
			Key: "watch/" + title, Title: title, Severity: alert.Critical, InstanceID: servers[title], OtherInstanceIDs: others,
			StartsAt: now.Add(-time.Second), SeenAt: now,
		}
		if over {
			f.Resolved, f.EndsAt = true, now
		}
		firings = append(firings, f)
	}
	_, _, err := s.commands.RecordFirings(s.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, firings)
	must(s.T, err)
}

// routed has the titles of the events in the deliveries of each channel, in alphabetical order.
func (s *scene) routed() map[string]string {
	s.Helper()
	all, err := s.reader.Deliveries(s.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1000})
	must(s.T, err)
	titles := map[string][]string{}
	for _, d := range all {
		for _, e := range d.Events.Value {
			titles[d.ChannelName] = append(titles[d.ChannelName], e.Title)
		}
	}
	routed := map[string]string{}
	for name, of := range titles {
		slices.Sort(of)
		routed[name] = strings.Join(of, " ")
	}
	return routed
}

// TestRulesMatchTagsAndTeams: the keys of a match are combined, the values of a key are
// alternatives, and a team stands for the servers that it owns. The events of a rule, its
// preview and the rules of a server agree.
func TestRulesMatchTagsAndTeams(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	servers := map[string]uuid.UUID{
		"pay-prod": s.server("pay-prod", "env=prod team=payments"), "pay-test": s.server("pay-test", "env=test team=payments"),
		"web-prod": s.server("web-prod", "env=prod team=web"), "web-old": s.server("web-old", "env=old"), "bare": s.server("bare", ""),
	}
	payments := s.team("Payments", byTags("team", "payments"))
	production := s.team("Production", team.Selector{Tags: domain.TagFilter{"env": {"prod"}}, InstanceIDs: []uuid.UUID{servers["web-old"]}})
	nowhere := s.team("Nowhere", byTags("env", "mars"))
	empty := s.team("Empty", team.Selector{})
	tests := map[string]struct {
		match   notification.Match
		servers string // whose alerts match
		several bool   // the alert about "bare" and "web-prod" matches
		finding bool   // the new finding on "pay-prod" matches
		others  string // alerts without a server, and reports
	}{
		"everything":          {notification.Match{}, "bare pay-prod pay-test web-old web-prod", true, true, "homeless"},
		"one tag":             {notification.Match{Tags: domain.TagFilter{"env": {"prod"}}}, "pay-prod web-prod", true, true, ""},
		"either value":        {notification.Match{Tags: domain.TagFilter{"env": {"test", "old"}}}, "pay-test web-old", false, false, ""},
		"both keys":           {notification.Match{Tags: domain.TagFilter{"env": {"prod", "test"}, "team": {"payments"}}}, "pay-prod pay-test", false, true, ""},
		"keys of two servers": {notification.Match{Tags: domain.TagFilter{"env": {"old"}, "team": {"web"}}}, "", false, false, ""},
		"an unknown value":    {notification.Match{Tags: domain.TagFilter{"env": {"mars"}}}, "", false, false, ""},
		"a team":              {notification.Match{TeamIDs: []uuid.UUID{payments}}, "pay-prod pay-test", false, true, ""},
		"the next team":       {notification.Match{TeamIDs: []uuid.UUID{production}}, "web-old web-prod", true, false, ""},
		"either team":         {notification.Match{TeamIDs: []uuid.UUID{payments, production}}, "pay-prod pay-test web-old web-prod", true, true, ""},
		"team and tag":        {notification.Match{TeamIDs: []uuid.UUID{payments}, Tags: domain.TagFilter{"env": {"prod"}}}, "pay-prod", false, true, ""},
		"team of another tag": {notification.Match{TeamIDs: []uuid.UUID{production}, Tags: domain.TagFilter{"team": {"payments"}}}, "", false, false, ""},
		"a team of nothing":   {notification.Match{TeamIDs: []uuid.UUID{nowhere}}, "", false, false, ""},
		"an empty selector":   {notification.Match{TeamIDs: []uuid.UUID{empty}}, "", false, false, ""},
	}
	for name, test := range tests {
		s.routes(name, test.match)
	}
	s.firesOn(false, servers)
	s.firesOn(false, map[string]uuid.UUID{"homeless": uuid.Nil})
	s.firesOn(false, map[string]uuid.UUID{"several": servers["bare"]}, servers["web-prod"])
	s.assessed(servers["pay-prod"], domain.NewFindings{CheckID: "PG-M01", Title: "finding", Severity: "Critical", Findings: 1})
	s.follow()
	s.clock.Advance(time.Minute)
	routed, covers := s.routed(), map[string][]string{}
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		rules, err := s.reader.OfInstance(t.Context(), s.org.ID, servers[server], s.accounts)
		must(t, err)
		for _, r := range rules {
			covers[r.Name] = append(covers[r.Name], server)
		}
	}
	for name, test := range tests {
		want := strings.Fields(test.servers + " " + test.others)
		if test.several {
			want = append(want, "several")
		}
		if test.finding {
			want = append(want, "finding")
		}
		slices.Sort(want)
		if got := routed[name]; got != strings.Join(want, " ") {
			t.Errorf("%s: events %q, want %q", name, got, want)
		}
		if got := strings.Join(covers[name], " "); got != test.servers {
			t.Errorf("%s: a rule of the servers %q, want %q", name, got, test.servers)
		}
		if p, err := s.reader.Preview(t.Context(), s.org.ID, test.match, time.Minute); err != nil || p.Events != int64(len(want)) {
			t.Errorf("%s: the preview has %d, %v, want %d", name, p.Events, err, len(want))
		}
	}
}

// TestRoutingAfterAChange: tags are those that the server had when the alert was raised. The
// owner is that of the time at which the event is put into deliveries, whether a tag or a
// selector has changed. A deleted team owns nothing, and its rule then matches nothing.
func TestRoutingAfterAChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change                   func(s *scene, server, payments, web uuid.UUID)
		tagged, ofPayments, next bool
	}{
		"nothing":    {func(*scene, uuid.UUID, uuid.UUID, uuid.UUID) {}, true, true, false},
		"a tag":      {func(s *scene, server, _, _ uuid.UUID) { s.retag(server, "team=web") }, true, false, true},
		"a selector": {func(s *scene, _, payments, _ uuid.UUID) { s.reselect(payments, byTags("team", "mars")) }, true, false, false},
		"of the next team": {func(s *scene, server, payments, web uuid.UUID) {
			s.reselect(payments, team.Selector{})
			s.reselect(web, team.Selector{InstanceIDs: []uuid.UUID{server}})
		}, true, false, true},
		"the team": {func(s *scene, _, payments, _ uuid.UUID) {
			_, err := s.commands.RemoveTeam(s.Context(), s.actor, payments)
			must(s.T, err)
		}, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			server := s.server("pay", "team=payments")
			payments, web := s.team("Payments", byTags("team", "payments")), s.team("Web", byTags("team", "web"))
			s.routes("tagged", notification.Match{Tags: domain.TagFilter{"team": {"payments"}}})
			s.routes("payments", notification.Match{TeamIDs: []uuid.UUID{payments}})
			s.routes("web", notification.Match{TeamIDs: []uuid.UUID{web}})
			s.firesOn(false, map[string]uuid.UUID{"lag": server})
			test.change(s, server, payments, web)
			s.follow()
			routed := s.routed()
			if got := [3]bool{routed["tagged"] != "", routed["payments"] != "", routed["web"] != ""}; got != [3]bool{test.tagged, test.ofPayments, test.next} {
				t.Errorf("told by tag, by team and by the next team: %v", got)
			}
		})
	}
}

// TestTheEndFollowsTheRaise: after a server has changed its team and tags, the end of its alert
// goes to the rules that sent the raise, and to no other.
func TestTheEndFollowsTheRaise(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := s.server("pay", "team=payments")
	payments, web := s.team("Payments", byTags("team", "payments")), s.team("Web", byTags("team", "web"))
	told := map[string]*receiver{}
	for name, match := range map[string]notification.Match{
		"tag": {Tags: domain.TagFilter{"team": {"payments"}}}, "team": {TeamIDs: []uuid.UUID{payments}},
		"next tag": {Tags: domain.TagFilter{"team": {"web"}}}, "next team": {TeamIDs: []uuid.UUID{web}},
	} {
		told[name] = s.receiver()
		s.rule(s.webhook(told[name].URL), func(terms *notification.Terms) { terms.Match = match })
	}
	s.process("a", s.sender)
	s.firesOn(false, map[string]uuid.UUID{"lag": server})
	s.follow()
	s.await("the first two are told", func() bool { return told["tag"].told() != "" && told["team"].told() != "" })
	s.retag(server, "team=web")
	s.firesOn(true, map[string]uuid.UUID{"lag": server})
	s.firesOn(false, map[string]uuid.UUID{"disk": server})
	s.follow()
	for name, want := range map[string]string{
		"tag": "raised:lag resolved:lag", "team": "raised:lag resolved:lag", "next tag": "raised:disk", "next team": "raised:disk",
	} {
		s.await(name+" is told "+want, func() bool { return told[name].told() == want })
	}
}

// TestRepeatsStopWhenTheServerLeaves the tags or the team of a rule, and go on when it comes back.
// A channel of kind team repeats to the owner of today.
func TestRepeatsStopWhenTheServerLeaves(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ben, eve := s.member("ben"), s.member("eve")
	server, other := s.server("pay", "team=payments"), s.server("other", "team=payments")
	payments := s.team("Payments", byTags("team", "payments"), ben)
	s.team("Web", byTags("team", "web"), eve)
	told := map[string]*receiver{}
	repeats := func(match notification.Match) func(*notification.Terms) {
		return func(terms *notification.Terms) { terms.Match, terms.RepeatMinutes = match, 10 }
	}
	for name, match := range map[string]notification.Match{"tag": {Tags: domain.TagFilter{"team": {"payments"}}}, "team": {TeamIDs: []uuid.UUID{payments}}, "all": {}} {
		told[name] = s.receiver()
		s.rule(s.webhook(told[name].URL), repeats(match))
	}
	s.toTheOwner(repeats(notification.Match{}))
	s.process("a", s.sender)
	s.firesOn(false, map[string]uuid.UUID{"lag": server})
	s.firesOn(false, map[string]uuid.UUID{"shared": server}, other)
	s.follow()
	count := func(titles ...string) (said string) {
		for _, name := range []string{"tag", "team", "all"} {
			for _, title := range titles {
				said += fmt.Sprintf("%s %s %d, ", name, title, strings.Count(told[name].told(), title))
			}
		}
		return said + fmt.Sprintf("ben %d, eve %d", strings.Count(s.mailed("lag")["ben"], "lag"), strings.Count(s.mailed("lag")["eve"], "lag"))
	}
	for _, step := range []struct{ tags, want string }{
		{"", "tag lag 1, tag shared 1, team lag 1, team shared 1, all lag 1, all shared 1, ben 1, eve 0"},
		{"team=payments", "tag lag 2, tag shared 2, team lag 2, team shared 2, all lag 2, all shared 2, ben 2, eve 0"},
		{"team=web", "tag lag 2, tag shared 3, team lag 2, team shared 3, all lag 3, all shared 3, ben 2, eve 1"},
		{"team=payments", "tag lag 3, tag shared 4, team lag 3, team shared 4, all lag 4, all shared 4, ben 3, eve 1"},
	} {
		if step.tags != "" {
			s.retag(server, step.tags)
			s.passes(10 * time.Minute)
			must(t, s.dispatch.Repeat(t.Context()))
		}
		s.await(step.want, func() bool { return count("lag", "shared") == step.want && !strings.Contains(s.story(), "pending") })
	}
	// A repeat that reaches nobody is repeated no sooner than another: neither alone nor beside one that reaches somebody.
	s.retag(server, "team=mars")
	for _, step := range []struct {
		pause      time.Duration
		leaves     bool // the other server leaves, too
		suppressed int
	}{{10 * time.Minute, false, 0}, {time.Minute, false, 0}, {9 * time.Minute, true, 1}, {time.Minute, false, 1}, {9 * time.Minute, false, 2}} {
		if step.leaves {
			s.retag(other, "team=mars")
		}
		s.passes(step.pause)
		must(t, s.dispatch.Repeat(t.Context()))
		s.await("what is repeated has ended", func() bool { return !strings.Contains(s.story(), "pending") })
		if n := strings.Count(s.story(), "suppressed no_owner"); n != step.suppressed {
			t.Errorf("%d repeats reached nobody after %v, want %d: %s", n, step.pause, step.suppressed, s.story())
		}
	}
}

// TestAnAlertIsRepeatedForItsOtherServers, also if its notification was stored before notifications named them.
func TestAnAlertIsRepeatedForItsOtherServers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server, r := s.server("web", "team=web"), s.receiver()
	s.rule(s.webhook(r.URL), func(terms *notification.Terms) {
		terms.Match, terms.RepeatMinutes = notification.Match{Tags: domain.TagFilter{"team": {"web"}}}, 10
	})
	s.process("a", s.sender)
	s.firesOn(false, map[string]uuid.UUID{"shared": s.orders}, server)
	s.follow()
	s.wantStory("sent raised:shared")
	s.exec(`UPDATE delivery_events SET notice = notice - 'otherInstances'`)
	s.passes(10 * time.Minute)
	must(t, s.dispatch.Repeat(t.Context()))
	s.wantStory("sent raised:shared | sent raised:shared")
}

// TestAlertmanagersAreFedByTagsAndTeams: a round sends the open alerts that a rule matches by a
// tag or the owner of today.
func TestAlertmanagersAreFedByTagsAndTeams(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server, other := s.server("pay", "team=payments"), s.server("web", "team=web")
	payments := s.team("Payments", byTags("team", "payments"))
	rounds := map[string]*fedRound{}
	for name, match := range map[string]notification.Match{
		"tag": {Tags: domain.TagFilter{"team": {"payments"}}}, "team": {TeamIDs: []uuid.UUID{payments}}, "none": {Tags: domain.TagFilter{"team": {"mars"}}},
	} {
		rounds[name] = s.fedRound()
		c := s.channel(notifying.CreateChannel{Name: name, Kind: alertmanager.Name, Address: notification.Address{URL: rounds[name].URL}})
		s.rule(c, func(terms *notification.Terms) { terms.Match = match })
	}
	s.firesOn(false, map[string]uuid.UUID{"lag": server, "disk": other})
	s.follow()
	for _, round := range []struct{ tags, want string }{{"", "lag Payments"}, {"team=web", ""}} {
		if round.tags != "" {
			s.retag(server, round.tags)
		}
		s.clock.Advance(time.Minute)
		must(t, s.sender.Feed(t.Context()))
		for name, r := range rounds {
			want := round.want
			if name == "none" {
				want = ""
			}
			if got := r.take(); got != want {
				t.Errorf("%s, after %q: fed with %q, want %q", name, round.tags, got, want)
			}
		}
	}
}

// fedRound notes the names of the alerts with which an Alertmanager is fed as firing.
type fedRound struct {
	URL string

	mu    sync.Mutex
	names []string
}

func (s *scene) fedRound() *fedRound {
	s.Helper()
	r := &fedRound{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		var posted []struct {
			Labels, Annotations map[string]string
			EndsAt              time.Time
		}
		body, _ := io.ReadAll(request.Body)
		_ = json.Unmarshal(body, &posted)
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, a := range posted {
			if a.EndsAt.After(s.clock.Now()) {
				r.names = append(r.names, strings.TrimSpace(a.Labels["alertname"]+" "+a.Annotations["owner"]))
			}
		}
	}))
	s.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

func (r *fedRound) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.names)
	names := strings.Join(r.names, " ")
	r.names = nil
	return names
}
