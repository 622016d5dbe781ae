package httpapi

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/alert"
)

const day = 24 * time.Hour

// ago is a time before the clock's.
func (w *world) ago(d time.Duration) time.Time { return w.clock.Now().Add(-d) }

func asFeed(in tenant) usecase.Actor {
	return usecase.Actor{OrganizationID: in.organization.ID, Component: "ingest"}
}

// fed takes in instances as a feed tells of them. The ids are by external id,
// a database's by "instance/database".
func (w *world) fed(in tenant, items ...inventory.Item) map[string]uuid.UUID {
	w.t.Helper()
	for i := range items {
		if items[i].Name == "" {
			items[i].Name = items[i].ExternalID
		}
		if items[i].Engine == "" {
			items[i].Engine = "postgresql"
		}
	}
	made, mark, err := w.deps.Commands.RecordFleet(context.Background(), asFeed(in), items)
	must(w.t, err)
	w.settle(mark)
	ids := map[string]uuid.UUID{}
	for _, m := range made {
		ids[m.ExternalID] = m.ID
		for _, d := range m.Databases {
			ids[m.ExternalID+"/"+d.ExternalID] = d.ID
		}
	}
	return ids
}

func database(key string, created time.Time) inventory.Database {
	return inventory.Database{ExternalID: key, Name: key, CreatedAt: created}
}

// raised takes in alerts as a feed tells of them, and returns their ids by
// external id. An alert that is told nothing else of is an open warning that fired
// once, when it was created, and is called like its key.
func (w *world) raised(in tenant, items ...alerting.Item) map[string]uuid.UUID {
	w.t.Helper()
	for i := range items {
		a := &items[i]
		if a.Title == "" {
			a.Title = a.ExternalID
		}
		if a.Severity == "" {
			a.Severity = alert.Warning
		}
		if a.State == "" {
			a.State = alert.Open
			if a.ResolvedAt != nil {
				a.State = alert.AutoResolvedState
			}
		}
		if a.FirstTriggeredAt.IsZero() {
			a.FirstTriggeredAt = a.CreatedAt
		}
		if a.LastTriggeredAt.IsZero() {
			a.LastTriggeredAt = a.FirstTriggeredAt
		}
		if a.CreatedAt.IsZero() {
			a.CreatedAt = a.FirstTriggeredAt
		}
	}
	made, mark, err := w.deps.Commands.RecordAlerts(context.Background(), asFeed(in), items)
	must(w.t, err)
	w.settle(mark)
	ids := map[string]uuid.UUID{}
	for _, m := range made {
		ids[m.ExternalID] = m.ID
	}
	return ids
}

// to is a pointer to what it is given.
func to[T any](v T) *T { return &v }

// only is a filter of these ids.
func only(ids ...uuid.UUID) string {
	q := url.Values{}
	for _, id := range ids {
		q.Add("instanceId", id.String())
	}
	return "?" + q.Encode()
}

// counted are the three counts of an overview, each as current-previous=trend.
func (a answer) counted() string {
	a.t.Helper()
	var o struct {
		Instances, Databases, Alerts struct{ Current, Previous, Trend int }
	}
	a.is(200).decode(&o)
	show := func(c struct{ Current, Previous, Trend int }) string {
		return fmt.Sprintf("%d-%d=%d", c.Current, c.Previous, c.Trend)
	}
	return show(o.Instances) + " " + show(o.Databases) + " " + show(o.Alerts)
}

const overviewPath = "/api/v1/health-checks/overview"

// zeros are of a filter that nothing matches.
const zeros = "0-0=0 0-0=0 0-0=0"

func TestOverview(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fed(w.ours,
		inventory.Item{ExternalID: "orders", CreatedAt: w.ago(30 * day), Databases: []inventory.Database{
			database("a", w.ago(30*day)), database("b", w.ago(2*day)), database("gone", w.ago(30*day))}},
		inventory.Item{ExternalID: "billing", CreatedAt: w.ago(7 * day), Active: to(false), Databases: []inventory.Database{
			database("bills", w.ago(7*day))}},
		inventory.Item{ExternalID: "fresh", CreatedAt: w.ago(7*day - time.Second)},
		inventory.Item{ExternalID: "removed", CreatedAt: w.ago(30 * day), Databases: []inventory.Database{database("d", w.ago(30*day))}},
	)
	theirs := w.fed(w.theirs, inventory.Item{ExternalID: "orders", CreatedAt: w.ago(30 * day), Databases: []inventory.Database{database("a", w.ago(30*day))}})
	w.raised(w.theirs, alerting.Item{ExternalID: "theirs", CreatedAt: w.ago(10 * day), Instance: to("orders")})
	w.raised(w.ours,
		alerting.Item{ExternalID: "open", CreatedAt: w.ago(10 * day), Instance: to("orders")},
		alerting.Item{ExternalID: "noted", CreatedAt: w.ago(7 * day), Instance: to("orders"), Database: to("gone"), State: alert.AcknowledgedState},
		alerting.Item{ExternalID: "of a database", CreatedAt: w.ago(7*day - time.Second), Database: to("bills")},
		alerting.Item{ExternalID: "muted", CreatedAt: w.ago(10 * day), Instance: to("orders"), Muted: to(true)},
		alerting.Item{ExternalID: "closed since", CreatedAt: w.ago(10 * day), Instance: to("orders"), ResolvedAt: to(w.ago(7*day - time.Second))},
		alerting.Item{ExternalID: "closed then", CreatedAt: w.ago(10 * day), Instance: to("orders"), ResolvedAt: to(w.ago(7 * day)), State: alert.ResolvedState},
		alerting.Item{ExternalID: "of the organization", CreatedAt: w.ago(10 * day)},
		alerting.Item{ExternalID: "of a removed one", CreatedAt: w.ago(10 * day), Instance: to("removed")},
	)
	w.fed(w.ours, inventory.Item{ExternalID: "removed", CreatedAt: w.ago(30 * day), Removed: true},
		inventory.Item{ExternalID: "orders", CreatedAt: w.ago(30 * day), Databases: []inventory.Database{{ExternalID: "gone", Name: "gone", CreatedAt: w.ago(30 * day), Removed: true}}})

	for name, c := range map[string]struct{ query, want string }{
		"the organization":       {"", "3-2=1 3-2=1 5-5=0"},
		"one":                    {only(ids["orders"]), "1-1=0 2-1=1 2-3=-1"},
		"one, twice":             {only(ids["orders"], ids["orders"]), "1-1=0 2-1=1 2-3=-1"},
		"an inactive one":        {only(ids["billing"]), "1-1=0 1-1=0 1-0=1"},
		"one of this week":       {only(ids["fresh"]), "1-0=1 0-0=0 0-0=0"},
		"all that there are":     {only(ids["fresh"], ids["billing"], ids["orders"]), "3-2=1 3-2=1 3-3=0"},
		"a removed one":          {only(ids["removed"]), zeros},
		"another organization's": {only(theirs["orders"]), zeros},
		"nobody's":               {only(uuid.New()), zeros},
		"one and nobody's":       {only(uuid.New(), ids["fresh"], theirs["orders"]), "1-0=1 0-0=0 0-0=0"},
		"a database's id":        {only(ids["orders/a"]), zeros},
	} {
		if got := w.get(w.ours.viewer, overviewPath+c.query).counted(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := w.get(w.theirs.viewer, overviewPath).counted(); got != "1-1=0 1-1=0 1-1=0" {
		t.Errorf("the others: %s", got)
	}
	a := w.get(w.ours.viewer, overviewPath).is(200)
	shown := a.object()
	if shown["asOf"] != w.clock.Now().Format(time.RFC3339) || shown["comparedAt"] != w.ago(7*day).Format(time.RFC3339) || a.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("as of %v, compared with %v, %v", shown["asOf"], shown["comparedAt"], a.Header())
	}
}

// TestTheOverviewTakesNoWindow: a value that the counts do not depend on is no parameter.
func TestTheOverviewTakesNoWindow(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for query, places := range map[string][]string{
		"?from=2026-11-20T00:00:00Z":                  {"query from unknown_parameter"},
		"?to=2026-11-20T00:00:00Z&bucketSize=1h":      {"query bucketSize unknown_parameter", "query to unknown_parameter"},
		"?instanceId=":                                {"query instanceId invalid_parameter"},
		"?instanceId=&from=x&instanceid=x":            {"query instanceId invalid_parameter", "query from unknown_parameter", "query instanceid unknown_parameter"},
		"?instanceName=orders":                        {"query instanceName unknown_parameter"},
		"?instanceId=" + uuid.NewString() + ",orders": {"query instanceId invalid_parameter"},
	} {
		p := w.get(w.ours.viewer, overviewPath+query)
		p.is(400)
		var shown shownProblem
		p.decode(&shown)
		if diff := cmp.Diff(places, shown.places()); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	p := w.get(w.ours.viewer, overviewPath+"?"+strings.Repeat("instanceId="+uuid.NewString()+"&", 501)).problem(422, "too_many_instances")
	if diff := cmp.Diff([]string{"query instanceId too_many_instances"}, p.places()); diff != "" {
		t.Error(diff)
	}
	if got := w.get(w.ours.viewer, overviewPath+"?"+strings.Repeat("instanceId="+uuid.NewString()+"&", 500)).counted(); got != zeros {
		t.Errorf("500 of nobody: %s", got)
	}
}

// TestAWriteIsSeenAtOnce: what was just said to have been written is counted and
// listed by the next request.
func TestAWriteIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	sees := func(want string) {
		t.Helper()
		if got := w.get(w.ours.viewer, overviewPath).counted(); got != want {
			t.Errorf("counted %s, want %s", got, want)
		}
	}
	token := w.ingestToken(w.ours.admin)
	send := func(path string, body any) map[string]any {
		t.Helper()
		return w.do(request{method: "POST", path: path, token: token, json: body}).is(200).object()
	}
	sees(zeros)
	now := w.clock.Now().Format(time.RFC3339)
	send("/ingest/v1/fleet", map[string]any{"instances": []any{map[string]any{"externalId": "orders", "name": "orders", "engine": "postgresql", "createdAt": now,
		"databases": []any{map[string]any{"externalId": "d", "name": "d", "createdAt": now}}}}})
	sees("1-0=1 1-0=1 0-0=0")
	made := send("/ingest/v1/alerts", map[string]any{"alerts": []any{map[string]any{"externalId": "a", "title": "Disk full", "severity": "critical", "state": "Open",
		"createdAt": now, "firstTriggeredAt": now, "lastTriggeredAt": now, "instance": "orders"}}})
	sees("1-0=1 1-0=1 1-0=1")
	path := alertsPath + "/" + made["alerts"].([]any)[0].(map[string]any)["id"].(string)
	if got := w.get(w.ours.viewer, alertsPath).titles(); got != "Disk full" {
		t.Errorf("listed %q", got)
	}
	w.post(w.ours.member, path+"/mute", nil).is(200)
	sees("1-0=1 1-0=1 0-0=0")
	w.post(w.ours.member, path+"/unmute", nil).is(200)
	sees("1-0=1 1-0=1 1-0=1")
	w.post(w.ours.member, path+"/resolve", nil).is(200)
	sees("1-0=1 1-0=1 0-0=0")
	if got := w.get(w.ours.viewer, alertsPath+"?status=resolved").titles(); got != "Disk full" {
		t.Errorf("resolved are %q", got)
	}
}

// TestSevenDaysAgo: the previous count is today's rows as of then. It is what was
// counted then, unless somebody imported, muted or removed since.
func TestSevenDaysAgo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instance := func(key string, created time.Time) inventory.Item {
		return inventory.Item{ExternalID: key, CreatedAt: created, Databases: []inventory.Database{database("d", created)}}
	}
	w.fed(w.ours, instance("orders", w.ago(30*day)), instance("billing", w.ago(time.Hour)))
	ids := w.raised(w.ours,
		alerting.Item{ExternalID: "old", CreatedAt: w.ago(20 * day), Instance: to("orders")},
		alerting.Item{ExternalID: "new", CreatedAt: w.ago(time.Minute), Instance: to("billing")},
		alerting.Item{ExternalID: "closed", CreatedAt: w.ago(20 * day), ResolvedAt: to(w.ago(day)), Instance: to("orders")})
	overview := func() string {
		t.Helper()
		return w.get(w.again(w.ours.viewer), overviewPath).counted() // the session of a week ago has ended
	}
	if got := overview(); got != "2-1=1 2-1=1 2-2=0" {
		t.Fatalf("then: %s", got)
	}
	w.clock.Advance(7 * day)
	if got := overview(); got != "2-2=0 2-2=0 2-2=0" {
		t.Fatalf("a week later: %s", got)
	}
	// What happened meanwhile moves the present only.
	w.fed(w.ours, instance("late", w.ago(time.Hour)))
	w.raised(w.ours, alerting.Item{ExternalID: "late", CreatedAt: w.ago(time.Hour), Instance: to("late")})
	w.post(w.again(w.ours.member), alertsPath+"/"+ids["old"].String()+"/resolve", nil).is(200)
	if got := overview(); got != "3-2=1 3-2=1 2-2=0" {
		t.Errorf("after what is new: %s", got)
	}
	// What does move the past: an import, a mute, a removal.
	w.fed(w.ours, instance("imported", w.ago(60*day)))
	w.raised(w.ours, alerting.Item{ExternalID: "imported", CreatedAt: w.ago(60 * day), ResolvedAt: to(w.ago(day)), Instance: to("imported")})
	if got := overview(); got != "4-3=1 4-3=1 2-3=-1" {
		t.Errorf("after an import: %s", got)
	}
	w.post(w.again(w.ours.member), alertsPath+"/"+ids["old"].String()+"/mute", nil).is(200)
	if got := overview(); got != "4-3=1 4-3=1 2-2=0" {
		t.Errorf("after muting what was open then: %s", got)
	}
	w.fed(w.ours, inventory.Item{ExternalID: "orders", CreatedAt: w.ago(37 * day), Removed: true})
	if got := overview(); got != "3-2=1 3-2=1 2-2=0" {
		t.Errorf("after a removal: %s", got)
	}
}
