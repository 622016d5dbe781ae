package httpapi

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/report"
)

// TestAServerChangesTeams with an open finding, alerts, an exception, a report and a schedule of its own: from the next
// request on, everything is the new team's, with its past, and the old team's members get the answers for something
// unknown.
func TestAServerChangesTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	id := w.servers(w.ours, []string{"moves-0"}, map[string]map[string]string{"moves-0": {"team": "old"}})["moves-0"]
	before := w.person(w.ours.organization, organization.Team, "old@ours.example")
	after := w.person(w.ours.organization, organization.Team, "new@ours.example")
	w.team(w.ours, "Old", map[string][]string{"team": {"old"}}, before, organization.Member)
	w.team(w.ours, "New", map[string][]string{"team": {"new"}}, after, organization.Member)
	episode := w.blocked(w.ours, id, w.ago(time.Minute))
	exception := w.asked(before, func(b map[string]any) { b["instanceId"] = id })
	scheduled := w.post(before, schedulesPath, everyDay(func(b members) { b["scope"] = members{"instanceIds": []uuid.UUID{id}} })).is(201).object()["id"].(string)
	made, err := w.deps.Commands.RequestReport(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, MemberID: w.ours.admin.ID},
		commands.RequestReport{Kind: report.Security, InstanceIDs: []uuid.UUID{id}})
	must(t, err)
	w.settle(made.Mark)
	w.roll()
	one := func(path string) string {
		items := w.get(w.ours.admin, path).is(200).object()["items"].([]any)
		return items[0].(map[string]any)["id"].(string)
	}
	finding, alert := one("/api/v1/findings"), one(alertsPath+"?q=open")
	w.patch(before, "/api/v1/findings/"+finding, members{"ticketUrl": "https://tickets.example/1", "assigneeId": before.ID}).is(200)
	w.act(before, uuid.MustParse(alert), "acknowledge").is(200)

	things := []string{
		"/api/v1/instances/" + id.String(), "/api/v1/findings/" + finding, alertsPath + "/" + alert, "/api/v1/blocking/" + episode.String(),
		"/api/v1/exceptions/" + exception, "/api/v1/schedules/" + scheduled, "/api/v1/reports/" + made.ReportID.String(),
	}
	lists := []string{
		"/api/v1/instances", "/api/v1/findings", alertsPath, "/api/v1/exceptions", "/api/v1/schedules", "/api/v1/reports?kind=Security", "/api/v1/tags",
		"/api/v1/blocking?" + url.Values{"from": {w.ago(time.Hour).Format(time.RFC3339)}, "to": {w.clock.Now().Format(time.RFC3339)}}.Encode(),
	}
	seen := func(as person) string {
		t.Helper()
		var sees []string
		for _, path := range things {
			switch a := w.get(as, path); a.Code {
			case 200:
				sees = append(sees, strings.Split(path, "/")[3])
			case 404:
			default:
				t.Errorf("%s as %s: %d %s", path, as.Name, a.Code, a.Body)
			}
		}
		for _, path := range lists {
			if len(w.get(as, path).is(200).object()["items"].([]any)) > 0 {
				sees = append(sees, "list of "+strings.Split(strings.Split(path, "/")[3], "?")[0])
			}
		}
		slices.Sort(sees)
		return strings.Join(sees, ", ")
	}
	all := "alerts, blocking, exceptions, findings, instances, list of alerts, list of blocking, list of exceptions, list of findings, list of instances, " +
		"list of reports, list of schedules, list of tags, reports, schedules"
	if old, next := seen(before), seen(after); old != all || next != "" {
		t.Errorf("before, the old team sees %s, and the new one %s", old, next)
	}
	w.tag(w.ours.admin, id, map[string]string{"team": "new"}).is(200)
	if old, next := seen(before), seen(after); old != "" || next != all {
		t.Errorf("after, the old team sees %s, and the new one %s", old, next)
	}
	for path, called := range map[string]string{"/api/v1/instances": "name", "/api/v1/findings": "object", alertsPath: "title"} {
		if got := w.get(w.ours.admin, path).owners(called); !strings.Contains(got, ": New") || strings.Contains(got, "Old") {
			t.Errorf("%s: owners are %s", path, got)
		}
	}
	f := w.get(after, "/api/v1/findings/"+finding).object()
	if f["ticketUrl"] != "https://tickets.example/1" || f["assigneeId"] != before.ID.String() || f["firstSeenAt"] == nil {
		t.Errorf("the finding has lost its past: %v", f)
	}
	if a := w.get(after, alertsPath+"/"+alert).object(); a["state"] != "Acknowledged" {
		t.Errorf("the alert is %v", a["state"])
	}
	w.patch(before, "/api/v1/findings/"+finding, members{"ticketUrl": nil}).problem(404, "not_found")
	w.act(before, uuid.MustParse(alert), "resolve").problem(404, "not_found")
	w.act(after, uuid.MustParse(alert), "resolve").is(200)
	// Its schedule still has its old owner, who may not act on the server any more: it requests nothing.
	w.run(w.ours, uuid.MustParse(scheduled), w.clock.Now().Add(2*day))
	last := w.get(w.ours.admin, "/api/v1/schedules/"+scheduled).is(200).object()["lastRun"].(map[string]any)
	if last["reportId"] != nil || last["status"] != "missed" || last["reason"] != "refused" {
		t.Errorf("the schedule's last run is %v", last)
	}
}
