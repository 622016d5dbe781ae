package httpapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
)

// assessed records what was found on an instance, whose connection it registers.
func (w *world) assessed(in tenant, instance uuid.UUID, results ...snapshot.CheckResult) {
	w.t.Helper()
	ctx, o := w.t.Context(), in.organization.ID
	must(w.t, w.deps.Servers.SaveCredentials(ctx, w.deps.DB, assessment.Credentials{Organization: o, Instance: instance, Engine: fleet.PostgreSQL, DSN: "postgres://u@127.0.0.1/x"}))
	since, err := w.deps.Servers.Attempt(ctx, o, instance)
	must(w.t, err)
	claim, ok, err := w.deps.Servers.ClaimSince(ctx, o, instance, since, time.Minute)
	must(w.t, err)
	if !ok {
		w.t.Fatal("somebody else assesses the instance")
	}
	must(w.t, w.deps.Servers.Record(ctx, claim, snapshot.Assessment{Outcome: snapshot.OutcomePartial, Results: results}, nil, time.Hour))
}

// databases registers databases by name and returns their ids.
func (w *world) databases(in tenant, instance uuid.UUID, names ...string) (ids []string) {
	w.t.Helper()
	mark, err := w.deps.Commands.RecordDatabases(w.t.Context(), usecase.Actor{OrganizationID: in.organization.ID, Component: "collector"}, instance, names)
	must(w.t, err)
	w.settle(mark)
	known := map[string]string{}
	for _, d := range w.get(in.admin, "/api/v1/instances/"+instance.String()+"/databases").is(200).object()["items"].([]any) {
		known[d.(map[string]any)["name"].(string)] = d.(map[string]any)["id"].(string)
	}
	for _, name := range names {
		ids = append(ids, known[name])
	}
	return ids
}

func broken(check, database, object string, fix *snapshot.Fix) snapshot.CheckResult {
	return snapshot.CheckResult{CheckID: check, Database: database, Status: snapshot.StatusFail, Measured: "1 of 4", Threshold: "none", Total: 1,
		Violations: []snapshot.Violation{{Object: object, Evidence: "seen", Fix: fix}}}
}

// found are the findings of a list in its order, by check and object.
func (a answer) found() string {
	a.t.Helper()
	var words []string
	for _, item := range a.is(200).object()["items"].([]any) {
		f := item.(map[string]any)
		words = append(words, fmt.Sprintf("%s:%v", f["check"].(map[string]any)["id"], f["object"]))
	}
	return strings.Join(words, " ")
}

func TestFindings(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders, theirs := w.instance(w.ours, "orders"), w.instance(w.theirs, "theirs")
	billing := w.instance(w.ours, "billing")
	app, foreign := w.databases(w.ours, orders, "app", "stock"), w.databases(w.theirs, theirs, "app")
	fix := &snapshot.Fix{Database: "app", Statement: "REVOKE CREATE ON SCHEMA public FROM PUBLIC;", Rollback: "GRANT CREATE ON SCHEMA public TO PUBLIC;"}
	w.assessed(w.theirs, theirs, broken("PG-S01", "", "not ours", nil))
	w.assessed(w.ours, orders, broken("PG-S17", "app", "public", fix), broken("PG-C04", "stock", "idx_a", nil),
		snapshot.CheckResult{CheckID: "PG-S02", Status: snapshot.StatusNotAssessed, Reason: "The monitoring role may not read pg_hba_file_rules."})
	w.assessed(w.ours, billing, broken("PG-S01", "", "host all trust", nil))
	list := func(query string) answer { return w.get(w.ours.member, "/api/v1/findings"+query) }

	for query, want := range map[string]string{
		"":                                  "PG-S01:host all trust PG-S17:public PG-C04:idx_a",
		"?sort=checkId":                     "PG-C04:idx_a PG-S01:host all trust PG-S17:public",
		"?sort=-severity&pageSize=1&page=2": "PG-S17:public",
		"?sort=instance&severity=Critical&severity=Low":             "PG-S01:host all trust PG-C04:idx_a",
		"?instanceId=" + orders.String():                            "PG-S17:public PG-C04:idx_a",
		"?instanceId=" + theirs.String():                            "",
		"?databaseId=" + app[0]:                                     "PG-S17:public",
		"?databaseId=" + foreign[0]:                                 "",
		"?databaseId=" + app[0] + "&instanceId=" + billing.String(): "",
		"?domain=Schema":                                            "PG-C04:idx_a",
		"?domain=Schema&checkId=PG-S17":                             "",
		"?checkId=PG-S17&checkId=PG-C04&sort=checkId":               "PG-C04:idx_a PG-S17:public",
		"?status=notAssessed":                                       "PG-S02:<nil>",
		"?status=notAssessed&status=open&sort=checkId":              "PG-C04:idx_a PG-S01:host all trust PG-S02:<nil> PG-S17:public",
		"?status=accepted":                                          "",
		"?q=TRUST":                                                  "PG-S01:host all trust",
		"?q=may+create+objects":                                     "PG-S17:public",
		"?q=pg-c0":                                                  "PG-C04:idx_a",
		"?q=stock":                                                  "PG-C04:idx_a",
		"?q=bill":                                                   "PG-S01:host all trust",
		"?q=%25":                                                    "",
		"?page=9":                                                   "",
	} {
		if got := list(query).found(); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if links := list("?pageSize=1&page=2&q=").Header().Values("Link"); len(links) != 1 || !strings.Contains(links[0], `rel="next"`) || !strings.Contains(links[0], `rel="prev"`) {
		t.Errorf("links %v", links)
	}
	for query, code := range map[string]string{
		"?severity=high": "invalid_parameter", "?status=passed": "invalid_parameter", "?sort=title": "invalid_parameter", "?page=0": "invalid_parameter",
		"?instanceId=": "invalid_parameter", "?databaseId=x": "invalid_parameter", "?pageSize=201": "invalid_parameter", "?instance=x": "unknown_parameter",
	} {
		list(query).problem(400, code)
	}
	list("?instanceId="+strings.Join(slices.Collect(func(yield func(string) bool) {
		for range 501 {
			if !yield(uuid.NewString()) {
				return
			}
		}
	}), "&instanceId=")).problem(422, "too_many_instances")

	item := list("?checkId=PG-S17").object()["items"].([]any)[0].(map[string]any)
	check, _ := w.deps.Checks.Check("PG-S17")
	remediation := item["remediation"].(map[string]any)
	for field, want := range map[string]any{
		"summary": check.Remediation, "impact": check.Impact, "statement": fix.Statement, "rollback": fix.Rollback, "needsRestart": false, "runIn": "app",
		"verify": check.Verify("public"),
	} {
		if remediation[field] != want {
			t.Errorf("remediation's %s is %v, want %v", field, remediation[field], want)
		}
	}
	if d := item["database"].(map[string]any); d["id"] != app[0] || d["name"] != "app" {
		t.Errorf("database %v", d)
	}
	for field, want := range map[string]any{"object": "public", "evidence": "seen", "measured": "1 of 4", "threshold": "none", "status": "open", "reason": nil, "exceptionId": nil, "passedSince": nil} {
		if item[field] != want {
			t.Errorf("%s is %v, want %v", field, item[field], want)
		}
	}
	unseen := list("?status=notAssessed").object()["items"].([]any)[0].(map[string]any)
	if unseen["status"] != "notAssessed" || unseen["remediation"] != nil || unseen["reason"] != "The monitoring role may not read pg_hba_file_rules." {
		t.Errorf("not assessed: %v", unseen)
	}
}

func TestAFindingThatIsAcceptedAndThenGone(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders := w.instance(w.ours, "orders")
	app := w.databases(w.ours, orders, "app", "stock")
	w.assessed(w.ours, orders, broken("PG-S17", "app", "public", nil), broken("PG-S17", "stock", "public", nil))
	list := func(query string) string { return w.get(w.ours.member, "/api/v1/findings"+query).found() }
	x := w.asked(w.ours.member, func(b map[string]any) { b["checkId"], b["instanceId"], b["databaseId"] = "PG-S17", orders, app[0] })
	if got := list(""); got != "PG-S17:public PG-S17:public" {
		t.Errorf("asked for only: %s", got)
	}
	w.decide(w.ours.admin, x, "grant").is(200)
	if open, accepted := list("?databaseId="+app[0]), list("?status=accepted"); open != "" || accepted != "PG-S17:public" {
		t.Errorf("granted: open %s, accepted %s", open, accepted)
	}
	item := w.get(w.ours.auditor, "/api/v1/findings?status=accepted").object()["items"].([]any)[0].(map[string]any)
	if item["exceptionId"] != x || item["status"] != "accepted" || item["reason"] != "Behind a firewall until the move." || item["acceptedUntil"] != w.clock.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339) {
		t.Errorf("accepted: %v", item)
	}
	path := "/api/v1/findings/" + item["id"].(string)
	if one := w.get(w.ours.member, path).is(200).object(); one["exceptionId"] != x || one["firstSeenAt"] != item["firstSeenAt"] {
		t.Errorf("alone: %v", one)
	}
	w.get(w.theirs.admin, path).problem(404, "not_found")
	w.get(w.ours.member, "/api/v1/findings/"+uuid.NewString()).problem(404, "not_found")
	w.get(w.ours.viewer, path).problem(403, "forbidden")

	w.assessed(w.ours, orders, snapshot.CheckResult{CheckID: "PG-S17", Database: "app", Status: snapshot.StatusPass}, broken("PG-S17", "stock", "public", nil))
	if got := list("?status=accepted&status=open&status=notAssessed"); got != "PG-S17:public" {
		t.Errorf("one has gone: %s", got)
	}
	if one := w.get(w.ours.member, path).is(200).object(); one["status"] != "passed" || one["passedSince"] == nil || one["lastSeenAt"] != item["lastSeenAt"] {
		t.Errorf("gone: %v", one)
	}
	active := false
	mark, err := w.deps.Commands.ChangeInstance(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "cli"}, orders, inventory.Change{Active: &active})
	must(t, err)
	w.settle(mark)
	if got := list(""); got != "" {
		t.Errorf("an inactive server's: %s", got)
	}
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + orders.String(), as: w.ours.admin}).is(204)
	w.get(w.ours.member, path).problem(404, "not_found")
}

func TestChecks(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	page := w.get(w.ours.viewer, "/api/v1/checks").is(200).object()
	items := page["items"].([]any)
	if len(items) != len(w.deps.Checks.Checks()) {
		t.Errorf("%d checks", len(items))
	}
	second := w.get(w.ours.viewer, "/api/v1/checks?page=2&pageSize=10").is(200).object()["items"].([]any)
	if !maps.Equal(ids(second), ids(items[10:20])) {
		t.Errorf("page 2: %v", ids(second))
	}
	if past := w.get(w.ours.viewer, "/api/v1/checks?page=1000000000&pageSize=200").is(200).object()["items"].([]any); len(past) > 0 {
		t.Errorf("past the end: %v", past)
	}
	check, _ := w.deps.Checks.Check("PG-F11")
	shown := w.get(w.ours.viewer, "/api/v1/checks/PG-F11").is(200).object()
	for field, want := range map[string]any{
		"id": check.ID, "engine": "postgresql", "domain": check.Domain, "severity": check.Severity, "title": check.Title, "rationale": check.Rationale,
		"threshold": check.Pass, "scope": check.Scope,
	} {
		if shown[field] != want {
			t.Errorf("%s is %v, want %v", field, shown[field], want)
		}
	}
	if r := shown["remediation"].(map[string]any); r["summary"] != check.Remediation || r["needsRestart"] != true || r["statement"] != nil {
		t.Errorf("remediation %v", r)
	}
	references := shown["references"].([]any)
	if r := references[len(references)-1].(map[string]any); r["source"] != "vendor" || r["id"] != "pgstatstatements" || r["version"] != "PostgreSQL 15 documentation" {
		t.Errorf("reference %v", r)
	}
	oracle := w.get(w.ours.viewer, "/api/v1/checks/OR-09").is(200).object()
	if fmt.Sprintf("%v %v %v %v", oracle["engine"], oracle["object"], oracle["reads"], oracle["rights"]) !=
		"oracle {parameter} [V$PARAMETER, remote_os_authent V$PARAMETER, remote_os_roles] [SELECT on SYS.V_$PARAMETER]" {
		t.Errorf("a check of Oracle: %v", oracle)
	}
	w.get(w.ours.viewer, "/api/v1/checks/PG-X99").problem(404, "not_found")
}

func ids(items []any) map[any]bool {
	out := map[any]bool{}
	for _, item := range items {
		out[item.(map[string]any)["id"]] = true
	}
	return out
}
