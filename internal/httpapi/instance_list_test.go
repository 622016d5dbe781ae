package httpapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

// called are the names of a list, in its order.
func (a answer) called() string {
	a.t.Helper()
	var words []string
	for _, item := range a.is(200).object()["items"].([]any) {
		words = append(words, item.(map[string]any)["name"].(string))
	}
	return strings.Join(words, " ")
}

func TestInstanceList(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := map[string]string{}
	for i, c := range []struct {
		key, name, host string
		engine          fleet.Engine
		active          bool
	}{
		{"k1", "orders", "db01", "postgresql", true}, {"k2", "Orders", "db02", "mysql", true}, {"k3", "billing", "db01", "oracle", false},
		{"100%", "archive_1", "", "postgresql", false}, {"k5", "removed", "db05", "postgresql", true},
	} {
		id, mark, err := w.deps.Commands.RegisterInstance(t.Context(), asFeed(w.ours), inventory.Registration{
			ExternalID: c.key, Name: c.name, Host: c.host, Engine: c.engine, Active: c.active, CreatedAt: w.ago(time.Duration(i) * time.Hour)})
		must(t, err)
		w.settle(mark)
		ids[c.key] = id.String()
	}
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + ids["k5"], as: w.ours.admin}).is(204)
	foreign := w.instance(w.theirs, "theirs").String()
	id := func(keys ...string) string {
		q := url.Values{}
		for _, key := range keys {
			q.Add("id", ids[key])
		}
		return q.Encode()
	}
	const all = "archive_1 billing orders Orders"
	for name, c := range map[string]struct{ query, want string }{
		"all, by name":                 {"", all},
		"so it is said":                {"sort=name", all},
		"from Z to A":                  {"sort=-name", "Orders orders billing archive_1"},
		"part of a name, in any case":  {"q=ORD", "orders Orders"},
		"part of a host":               {"q=DB01", "billing orders"},
		"part of an external id":       {"q=" + url.QueryEscape("0%"), "archive_1"},
		"no pattern":                   {"q=" + url.QueryEscape("b_l"), ""},
		"an empty search":              {"q=", all},
		"an engine":                    {"engine=postgresql", "archive_1 orders"},
		"engines":                      {"engine=mysql&engine=oracle", "billing Orders"},
		"active ones":                  {"status=active", "orders Orders"},
		"inactive ones":                {"status=inactive", "archive_1 billing"},
		"ids":                          {id("k3", "k1"), "billing orders"},
		"ids beyond the size of pages": {id("k3", "k1", "k2", "k3") + "&pageSize=1", "billing orders Orders"},
		"an id and its opposite":       {id("k3") + "&status=active", ""},
		"a removed one":                {id("k5"), ""},
		"nobody's id":                  {"id=" + uuid.NewString(), ""},
		"another organization's":       {"id=" + foreign, ""},
		"the second page":              {"page=2&pageSize=3", "Orders"},
		"past the end":                 {"page=9&pageSize=3", ""},
		"everything together":          {"q=o&engine=postgresql&engine=oracle&status=active&" + id("k1", "k2", "k3") + "&sort=-name", "orders"},
	} {
		if got := w.get(w.ours.viewer, "/api/v1/instances?"+c.query).called(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, bad := range []string{"engine=db2", "engine=", "status=removed", "id=", "id=x", "sort=host", "sort=", "page=0", "pageSize=0", "pageSize=201", "active=true"} {
		w.get(w.ours.viewer, "/api/v1/instances?"+bad).is(400)
	}
	w.get(w.ours.viewer, "/api/v1/instances/"+ids["k5"]).problem(404, "not_found")
	w.get(w.ours.viewer, "/api/v1/instances/"+ids["k5"]+"/databases").problem(404, "not_found")
	if got := w.get(w.ours.viewer, "/api/v1/organization").is(200).object()["monitoringStartedAt"]; got != w.ago(3*time.Hour).Format(time.RFC3339) {
		t.Errorf("monitored since %v: a removed one moves nothing, an inactive one does", got)
	}
	if got := w.get(w.theirs.viewer, "/api/v1/organization").is(200).object()["monitoringStartedAt"]; got != w.ago(0).Format(time.RFC3339) {
		t.Errorf("the others are monitored since %v", got)
	}
}

// TestAFilterResolvesOnOnePage: as many ids as a filter has, in one answer.
func TestAFilterResolvesOnOnePage(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	items := make([]inventory.Item, 501)
	for i := range items {
		items[i] = inventory.Item{ExternalID: fmt.Sprintf("i%03d", i), CreatedAt: w.ago(time.Hour)}
	}
	made := w.fed(w.ours, items...)
	q := url.Values{}
	for _, item := range items[:500] {
		q.Add("id", made[item.ExternalID].String())
	}
	a := w.get(w.ours.viewer, "/api/v1/instances?pageSize=10&"+q.Encode()).is(200)
	if n := len(a.object()["items"].([]any)); n != 500 || a.Header().Get("Link") != "" {
		t.Errorf("%d instances, Link %s", n, a.Header().Get("Link"))
	}
	q.Add("id", made["i500"].String())
	p := w.get(w.ours.viewer, "/api/v1/instances?"+q.Encode()).problem(422, "too_many_instances")
	if diff := cmp.Diff([]string{"query id too_many_instances"}, p.places()); diff != "" {
		t.Error(diff)
	}
	if n := len(w.get(w.ours.viewer, "/api/v1/instances?pageSize=200").is(200).object()["items"].([]any)); n != 200 {
		t.Errorf("%d instances on a page", n)
	}
}

func TestDatabaseList(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	gone := database("gone", w.ago(time.Hour))
	ids := w.fed(w.ours,
		inventory.Item{ExternalID: "i", CreatedAt: w.ago(day), Databases: []inventory.Database{
			database("orders", w.ago(3*time.Hour)), database("Billing", w.ago(2*time.Hour)), database("a_b", w.ago(time.Hour)), gone}},
		inventory.Item{ExternalID: "other", CreatedAt: w.ago(day), Databases: []inventory.Database{database("elsewhere", w.ago(day))}})
	gone.Removed = true
	w.fed(w.ours, inventory.Item{ExternalID: "i", CreatedAt: w.ago(day), Databases: []inventory.Database{gone}})
	path := "/api/v1/instances/" + ids["i"].String()
	for query, want := range map[string]string{
		"": "a_b Billing orders", "?q=BILL": "Billing", "?q=_": "a_b", "?q=gone": "", "?page=2&pageSize=2": "orders", "?page=3&pageSize=2": "",
	} {
		if got := w.get(w.ours.viewer, path+"/databases"+query).called(); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	first := w.get(w.ours.viewer, path+"/databases?pageSize=1").is(200).object()
	if diff := cmp.Diff(map[string]any{"number": 1.0, "size": 1.0, "totalItems": 3.0, "totalPages": 3.0}, first["page"]); diff != "" {
		t.Error(diff)
	}
	want := map[string]any{"id": ids["i/a_b"].String(), "name": "a_b", "instanceId": ids["i"].String(), "createdAt": w.ago(time.Hour).Format(time.RFC3339), "sizeBytes": nil, "sizeChange": nil}
	if diff := cmp.Diff(want, first["items"].([]any)[0]); diff != "" {
		t.Error(diff)
	}
	if n := w.get(w.ours.viewer, path).is(200).object()["databaseCount"]; n != 3.0 {
		t.Errorf("%v databases are counted", n)
	}
	for _, bad := range []string{"?pageSize=201", "?page=0", "?sort=name", "?q=%00"} {
		w.get(w.ours.viewer, path+"/databases"+bad).is(400)
	}
}

// TestDatabasesGrow: a size of now beside one of three weeks ago, database by database.
func TestDatabasesGrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instance, theirs := w.instance(w.ours, "orders"), w.instance(w.theirs, "theirs")
	w.databases(w.ours, instance, "grew", "shrank", "new", "unmeasured")
	since := time.Now().Add(-21 * day).UTC().Truncate(time.Second)
	assessed := func(organization, instance uuid.UUID, at time.Time, sizes map[string]int64) {
		facts := snapshot.Assessment{Outcome: snapshot.OutcomeComplete, Databases: []snapshot.DatabaseFact{{Name: "unmeasured"}}}
		for name, size := range sizes {
			facts.Databases = append(facts.Databases, snapshot.DatabaseFact{Name: name, SizeBytes: &size})
		}
		text, err := json.Marshal(facts)
		must(t, err)
		w.deps.DB.MustExec(`INSERT INTO assessments (id, organization_id, instance_id, recorded_at, outcome, facts) VALUES ($1, $2, $3, $4, $5, $6)`,
			uuid.New(), organization, instance, at, facts.Outcome, string(text))
	}
	assessed(w.theirs.organization.ID, theirs, since.Add(-day), map[string]int64{"grew": 1})
	assessed(w.ours.organization.ID, instance, since, map[string]int64{"grew": 1000, "shrank": 900, "unmeasured": 5})
	assessed(w.ours.organization.ID, instance, since.Add(20*day), map[string]int64{"grew": 2500, "shrank": 0, "new": 8})
	change := func(bytes float64) any {
		return map[string]any{"bytes": bytes, "since": since.Format(time.RFC3339)}
	}
	want := map[string][2]any{"grew": {2500.0, change(1500)}, "shrank": {0.0, change(-900)}, "new": {8.0, nil}, "unmeasured": {nil, nil}}
	got := map[string][2]any{}
	for _, item := range w.get(w.ours.viewer, "/api/v1/instances/"+instance.String()+"/databases").is(200).object()["items"].([]any) {
		d := item.(map[string]any)
		got[d["name"].(string)] = [2]any{d["sizeBytes"], d["sizeChange"]}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
