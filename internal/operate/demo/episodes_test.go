package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/commands/alerting"
	"muster/domain/alert"
	"muster/domain/fleet"
)

// firsts are times at which a demo may have been made, over four weeks at all hours.
func firsts() []time.Time {
	var out []time.Time
	for at := time.Date(2026, 11, 2, 0, 17, 41, 5, time.UTC); len(out) < 28*24/5; at = at.Add(5 * time.Hour) {
		out = append(out, at)
	}
	return out
}

func sent(made, now time.Time) []alerting.Item {
	var items []alerting.Item
	for _, e := range episodes(made, now) {
		items = append(items, e.item(now))
	}
	return items
}

// openAt counts what is open at a time and not muted.
func openAt(items []alerting.Item, at time.Time) int {
	n := 0
	for _, item := range items {
		if !item.CreatedAt.After(at) && (item.ResolvedAt == nil || item.ResolvedAt.After(at)) && !strings.Contains(item.ExternalID, mutedRule) {
			n++
		}
	}
	return n
}

// Whenever the demo is made, its alerts are believable.
func TestAlertsOfAnyFirstMinute(t *testing.T) {
	t.Parallel()
	created := map[string]time.Time{}
	for _, made := range firsts() {
		for _, s := range items(made) {
			created[s.Name] = s.CreatedAt
			for _, db := range s.Databases {
				created[s.Name+"/"+db.Name] = db.CreatedAt
			}
		}
		items := sent(made, made)
		seen := map[string]bool{}
		critical, engines, recent, week := 0, map[string]bool{}, 0, 0
		for _, item := range items {
			wrong := func(what string) { t.Errorf("made %s: %s: %s", made, item.ExternalID, what) }
			if seen[item.ExternalID] || len(item.ExternalID) > 200 {
				wrong("its id is there twice or too long")
			}
			seen[item.ExternalID] = true
			if item.CreatedAt != item.FirstTriggeredAt || item.LastTriggeredAt.Before(item.FirstTriggeredAt) || item.LastTriggeredAt.After(made) ||
				item.CreatedAt.After(made) || item.CreatedAt.Before(made.Truncate(time.Minute).AddDate(0, 0, -alertDays)) {
				wrong("its times are out of order, in the future or too old")
			}
			if item.State.Closed() != (item.ResolvedAt != nil) || item.ResolvedAt != nil && (item.ResolvedAt.After(made) || item.ResolvedAt.Before(item.LastTriggeredAt)) {
				wrong("it is closed without having ended")
			}
			if item.Instance != nil {
				place := *item.Instance
				if item.Database != nil {
					place += "/" + *item.Database
				}
				if since, ok := created[place]; !ok || item.CreatedAt.Before(since) {
					wrong("nothing is there that it could be about")
				}
				engines[*item.Instance] = true
			}
			if item.Severity == alert.Critical && item.ResolvedAt == nil {
				critical++
			}
			if item.LastTriggeredAt.After(made.Add(-day)) {
				recent++
			}
			if item.LastTriggeredAt.After(made.Add(-7 * day)) {
				week++
			}
		}
		if n := len(items); n < 300 || n > 600 {
			t.Errorf("made %s: %d alerts", made, n)
		}
		if now, then := openAt(items, made), openAt(items, made.Add(-7*day)); now == then || now < 5 || critical == 0 {
			t.Errorf("made %s: %d open, %d of them critical, %d seven days before", made, now, critical, then)
		}
		if len(engines) < 11 || recent < 10 || week < 40 {
			t.Errorf("made %s: alerts on %d servers, %d within a day, %d within a week", made, len(engines), recent, week)
		}
	}
}

// A later start says the same of what is over, closes what has ended and adds
// what came since.
func TestLaterAlertsContinueEarlierOnes(t *testing.T) {
	t.Parallel()
	made := firsts()[80]
	before := map[string]alerting.Item{}
	for _, item := range sent(made, made) {
		before[item.ExternalID] = item
	}
	if diff := cmp.Diff(sent(made, made), sent(made, made)); diff != "" {
		t.Errorf("sent twice at one time:\n%s", diff)
	}
	later := made.Add(3 * day)
	added, ended := 0, 0
	for _, item := range sent(made, later) {
		was, known := before[item.ExternalID]
		delete(before, item.ExternalID)
		switch {
		case !known:
			added++
			if !item.CreatedAt.After(made) {
				t.Errorf("%s was not there before", item.ExternalID)
			}
		case was.ResolvedAt == nil:
			if item.ResolvedAt != nil {
				ended++
			}
		default:
			if diff := cmp.Diff(was, item); diff != "" {
				t.Errorf("%s is another:\n%s", item.ExternalID, diff)
			}
		}
	}
	if len(before) > 0 || added < 20 || ended < 4 {
		t.Errorf("%d are gone, %d were added, %d have ended", len(before), added, ended)
	}
}

// Every rule has its alerts, or nobody would ever see it.
func TestEveryRuleHasAnAlert(t *testing.T) {
	t.Parallel()
	made := firsts()[0]
	seen := map[string]bool{}
	engines := map[string]string{}
	for _, s := range servers() {
		engines[s.Name] = string(s.Engine)
	}
	for _, e := range episodes(made, made.AddDate(0, 6, 0)) {
		seen[engines[e.server]+e.rule] = true
	}
	for engine, of := range rules() {
		if len(of) != 12 && engine != ofNoServer {
			t.Errorf("%d rules for %s", len(of), engine)
		}
		for _, r := range of {
			if !seen[string(engine)+r.ID] {
				t.Errorf("%s never raises %s", engine, r.ID)
			}
			if r.Shortest >= r.Longest || r.Longest > 2*day {
				t.Errorf("%s of %s lasts from %s to %s", r.ID, engine, r.Shortest, r.Longest)
			}
		}
	}
}

// TestEveryAlertHasADescription: an alert of the demo names the figure that it watches, its meaning and the
// next step. No description belongs to an unknown rule.
func TestEveryAlertHasADescription(t *testing.T) {
	t.Parallel()
	watched := map[string]bool{} // by engine and id
	for engine, of := range rules() {
		for _, r := range of {
			watched[string(engine)+"/"+r.ID] = true
		}
	}
	for _, of := range stories() {
		for _, in := range of {
			watched[string(engineOf(in.Server))+"/"+in.Rule] = true
		}
	}
	for _, in := range flapping() {
		watched[string(engineOf(in.Server))+"/"+in.Rule] = true
	}
	said := map[string]bool{}
	for key := range watched {
		engine, id, _ := strings.Cut(key, "/")
		m, ok := meaningOf(fleet.Engine(engine), id)
		if !ok || m.Name == "" || m.Means == "" || m.Do == "" || m.Threshold == nil != (m.Unit == "") {
			t.Errorf("%s says %+v", key, m)
		}
		said[key], said[id] = true, true
	}
	for key := range meanings() {
		if !said[key] {
			t.Errorf("%s is written and watched by nobody", key)
		}
	}
	for _, item := range sent(firsts()[0], firsts()[0]) {
		if item.Rule == nil || !strings.Contains(item.ExternalID, item.Rule.ID) || !strings.Contains(item.Description, "\n\n") {
			t.Errorf("%s is sent with %+v, %q", item.ExternalID, item.Rule, item.Description)
		}
	}
}
