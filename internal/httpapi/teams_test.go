package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/internal/measurements"
	"muster/internal/watch/status"
	"muster/internal/watch/uptime"
)

const teamsPath = "/api/v1/teams"

// team makes a team whose selector is by tags, with one member.
func (w *world) team(of tenant, name string, tags map[string][]string, who person, as organization.Role) (id string) {
	w.t.Helper()
	if tags == nil {
		tags = map[string][]string{}
	}
	return w.post(of.admin, teamsPath, map[string]any{
		"name": name, "selector": map[string]any{"tags": tags}, "members": []any{map[string]any{"memberId": who.ID, "role": as}},
	}).is(201).object()["id"].(string)
}

// ownersOf are the names of the owners in a list, by what the list's things are called.
func (a answer) owners(called string) string {
	a.t.Helper()
	var words []string
	for _, item := range a.is(200).object()["items"].([]any) {
		item := item.(map[string]any)
		name := "nobody"
		if owner, ok := item["owner"].(map[string]any); ok {
			name = owner["name"].(string)
		}
		words = append(words, item[called].(string)+": "+name)
	}
	return strings.Join(words, ", ")
}

func TestTeams(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.tag(w.ours.admin, ids["orders"], map[string]string{"team": "payments", "env": "prod"}).is(200)
	w.tag(w.ours.admin, ids["billing"], map[string]string{"team": "payments", "env": "test"}).is(200)
	body := func(change map[string]any) map[string]any {
		b := map[string]any{"name": "Payments", "selector": map[string]any{"tags": map[string]any{"team": []string{"payments"}, "env": []string{"prod", "dev"}}},
			"members": []any{map[string]any{"memberId": w.ours.member.ID, "role": "member"}}}
		for key, value := range change {
			b[key] = value
		}
		return b
	}
	made := w.post(w.ours.admin, teamsPath, body(nil)).is(201)
	id := made.object()["id"].(string)
	if at := made.Header().Get("Location"); at != teamsPath+"/"+id {
		t.Errorf("Location is %s", at)
	}
	second := w.post(w.ours.admin, teamsPath, map[string]any{"name": "All of them", "selector": map[string]any{
		"tags": map[string]any{"team": []string{"payments"}}, "instanceIds": []any{ids["ledger"]},
	}}).is(201).object()["id"].(string)
	list := w.get(w.ours.viewer, "/api/v1/instances").owners("name")
	if want := "billing: All of them, ledger: All of them, orders: Payments"; list != want {
		t.Errorf("owners are %s, want %s", list, want)
	}
	var shown struct {
		Items []struct {
			ID, Name                  string
			InstanceCount, OwnedCount *int
			Members                   []struct{ Name, Role string }
		}
	}
	w.get(w.ours.viewer, teamsPath).is(200).decode(&shown)
	if got := fmt.Sprint(shown.Items[0].Name, *shown.Items[0].InstanceCount, *shown.Items[0].OwnedCount, shown.Items[0].Members, shown.Items[1].Name, *shown.Items[1].InstanceCount, *shown.Items[1].OwnedCount); got != "Payments1 1 [{MEMBER member}]All of them3 2" {
		t.Errorf("teams are %s", got)
	}
	for query, want := range map[string]string{"?owner=" + id: "orders: Payments", "?owner=" + second + "&tag=env:test": "billing: All of them", "?owner=" + uuid.NewString(): ""} {
		if got := w.get(w.ours.viewer, "/api/v1/instances"+query).owners("name"); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	// A change with a state that somebody else has changed is refused.
	tag := w.get(w.ours.admin, teamsPath+"/"+id).is(200).Header().Get("ETag")
	patch := func(id, seen string, change map[string]any) answer {
		return w.do(request{method: "PATCH", path: teamsPath + "/" + id, as: w.ours.admin, json: change, header: map[string]string{"If-Match": seen}})
	}
	patch(id, tag, map[string]any{"selector": map[string]any{"tags": map[string]any{"env": []string{"test"}}}}).is(200)
	patch(id, tag, map[string]any{"name": "Late"}).problem(412, "precondition_failed")
	if got := w.get(w.ours.viewer, "/api/v1/instances").owners("name"); got != "billing: Payments, ledger: All of them, orders: All of them" {
		t.Errorf("after the change: %s", got)
	}
	patch(second, "*", map[string]any{"name": "payments"}).problem(409, "team_exists")
	for name, c := range map[string]struct {
		change map[string]any
		at     string
	}{
		"a name of nothing":    {map[string]any{"name": " "}, "#/name"},
		"a key that is none":   {map[string]any{"selector": map[string]any{"tags": map[string]any{"Env": []string{"x"}}}}, "#/selector/tags/Env"},
		"no values":            {map[string]any{"selector": map[string]any{"tags": map[string]any{"env": []string{}}}}, "#/selector/tags/env"},
		"a value that is none": {map[string]any{"selector": map[string]any{"tags": map[string]any{"env": []string{"a", " b"}}}}, "#/selector/tags/env/1"},
		"a foreign server":     {map[string]any{"selector": map[string]any{"instanceIds": []any{w.instance(w.theirs, "x")}}}, "#/selector/instanceIds/0"},
		"a foreign person":     {map[string]any{"members": []any{map[string]any{"memberId": w.theirs.member.ID, "role": "member"}}}, "#/members/0/memberId"},
		"twice the same":       {map[string]any{"members": []any{map[string]any{"memberId": w.ours.member.ID, "role": "member"}, map[string]any{"memberId": w.ours.member.ID, "role": "viewer"}}}, "#/members/1/memberId"},
	} {
		for _, a := range []answer{patch(id, "*", c.change), w.post(w.ours.admin, teamsPath, body(c.change))} {
			if a.Code/100 != 4 || !strings.Contains(a.Body.String(), `"pointer":"`+c.at+`"`) {
				t.Errorf("%s: %d %s", name, a.Code, a.Body)
			}
		}
	}
	w.do(request{method: "DELETE", path: teamsPath + "/" + id, as: w.ours.admin}).is(204)
	w.do(request{method: "DELETE", path: teamsPath + "/" + id, as: w.ours.admin}).problem(404, "not_found")
	if got := w.get(w.ours.viewer, "/api/v1/instances").owners("name"); got != "billing: All of them, ledger: All of them, orders: All of them" {
		t.Errorf("after the end of the first team: %s", got)
	}
	if made, changed, removed := len(w.trail("teamCreated")), len(w.trail("teamChanged")), len(w.trail("teamRemoved")); made != 2 || changed != 1 || removed != 1 {
		t.Errorf("the audit list has %d, %d and %d entries of teams", made, changed, removed)
	}
}

// TestAlertsAndFindingsNameTheOwner of their server.
func TestAlertsAndFindingsNameTheOwner(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instances, alerts := w.alerting()
	w.tag(w.ours.admin, instances["orders-1"], map[string]string{"team": "a"}).is(200)
	a := w.team(w.ours, "A", map[string][]string{"team": {"a"}}, w.ours.viewer, organization.Viewer)
	w.assessed(w.ours, instances["orders-1"], broken("PG-S01", "", "x", nil))
	w.assessed(w.ours, instances["orders-2"], broken("PG-S02", "", "y", nil))
	if got, want := w.get(w.ours.viewer, alertsPath).owners("title"), "Lock waits: A, Disk full: A, disk 100%: nobody, Replica lags: nobody, Silent: nobody, Backup missed: nobody"; got != want {
		t.Errorf("alerts: %s, want %s", got, want)
	}
	if got := w.get(w.ours.viewer, alertsPath+"?owner="+a).titles(); got != "Lock waits, Disk full" {
		t.Errorf("alerts of A: %s", got)
	}
	if got := w.get(w.ours.viewer, alertsPath+"/"+alerts["a"].String()).is(200).object()["owner"]; fmt.Sprint(got) != fmt.Sprint(map[string]any{"id": a, "name": "A"}) {
		t.Errorf("the alert belongs to %v", got)
	}
	if got := w.get(w.ours.member, "/api/v1/findings?sort=firstSeenAt").owners("object"); got != "x: A, y: nobody" {
		t.Errorf("findings: %s", got)
	}
	if got := w.get(w.ours.member, "/api/v1/findings?owner="+a).owners("object"); got != "x: A" {
		t.Errorf("findings of A: %s", got)
	}
}

// TestATeamActsOnItsServers: what somebody with the role team may do follows from their place in
// each of their teams.
func TestATeamActsOnItsServers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instances, alerts := w.alerting()
	for key, name := range map[string]string{"orders-1": "acts", "orders-2": "sees", "billing": "others"} {
		w.tag(w.ours.admin, instances[key], map[string]string{"team": name}).is(200)
	}
	somebody := w.person(w.ours.organization, organization.Team, w.ours.address("team"))
	w.get(somebody, "/api/v1/instances").is(200)
	if got := w.get(somebody, alertsPath).titles(); got != "" {
		t.Errorf("in no team: %s", got)
	}
	w.team(w.ours, "acting", map[string][]string{"team": {"acts"}}, somebody, organization.Member)
	seeing := w.team(w.ours, "seeing", map[string][]string{"team": {"sees"}}, somebody, organization.Viewer)
	if got := w.get(somebody, alertsPath).titles(); got != "Lock waits, Disk full, disk 100%" {
		t.Errorf("in two teams: %s", got)
	}
	w.act(somebody, alerts["a"], "acknowledge").is(200)
	w.act(somebody, alerts["c"], "acknowledge").problem(403, "forbidden")
	for _, unseen := range []string{"d", "f"} {
		w.act(somebody, alerts[unseen], "acknowledge").problem(404, "not_found")
	}
	bulk := w.post(somebody, alertsPath+"/actions", map[string]any{"action": "mute", "ids": []any{alerts["b"], alerts["c"], alerts["d"], uuid.New()}}).is(200).Body.String()
	if got := regexp.MustCompile(`"done":(true|false)|"code":"\w+"`).FindAllString(bulk, -1); strings.Join(got, " ") != `"done":true "done":false "code":"forbidden" "done":false "code":"not_found" "done":false "code":"not_found"` {
		t.Errorf("many: %v of %s", got, bulk)
	}
	w.tag(somebody, instances["orders-1"], map[string]string{"team": "acts", "env": "prod"}).is(200)
	w.tag(somebody, instances["orders-2"], map[string]string{"env": "prod"}).problem(403, "forbidden")
	w.tag(somebody, instances["billing"], map[string]string{"env": "prod"}).problem(404, "not_found")
	tagged := w.post(somebody, "/api/v1/instances/actions", map[string]any{"setTags": map[string]string{"zone": "a"}, "ids": []any{instances["billing"], instances["orders-1"], instances["orders-2"]}}).is(200).Body.String()
	if got := regexp.MustCompile(`"done":(true|false)|"code":"\w+"`).FindAllString(tagged, -1); strings.Join(got, " ") != `"done":false "code":"not_found" "done":true "done":false "code":"forbidden"` {
		t.Errorf("many servers: %v of %s", got, tagged)
	}
	// A token goes by its owner's teams, as they are now.
	token := w.token(somebody, organization.ScopeAlertsRead)
	ask := func() string { return w.do(request{method: "GET", path: alertsPath, token: token}).titles() }
	if got := ask(); got != "Lock waits, Disk full, disk 100%" {
		t.Errorf("by token: %s", got)
	}
	w.do(request{method: "DELETE", path: teamsPath + "/" + seeing, as: w.ours.admin}).is(204)
	if got := ask(); got != "Lock waits, Disk full" {
		t.Errorf("by token after the end of a team: %s", got)
	}
	var session struct {
		Member      struct{ Role string }
		Permissions []string
	}
	w.get(somebody, "/api/v1/session").is(200).decode(&session)
	if session.Member.Role != "team" || !slices.Contains(session.Permissions, "alerts:write") {
		t.Errorf("the session is %+v", session)
	}
}

// TestATeamActsOnAnAlertOfSeveralServers, if it may act on one of them, whichever comes first. What it
// is shown names no server of others.
func TestATeamActsOnAnAlertOfSeveralServers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids, somebody := w.withTeams()
	var firings []alert.Firing
	for title, of := range map[string][]string{"acts": {"ledger", "billing", "orders"}, "sees": {"ledger", "billing"}, "others": {"ledger"}} {
		f := alert.Firing{Key: "watch/" + title, Title: title + alert.TitleServers + strings.Join(of, ", ") + ")", Description: "Free space." + alert.DescriptionServers + "h: " + strings.Join(of, ", "),
			Severity: alert.Critical, InstanceID: ids[of[0]], StartsAt: w.ago(time.Hour), SeenAt: w.clock.Now()}
		for _, name := range of[1:] {
			f.OtherInstanceIDs = append(f.OtherInstanceIDs, ids[name])
		}
		firings = append(firings, f)
	}
	_, mark, err := w.deps.Commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "watch"}, firings)
	must(t, err)
	w.settle(mark)
	called := map[string]string{}
	var listed struct {
		Items []struct{ ID, Title string }
	}
	w.get(w.ours.admin, alertsPath+"?sort=-createdAt").is(200).decode(&listed)
	for _, a := range listed.Items {
		called[strings.Fields(a.Title)[0]] = a.ID
	}
	ask := func(id, action string) answer {
		return w.do(request{method: "POST", path: alertsPath + "/" + id + "/" + action, as: somebody, json: map[string]any{}})
	}
	shown := ask(called["acts"], "acknowledge").is(200)
	if text := shown.Body.String(); strings.Contains(text, "ledger") || strings.Contains(text, ids["ledger"].String()) || shown.object()["title"] != "acts" {
		t.Errorf("shown is %s", text)
	}
	ask(called["sees"], "acknowledge").problem(403, "forbidden")
	ask(called["others"], "acknowledge").problem(404, "not_found")
	bulk := w.post(somebody, alertsPath+"/actions", map[string]any{"action": "mute", "ids": []any{called["acts"], called["sees"], called["others"]}}).is(200).Body.String()
	if got := regexp.MustCompile(`"done":(true|false)|"code":"\w+"`).FindAllString(bulk, -1); strings.Join(got, " ") != `"done":true "done":false "code":"forbidden" "done":false "code":"not_found"` {
		t.Errorf("many: %v of %s", got, bulk)
	}
	if text := w.get(somebody, "/api/v1/audit-events").is(200).Body.String(); !strings.Contains(text, called["acts"]) || strings.Contains(text, called["others"]) || strings.Contains(text, "ledger") {
		t.Errorf("the audit list of somebody is %s", text)
	}
	if whole := w.get(w.ours.admin, alertsPath+"/"+called["acts"]).is(200).object()["title"]; whole != "acts (ledger, billing, orders)" {
		t.Errorf("an administrator is shown %v", whole)
	}
}

// servers fills an organization with those servers of a fleet that keep names, each with a
// database, alerts, findings and measurements that follow from its name.
func (w *world) servers(in tenant, names []string, tags map[string]map[string]string) map[string]uuid.UUID {
	w.t.Helper()
	engines := []domain.Engine{domain.PostgreSQL, domain.SQLServer, domain.Oracle}
	ids := map[string]uuid.UUID{}
	for _, name := range names {
		n := int(name[len(name)-1] - '0')
		host := "host-" + name
		made := w.fed(in, inventory.Item{ExternalID: name, Engine: engines[n%len(engines)], Host: &host, CreatedAt: w.ago(30 * day),
			Databases: []inventory.Database{database("d-"+name, w.ago(30*day))}})
		for key, id := range made {
			ids[key] = id
		}
		w.raised(in, alerting.Item{ExternalID: "open-" + name, Severity: alert.Critical, CreatedAt: w.ago(time.Duration(10+n) * time.Minute), Instance: to(name)},
			alerting.Item{ExternalID: "closed-" + name, CreatedAt: w.ago(time.Duration(20+n) * time.Minute), ResolvedAt: to(w.ago(time.Duration(5+n) * time.Minute)), Instance: to(name), Database: to("d-" + name)})
		instance, database := ids[name], ids[name+"/d-"+name]
		w.measured(in, measurements.Batch{
			Hosts:    []measurements.HostSample{{Host: host, Instances: []uuid.UUID{instance}, At: w.ago(90 * time.Second), CPUPercent: to(float64(10 + n)), MemoryPercent: to(float64(20 + n))}},
			Sessions: []measurements.SessionSample{{Instance: instance, Engine: engines[n%len(engines)], Database: database, At: w.ago(70 * time.Second), Interval: 10 * time.Second, Active: int64(n + 1), Waits: map[string]int64{"Lock": int64(n)}}},
			Statements: []measurements.StatementSample{{Instance: instance, Engine: engines[n%len(engines)], Database: database, At: w.ago(80 * time.Second), Interval: time.Minute,
				Statements: []measurements.Statement{{Key: "key-" + name, Calls: int64(n + 1), TotalMs: float64(100 * n)}}}},
		})
		if engines[n%len(engines)] == domain.PostgreSQL {
			w.assessed(in, instance, broken("PG-S01", "", "object of "+name, nil))
		}
		if len(tags[name]) > 0 {
			w.tag(in.admin, instance, tags[name]).is(200)
		}
	}
	return ids
}

// changing are instants of the database's clock, which the test does not set, and what the log says
// of an event.
var (
	changing  = regexp.MustCompile(`T\d\d:\d\d:\d\d\.\d+Z|[0-9a-f]{64}`)
	positions = regexp.MustCompile(`"(position|version)": *\d+`)
	revoking  = regexp.MustCompile(`"mayRevoke": *(true|false)`) // a member of a team withdraws exceptions, and no other member does
)

// shape is an answer with its ids in the order in which they come, and without what changes with
// each organization. Findings are listed by their ids, which are of the organization: sorted is
// one in the order of its items' texts. An address is not shown to somebody with the role team.
func shape(a answer, sorted bool) string {
	if a.Code == http.StatusForbidden {
		return "forbidden"
	}
	seen := map[string]string{}
	text := changing.ReplaceAllString(regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).ReplaceAllStringFunc(a.Body.String(), func(id string) string {
		if sorted {
			return "id"
		}
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("id-%d", len(seen)+1)
		}
		return seen[id]
	}), "…")
	text = revoking.ReplaceAllString(text, `"mayRevoke":false`)
	text = ownRequestID.ReplaceAllString(positions.ReplaceAllString(text, `"$1":0`), `"requestId":""`)
	if json.Valid([]byte(text)) { // else a file
		text = steadied([]byte(text), "email")
	}
	var list struct{ Items []json.RawMessage }
	if sorted && json.Unmarshal([]byte(text), &list) == nil && list.Items != nil {
		slices.SortFunc(list.Items, func(a, b json.RawMessage) int { return strings.Compare(string(a), string(b)) })
		text += fmt.Sprintf("%s", list.Items)
		text = text[strings.LastIndex(text, `"page"`):]
	}
	return fmt.Sprintf("%d ", a.Code) + text
}

// has are the ids of what an organization has, by the path parameter that takes them and by
// what they are called in each organization.
type has map[string]map[string]string

func (h has) put(parameter, called string, id fmt.Stringer) {
	if h[parameter] == nil {
		h[parameter] = map[string]string{}
	}
	h[parameter][called] = id.String()
}

// oracle is an organization, and one that has only those of its servers that some teams see.
type oracle struct {
	*world
	whole, part tenant
	names, sees []string
	tags        map[string]map[string]string
	ids, theirs map[string]uuid.UUID // of the servers and databases
	all, alike  has
	people      map[organization.Role]person // with the role team, by their place in the teams
	selectors   []map[string][]string
}

// newOracle draws an organization.
func newOracle(t *testing.T) *oracle {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, unlimited)
	o := &oracle{world: w, whole: w.tenant("whole", false), part: w.tenant("part", false), tags: map[string]map[string]string{}, all: has{}, alike: has{},
		people: map[organization.Role]person{}, selectors: []map[string][]string{{"env": {"prod"}, "team": {"a", "b"}}, {"zone": {"x"}}}}
	for i := range 7 {
		name := fmt.Sprintf("server-%d", i)
		o.names = append(o.names, name)
		o.tags[name] = map[string]string{"env": []string{"prod", "test"}[random.IntN(2)], "team": []string{"a", "b", "c"}[random.IntN(3)]}
		if random.IntN(4) == 0 {
			o.tags[name]["zone"] = "x"
		}
		switch i { // whatever is drawn, two are seen and two are not, one of each with findings
		case 0, 2:
			o.tags[name] = map[string]string{"env": "prod", "team": "a"}
		case 1, 3:
			o.tags[name] = map[string]string{"env": "test", "team": "c", "zone": "y"}
		}
		if o.tags[name]["zone"] == "x" || o.tags[name]["env"] == "prod" && o.tags[name]["team"] != "c" {
			o.sees = append(o.sees, name)
		}
	}
	for _, as := range []organization.Role{organization.Viewer, organization.Member} {
		somebody := w.person(o.whole.organization, organization.Team, string(as)+"-in-teams@ours.example")
		w.exec(`UPDATE members SET name = upper($2) WHERE id = $1`, somebody.ID, string(as))
		o.people[as] = somebody
		for i, selector := range o.selectors {
			w.team(o.whole, fmt.Sprintf("%s %d", as, i), selector, somebody, as)
			w.team(o.part, fmt.Sprintf("%s %d", as, i), selector, o.part.of(as), as)
		}
	}
	o.mailing(o.whole)
	o.mailing(o.part)
	o.ids, o.theirs = w.servers(o.whole, o.names, o.tags), w.servers(o.part, o.sees, o.tags)
	w.raised(o.whole, alerting.Item{ExternalID: "of nobody", CreatedAt: w.ago(time.Hour)})
	o.down(o.whole, o.ids, o.names)
	o.down(o.part, o.theirs, o.sees)
	o.noteServers(o.whole, o.ids, o.all)
	o.noteServers(o.part, o.theirs, o.alike)
	return o
}

// mailing has administrators told of all alerts.
func (o *oracle) mailing(in tenant) {
	o.t.Helper()
	channel := o.post(in.admin, "/api/v1/channels", map[string]any{"name": "Administrators", "kind": "email", "administrators": true}).is(201).object()["id"]
	o.post(in.admin, "/api/v1/notification-rules", map[string]any{"name": "All", "match": map[string]any{}, "channelIds": []any{channel}}).is(201)
}

// down has each server down but one, and all of them together.
func (o *oracle) down(in tenant, ids map[string]uuid.UUID, names []string) {
	o.t.Helper()
	var firings []alert.Firing
	for _, name := range names {
		if name == o.names[2] {
			continue
		}
		at := o.ago(time.Duration(name[len(name)-1]) * time.Minute)
		firings = append(firings, alert.Firing{Key: "watch/down/" + name, Title: "down: " + name, Severity: alert.Critical, Rule: &alert.Rule{ID: "down", Name: "down"}, InstanceID: ids[name], StartsAt: at, SeenAt: o.clock.Now()})
	}
	if in.organization.ID == o.whole.organization.ID {
		firings = append(firings, alert.Firing{Key: "watch/down", Title: "down: all", Severity: alert.Critical, Rule: &alert.Rule{ID: "down", Name: "down"}, StartsAt: o.ago(time.Hour), SeenAt: o.clock.Now()})
	}
	firings = append(firings, o.shared(ids, names, "disk a", 1, 0, 2), o.shared(ids, names, "disk b", 2, 3), o.shared(ids, names, "disk c", 1, 3))
	firings = slices.DeleteFunc(firings, func(f alert.Firing) bool { return f.Key == "" })
	_, mark, err := o.deps.Commands.RecordFirings(o.t.Context(), usecase.Actor{OrganizationID: in.organization.ID, Component: "watch"}, firings)
	must(o.t, err)
	o.settle(mark)
	o.followed()
	var told int
	must(o.t, o.deps.DB.Get(&told, `SELECT count(*) FROM deliveries WHERE organization_id = $1`, in.organization.ID))
	if told == 0 {
		o.t.Error("nobody is told of a server that is down")
	}
}

// shared is an alert about those of some servers that an organization has, the first of which it belongs to. Only
// where there are others do its texts name them all, as those of the watch do.
func (o *oracle) shared(ids map[string]uuid.UUID, names []string, title string, servers ...int) (f alert.Firing) {
	at := o.ago(time.Hour)
	all := ""
	for _, n := range servers {
		if name := o.names[n]; slices.Contains(names, name) {
			if all += name + ", "; f.InstanceID == uuid.Nil {
				f.InstanceID = ids[name]
			} else {
				f.OtherInstanceIDs = append(f.OtherInstanceIDs, ids[name])
			}
		}
	}
	if f.InstanceID == uuid.Nil {
		return f
	}
	f.Key, f.Title, f.Description = "watch/volume/"+title, title, "Free space."
	if len(names) == len(o.names) {
		f.Title += alert.TitleServers + all + ")"
		f.Description += alert.DescriptionServers + "h: " + all
	}
	f.Severity, f.Rule, f.StartsAt, f.SeenAt = alert.Critical, &alert.Rule{ID: "volume", Name: "Volume nearly full"}, at, o.clock.Now()
	return f
}

// noteServers notes what was made with the servers.
func (o *oracle) noteServers(in tenant, ids map[string]uuid.UUID, into has) {
	o.t.Helper()
	for name, id := range ids {
		if strings.Contains(name, "/") {
			continue
		}
		into.put("instanceId", name, id)
		into.put("episodeId", name, o.blocked(in, id, o.ago(time.Duration(name[len(name)-1])*time.Minute)))
		into.put("statementId", name, measurements.StatementID(id, measurements.HashStatement(ids[name+"/d-"+name], "key-"+name)))
	}
	for table, parameter := range map[string]string{
		`SELECT id, split_part(title, ' (', 1) AS called FROM alerts_v5.alerts WHERE organization_id = $1`: "alertId", `SELECT id, object AS called FROM findings WHERE organization_id = $1`: "findingId",
	} {
		var rows []struct {
			ID     uuid.UUID
			Called string
		}
		must(o.t, o.deps.DB.Select(&rows, table, in.organization.ID))
		for _, row := range rows {
			into.put(parameter, row.Called, row.ID)
		}
	}
}

// each makes a thing about some servers in both organizations, if the teams see all of them, else
// in the whole one alone: about each server, about pairs, and about no server, which is all. The
// clock goes on between two things, so that both organizations list them in one order.
func (o *oracle) each(parameter string, make func(in tenant, who map[organization.Role]person, servers []uuid.UUID, called string) fmt.Stringer) {
	o.t.Helper()
	subjects := [][]string{nil, {o.names[0], o.names[1]}, {o.names[0], o.names[2]}}
	for _, name := range o.names {
		subjects = append(subjects, []string{name})
	}
	alike := map[organization.Role]person{organization.Viewer: o.part.viewer, organization.Member: o.part.member}
	for _, names := range subjects {
		called := strings.Join(names, " and ")
		servers := func(of map[string]uuid.UUID) []uuid.UUID {
			ids := []uuid.UUID{}
			for _, name := range names {
				ids = append(ids, of[name])
			}
			return ids
		}
		o.all.put(parameter, called, make(o.whole, o.people, servers(o.ids), called))
		if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(o.sees, name) }) {
			o.alike.put(parameter, called, make(o.part, alike, servers(o.theirs), called))
		}
		o.clock.Advance(time.Second)
	}
}

// report makes a report that the people in teams receive if it is about an even number of servers; it
// is Ready unless it is about the last one.
func (o *oracle) report(in tenant, who map[organization.Role]person, servers []uuid.UUID, called string) fmt.Stringer {
	o.t.Helper()
	request := commands.RequestReport{Kind: report.Security, InstanceIDs: servers}
	if len(servers)%2 == 0 {
		request.RecipientIDs = []uuid.UUID{who[organization.Viewer].ID, who[organization.Member].ID}
	}
	as := func(role organization.Role) { // when they became recipients, the people in teams saw all servers
		o.exec(`UPDATE members SET role = $2 WHERE id = ANY ($1)`, []uuid.UUID{o.people[organization.Viewer].ID, o.people[organization.Member].ID}, string(role))
	}
	as(organization.Viewer)
	out, err := o.deps.Commands.RequestReport(o.t.Context(), usecase.Actor{OrganizationID: in.organization.ID, MemberID: in.admin.ID}, request)
	as(organization.Team)
	must(o.t, err)
	o.settle(out.Mark)
	if called != o.names[len(o.names)-1] {
		o.ready(in, out.ReportID, pdfText)
	}
	return out.ReportID
}

// schedule makes a schedule that has run once if it is about one server.
func (o *oracle) schedule(in tenant, _ map[organization.Role]person, servers []uuid.UUID, called string) fmt.Stringer {
	o.t.Helper()
	made := o.post(in.admin, schedulesPath, everyDay(func(b members) { b["name"], b["scope"] = "Of "+called, members{"instanceIds": servers} })).is(201)
	id := uuid.MustParse(made.object()["id"].(string))
	if len(servers) == 1 {
		o.run(in, id, o.clock.Now().Add(day))
	}
	return id
}

// schedulesByTags makes a schedule about servers that the teams see, and one about others.
func (o *oracle) schedulesByTags() {
	o.t.Helper()
	by := func(in tenant, tags map[string][]string) fmt.Stringer {
		made := o.post(in.admin, schedulesPath, everyDay(func(b members) { b["name"], b["scope"] = fmt.Sprint("By ", tags), members{"tags": tags} })).is(201)
		return uuid.MustParse(made.object()["id"].(string))
	}
	o.all.put("scheduleId", "by tags", by(o.whole, o.selectors[0]))
	o.alike.put("scheduleId", "by tags", by(o.part, o.selectors[0]))
	o.all.put("scheduleId", "by tags that are not all theirs", by(o.whole, map[string][]string{"env": {"prod", "test"}}))
	o.clock.Advance(time.Second)
}

// exceptions makes an exception for each server, granted for every third one, and one for all
// servers, which covers those that the teams see as well.
func (o *oracle) exceptions() {
	o.t.Helper()
	for i, name := range append([]string{""}, o.names...) {
		make := func(in tenant, ids map[string]uuid.UUID, into has) {
			id := o.asked(in.admin, func(b map[string]any) {
				if name == "" {
					b["checkId"] = "PG-S02"
				} else {
					b["instanceId"] = ids[name]
				}
			})
			if i%3 == 0 || i == len(o.names) { // findings of one server that is seen and of one that is not stay open
				o.decide(in.admin, id, "grant").is(200)
			}
			into.put("exceptionId", name, uuid.MustParse(id))
		}
		make(o.whole, o.ids, o.all)
		if name == "" || slices.Contains(o.sees, name) {
			make(o.part, o.theirs, o.alike)
		}
		o.clock.Advance(time.Second)
	}
}

// compareAudit holds the audit list against an auditor's where there are only these servers, of
// everything that happened to servers.
func (o *oracle) compareAudit(as organization.Role) {
	o.t.Helper()
	var types []string
	must(o.t, o.deps.DB.Select(&types, `SELECT DISTINCT type FROM audit_v3.entries
		WHERE organization_id = $1 AND type !~ '^(member|organization|team|token|channel|mark|maintenance|objectives|notificationRule|rule|security)'`, o.part.organization.ID))
	for _, wanted := range []string{"instanceTagged", "queued", "ready", "exceptionRequested", "exceptionGranted", "scheduleCreated", "alertAcknowledged", "findingAssigned"} {
		if !slices.Contains(types, wanted) {
			o.t.Errorf("the audit list has none of %s: %v", wanted, types)
		}
	}
	path := "/api/v1/audit-events?" + url.Values{"type": types, "limit": {"200"}}.Encode()
	if diff := gocmp.Diff(shape(o.get(o.part.auditor, path).is(http.StatusOK), false), shape(o.get(o.people[as], path).is(http.StatusOK), false)); diff != "" {
		o.t.Errorf("the audit list as %s (-organization of these servers +team):\n%s", as, diff)
	}
}

// handled has somebody act on an alert and a finding of each server.
func (o *oracle) handled(in tenant, of has, names []string) {
	o.t.Helper()
	for _, name := range names {
		o.act(in.admin, uuid.MustParse(of["alertId"]["open-"+name]), "acknowledge").is(200)
		if id := of["findingId"]["object of "+name]; id != "" {
			o.patch(in.admin, "/api/v1/findings/"+id, members{"assigneeId": in.admin.ID}).is(200)
		}
	}
}

// marked sets a mark for the tags of each server. Everyone who sees a server with these tags sees the
// mark. Those that a team sees and may not remove are left out: a server of theirs has more tags.
func (o *oracle) marked() {
	o.t.Helper()
	for _, name := range o.names {
		tags, seen := o.tags[name], slices.Contains(o.sees, name)
		with := func(other string) bool {
			for key, value := range tags {
				if o.tags[other][key] != value {
					return false
				}
			}
			return true
		}
		if !seen && slices.ContainsFunc(o.sees, with) {
			continue
		}
		o.mark(o.whole.admin, "Deploy "+name, o.clock.Now(), tags)
		if seen {
			o.mark(o.part.admin, "Deploy "+name, o.clock.Now(), tags)
		}
		o.clock.Advance(time.Second)
	}
}

// maintained announces a maintenance window of each server.
func (o *oracle) maintained() {
	o.t.Helper()
	for _, name := range o.names {
		announce := func(in tenant, ids map[string]uuid.UUID) fmt.Stringer {
			return uuid.MustParse(o.announce(in.admin, "Work on "+name, selecting(nil, ids[name])))
		}
		o.all.put("windowId", name, announce(o.whole, o.ids))
		if slices.Contains(o.sees, name) {
			o.alike.put("windowId", name, announce(o.part, o.theirs))
		}
		o.clock.Advance(time.Second)
	}
}

// objectives sets one of each server, which is up.
func (o *oracle) objectives() {
	o.t.Helper()
	set := func(in tenant, ids map[string]uuid.UUID, names []string) {
		items, states := []any{}, map[uuid.UUID]status.Status{}
		for _, name := range names {
			since := o.ago(time.Duration(name[len(name)-1]) * time.Second)
			items = append(items, aims(99.9, ids[name]))
			states[ids[name]] = status.Status{State: status.Up, Since: &since}
		}
		o.setObjectives(in.admin, items...).is(200)
		must(o.t, (&uptime.Recorder{}).Record(o.t.Context(), o.deps.DB, o.clock.Now(), map[uuid.UUID]map[uuid.UUID]status.Status{in.organization.ID: states}))
	}
	set(o.whole, o.ids, o.names)
	set(o.part, o.theirs, o.sees)
	o.clock.Advance(time.Second)
}

// TestATeamSeesAnOrganizationOfItsServers is the oracle of teams: every GET that somebody with the
// role team may call is answered as in an organization that holds only the servers of their teams.
// What belongs to other servers is answered like what nobody has.
func TestATeamSeesAnOrganizationOfItsServers(t *testing.T) {
	t.Parallel()
	o := newOracle(t)
	o.each("reportId", o.report)
	o.handled(o.whole, o.all, o.names)
	o.handled(o.part, o.alike, o.sees)
	o.each("scheduleId", o.schedule)
	o.exceptions()
	o.marked()
	o.maintained()
	o.objectives()
	o.schedulesByTags()
	for as := range o.people {
		o.compareAudit(as)
	}
	o.busy(o.whole, o.ids, o.names)
	o.busy(o.part, o.theirs, o.sees)
	o.roll()
	for _, as := range []organization.Role{organization.Viewer, organization.Member} {
		somebody, alike := o.people[as], o.part.of(as)
		walked := 0
		compare := func(what, ours, others string) {
			t.Helper()
			walked++
			sorted := strings.Contains(ours, "/findings")
			if diff := gocmp.Diff(shape(o.get(alike, others), sorted), shape(o.get(somebody, ours), sorted)); diff != "" {
				t.Errorf("%s as %s (-organization of these servers +team):\n%s", what, as, diff)
			}
		}
		for operation, query := range o.asksOfTeams() {
			compare(operation, query, query)
			if all := o.get(o.whole.of(as), query); slices.Contains(strings.Fields(ofNoServers), operation) != (shape(all, false) == shape(o.get(somebody, query), false)) && all.Code == http.StatusOK {
				t.Errorf("%s as %s: whether it tells of servers is wrong, the whole organization has %s", operation, as, all.Body)
			}
			for _, by := range o.kindsOf(operation, "by") {
				compare(operation+" by "+by, otherwise(query, "by", by), otherwise(query, "by", by))
			}
		}
		if walked < 18 {
			t.Errorf("only %d lists and figures were compared", walked)
		}
		o.walkThings(as, compare)
		for _, name := range o.names {
			compare("alerts found by "+name, alertsPath+"?q="+name, alertsPath+"?q="+name)
			filter := func(of map[string]uuid.UUID) string { return "?instanceId=" + of[name].String() }
			if slices.Contains(o.sees, name) {
				compare("alerts of "+name, alertsPath+filter(o.ids), alertsPath+filter(o.theirs))
			} else if got := o.get(somebody, alertsPath+filter(o.ids)).titles(); got != "" {
				t.Errorf("alerts of %s, which %s does not see: %s", name, as, got)
			}
		}
	}
}

// ofNoServers are the operations whose answer is the same whatever servers there are. The answers of all others
// differ from those about the whole organization, so none of them is compared while it is empty.
const ofNoServers = "listChecks listViews listWatchRules"

// kindsOf are the values that a parameter of an operation may have.
func (w *world) kindsOf(operation, parameter string) (values []string) {
	w.t.Helper()
	for _, r := range w.server.contract.Routes {
		if r.Operation.OperationID != operation {
			continue
		}
		if p := r.Operation.Parameters.GetByInAndName("query", parameter); p != nil {
			for _, value := range p.Schema.Value.Enum {
				values = append(values, fmt.Sprint(value))
			}
		}
	}
	return values
}

// otherwise is an address with another value of a parameter.
func otherwise(address, parameter, value string) string {
	path, query, _ := strings.Cut(address, "?")
	values, _ := url.ParseQuery(query)
	values.Set(parameter, value)
	return path + "?" + values.Encode()
}

// busy has a sample of each server's sessions of a moment ago: they wait and work for users of their own, and there were
// deadlocks.
func (o *oracle) busy(in tenant, ids map[string]uuid.UUID, names []string) {
	o.t.Helper()
	for _, name := range names {
		n := int64(name[len(name)-1] - '0')
		engine := []domain.Engine{domain.PostgreSQL, domain.SQLServer, domain.Oracle}[n%3]
		wait := map[domain.Engine]string{domain.PostgreSQL: "Lock", domain.SQLServer: "LCK_M_X", domain.Oracle: "Application"}[engine]
		doing := measurements.Doing{State: measurements.Waits, Wait: wait, Event: "event", Statement: "key-" + name, User: "user-" + name, Application: "app-" + name, Client: "client-" + name, Sessions: n + 1}
		o.measured(in, measurements.Batch{Sessions: []measurements.SessionSample{{
			Instance: ids[name], Engine: engine, Database: ids[name+"/d-"+name], At: o.ago(time.Second), Interval: time.Minute,
			Active: n + 2, Idle: n, Waiting: n + 1, Waits: map[string]int64{wait: n + 1}, Doing: []measurements.Doing{doing}, Deadlocks: to(n + 1),
		}}})
	}
}

// walkThings compares every GET of one thing, which takes its id.
func (o *oracle) walkThings(as organization.Role, compare func(what, ours, others string)) {
	o.t.Helper()
	compared, unseen := map[string]int{}, map[string]int{}
	for key, r := range o.server.contract.Routes {
		_, parameter, takes := strings.Cut(r.Path, ":")
		parameter, _, _ = strings.Cut(parameter, "/")
		if !takes || r.Method != http.MethodGet || !slices.Contains(r.Roles, organization.Team) || parameter == "teamId" {
			continue // teams are the organization's
		}
		if parameter == "checkId" { // checks are the installation's; what they found is not
			path := strings.Replace(r.Path, ":checkId", "PG-S01", 1)
			if r.Operation.OperationID == "getControl" {
				path += "?" + url.Values{"from": {o.ago(day).Format(time.RFC3339)}, "to": {o.clock.Now().Format(time.RFC3339)}}.Encode()
			}
			compare(key, path, path)
			continue
		}
		if parameter == "watchRule" { // the organization's
			path := strings.Replace(r.Path, ":watchRule", "volume", 1)
			compare(key, path, path)
			continue
		}
		if o.all[parameter] == nil {
			o.t.Errorf("%s: this test knows no %s", key, parameter)
		}
		query := ""
		if id := r.Operation.OperationID; id == "getStatement" || id == "getInstanceTransactions" {
			query = windowed(o.ago(day).Format(time.RFC3339), o.clock.Now().Format(time.RFC3339), "1h")
		}
		files := []string{""}
		if strings.Contains(r.Path, ":fileName") {
			files = []string{report.PDFFile, report.ProofFile, report.InputsFile, "findings.csv"}
		}
		for called, id := range o.all[parameter] {
			for _, file := range files {
				path := func(id string) string {
					return pathSegment.ReplaceAllString(strings.ReplaceAll(r.Path, ":fileName", file), id) + query
				}
				if alike, seen := o.alike[parameter][called]; seen {
					compared[key]++
					compare(key+" "+called+" "+file, path(id), path(alike))
					continue
				}
				unseen[key]++
				unknown := unknownOf(id)
				if got, want := withoutIDs(o.get(o.people[as], path(id)), id), withoutIDs(o.get(o.people[as], path(unknown)), unknown); got != want {
					o.t.Errorf("%s %s %s, which %s does not see: %s, want %s", key, called, file, as, got, want)
				}
			}
		}
		if compared[key] == 0 || unseen[key] == 0 {
			o.t.Errorf("%s: compared %d, and %d that are not seen", key, compared[key], unseen[key])
		}
	}
}

// asksOfTeams are the addresses of all lists and figures that the role team may ask for, by operation.
func (w *world) asksOfTeams() map[string]string {
	w.t.Helper()
	asks := map[string]string{}
	apart := "getSession listSessions listApiTokens listMembers getOrganization listTeams listAuditEvents" // of the person, and of the organization whatever its servers
	for key, r := range w.server.contract.Routes {
		path, get := strings.CutPrefix(key, "GET ")
		if !get || !slices.Contains(r.Roles, organization.Team) || strings.Contains(path, ":") || slices.Contains(strings.Fields(apart), r.Operation.OperationID) {
			continue
		}
		query := w.filtered(r.Operation)
		if query == nil {
			query = url.Values{}
		}
		asks[r.Operation.OperationID] = path + "?" + query.Encode()
	}
	return asks
}

// TestAMemberOfATeamSeesOnlyItsServers: a request for something that belongs to another server gets the answer
// for something that does not exist, by every operation that takes an id.
func TestAMemberOfATeamSeesOnlyItsServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	has := w.belongings(w.ours)
	somebody := w.person(w.ours.organization, organization.Team, "team@ours.example")
	mine := w.instance(w.ours, "mine")
	w.tag(w.ours.admin, mine, map[string]string{"team": "mine"}).is(200)
	w.team(w.ours, "mine", map[string][]string{"team": {"mine"}}, somebody, organization.Member)
	bodies := map[string]string{"changeInstance": `{"tags":{}}`, "changeFinding": `{"ticketUrl":null}`, "changeSchedule": `{"name":"x"}`}
	tried := 0
	for key, r := range w.server.contract.Routes {
		_, parameter, _ := strings.Cut(r.Path, ":")
		parameter, _, _ = strings.Cut(parameter, "/")
		if !slices.Contains([]string{"instanceId", "alertId", "findingId", "statementId", "episodeId", "reportId", "exceptionId", "scheduleId"}, parameter) {
			continue
		}
		query := ""
		if id := r.Operation.OperationID; id == "getStatement" || id == "getInstanceTransactions" {
			query = windowed(w.ago(day).Format(time.RFC3339), w.clock.Now().Format(time.RFC3339), "1h")
		}
		ask := func(id string) string {
			path := pathSegment.ReplaceAllString(strings.ReplaceAll(r.Path, ":fileName", "report.pdf"), id) + query
			return withoutIDs(w.do(request{method: r.Method, path: path, as: somebody, body: bodies[r.Operation.OperationID]}), id)
		}
		unseen, unknown := ask(has[parameter]), ask(unknownOf(has[parameter]))
		if unseen != unknown || !strings.HasPrefix(unseen, "404 ") && !strings.HasPrefix(unseen, "403 ") {
			t.Errorf("%s\nunseen:  %s\nunknown: %s", key, unseen, unknown)
		}
		if strings.HasPrefix(unseen, "404 ") {
			tried++
		}
	}
	if tried < 10 {
		t.Errorf("only %d operations were tried", tried)
	}
	var shown struct{ Items []json.RawMessage }
	if w.get(somebody, "/api/v1/instances").is(http.StatusOK).decode(&shown); len(shown.Items) != 1 {
		t.Errorf("%d servers are seen", len(shown.Items))
	}
}

func unlimited(d *Dependencies) { d.Unlimited = true }

// withTeams makes three servers. Somebody with the role team may act on orders, sees billing, and does not see ledger.
func (w *world) withTeams() (ids map[string]uuid.UUID, somebody person) {
	w.t.Helper()
	ids = w.fleetOfThree(w.ours)
	for name, of := range map[string]string{"orders": "acts", "billing": "sees", "ledger": "others"} {
		w.tag(w.ours.admin, ids[name], map[string]string{"team": of, "env": "prod"}).is(200)
	}
	somebody = w.person(w.ours.organization, organization.Team, w.ours.address("team"))
	w.team(w.ours, "acting", map[string][]string{"team": {"acts"}}, somebody, organization.Member)
	w.team(w.ours, "seeing", map[string][]string{"team": {"sees"}}, somebody, organization.Viewer)
	return ids, somebody
}

// TestATeamRequestsReportsOfItsServers: a request lies within the servers on which a team's member may
// act, and without a scope it is about all of them. Others' servers are unknown.
func TestATeamRequestsReportsOfItsServers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids, somebody := w.withTeams()
	ask := func(as person, scope map[string]any) answer {
		return w.post(as, "/api/v1/reports", map[string]any{"kind": "Security", "scope": scope})
	}
	about := func(a answer) string {
		var got struct {
			Reused bool
			Report struct {
				Scope struct{ InstanceIDs []string }
			}
		}
		a.decode(&got)
		return fmt.Sprint(got.Reused, got.Report.Scope.InstanceIDs)
	}
	orders := []string{ids["orders"].String()}
	whole := ask(w.ours.admin, map[string]any{}).is(202).object()["report"].(map[string]any)["id"].(string)
	ask(w.ours.admin, map[string]any{"tags": map[string]any{"env": []string{"prod"}}}).is(202)
	if got, want := about(ask(somebody, map[string]any{}).is(202)), fmt.Sprint(false, orders); got != want {
		t.Errorf("without a scope: %s, want %s", got, want)
	}
	if got, want := about(ask(somebody, map[string]any{"tags": map[string]any{"env": []string{"prod"}}}).is(202)), fmt.Sprint(false, orders); got != want {
		t.Errorf("by tags: %s, want %s", got, want)
	}
	if got, want := about(ask(w.ours.member, map[string]any{"instanceIds": orders}).is(200)), fmt.Sprint(true, orders); got != want {
		t.Errorf("another member's request: %s, want %s", got, want)
	}
	ask(somebody, map[string]any{"instanceIds": []any{ids["orders"], ids["billing"]}}).problem(403, "forbidden")
	foreign, unknown := ask(somebody, map[string]any{"instanceIds": []any{ids["ledger"]}}), ask(somebody, map[string]any{"instanceIds": []any{uuid.New()}})
	if foreign.problem(422, "instance_not_in_organization"); withoutIDs(foreign, "-") != withoutIDs(unknown, "-") {
		t.Errorf("another's server: %s, want %s", foreign.Body, unknown.Body)
	}
	ask(somebody, map[string]any{"tags": map[string]any{"team": []string{"others", "sees"}}}).problem(422, "instance_not_in_organization")
	w.post(somebody, "/api/v1/reports", map[string]any{"kind": "InstanceScorecard"}).problem(422, "scorecard_needs_one_instance")
	var listed struct {
		Items []struct{ ID, ScopeLabel string }
	}
	if w.get(somebody, "/api/v1/reports?kind=Security").is(200).decode(&listed); len(listed.Items) != 2 {
		t.Errorf("listed are %+v", listed.Items)
	}
	w.post(somebody, "/api/v1/exports/seen", map[string]any{"upTo": whole}).problem(404, "not_found")
	w.post(somebody, "/api/v1/exports/seen", map[string]any{"upTo": listed.Items[0].ID}).is(204)

	// A file of a report that reaches further is nobody's.
	w.ready(w.ours, uuid.MustParse(whole), pdfText)
	known := func(as person, text string) bool {
		return w.do(request{method: "POST", path: "/api/v1/reports/verify", as: as, body: text, header: map[string]string{"Content-Type": "application/pdf"}}).is(200).object()["known"].(bool)
	}
	if known(somebody, pdfText) || !known(w.ours.viewer, pdfText) {
		t.Error("somebody verifies the report of all servers, or the organization does not")
	}
	w.ready(w.ours, uuid.MustParse(listed.Items[0].ID), pdfText+"their own")
	if !known(somebody, pdfText+"their own") {
		t.Error("somebody does not verify a report of their servers")
	}

	// Who belongs to no team any more sees and requests nothing.
	for _, id := range []string{teamNamed(w, "seeing"), teamNamed(w, "acting")} {
		w.do(request{method: "DELETE", path: teamsPath + "/" + id, as: w.ours.admin}).is(204)
	}
	ask(somebody, map[string]any{}).problem(403, "forbidden")
	if w.get(somebody, "/api/v1/reports?kind=Security").is(200).decode(&listed); len(listed.Items) != 0 {
		t.Errorf("listed to somebody in no team are %+v", listed.Items)
	}
	if items := w.get(somebody, "/api/v1/exports").is(200).object()["items"].([]any); len(items) != 0 {
		t.Errorf("the tray of somebody in no team has %v", items)
	}
}

// TestATeamSeesNoAddresses: somebody with the role team sees others' addresses as little as a viewer, also
// where their teams let them act; nor do they find members by them.
func TestATeamSeesNoAddresses(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids, somebody := w.withTeams()
	id := w.post(w.ours.member, "/api/v1/reports", map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []any{ids["orders"]}}}).is(202).object()["report"].(map[string]any)["id"].(string)
	address := w.ours.member.Email
	for _, path := range []string{"/api/v1/members", "/api/v1/reports/" + id} {
		if shown := w.get(w.ours.admin, path).is(200); !strings.Contains(shown.Body.String(), address) {
			t.Errorf("%s does not show an administrator %s", path, address)
		}
		if shown := w.get(somebody, path).is(200); strings.Contains(shown.Body.String(), address) {
			t.Errorf("%s shows %s", path, address)
		}
	}
	if found := w.get(somebody, "/api/v1/members?q="+url.QueryEscape(address)).is(200).object()["items"].([]any); len(found) != 0 {
		t.Errorf("found by the address: %v", found)
	}
}

// teamNamed is the id of a team.
func teamNamed(w *world, name string) (id string) {
	w.t.Helper()
	must(w.t, w.deps.DB.Get(&id, `SELECT id FROM teams WHERE organization_id = $1 AND name = $2`, w.ours.organization.ID, name))
	return id
}

// TestATeamSchedulesReportsOfItsServers: a schedule of somebody with the role team is about servers on
// which they may act, when it is made and whenever it is due.
func TestATeamSchedulesReportsOfItsServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ids, somebody := w.withTeams()
	make := func(as person, scope members) answer {
		return w.post(as, schedulesPath, everyDay(func(b members) { b["scope"] = scope }))
	}
	of := func(as person, scope members) uuid.UUID {
		t.Helper()
		return uuid.MustParse(make(as, scope).is(201).object()["id"].(string))
	}
	byTags := members{"tags": members{"env": []string{"prod"}}}
	all, tagged := of(somebody, members{}), of(somebody, byTags)
	admins, whole, reaching := of(w.ours.admin, members{"instanceIds": []any{ids["orders"], ids["billing"]}}), of(w.ours.admin, members{}), of(w.ours.admin, byTags)
	make(somebody, members{"instanceIds": []any{ids["billing"]}}).problem(403, "forbidden")
	foreign, unknown := make(somebody, members{"instanceIds": []any{ids["ledger"]}}), make(somebody, members{"instanceIds": []any{uuid.New()}})
	if foreign.problem(422, "instance_not_in_organization"); withoutIDs(foreign, "-") != withoutIDs(unknown, "-") {
		t.Errorf("another's server: %s, want %s", foreign.Body, unknown.Body)
	}
	path := func(id uuid.UUID) string { return schedulesPath + "/" + id.String() }
	w.patch(somebody, path(all), members{"scope": members{"instanceIds": []any{ids["ledger"]}}}).problem(422, "instance_not_in_organization")
	w.patch(somebody, path(admins), members{"name": "mine"}).problem(403, "forbidden")
	w.do(request{method: "DELETE", path: path(admins), as: somebody}).problem(403, "forbidden")
	for _, unseen := range []uuid.UUID{whole, reaching} {
		w.patch(somebody, path(unseen), members{"name": "mine"}).problem(404, "not_found")
		w.do(request{method: "DELETE", path: path(unseen), as: somebody}).problem(404, "not_found")
	}
	if page := w.get(somebody, schedulesPath+"?pageSize=2&page=2").is(200).object()["page"].(map[string]any); page["totalItems"] != 3.0 {
		t.Errorf("the second page of three: %v", page)
	}
	tomorrow := w.clock.Now().Add(day)
	for name, id := range map[string]uuid.UUID{"without a scope": all, "by tags": tagged} {
		w.run(w.ours, id, tomorrow)
		var scope string
		must(t, w.deps.DB.Get(&scope, `SELECT scope ->> 'instanceIds' FROM report_history_v2.reports WHERE organization_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1`, w.ours.organization.ID))
		if want := `["` + ids["orders"].String() + `"]`; scope != want {
			t.Errorf("%s it is about %s, want %s", name, scope, want)
		}
		w.exec(`DELETE FROM report_claims`)
	}
	of2 := of(somebody, members{"instanceIds": []any{ids["orders"]}})
	w.do(request{method: "DELETE", path: teamsPath + "/" + teamNamed(w, "acting"), as: w.ours.admin}).is(204)
	w.get(somebody, path(of2)).problem(404, "not_found")
	for name, id := range map[string]uuid.UUID{"without a scope": all, "by tags": tagged, "by id": of2} {
		w.run(w.ours, id, tomorrow.Add(day))
		var status string
		must(t, w.deps.DB.Get(&status, `SELECT status FROM schedules_v1.runs WHERE schedule_id = $1 ORDER BY due_at DESC LIMIT 1`, id))
		if status != string(schedule.StatusMissed) {
			t.Errorf("%s, after its owner left the team, it is %s", name, status)
		}
	}
}

// TestAReportIsMailedOnlyToReadersOfItsServers: a recipient with the role team, named or of a team, must see
// all servers of the report. A schedule leaves out recipients who no longer do when it is due, and each report
// of a team goes only to members who see it.
func TestAReportIsMailedOnlyToReadersOfItsServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ids, somebody := w.withTeams()
	acting, seeing := teamNamed(w, "acting"), teamNamed(w, "seeing")
	request := func(change members) members {
		body := members{"kind": "Security"}
		maps.Copy(body, change)
		return body
	}
	named, ofTeam := members{"recipientIds": []any{w.ours.viewer.ID, somebody.ID}}, members{"teamIds": []any{acting}}
	of := func(who members, scope members) members {
		who = maps.Clone(who)
		who["scope"] = scope
		return who
	}
	within, beyond := members{"instanceIds": []any{ids["orders"], ids["billing"]}}, members{"instanceIds": []any{ids["orders"], ids["ledger"]}}
	scheduled := func(change members) answer {
		return w.post(w.ours.admin, schedulesPath, everyDay(func(b members) { maps.Copy(b, change) }))
	}
	for name, ask := range map[string]func(members) answer{
		"a request":  func(change members) answer { return w.post(w.ours.admin, "/api/v1/reports", request(change)) },
		"a schedule": scheduled,
	} {
		for what, scope := range map[string]members{"two servers": beyond, "all": {}, "tags": {"tags": members{"env": []string{"prod"}}}} {
			for who, place := range map[*members]string{&named: "body #/recipientIds/1 recipient_sees_less", &ofTeam: "body #/teamIds recipient_sees_less"} {
				if got := ask(of(*who, scope)).problem(422, "recipient_sees_less").places(); !slices.Equal(got, []string{place}) {
					t.Errorf("%s, %s: %v, want %s", name, what, got, place)
				}
			}
		}
		for _, who := range []members{named, ofTeam} {
			if got := ask(of(who, within)); got.Code >= 300 {
				t.Errorf("%s within their servers: %d %s", name, got.Code, got.Body)
			}
		}
	}
	w.exec(`DELETE FROM report_claims`)
	id := func(a answer) uuid.UUID { return uuid.MustParse(a.is(201).object()["id"].(string)) }
	later := []uuid.UUID{
		id(scheduled(of(named, within))), id(scheduled(of(ofTeam, within))),
		id(scheduled(members{"perTeam": true, "recipientIds": []any{w.ours.viewer.ID, somebody.ID}, "teamIds": []any{acting, seeing}})),
	}
	var last int64
	mailed := func() (n [2]int) { // reports that were requested since: for somebody, and all
		must(t, w.deps.DB.QueryRowContext(t.Context(), `SELECT count(*) FILTER (WHERE convert_from(data, 'UTF8')::jsonb -> 'recipientIds' ? $2), count(*)
			FROM events WHERE type = 'report.queued' AND position > $1`, last, somebody.ID.String()).Scan(&n[0], &n[1]))
		must(t, w.deps.DB.Get(&last, `SELECT max(position) FROM events WHERE type = 'report.queued'`))
		w.exec(`DELETE FROM report_claims`)
		return n
	}
	mailed()
	runs := func(at time.Time) (n [3][2]int) {
		for i, id := range later {
			w.run(w.ours, id, at)
			n[i] = mailed()
		}
		return n
	}
	if got := runs(w.clock.Now().Add(day)); got != [3][2]int{{1, 1}, {1, 1}, {2, 2}} {
		t.Errorf("of each schedule somebody gets %v reports", got)
	}
	w.patch(w.ours.admin, teamsPath+"/"+seeing, members{"members": []any{}}).is(200) // billing is out of sight
	if got := runs(w.clock.Now().Add(2 * day)); got != [3][2]int{{0, 1}, {0, 1}, {1, 2}} {
		t.Errorf("of each schedule somebody who left a team gets %v reports", got)
	}
}
