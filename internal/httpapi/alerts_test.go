package httpapi

import (
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

const alertsPath = "/api/v1/alerts"

// titles are those of a list, in its order.
func (a answer) titles() string {
	a.t.Helper()
	var words []string
	for _, item := range a.is(200).object()["items"].([]any) {
		words = append(words, item.(map[string]any)["title"].(string))
	}
	return strings.Join(words, ", ")
}

func named(names ...string) string { return url.Values{"instanceName": names}.Encode() }

// at is a parameter's time, escaped.
func at(name string, t time.Time) string {
	return url.Values{name: {t.Format(time.RFC3339Nano)}}.Encode()
}

// alerting has a fleet in which names repeat, and alerts of every kind; the ids of
// instances and alerts are by external id.
func (w *world) alerting() (instances, alerts map[string]uuid.UUID) {
	w.t.Helper()
	instances = w.fed(w.ours,
		inventory.Item{ExternalID: "orders-1", Name: "orders", CreatedAt: w.ago(30 * day), Databases: []inventory.Database{database("d", w.ago(30*day))}},
		inventory.Item{ExternalID: "orders-2", Name: "orders", CreatedAt: w.ago(30 * day)},
		inventory.Item{ExternalID: "billing", CreatedAt: w.ago(30 * day), Active: to(false)},
		inventory.Item{ExternalID: "removed", CreatedAt: w.ago(30 * day)},
	)
	w.fed(w.theirs, inventory.Item{ExternalID: "x", Name: "orders", CreatedAt: w.ago(30 * day)}, inventory.Item{ExternalID: "theirs", CreatedAt: w.ago(30 * day)})
	w.raised(w.theirs, alerting.Item{ExternalID: "foreign", CreatedAt: w.ago(time.Hour), Instance: to("x")})
	alerts = w.raised(w.ours,
		alerting.Item{ExternalID: "a", Title: "Lock waits", Severity: alert.Critical, CreatedAt: w.ago(9 * time.Hour), LastTriggeredAt: w.ago(1 * time.Hour), Instance: to("orders-1")},
		alerting.Item{ExternalID: "b", Title: "Disk full", Severity: alert.Warning, CreatedAt: w.ago(8 * time.Hour), LastTriggeredAt: w.ago(2 * time.Hour), Instance: to("orders-1"), Database: to("d"), State: alert.AcknowledgedState},
		alerting.Item{ExternalID: "c", Title: "disk 100%", Severity: alert.Info, CreatedAt: w.ago(7 * time.Hour), LastTriggeredAt: w.ago(3 * time.Hour), Instance: to("orders-2"), Muted: to(true)},
		alerting.Item{ExternalID: "d", Title: "Replica lags", Severity: alert.Critical, CreatedAt: w.ago(6 * time.Hour), LastTriggeredAt: w.ago(4 * time.Hour), Instance: to("billing"), State: alert.ResolvedState, ResolvedAt: to(w.ago(2 * time.Hour))},
		alerting.Item{ExternalID: "e", Title: "Silent", Severity: alert.Warning, CreatedAt: w.ago(9 * time.Hour), LastTriggeredAt: w.ago(5 * time.Hour), Instance: to("removed"), ResolvedAt: to(w.ago(time.Hour))},
		alerting.Item{ExternalID: "f", Title: "Backup missed", Severity: alert.Warning, CreatedAt: w.ago(10 * time.Hour), LastTriggeredAt: w.ago(6 * time.Hour)},
	)
	w.fed(w.ours, inventory.Item{ExternalID: "removed", CreatedAt: w.ago(30 * day), Removed: true})
	return instances, alerts
}

func TestAlertList(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instances, _ := w.alerting()
	id := func(key string) string { return "instanceId=" + instances[key].String() }
	const all = "Lock waits, Disk full, disk 100%, Replica lags, Silent, Backup missed"
	for name, c := range map[string]struct{ query, want string }{
		"all, newest first":             {"", all},
		"as the digest asks":            {"pageSize=10&sort=-lastTriggeredAt&status=all&" + at("from", w.ago(3*time.Hour)) + "&" + named("orders"), "Lock waits, Disk full, disk 100%"},
		"in the other spelling":         {"sort=-last_triggered_at", all},
		"oldest first":                  {"sort=lastTriggeredAt", "Backup missed, Silent, Replica lags, disk 100%, Disk full, Lock waits"},
		"oldest first, other spelling":  {"sort=last_triggered_at", "Backup missed, Silent, Replica lags, disk 100%, Disk full, Lock waits"},
		"by creation":                   {"sort=createdAt", "Backup missed, Lock waits, Silent, Disk full, disk 100%, Replica lags"},
		"by creation, other spelling":   {"sort=created_at", "Backup missed, Lock waits, Silent, Disk full, disk 100%, Replica lags"},
		"the latest created first":      {"sort=-created_at", "Replica lags, disk 100%, Disk full, Lock waits, Silent, Backup missed"},
		"the worst first":               {"sort=-severity", "Lock waits, Replica lags, Disk full, Silent, Backup missed, disk 100%"},
		"the mildest first":             {"sort=severity", "disk 100%, Disk full, Silent, Backup missed, Lock waits, Replica lags"},
		"open ones":                     {"status=open", "Lock waits, Disk full, disk 100%, Backup missed"},
		"closed ones, of both kinds":    {"status=resolved", "Replica lags, Silent"},
		"from is inclusive":             {at("from", w.ago(3*time.Hour)), "Lock waits, Disk full, disk 100%"},
		"to is exclusive":               {at("to", w.ago(3*time.Hour)), "Replica lags, Silent, Backup missed"},
		"a window":                      {at("from", w.ago(4*time.Hour)) + "&" + at("to", w.ago(2*time.Hour)), "disk 100%, Replica lags"},
		"to in the future":              {at("to", w.ago(-day)), all},
		"from in the future":            {at("from", w.ago(-day)), ""},
		"to at the dawn of time":        {"to=0001-01-01T00:00:00Z", ""},
		"with an offset":                {at("from", w.ago(3*time.Hour).In(time.FixedZone("", 5*3600+1800))), "Lock waits, Disk full, disk 100%"},
		"a name that two have":          {named("orders"), "Lock waits, Disk full, disk 100%"},
		"one of the two":                {id("orders-2"), "disk 100%"},
		"names":                         {named("orders", "billing", "orders"), "Lock waits, Disk full, disk 100%, Replica lags"},
		"a name nobody has":             {named("nobody"), ""},
		"a name only the others have":   {named("theirs"), ""},
		"a removed one's name":          {named("removed"), ""},
		"a removed one's id":            {id("removed"), ""},
		"nobody's id":                   {"instanceId=" + uuid.NewString(), ""},
		"a substring":                   {"q=DISK", "Disk full, disk 100%"},
		"a substring that is a pattern": {"q=" + url.QueryEscape("100%"), "disk 100%"},
		"a pattern is text":             {"q=" + url.QueryEscape("_isk%"), ""},
		"an empty substring":            {"q=", all},
		"severities":                    {"severity=critical&severity=info", "Lock waits, disk 100%, Replica lags"},
		"without muted ones":            {"muted=exclude", "Lock waits, Disk full, Replica lags, Silent, Backup missed"},
		"only muted ones":               {"muted=only", "disk 100%"},
		"everything together":           {"status=open&muted=exclude&severity=warning&q=disk&" + named("orders"), "Disk full"},
		"the second page":               {"pageSize=2&page=2", "disk 100%, Replica lags"},
		"past the end":                  {"pageSize=2&page=2147483647", ""},
	} {
		if got := w.get(w.ours.viewer, alertsPath+"?"+c.query).titles(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	a := w.get(w.ours.viewer, alertsPath+"?pageSize=2&page=2&sort=-lastTriggeredAt")
	if diff := cmp.Diff(map[string]any{"number": 2.0, "size": 2.0, "totalItems": 6.0, "totalPages": 3.0}, a.object()["page"]); diff != "" {
		t.Error(diff)
	}
	if link := a.Header().Get("Link"); !strings.Contains(link, `page=3&pageSize=2&sort=-lastTriggeredAt>; rel="next"`) || !strings.Contains(link, `page=1&`) {
		t.Errorf("Link is %s", link)
	}
	if a.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("headers %v", a.Header())
	}
	if p := w.get(w.ours.viewer, alertsPath+"?status=resolved&"+named("billing")).object()["page"].(map[string]any); p["totalItems"] != 1.0 {
		t.Errorf("page %v", p)
	}
}

// By state: as the table of states has them, or at least those of a state side by
// side and both ways round.
func TestAlertsByState(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	w.alerting()
	states := func(sort string) (out []string) {
		for _, item := range w.get(w.ours.viewer, alertsPath+"?sort="+sort).is(200).object()["items"].([]any) {
			if s := item.(map[string]any)["state"].(string); len(out) == 0 || out[len(out)-1] != s {
				out = append(out, s)
			}
		}
		return out
	}
	up, down := states("state"), states("-state")
	for i := range up {
		if len(up) != 4 || len(down) != 4 || up[i] != down[3-i] {
			t.Fatalf("up %v, down %v", up, down)
		}
	}
}

// TestAlertRefusals: what cannot be read is 400 and what breaks a rule 422, all of
// it at once.
func TestAlertRefusals(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := uuid.NewString()
	many := strings.Repeat("instanceId="+id+"&", 501)
	for name, c := range map[string]struct {
		query  string
		status int
		code   string
		places []string
	}{
		"names and ids":        {"instanceName=orders&instanceId=" + id, 400, "conflicting_parameters", []string{"query instanceName conflicting_parameters", "query instanceId conflicting_parameters"}},
		"an empty name":        {"instanceName=", 400, "invalid_parameter", []string{"query instanceName invalid_parameter"}},
		"an empty id":          {"instanceId=", 400, "invalid_parameter", []string{"query instanceId invalid_parameter"}},
		"an empty time":        {"from=&to=", 400, "invalid_parameter", []string{"query from invalid_parameter", "query to invalid_parameter"}},
		"a plus not escaped":   {"from=2026-11-20T00:00:00+01:00", 400, "invalid_parameter", []string{"query from invalid_parameter"}},
		"101 on a page":        {"pageSize=101", 400, "invalid_parameter", []string{"query pageSize invalid_parameter"}},
		"another order":        {"sort=title", 400, "invalid_parameter", []string{"query sort invalid_parameter"}},
		"+ is no order":        {"sort=%2BlastTriggeredAt", 400, "invalid_parameter", []string{"query sort invalid_parameter"}},
		"bucketSize":           {"bucketSize=1h", 400, "unknown_parameter", []string{"query bucketSize unknown_parameter"}},
		"unreadable, at once":  {"page=0&status=closed&severity=high&muted=yes&instanceName=a&instanceId=" + id + "&size=1", 400, "invalid_parameter", []string{"query page invalid_parameter", "query status invalid_parameter", "query severity invalid_parameter", "query muted invalid_parameter", "query instanceName conflicting_parameters", "query instanceId conflicting_parameters", "query size unknown_parameter"}},
		"from is to":           {"from=2026-11-20T00:00:00Z&to=2026-11-20T01:00:00%2B01:00", 422, "invalid_window", []string{"query from invalid_window"}},
		"501 ids":              {many, 422, "too_many_instances", []string{"query instanceId too_many_instances"}},
		"501 names":            {strings.ReplaceAll(many, "instanceId", "instanceName"), 422, "too_many_instances", []string{"query instanceName too_many_instances"}},
		"rules, all at once":   {many + "from=2026-11-20T00:00:00Z&to=2025-11-20T00:00:00Z", 422, "invalid_window", []string{"query from invalid_window", "query instanceId too_many_instances"}},
		"a name of 256 points": {"instanceName=" + strings.Repeat("n", 256), 400, "invalid_parameter", []string{"query instanceName invalid_parameter"}},
	} {
		p := w.get(w.ours.viewer, alertsPath+"?"+c.query).problem(c.status, c.code)
		if diff := cmp.Diff(c.places, p.places()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	w.get(w.ours.viewer, alertsPath+"/x").problem(400, "invalid_parameter")
	w.get(w.ours.viewer, alertsPath+"/"+id).problem(404, "not_found")
}

func TestOneAlert(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instances, alerts := w.alerting()
	shown := w.get(w.ours.viewer, alertsPath+"/"+alerts["b"].String()).is(200).object()
	for field, want := range map[string]any{
		"id": alerts["b"].String(), "title": "Disk full", "severity": "warning", "state": "Acknowledged", "open": true, "isMuted": false,
		"createdAt": w.ago(8 * time.Hour).Format(time.RFC3339), "firstTriggeredAt": w.ago(8 * time.Hour).Format(time.RFC3339),
		"lastTriggeredAt": w.ago(2 * time.Hour).Format(time.RFC3339), "resolvedAt": nil, "occurrences": 1.0, "description": nil, "rule": nil,
		"instance": map[string]any{"id": instances["orders-1"].String(), "name": "orders"}, "database": map[string]any{"id": instances["orders-1/d"].String(), "name": "d"},
	} {
		if diff := cmp.Diff(want, shown[field]); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
	// What it belongs to was removed: it is still said what that was.
	gone := w.get(w.ours.viewer, alertsPath+"/"+alerts["e"].String()).is(200).object()
	if diff := cmp.Diff(map[string]any{"id": instances["removed"].String(), "name": "removed"}, gone["instance"]); diff != "" || gone["database"] != nil {
		t.Errorf("of a removed one: %s %v", diff, gone["database"])
	}
	if gone["state"] != "AutoResolved" || gone["open"] != false || gone["resolvedAt"] != w.ago(time.Hour).Format(time.RFC3339) {
		t.Errorf("closed: %v", gone)
	}
	none := w.get(w.ours.viewer, alertsPath+"/"+alerts["f"].String()).is(200).object()
	if none["instance"] != nil || none["database"] != nil {
		t.Errorf("of the organization: %v", none)
	}
	// In the list it is the same, less what only one shows.
	for _, item := range w.get(w.ours.viewer, alertsPath).is(200).object()["items"].([]any) {
		row := item.(map[string]any)
		one := w.get(w.ours.viewer, alertsPath+"/"+row["id"].(string)).is(200).object()
		delete(one, "description")
		delete(one, "rule")
		delete(one, "blocking")
		delete(one, "timeline")
		delete(one, "unavailable")
		if diff := cmp.Diff(row, one); diff != "" {
			t.Errorf("listed and shown: %s", diff)
		}
	}
}

// TestAnAlertOfTheFirstInstant: what is closed has a time of it, even the one that
// Go calls zero.
func TestAnAlertOfTheFirstInstant(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.raised(w.ours, alerting.Item{ExternalID: "a", CreatedAt: time.Time{}, State: alert.ResolvedState, ResolvedAt: to(time.Time{})})["a"]
	if got := w.get(w.ours.viewer, alertsPath+"/"+id.String()).stands(); got != "Resolved" {
		t.Errorf("it is %s", got)
	}
}

// TestAnAlertOfARule: what a machine saw carries a rule with its threshold.
func TestAnAlertOfARule(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	_, mark, err := w.deps.Commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "watch"}, []alert.Firing{{
		Key: "watch/volume/x", Title: "A volume is full", Description: "/data is 92.5 % full.", Severity: alert.Critical,
		Rule: &alert.Rule{ID: "volume", Name: "Volume almost full", Threshold: to(90.1), Unit: "%"}, StartsAt: w.ago(time.Hour), SeenAt: w.ago(0),
	}})
	must(t, err)
	w.settle(mark)
	item := w.get(w.ours.viewer, alertsPath).is(200).object()["items"].([]any)[0].(map[string]any)
	shown := w.get(w.ours.viewer, alertsPath+"/"+item["id"].(string)).is(200).object()
	if diff := cmp.Diff(map[string]any{"id": "volume", "name": "Volume almost full", "threshold": 90.1, "unit": "%"}, shown["rule"]); diff != "" || shown["description"] != "/data is 92.5 % full." {
		t.Errorf("rule: %s; %v", diff, shown["description"])
	}
}

// TestAnAlertThatFiresAgain: it is told when it did, also where the firing window
// goes on from its beginning.
func TestAnAlertThatFiresAgain(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for _, started := range []time.Duration{3 * time.Hour, time.Hour} {
		_, mark, err := w.deps.Commands.RecordFirings(t.Context(), asFeed(w.ours), []alert.Firing{{
			Key: "alertmanager/1", Title: "Disk full", Severity: alert.Critical, StartsAt: w.ago(started), SeenAt: w.ago(started),
		}})
		must(t, err)
		w.settle(mark)
	}
	item := w.get(w.ours.viewer, alertsPath).is(200).object()["items"].([]any)[0].(map[string]any)
	if item["occurrences"] != 2.0 || item["firstTriggeredAt"] != w.ago(3*time.Hour).Format(time.RFC3339) {
		t.Errorf("%v", item)
	}
	var told []any
	for _, m := range w.get(w.ours.viewer, alertsPath+"/"+item["id"].(string)).is(200).object()["timeline"].([]any) {
		told = append(told, m.(map[string]any)["event"], m.(map[string]any)["at"])
	}
	want := []any{"triggered", w.ago(3 * time.Hour).Format(time.RFC3339), "triggered", w.ago(time.Hour).Format(time.RFC3339)}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}
