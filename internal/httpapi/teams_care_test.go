package httpapi

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/domain/organization"
	"muster/internal/report/control/evidence"
)

// TestATeamRequestsAndWithdrawsExceptions: for servers on which its member may act, and for no others. An
// exception for all servers is administrators'.
func TestATeamRequestsAndWithdrawsExceptions(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids, somebody := w.withTeams()
	of := func(name string) func(map[string]any) {
		return func(b map[string]any) { b["instanceId"] = ids[name] }
	}
	ask := func(change ...func(map[string]any)) answer {
		return w.post(somebody, "/api/v1/exceptions", w.asking(change...))
	}
	own := ask(of("orders")).is(201).object()["id"].(string)
	ask(of("billing")).problem(403, "forbidden")
	ask().problem(403, "forbidden")
	unseen, unknown := ask(of("ledger")), ask(func(b map[string]any) { b["instanceId"] = uuid.New() })
	if unseen.problem(422, "instance_not_in_organization"); withoutIDs(unseen, "-") != withoutIDs(unknown, "-") {
		t.Errorf("another's server: %s, want %s", unseen.Body, unknown.Body)
	}
	made := map[string]string{"all": w.asked(w.ours.admin)}
	for name := range ids {
		if !strings.Contains(name, "/") {
			made[name] = w.asked(w.ours.admin, of(name))
		}
	}
	w.decide(w.ours.admin, made["orders"], "grant").is(200)
	listed := func(query string) string {
		var names []string
		for _, item := range w.get(somebody, "/api/v1/exceptions"+query).is(200).object()["items"].([]any) {
			id := item.(map[string]any)["id"].(string)
			name := "own"
			for called, known := range made {
				if id == known {
					name = called
				}
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	for query, want := range map[string]string{
		"": "all billing orders own", "?status=granted": "orders", "?instanceId=" + ids["billing"].String(): "billing",
		"?instanceId=" + ids["ledger"].String(): "", "?tag=env:prod": "billing orders own", "?tag=team:others": "",
	} {
		if got := listed(query); got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	w.decide(somebody, made["orders"], "grant").problem(403, "forbidden")
	w.decide(somebody, own, "revoke").is(200)
	w.decide(somebody, made["orders"], "revoke").is(200)
	w.decide(somebody, made["billing"], "revoke").problem(403, "forbidden")
	w.decide(somebody, made["all"], "revoke").problem(403, "forbidden")
	w.decide(somebody, made["ledger"], "revoke").problem(404, "not_found")

	// An administrator's token needs the scope admin, as before; a team member's cannot have it.
	withdraws := func(who person) answer {
		return w.do(request{method: "POST", path: "/api/v1/exceptions/" + w.asked(w.ours.admin, of("orders")) + "/revoke", token: w.token(who, organization.ScopeReportsCreate)})
	}
	withdraws(w.ours.admin).problem(403, "forbidden")
	withdraws(somebody).is(200)
	w.decide(w.ours.member, made["billing"], "revoke").problem(403, "forbidden")
}

// TestATeamMakesEvidenceOfItsServers: controls and evidence count the servers of somebody's teams only,
// and tell of exceptions for these and for all servers.
func TestATeamMakesEvidenceOfItsServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	_, somebody := w.withTeams()
	ids := w.servers(w.ours, []string{"mine-3", "seen-6", "others-9"}, map[string]map[string]string{
		"mine-3": {"team": "acts"}, "seen-6": {"team": "sees"}, "others-9": {"team": "others"},
	})
	for _, change := range []func(map[string]any){
		func(map[string]any) {},
		func(b map[string]any) { b["instanceId"] = ids["seen-6"] },
		func(b map[string]any) { b["instanceId"], b["reason"] = ids["others-9"], "a secret of others" },
	} {
		w.decide(w.ours.admin, w.asked(w.ours.admin, change), "grant").is(200)
	}
	now := time.Now().UTC()
	body := members{"check": "PG-S01", "from": now.Add(-time.Hour), "to": now.Add(time.Minute)}
	counted := func(body members) (string, string) {
		t.Helper()
		given := w.evidenceFor(somebody, body, "").is(200)
		_, d, err := evidence.Parse(given.Body.Bytes())
		must(t, err)
		var names []string
		for _, item := range d.Items {
			names = append(names, item.Instance.Name)
		}
		return fmt.Sprint(names, len(d.Exceptions)), given.Body.String()
	}
	got, whole := counted(body)
	if want := "[mine-3 orders seen-6] 2"; got != want || strings.Contains(whole, "secret") || strings.Contains(whole, "others") {
		t.Errorf("evidence of all is about %s, want %s: %s", got, want, whole)
	}
	body["instanceIds"] = []uuid.UUID{ids["seen-6"]}
	if got, _ := counted(body); got != "[seen-6] 2" {
		t.Errorf("evidence of one is about %s", got)
	}
	refused := func(id uuid.UUID) string {
		body["instanceIds"] = []uuid.UUID{ids["seen-6"], id}
		a := w.evidenceFor(somebody, body, "")
		a.problem(422, "instance_not_in_organization")
		return withoutIDs(a, id.String())
	}
	if unseen, unknown := refused(ids["others-9"]), refused(uuid.New()); unseen != unknown {
		t.Errorf("another's server: %s, want %s", unseen, unknown)
	}
	w.clock.Advance(time.Minute) // past the database's clock, by which exceptions were granted
	control := w.get(somebody, "/api/v1/controls/PG-S01?"+url.Values{"from": {now.Add(-time.Hour).Format(time.RFC3339)}, "to": {now.Add(time.Minute).Format(time.RFC3339)}}.Encode()).is(200)
	if n := len(control.object()["exceptions"].([]any)); n != 2 || strings.Contains(control.Body.String(), "others") {
		t.Errorf("the control tells of %d exceptions: %s", n, control.Body)
	}
	nowhere := w.person(w.ours.organization, organization.Team, "nowhere@ours.example")
	w.team(w.ours, "nowhere", map[string][]string{"team": {"nobody"}}, nowhere, organization.Member)
	delete(body, "instanceIds")
	w.evidenceFor(nowhere, body, "").problem(422, "out_of_range")
}

// TestATeamVerifiesEvidenceOfItsServers: a file of evidence that reaches beyond their servers is unknown to
// somebody with the role team, as is one of the whole organization.
func TestATeamVerifiesEvidenceOfItsServers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids, somebody := w.withTeams()
	of := func(names ...string) string {
		body := members{"check": "PG-S01", "from": w.ago(time.Hour), "to": w.ago(0)}
		var instances []uuid.UUID
		for _, name := range names {
			instances = append(instances, ids[name])
		}
		if len(names) > 0 {
			body["instanceIds"] = instances
		}
		return w.evidenceFor(w.ours.auditor, body, "").is(200).Body.String()
	}
	for name, c := range map[string]struct {
		file  string
		known bool
	}{"of their servers": {of("orders", "billing"), true}, "of another, too": {of("orders", "ledger"), false}, "of all": {of(), false}} {
		for _, as := range []person{somebody, w.ours.viewer} {
			said := w.do(request{method: "POST", path: "/api/v1/reports/verify", as: as, body: c.file, header: map[string]string{"Content-Type": "application/pdf"}}).is(200).object()
			if want := c.known || as.ID == w.ours.viewer.ID; said["known"] != want {
				t.Errorf("%s, as %s: known is %v", name, as.Name, said["known"])
			}
		}
	}
}

// TestATeamAuditsItsServersAndItself: somebody with the role team reads what happened to their servers,
// and what they did; nothing of other people and other servers.
func TestATeamAuditsItsServersAndItself(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids, somebody := w.withTeams()
	w.token(somebody, organization.ScopeAuditRead)
	other := w.person(w.ours.organization, organization.Team, w.ours.address("other"))
	w.token(other, organization.ScopeMetricsRead)
	w.tag(w.ours.admin, ids["ledger"], map[string]string{"team": "others", "env": "test"}).is(200)
	evidence := members{"check": "PG-S01", "from": w.ago(time.Hour), "to": w.ago(0)}
	w.evidenceFor(somebody, evidence, "").is(200)
	w.evidenceFor(w.ours.auditor, evidence, "").is(200)
	told := func(as person, query string) []string {
		t.Helper()
		var rows []string
		for cursor := ""; ; { // page by page
			page := w.get(as, "/api/v1/audit-events?limit=2"+query+cursor).is(200).object()
			for _, item := range page["items"].([]any) {
				e := item.(map[string]any)
				who := "nobody"
				if actor, ok := e["actor"].(map[string]any); ok {
					who = actor["name"].(string)
				}
				rows = append(rows, e["type"].(string)+" "+who)
			}
			next, more := page["nextCursor"].(string)
			if !more {
				slices.Sort(rows)
				return rows
			}
			cursor = "&cursor=" + url.QueryEscape(next)
		}
	}
	own := somebody.Name
	for query, want := range map[string][]string{
		"":                                     {"evidenceMade " + own, "instanceTagged ADMIN", "instanceTagged ADMIN", "signedIn " + own, "tokenMinted " + own},
		"&type=instanceTagged":                 {"instanceTagged ADMIN", "instanceTagged ADMIN"},
		"&type=teamCreated":                    nil,
		"&actorId=" + w.ours.admin.ID.String(): {"instanceTagged ADMIN", "instanceTagged ADMIN"},
		"&actorId=" + other.ID.String():        nil,
		"&actorId=" + somebody.ID.String():     {"evidenceMade " + own, "signedIn " + own, "tokenMinted " + own},
	} {
		if got := told(somebody, query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if body := w.get(somebody, "/api/v1/audit-events").is(200).Body.String(); strings.Contains(body, "ledger") || strings.Contains(body, ids["ledger"].String()) {
		t.Errorf("the list tells of ledger: %s", body)
	}
}

// TestTheOrderOfTeams: an administrator gives a team a place, from the state that they saw, and the owners
// of servers, alerts and findings follow.
func TestTheOrderOfTeams(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instances, _ := w.alerting()
	w.tag(w.ours.admin, instances["orders-1"], map[string]string{"team": "x"}).is(200)
	w.assessed(w.ours, instances["orders-1"], broken("PG-S01", "", "x", nil))
	ids := map[string]string{}
	for _, name := range []string{"A", "B", "C"} {
		ids[name] = w.team(w.ours, name, map[string][]string{"team": {"x"}}, w.ours.viewer, organization.Viewer)
	}
	w.team(w.theirs, "Theirs", map[string][]string{"team": {"x"}}, w.theirs.viewer, organization.Viewer)
	order := func() string {
		var shown struct {
			Items []struct {
				Name       string
				Position   int
				OwnedCount int
			}
		}
		w.get(w.ours.viewer, teamsPath).is(200).decode(&shown)
		var words []string
		for i, team := range shown.Items {
			if team.Position != i+1 || (team.OwnedCount == 1) != (i == 0) {
				t.Errorf("team %d is %+v", i+1, team)
			}
			words = append(words, team.Name)
		}
		return strings.Join(words, " ")
	}
	move := func(name, seen string, position any) answer {
		return w.do(request{method: "PATCH", path: teamsPath + "/" + ids[name], as: w.ours.admin, json: members{"position": position}, header: map[string]string{"If-Match": seen}})
	}
	tag := func(name string) string {
		return w.get(w.ours.admin, teamsPath+"/"+ids[name]).is(200).Header().Get("ETag")
	}
	seen := tag("C")
	for _, c := range []struct {
		name     string
		position int
		want     string
	}{{"C", 1, "C A B"}, {"C", 2, "A C B"}, {"A", 3, "C B A"}, {"B", 2, "C B A"}, {"B", 1, "B C A"}} {
		moved := move(c.name, tag(c.name), c.position).is(200)
		if got := order(); got != c.want || moved.object()["position"] != float64(c.position) || moved.Header().Get("ETag") != tag(c.name) {
			t.Errorf("%s to %d: %s, want %s; %s", c.name, c.position, got, c.want, moved.Body)
		}
		first := strings.Fields(c.want)[0]
		if got := w.get(w.ours.viewer, alertsPath).owners("title"); !strings.Contains(got, "Lock waits: "+first+",") {
			t.Errorf("alerts: %s, want %s", got, first)
		}
		if got := w.get(w.ours.member, "/api/v1/findings").owners("object"); got != "x: "+first {
			t.Errorf("findings: %s, want %s", got, first)
		}
	}
	move("C", seen, 1).problem(412, "precondition_failed") // it has another place than the one that was seen
	for _, wrong := range []int{0, -1, 4} {
		if p := move("C", "*", wrong).problem(422, "out_of_range"); p.Errors[0].Pointer != "#/position" {
			t.Errorf("%d: %+v", wrong, p)
		}
	}
	ids["D"] = w.team(w.ours, "D", map[string][]string{"team": {"x"}}, w.ours.viewer, organization.Viewer)
	if got := order(); got != "B C A D" {
		t.Errorf("with a new team: %s", got)
	}
	w.do(request{method: "DELETE", path: teamsPath + "/" + ids["C"], as: w.ours.admin}).is(204)
	move("D", tag("D"), 2).is(200)
	if got := order(); got != "B D A" {
		t.Errorf("without C: %s", got)
	}
	if n := len(w.trail("teamChanged")); n != 5 {
		t.Errorf("the audit list has %d moves", n)
	}
	if theirs := w.get(w.theirs.viewer, teamsPath).is(200).object()["items"].([]any); theirs[0].(map[string]any)["position"] != 1.0 {
		t.Errorf("their team is %v", theirs)
	}
}

// TestListsAreSortedByOwner: servers, findings and alerts come by the names of their owners, whatever their
// case, in both directions; those of nobody come last, equal ones by the rest of the order, page by page.
func TestListsAreSortedByOwner(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	tags := map[string]map[string]string{}
	names := []string{"s-0", "s-1", "s-2", "s-3", "s-4", "s-6", "s-9"}
	owner := map[string]string{"s-0": "beta", "s-1": "Alpha", "s-4": "Gamma", "s-6": "Alpha", "s-9": "beta"} // the others are nobody's
	for _, name := range names {
		tags[name] = map[string]string{"team": cmp.Or(owner[name], "none")}
	}
	w.servers(w.ours, names, tags)
	for _, name := range []string{"Gamma", "beta", "Alpha"} {
		w.team(w.ours, name, map[string][]string{"team": {name}}, w.ours.viewer, organization.Viewer)
	}
	w.raised(w.ours, alerting.Item{ExternalID: "of nobody", CreatedAt: w.ago(time.Hour)})
	for path, called := range map[string]string{"/api/v1/instances": "name", "/api/v1/findings": "object", alertsPath: "title"} {
		walk := func(sort string) (items, owners []string) {
			t.Helper()
			for page := 1; ; page++ {
				list := w.get(w.ours.member, fmt.Sprintf("%s?sort=%s&pageSize=2&page=%d", path, sort, page)).is(200).object()["items"].([]any)
				if len(list) == 0 {
					return items, owners
				}
				for _, item := range list {
					item, name := item.(map[string]any), "~" // behind all names
					if o, ok := item["owner"].(map[string]any); ok {
						name = strings.ToLower(o["name"].(string))
					}
					items, owners = append(items, item[called].(string)), append(owners, name)
				}
			}
		}
		items, up := walk("owner")
		backwards, down := walk("-owner")
		nobody := slices.Index(up, "~")
		if !slices.IsSorted(up) || nobody < 2 || slices.Contains(up[nobody:], "alpha") {
			t.Errorf("%s: %v", path, up)
		}
		turned := slices.Clone(up[:nobody])
		slices.SortStableFunc(turned, func(a, b string) int { return strings.Compare(b, a) })
		if !slices.Equal(down, append(turned, up[nobody:]...)) {
			t.Errorf("%s, descending: %v", path, down)
		}
		// Every item is on one page, in each direction.
		for _, all := range [][]string{items, backwards} {
			sorted := slices.Compact(slices.Sorted(slices.Values(all)))
			if len(sorted) != len(all) {
				t.Errorf("%s: an item is on two pages: %v", path, all)
			}
		}
		if !slices.Equal(slices.Sorted(slices.Values(items)), slices.Sorted(slices.Values(backwards))) {
			t.Errorf("%s: %v, and descending %v", path, items, backwards)
		}
		if path == "/api/v1/instances" && strings.Join(items, " ") != "s-1 s-6 s-0 s-9 s-4 s-2 s-3" {
			t.Errorf("equal servers are not by name: %v", items)
		}
		if path == "/api/v1/instances" && strings.Join(backwards, " ") != "s-4 s-0 s-9 s-1 s-6 s-2 s-3" {
			t.Errorf("descending, equal servers are not by name: %v", backwards)
		}
	}
}
