package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
)

// lacks records an assessment of a server that lacks grants.
func (w *world) lacks(in tenant, instance uuid.UUID, a snapshot.Assessment) {
	w.t.Helper()
	ctx, o := w.t.Context(), in.organization.ID
	must(w.t, w.deps.Servers.SaveCredentials(ctx, w.deps.DB, assessment.Credentials{Organization: o, Instance: instance, Engine: fleet.PostgreSQL, DSN: "postgres://u@127.0.0.1:5555/x"}))
	since, err := w.deps.Servers.Attempt(ctx, o, instance)
	must(w.t, err)
	claim, ok, err := w.deps.Servers.ClaimSince(ctx, o, instance, since, time.Minute)
	must(w.t, err)
	if !ok {
		w.t.Fatal("somebody else assesses the instance")
	}
	a.Outcome = snapshot.OutcomePartial
	must(w.t, w.deps.Servers.Record(ctx, claim, a, nil, time.Hour))
}

// TestADeclinedGrantIsNotRequestedAgain: F11. The decision is an event with an audit row, and
// can be taken back.
func TestADeclinedGrantIsNotRequestedAgain(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.instance(w.ours, "orders")
	path := "/api/v1/instances/" + id.String()
	w.lacks(w.ours, id, snapshot.Assessment{MissingGrants: []snapshot.MissingGrant{
		{Object: "pg_authid (rolname, rolpassword) in database x", Statement: "GRANT SELECT (rolname, rolpassword) ON pg_catalog.pg_authid TO muster;", Checks: []string{"PG-S11"}},
		{Object: "pg_user_mapping in database x", Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;", Checks: []string{"PG-S35"}},
		{Object: "pg_user_mapping in database y", Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;", Checks: []string{"PG-S35"}},
		{Object: "what members of pg_read_all_stats see", Statement: "GRANT pg_read_all_stats TO muster;", Checks: []string{"PG-P01"}},
	}})
	shown := func() string {
		i := w.get(w.ours.admin, path).is(200).object()
		var words []string
		for _, g := range i["missingGrants"].([]any) {
			m := g.(map[string]any)
			words = append(words, fmt.Sprint(m["object"], "|", m["database"], "|", m["needed"], m["declinable"], "|", m["reveals"]))
		}
		return fmt.Sprint(i["missingGrantCount"], i["neededGrantCount"], i["declinedGrants"], " ", strings.Join(words, "; "))
	}
	const stats = "what members of pg_read_all_stats see|<nil>|true false|the sessions of others and the texts of their statements, with the values in them"
	const authid = "pg_authid (rolname, rolpassword) in database x|x|false true|the hashes of all passwords"
	const mapping = "pg_user_mapping in database %s|%[1]s|false true|the options of user mappings, among them passwords for foreign servers"
	all := "4 1 [] " + strings.Join([]string{stats, authid, fmt.Sprintf(mapping, "x"), fmt.Sprintf(mapping, "y")}, "; ")
	if got := shown(); got != all {
		t.Errorf("%s\nwant %s", got, all)
	}
	decline := func(objects ...string) answer {
		return w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: map[string]any{"declinedGrants": append([]string{}, objects...)}})
	}
	decline("pg_user_mapping", "pg_authid (rolname, rolpassword) in database x").is(200)
	if got, want := shown(), "1 1 [pg_user_mapping pg_authid (rolname, rolpassword) in database x] "+stats; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := w.get(w.ours.auditor, "/api/v1/audit-events?type=instanceGrantsDeclined").is(200).object()["items"].([]any); len(got) != 1 {
		t.Errorf("the audit has %v", got)
	}
	if script := w.get(w.ours.admin, path).is(200).object()["grantScript"].(string); strings.Contains(script, "pg_user_mapping") || !strings.Contains(script, "\nGRANT pg_read_all_stats TO muster;\n") {
		t.Error(script)
	}
	var p struct {
		Errors []struct{ Pointer, Detail string }
	}
	if err := json.Unmarshal(decline("nothing", "pg_user_mapping", "what members of pg_read_all_stats see").is(400).Body.Bytes(), &p); err != nil || len(p.Errors) != 2 ||
		p.Errors[0].Pointer != "#/declinedGrants/0" || p.Errors[1].Detail != "cannot be declined: without it nothing is measured" {
		t.Errorf("%+v %v", p, err)
	}
	w.do(request{method: "PATCH", path: path, as: w.theirs.admin, json: map[string]any{"declinedGrants": []string{}}}).is(404)
	w.do(request{method: "PATCH", path: path, as: w.ours.member, json: map[string]any{"declinedGrants": []string{}}}).is(403)
	decline().is(200)
	if got := shown(); got != all {
		t.Errorf("undone: %s\nwant %s", got, all)
	}
}

// TestAStandbyNamesItsPrimary where that is watched, and where it is not, its address.
func TestAStandbyNamesItsPrimary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	primary, standby, lost := w.instance(w.ours, "primary"), w.instance(w.ours, "standby"), w.instance(w.ours, "lost")
	w.lacks(w.ours, primary, snapshot.Assessment{})
	w.lacks(w.ours, standby, snapshot.Assessment{InRecovery: true, Upstream: "127.0.0.1:5555", MissingGrants: []snapshot.MissingGrant{
		{Object: "pg_user_mapping in database x", Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;"},
	}})
	w.lacks(w.ours, lost, snapshot.Assessment{InRecovery: true, Upstream: "127.0.0.1:1"})
	w.exec(`UPDATE assessment_targets SET engine = 'sqlserver' WHERE instance_id = ANY ($1)`, []uuid.UUID{standby, lost}) // whose connections go to the same port here
	for id, want := range map[uuid.UUID]string{
		primary: "<nil>", lost: "map[address:127.0.0.1:1 instance:<nil>]",
		standby: "map[address:127.0.0.1:5555 instance:map[id:" + primary.String() + " name:primary]]",
	} {
		got := w.get(w.ours.admin, "/api/v1/instances/"+id.String()).is(200).object()
		if said := fmt.Sprint(got["grantOnPrimary"]); said != want {
			t.Errorf("%s, want %s", said, want)
		}
		if id == standby && !strings.HasPrefix(got["grantScript"].(string), "-- Grants for Muster. Run this on the primary of standby in psql as a superuser.\n") {
			t.Error(got["grantScript"])
		}
	}
}

// TestAListStaysSmall with a missing grant in each of a thousand databases: case 16.
func TestAListStaysSmall(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.instance(w.ours, "many")
	var missing []snapshot.MissingGrant
	for i := range 1007 {
		missing = append(missing, snapshot.MissingGrant{Object: fmt.Sprint("pg_user_mapping in database d", i), Statement: "GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;", Checks: []string{"PG-S35"}})
	}
	w.lacks(w.ours, id, snapshot.Assessment{MissingGrants: missing})
	list := w.get(w.ours.admin, "/api/v1/instances").is(200)
	if list.Body.Len() > 5000 {
		t.Errorf("%d bytes", list.Body.Len())
	}
	one := w.get(w.ours.admin, "/api/v1/instances/"+id.String()).is(200).object()
	if n := len(one["missingGrants"].([]any)); n != 1007 || one["missingGrantCount"] != 1007.0 {
		t.Errorf("%d of %v", n, one["missingGrantCount"])
	}
	w.do(request{method: "PATCH", path: "/api/v1/instances/" + id.String(), as: w.ours.admin, json: map[string]any{"declinedGrants": []string{"pg_user_mapping"}}}).is(200)
	if one := w.get(w.ours.admin, "/api/v1/instances/"+id.String()).is(200).object(); one["missingGrantCount"] != 0.0 || one["grantScript"] != nil {
		t.Errorf("%v missing, %v", one["missingGrantCount"], one["grantScript"])
	}
}

// TestFindingsGrouped: F10. One sentence is one row, with its servers and what closes it.
func TestFindingsGrouped(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders, billing, theirs := w.instance(w.ours, "orders"), w.instance(w.ours, "billing"), w.instance(w.theirs, "theirs")
	cves := func(fixed ...string) snapshot.CheckResult {
		r := snapshot.CheckResult{CheckID: "PG-S31", Status: snapshot.StatusFail, Total: len(fixed)}
		for i, f := range fixed {
			r.Violations = append(r.Violations, snapshot.Violation{Object: fmt.Sprint("CVE-2026-", i), Severity: "High", Evidence: "CVSS 7.5, " + f + ": a title"})
		}
		return r
	}
	w.assessed(w.theirs, theirs, broken("PG-S01", "", "not ours", nil))
	w.assessed(w.ours, orders, cves("fixed in 15.9", "fixed in 15.10", "not fixed in 15, fixed in 17.2"), broken("PG-C04", "stock", "idx_a", nil), broken("PG-C04", "app", "idx_a", nil))
	w.assessed(w.ours, billing, cves("fixed in 15.10"), broken("PG-S01", "", "host all trust", nil))
	groups := func(query string) string {
		var words []string
		for _, item := range w.get(w.ours.member, "/api/v1/findings/groups"+query).is(200).object()["items"].([]any) {
			g := item.(map[string]any)
			what, _ := g["check"].(map[string]any)
			if what == nil {
				what = map[string]any{"id": g["instance"].(map[string]any)["name"]}
			}
			said := fmt.Sprint(what["id"], " ", g["severity"], " ", g["findings"], " ", g["unit"], " ", g["instances"], "s ", g["checks"], "c ", g["databases"], "d")
			for _, u := range g["upgrades"].([]any) {
				m := u.(map[string]any)
				said += fmt.Sprint(" >", m["to"], " closes ", m["closes"], " on ", m["instances"])
			}
			words = append(words, said)
		}
		return strings.Join(words, "; ")
	}
	for query, want := range map[string]string{
		"":                                       "PG-S01 Critical 1 finding 1s 1c 0d; PG-S31 High 4 CVE 2s 1c 0d >15.10 closes 3 on 2; PG-C04 Low 2 finding 1s 1c 2d",
		"?by=instance":                           "billing Critical 2 finding 1s 2c 0d >15.10 closes 1 on 1; orders High 5 finding 1s 2c 2d >15.10 closes 2 on 1",
		"?by=instance&checkId=PG-S31":            "orders High 3 CVE 1s 1c 0d >15.10 closes 2 on 1; billing High 1 CVE 1s 1c 0d >15.10 closes 1 on 1",
		"?severity=Low":                          "PG-C04 Low 2 finding 1s 1c 2d",
		"?instanceId=" + theirs.String():         "",
		"?pageSize=1&page=2":                     "PG-S31 High 4 CVE 2s 1c 0d >15.10 closes 3 on 2",
		"?q=idx_a&instanceId=" + orders.String(): "PG-C04 Low 2 finding 1s 1c 2d",
	} {
		if got := groups(query); got != want {
			t.Errorf("%q: %s\nwant %s", query, got, want)
		}
	}
	if page := w.get(w.ours.member, "/api/v1/findings/groups?pageSize=2&page=9").is(200).object()["page"].(map[string]any); page["totalItems"] != 3.0 {
		t.Errorf("%v", page)
	}
	w.get(w.ours.viewer, "/api/v1/findings/groups").is(403)
	w.get(w.ours.member, "/api/v1/findings/groups?by=team").is(400)
}
