package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/testing/longtest"
)

// TestAMemberOfThreeTeams sees the servers of all of them, and acts on a server if one of the teams that match it lets
// them. Once they leave a team, they and a token of theirs see what the others have, and in the end nothing.
func TestAMemberOfThreeTeams(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	for name, tags := range map[string]map[string]string{
		"orders": {"team": "a", "env": "prod"}, "billing": {"team": "b", "env": "prod"}, "ledger": {"team": "c", "env": "test"},
	} {
		w.tag(w.ours.admin, ids[name], tags).is(200)
	}
	somebody := w.person(w.ours.organization, organization.Team, w.ours.address("three"))
	teams := []string{
		w.team(w.ours, "A", map[string][]string{"team": {"a"}}, somebody, organization.Member),
		w.team(w.ours, "Prod", map[string][]string{"env": {"prod"}}, somebody, organization.Viewer),
		w.team(w.ours, "C", map[string][]string{"team": {"c"}}, somebody, organization.Member),
	}
	token := w.token(somebody, organization.ScopeMetricsRead, organization.ScopeAlertsWrite)
	sees := func() string {
		var list struct {
			Items []struct {
				Name   string
				MayAct bool
			}
		}
		by := w.do(request{method: "GET", path: "/api/v1/instances", token: token}).is(200)
		by.decode(&list)
		if own := w.get(somebody, "/api/v1/instances").is(200); own.Body.String() != by.Body.String() {
			t.Errorf("by token %s, by session %s", by.Body, own.Body)
		}
		return fmt.Sprint(list.Items)
	}
	if got := sees(); got != "[{billing false} {ledger true} {orders true}]" {
		t.Errorf("in three teams: %s", got)
	}
	for i, want := range []string{"[{billing false} {ledger true} {orders false}]", "[{ledger true}]", "[]"} {
		w.patch(w.ours.admin, teamsPath+"/"+teams[i], members{"members": []any{}}).is(200)
		if got := sees(); got != want {
			t.Errorf("after leaving %d teams: %s, want %s", i+1, got, want)
		}
	}
}

// TestASelectorOfNothingAndOfEverything: a team whose selector matches nothing owns nothing, and its members see nothing
// and not all. One that matches every server owns those that no earlier team has.
func TestASelectorOfNothingAndOfEverything(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	for name := range ids {
		if id := ids[name]; name == "orders" || name == "billing" || name == "ledger" {
			w.tag(w.ours.admin, id, map[string]string{"env": "prod"}).is(200)
		}
	}
	nothing := w.person(w.ours.organization, organization.Team, w.ours.address("nothing"))
	everything := w.person(w.ours.organization, organization.Team, w.ours.address("everything"))
	w.team(w.ours, "Nothing", nil, nothing, organization.Member)
	w.team(w.ours, "No such", map[string][]string{"env": {"none"}}, nothing, organization.Member)
	w.team(w.ours, "Everything", map[string][]string{"env": {"prod"}}, everything, organization.Member)
	if got := w.get(w.ours.admin, "/api/v1/instances").owners("name"); got != "billing: Everything, ledger: Everything, orders: Everything" {
		t.Errorf("owners are %s", got)
	}
	if got := w.get(everything, "/api/v1/instances").owners("name"); got != "billing: Everything, ledger: Everything, orders: Everything" {
		t.Errorf("everything is %s", got)
	}
	if got := w.get(nothing, "/api/v1/instances").owners("name"); got != "" {
		t.Errorf("nothing is %s", got)
	}
	w.post(nothing, "/api/v1/reports", map[string]any{"kind": "Security", "scope": map[string]any{}}).problem(422, "instance_not_in_organization")
}

// TestTwoAdministratorsEditOneSelectorAtOnce: of changes that saw the same state, one is made and the others are refused.
func TestTwoAdministratorsEditOneSelectorAtOnce(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.team(w.ours, "Payments", map[string][]string{"env": {"prod"}}, w.ours.member, organization.Member)
	for round := range 5 {
		seen := w.get(w.ours.admin, teamsPath+"/"+id).is(200).Header().Get("ETag")
		codes := make([]int, 4)
		var all sync.WaitGroup
		for i := range codes {
			all.Go(func() {
				codes[i] = w.do(request{method: "PATCH", path: teamsPath + "/" + id, as: w.ours.admin, header: map[string]string{"If-Match": seen},
					json: members{"selector": members{"tags": members{"env": []string{fmt.Sprintf("%d-%d", round, i)}}}}}).Code
			})
		}
		all.Wait()
		if slices.Sort(codes); !slices.Equal(codes, []int{http.StatusOK, http.StatusPreconditionFailed, http.StatusPreconditionFailed, http.StatusPreconditionFailed}) {
			t.Errorf("round %d: %v", round, codes)
		}
	}
}

// manyServers are ten for each of so many values of a tag, written straight into the read model.
const manyServers = `INSERT INTO fleet_v3.instances (id, organization_id, external_id, name, engine, version, host, active, created_at, tags)
SELECT gen_random_uuid(), $1, n::text, 'db-' || lpad(n::text, 5, '0'), 'postgresql', '', '', true, now(),
       jsonb_build_object('shard', jsonb_build_object('value', 's-' || n % $2))
FROM generate_series(0, 10 * $2::int - 1) AS n`

// TestManyServersTagsAndTeams: 1,000 servers, 100 values of one tag and 20 teams of 50 servers each are listed and
// counted in full, each server by its owner, and a member of three teams sees 150.
func TestManyServersTagsAndTeams(t *testing.T) {
	t.Parallel()
	manyServersTagsAndTeams(t, 20)
}

// TestLongManyServersTagsAndTeams has 10,000 servers, 1,000 values and 200 teams.
func TestLongManyServersTagsAndTeams(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	manyServersTagsAndTeams(t, 200)
}

func manyServersTagsAndTeams(t *testing.T, count int) {
	t.Helper()
	w := newWorld(t, unlimited)
	w.exec(manyServers, w.ours.organization.ID, 5*count)
	somebody := w.person(w.ours.organization, organization.Team, "three@ours.example")
	var first string
	for n := range count {
		var values []string
		for v := range 5 {
			values = append(values, fmt.Sprintf("s-%d", n*5+v))
		}
		who := w.ours.member
		if n < 3 {
			who = somebody
		}
		if id := w.team(w.ours, fmt.Sprintf("Team %03d", n), map[string][]string{"shard": values}, who, organization.Member); n == 0 {
			first = id
		}
	}
	var tags struct {
		Items []struct {
			Key    string
			Values []struct{ Instances int }
		}
	}
	w.get(w.ours.admin, "/api/v1/tags").is(200).decode(&tags)
	if len(tags.Items) != 1 || len(tags.Items[0].Values) != 5*count || slices.ContainsFunc(tags.Items[0].Values, func(v struct{ Instances int }) bool { return v.Instances != 10 }) {
		t.Errorf("%d keys, the first with other values than %d of 10 servers", len(tags.Items), 5*count)
	}
	var teams struct {
		Items []struct{ InstanceCount, OwnedCount int }
	}
	w.get(w.ours.admin, teamsPath).is(200).decode(&teams)
	if len(teams.Items) != count || slices.ContainsFunc(teams.Items, func(x struct{ InstanceCount, OwnedCount int }) bool {
		return x.InstanceCount != 50 || x.OwnedCount != 50
	}) {
		t.Errorf("%d teams, or one of them with other than 50 servers", len(teams.Items))
	}
	total := func(as person, query string) int {
		var list struct{ Page struct{ TotalItems int } }
		w.get(as, "/api/v1/instances"+query).is(200).decode(&list)
		return list.Page.TotalItems
	}
	last := fmt.Sprintf("tag=shard:s-%d", 5*count-1)
	for query, want := range map[string]int{"": 50 * count, "?" + last: 10, "?owner=" + first: 50, "?tag=shard:s-0&" + last + "&owner=" + first: 10, "?owner=" + uuid.NewString(): 0} {
		if got := total(w.ours.admin, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	for query, want := range map[string]int{"": 150, "?tag=shard:s-14": 10, "?tag=shard:s-15": 0, "?owner=" + first: 50} {
		if got := total(somebody, query); got != want {
			t.Errorf("in three teams, %s: %d, want %d", query, got, want)
		}
	}
}
