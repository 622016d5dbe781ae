package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"muster/domain/organization"
)

// TestAnswersStateTheReadersRightToChange: an instance, an alert, a finding and an exception say whether their
// reader may change them, and the request for a change is refused exactly where they say no. A member who acts
// on the servers of one team and only sees those of another gets the answer of each.
func TestAnswersStateTheReadersRightToChange(t *testing.T) {
	t.Parallel()
	o := newOracle(t)
	o.exceptions()
	both := o.person(o.whole.organization, organization.Team, "both@ours.example")
	o.team(o.whole, "both acting", map[string][]string{"env": {"prod"}, "team": {"a"}}, both, organization.Member)
	o.team(o.whole, "both seeing", map[string][]string{"env": {"test"}, "team": {"c"}}, both, organization.Viewer)
	people := map[string]person{"admin": o.whole.admin, "member": o.whole.of(organization.Member), "viewer": o.whole.viewer,
		"a team's member": o.people[organization.Member], "a team's viewer": o.people[organization.Viewer], "in two teams": both}
	for what, test := range map[string]struct {
		path, says string
		change     func(as person, path string) answer
	}{
		"instance": {"/api/v1/instances", "mayAct", func(as person, path string) answer {
			return o.patch(as, path, members{"tags": o.get(o.whole.admin, path).object()["tags"]})
		}},
		"alert": {alertsPath, "mayAct", func(as person, path string) answer { return o.post(as, path+"/acknowledge", members{}) }},
		"finding": {"/api/v1/findings", "mayAct", func(as person, path string) answer {
			return o.patch(as, path, members{"ticketUrl": "https://t.example/1"})
		}},
		"exception": {"/api/v1/exceptions", "mayRevoke", func(as person, path string) answer { return o.post(as, path+"/revoke", members{}) }},
	} {
		said := map[string]map[string]bool{}
		for who, as := range people {
			said[who] = map[string]bool{}
			var list struct{ Items []map[string]any }
			query := "?pageSize=100"
			if what == "finding" {
				query += "&status=open&status=accepted"
			}
			all := o.get(as, test.path+query)
			if all.Code == http.StatusForbidden && what == "finding" && (who == "viewer" || who == "a team's viewer") {
				continue // viewers read no findings
			}
			all.is(http.StatusOK).decode(&list)
			for _, item := range list.Items {
				path := test.path + "/" + item["id"].(string)
				said[who][path] = item[test.says].(bool)
				if alone := o.get(as, path).is(http.StatusOK).object()[test.says]; alone != item[test.says] {
					t.Errorf("%s %s: %v in the list and %v alone", what, who, item[test.says], alone)
				}
			}
			if what == "instance" {
				o.offered(as, said[who])
			}
			if len(list.Items) == 0 {
				t.Errorf("%s: %s sees none", what, who)
			}
		}
		values := map[bool]int{}
		for path := range maps.Keys(said["in two teams"]) {
			values[said["in two teams"][path]]++
		}
		if values[true] == 0 || values[false] == 0 {
			t.Errorf("%s: somebody in two teams may change %d and not %d", what, values[true], values[false])
		}
		for who, as := range people {
			for path, may := range said[who] {
				if code := test.change(as, path).Code; (code != http.StatusForbidden) != may {
					t.Errorf("%s %s: %s is %v, and the change is answered %d", what, who, test.says, may, code)
				}
			}
		}
	}
}

// offered holds the list of servers on which somebody may act against what each server says, also together with other
// filters and with an id of each server.
func (o *oracle) offered(as person, may map[string]bool) {
	o.t.Helper()
	for _, filter := range []string{"", "&tag=env:prod", "&q=server", "&status=active", "&sort=-alerts"} {
		ids := func(query string) (paths []string) {
			var list struct {
				Items []struct{ ID string }
				Page  struct{ TotalItems int }
			}
			o.get(as, "/api/v1/instances?pageSize=100"+query+filter).is(http.StatusOK).decode(&list)
			for _, item := range list.Items {
				paths = append(paths, "/api/v1/instances/"+item.ID)
			}
			if len(paths) != list.Page.TotalItems {
				o.t.Errorf("%s: %d of %d", query+filter, len(paths), list.Page.TotalItems)
			}
			return paths
		}
		want := slices.DeleteFunc(ids(""), func(path string) bool { return !may[path] })
		if got := ids("&mayAct=true"); !slices.Equal(got, want) {
			o.t.Errorf("%s may act on %v, want %v", as.Name, got, want)
		}
	}
	for path, acts := range may {
		var list struct{ Items []any }
		o.get(as, "/api/v1/instances?mayAct=true&id="+strings.TrimPrefix(path, "/api/v1/instances/")).is(http.StatusOK).decode(&list)
		if (len(list.Items) == 1) != acts {
			o.t.Errorf("%s by id: %d of them, mayAct %v", path, len(list.Items), acts)
		}
	}
}
