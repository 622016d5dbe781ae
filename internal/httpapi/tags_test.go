package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/organization"
)

// tag changes the tags of a server as somebody.
func (w *world) tag(as person, id uuid.UUID, tags map[string]string) answer {
	return w.do(request{method: "PATCH", path: "/api/v1/instances/" + id.String(), as: as, json: map[string]any{"tags": tags}})
}

// tagsOf are the tags of a server as it is shown.
func (w *world) tagsOf(as person, id uuid.UUID) string {
	w.t.Helper()
	var shown struct{ Tags map[string]string }
	w.get(as, "/api/v1/instances/"+id.String()).is(200).decode(&shown)
	var words []string
	for _, key := range slices.Sorted(maps.Keys(shown.Tags)) {
		words = append(words, key+":"+shown.Tags[key])
	}
	return strings.Join(words, " ")
}

func (w *world) protect(keys ...string) {
	w.t.Helper()
	w.do(request{method: "PATCH", path: "/api/v1/organization", as: w.ours.admin, json: map[string]any{"protectedTags": keys}, header: map[string]string{"If-Match": "*"}}).is(200)
}

func TestTagsOfAServer(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders := w.fleetOfThree(w.ours)["orders"]
	theirs := w.instance(w.theirs, "theirs")
	w.tag(w.ours.admin, orders, map[string]string{"env": "prod", "team": "a"}).is(200)
	if got := w.tagsOf(w.ours.viewer, orders); got != "env:prod team:a" {
		t.Errorf("there are %s", got)
	}
	w.tag(w.ours.member, orders, map[string]string{"env": "test"}).is(200)
	if got := w.tagsOf(w.ours.viewer, orders); got != "env:test" {
		t.Errorf("there are %s", got)
	}
	w.tag(w.ours.viewer, orders, map[string]string{"env": "dev"}).problem(403, "forbidden")
	w.tag(w.ours.auditor, orders, map[string]string{"env": "dev"}).problem(403, "forbidden")
	for _, body := range []map[string]any{{"name": "x"}, {"active": false, "tags": map[string]string{}}, {"dsn": "postgres://u@127.0.0.1/d"}, {"declinedGrants": []string{}}} {
		w.do(request{method: "PATCH", path: "/api/v1/instances/" + orders.String(), as: w.ours.member, json: body}).problem(403, "forbidden")
	}
	for _, id := range []uuid.UUID{theirs, uuid.New()} {
		w.tag(w.ours.admin, id, map[string]string{"env": "x"}).problem(404, "not_found")
		w.tag(w.ours.member, id, map[string]string{"env": "x"}).problem(404, "not_found")
	}
	a := w.tag(w.ours.admin, orders, map[string]string{"Env": "prod", "ok": "fine", "zone": "a\nb", "a/b~c": "x", "blank": " x"}).is(422)
	for _, pointer := range []string{"#/tags/Env", "#/tags/zone", "#/tags/a~1b~0c", "#/tags/blank"} {
		if !strings.Contains(a.Body.String(), pointer+`"`) {
			t.Errorf("%s is not named: %s", pointer, a.Body)
		}
	}
	if strings.Contains(a.Body.String(), "#/tags/ok") {
		t.Errorf("what is right is blamed: %s", a.Body)
	}
	many := map[string]string{}
	for n := range 33 {
		many[fmt.Sprintf("k%d", n)] = "v"
	}
	w.tag(w.ours.admin, orders, many).problem(400, "invalid_parameter")
	if got := w.tagsOf(w.ours.viewer, orders); got != "env:test" {
		t.Errorf("after what was refused there are %s", got)
	}
}

func TestProtectedTags(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders := w.fleetOfThree(w.ours)["orders"]
	w.tag(w.ours.admin, orders, map[string]string{"team": "a"}).is(200)
	w.protect("team")
	for name, tags := range map[string]map[string]string{"changed": {"team": "b"}, "removed": {}, "beside another": {"team": "b", "env": "x"}} {
		a := w.tag(w.ours.member, orders, tags)
		if a.problem(403, "protected_tag"); !strings.Contains(a.Body.String(), "#/tags/team") {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	w.tag(w.ours.member, orders, map[string]string{"team": "a", "env": "prod"}).is(200)
	w.tag(w.ours.admin, orders, map[string]string{"team": "b", "env": "prod"}).is(200)
	if got := w.tagsOf(w.ours.viewer, orders); got != "env:prod team:b" {
		t.Errorf("there are %s", got)
	}
	feed := w.ingestToken(w.ours.admin)
	kept := w.feeds(feed, "", "orders", map[string]string{"team": "evil", "env": "evil", "zone": "a"}).is(200)
	if !strings.Contains(kept.Body.String(), `"keptTags":["env","team"]`) {
		t.Errorf("what was kept is not said: %s", kept.Body)
	}
	if got := w.tagsOf(w.ours.viewer, orders); got != "env:prod team:b zone:a" {
		t.Errorf("after a feed there are %s", got)
	}
	var listed struct {
		Items []struct {
			Key       string
			Protected bool
		}
	}
	w.get(w.ours.viewer, "/api/v1/tags").is(200).decode(&listed)
	for _, key := range listed.Items {
		if key.Protected != (key.Key == "team") {
			t.Errorf("%+v", key)
		}
	}
	for _, keys := range [][]string{{"Team"}, {"1"}, {"a b"}} {
		w.do(request{method: "PATCH", path: "/api/v1/organization", as: w.ours.admin, json: map[string]any{"protectedTags": keys}, header: map[string]string{"If-Match": "*"}}).is(422)
	}
}

// feeds sends a server with its tags, as a sender.
func (w *world) feeds(token, sender, key string, tags map[string]string) answer {
	item := map[string]any{"externalId": key, "name": key, "engine": "postgresql", "createdAt": w.ago(30 * day).Format(time.RFC3339)}
	if tags != nil {
		item["tags"] = tags
	}
	header := map[string]string{}
	if sender != "" {
		header["X-Muster-Sender"] = sender
	}
	return w.do(request{method: "POST", path: "/ingest/v1/fleet", token: token, json: map[string]any{"instances": []any{item}}, header: header})
}

// TestTagsOfFeeds: sent twice they are one event, and of two senders each has its own.
func TestTagsOfFeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.ingestToken(w.ours.admin)
	send := func(sender string, tags map[string]string, want string) {
		t.Helper()
		var answer struct{ Instances []struct{ ID uuid.UUID } }
		w.feeds(token, sender, "orders", tags).is(200).decode(&answer)
		if got := w.tagsOf(w.ours.viewer, answer.Instances[0].ID); got != want {
			t.Errorf("after %v of %q there are %s, want %s", tags, sender, got, want)
		}
	}
	send("cmdb", map[string]string{"env": "prod", "zone": "a"}, "env:prod zone:a")
	send("agent", map[string]string{"rack": "7"}, "env:prod rack:7 zone:a")
	before := w.count(`SELECT count(*) FROM events WHERE log = 'fleet'`)
	for range 3 {
		send("cmdb", map[string]string{"env": "prod", "zone": "a"}, "env:prod rack:7 zone:a")
		send("agent", map[string]string{"rack": "7"}, "env:prod rack:7 zone:a")
		send("agent", nil, "env:prod rack:7 zone:a")
	}
	if after := w.count(`SELECT count(*) FROM events WHERE log = 'fleet'`); after != before {
		t.Errorf("the same again is %d events", after-before)
	}
	send("cmdb", map[string]string{"env": "prod"}, "env:prod rack:7")
	send("agent", map[string]string{}, "env:prod")
	w.feeds(token, "cmdb", "orders", map[string]string{"Env": "x"}).is(422)
}

func TestTagManyServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	theirs := w.instance(w.theirs, "theirs")
	unknown := uuid.New()
	w.protect("team")
	act := func(as person, body map[string]any) answer { return w.post(as, "/api/v1/instances/actions", body) }
	a := act(w.ours.member, map[string]any{"ids": []uuid.UUID{ids["orders"], theirs, ids["billing"], unknown, ids["orders"]}, "setTags": map[string]string{"env": "prod"}}).is(200)
	var answered struct {
		Items []struct {
			ID      uuid.UUID
			Done    bool
			Problem *struct {
				Status       int
				Code, Detail string
			}
		}
	}
	a.decode(&answered)
	if len(answered.Items) != 4 || !answered.Items[0].Done || answered.Items[1].Done || !answered.Items[2].Done || answered.Items[3].Done {
		t.Fatalf("%s", a.Body)
	}
	if diff := gocmp.Diff(answered.Items[1].Problem, answered.Items[3].Problem); diff != "" || answered.Items[1].Problem.Code != "not_found" {
		t.Errorf("a foreign server is told from an unknown one: %s", diff)
	}
	if got := w.tagsOf(w.ours.viewer, ids["billing"]); got != "env:prod" {
		t.Errorf("there are %s", got)
	}
	if got := w.tagsOf(w.theirs.viewer, theirs); got != "" {
		t.Errorf("a foreign server has %s", got)
	}
	act(w.ours.member, map[string]any{"ids": []uuid.UUID{ids["orders"]}, "setTags": map[string]string{"zone": "a"}, "removeTags": []string{"env", "none"}}).is(200)
	if got := w.tagsOf(w.ours.viewer, ids["orders"]); got != "zone:a" {
		t.Errorf("there are %s", got)
	}
	if a := act(w.ours.member, map[string]any{"ids": []uuid.UUID{ids["orders"]}, "setTags": map[string]string{"team": "a"}}).is(200); !strings.Contains(a.Body.String(), `"protected_tag"`) {
		t.Errorf("a protected tag: %s", a.Body)
	}
	act(w.ours.viewer, map[string]any{"ids": []uuid.UUID{ids["orders"]}, "setTags": map[string]string{"env": "x"}}).problem(403, "forbidden")
	for name, body := range map[string]map[string]any{
		"nothing to do": {"ids": []uuid.UUID{ids["orders"]}}, "no ids": {"ids": []uuid.UUID{}, "setTags": map[string]string{"a": "b"}},
		"set and removed": {"ids": []uuid.UUID{ids["orders"]}, "setTags": map[string]string{"a": "b"}, "removeTags": []string{"a"}},
		"too many":        {"ids": slices.Repeat([]uuid.UUID{uuid.New()}, 1001), "setTags": map[string]string{"a": "b"}},
	} {
		if a := act(w.ours.admin, body); a.Code != 422 && a.Code != 400 {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
}

// TestAFilterByTagEqualsAFilterByIDs of the servers that have the tag, in every answer. It walks all operations
// that take both.
func TestAFilterByTagEqualsAFilterByIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instances, _ := w.alerting()
	for _, key := range []string{"orders-1", "billing"} {
		w.tag(w.ours.admin, instances[key], map[string]string{"env": "prod", "team": key}).is(200)
	}
	w.tag(w.ours.admin, instances["orders-2"], map[string]string{"env": "test"}).is(200)
	other := w.instance(w.theirs, "other")
	w.tag(w.theirs.admin, other, map[string]string{"env": "prod"}).is(200)
	w.granting(instances["orders-1"])
	c, err := ourContract()
	must(t, err)
	walked := 0
	for key, r := range c.Routes {
		needs := w.filtered(r.Operation)
		if needs == nil {
			continue
		}
		walked++
		path := strings.NewReplacer(":checkId", "PG-S17").Replace(strings.TrimPrefix(key, "GET "))
		ask := func(more url.Values) string {
			t.Helper()
			query := url.Values{}
			maps.Copy(query, needs)
			maps.Copy(query, more)
			return steadied(w.get(w.ours.admin, path+"?"+query.Encode()).is(200).Body.Bytes())
		}
		both := []string{instances["orders-1"].String(), instances["billing"].String()}
		byID := ask(url.Values{"instanceId": both})
		for name, tags := range map[string][]string{"a tag": {"env:prod"}, "two keys, three values": {"env:prod", "team:billing", "team:orders-1"}} {
			if diff := gocmp.Diff(byID, ask(url.Values{"tag": tags})); diff != "" {
				t.Errorf("%s by %s (-ids +tags):\n%s", path, name, diff)
			}
		}
		if diff := gocmp.Diff(ask(url.Values{"instanceId": both[:1]}), ask(url.Values{"instanceId": both[:1], "tag": {"env:prod"}})); diff != "" {
			t.Errorf("%s by both:\n%s", path, diff)
		}
		nothing := ask(url.Values{"instanceId": {uuid.NewString()}})
		for name, tags := range map[string][]string{"no such value": {"env:dev"}, "no such key": {"zone:a"}, "no server has both": {"env:test", "team:billing"}} {
			if diff := gocmp.Diff(nothing, ask(url.Values{"tag": tags})); diff != "" {
				t.Errorf("%s with %s (-nothing +tags):\n%s", path, name, diff)
			}
		}
		for _, bad := range []string{"env", "Env:prod", "env:", ":x", "env: x"} {
			query := url.Values{}
			maps.Copy(query, needs)
			query.Set("tag", bad)
			if a := w.get(w.ours.admin, path+"?"+query.Encode()); a.Code/100 != 4 || !strings.Contains(a.Body.String(), `"tag"`) {
				t.Errorf("%s with %q: %d %s", path, bad, a.Code, a.Body)
			}
		}
	}
	if walked < 15 {
		t.Errorf("only %d operations take a tag", walked)
	}
}

// filtered is what an operation needs beside a filter of servers; nil: it has none by tags.
func (w *world) filtered(o *openapi3.Operation) url.Values {
	w.t.Helper()
	if o.Parameters.GetByInAndName("query", "tag") == nil || o.Parameters.GetByInAndName("query", "instanceId") == nil {
		return nil
	}
	by := map[string]string{"listUtilizationContributors": "host", "listAlertContributors": "instance"}
	needs := url.Values{}
	for _, ref := range o.Parameters {
		p := ref.Value
		if p.In != "query" || !p.Required {
			continue
		}
		switch p.Name {
		case "from":
			needs.Set("from", w.ago(3*time.Hour).Format(time.RFC3339))
		case "to":
			needs.Set("to", w.clock.Now().UTC().Format(time.RFC3339))
		case "bucketSize":
			needs.Set("bucketSize", "1h")
		case "by":
			needs.Set("by", cmp.Or(by[o.OperationID], "instance"))
		default:
			schema := p.Schema.Value
			if schema.Items != nil {
				schema = schema.Items.Value
			}
			needs.Set(p.Name, fmt.Sprint(schema.Enum[0]))
		}
	}
	return needs
}

// granting has an exception of a server in force.
func (w *world) granting(instance uuid.UUID) {
	w.t.Helper()
	id := w.asked(w.ours.member, func(body map[string]any) { body["instanceId"] = instance })
	w.decide(w.ours.admin, id, "grant").is(200)
}

// steadied is an answer without what every answer has anew, and more.
func steadied(body []byte, but ...string) string {
	var shown any
	_ = json.Unmarshal(body, &shown)
	without(shown, append(but, "asOf", "now", "to", "from")...)
	text, _ := json.MarshalIndent(shown, "", " ")
	return string(text)
}

func without(value any, names ...string) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range names {
			delete(value, name)
		}
		for _, v := range value {
			without(v, names...)
		}
	case []any:
		for _, v := range value {
			without(v, names...)
		}
	}
}

// TestTagsByToken: an API token tags with alerts:write.
func TestTagsByToken(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders := w.fleetOfThree(w.ours)["orders"]
	w.protect("team")
	tag := func(token string, tags map[string]string) answer {
		return w.do(request{method: "PATCH", path: "/api/v1/instances/" + orders.String(), token: token, json: map[string]any{"tags": tags}})
	}
	tag(w.token(w.ours.admin, organization.ScopeMetricsRead), map[string]string{"env": "x"}).problem(403, "forbidden")
	writes := w.token(w.ours.admin, organization.ScopeAlertsWrite)
	tag(writes, map[string]string{"env": "prod"}).is(200)
	tag(writes, map[string]string{"team": "a"}).problem(403, "protected_tag")
	tag(w.token(w.ours.admin, organization.ScopeAdmin), map[string]string{"team": "a"}).is(200)
}
