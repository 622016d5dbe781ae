package httpapi

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/internal/testing/pgtest"
)

// held is the answer of a control, in hours before w's noon: what each server's periods are.
func (a answer) held(since time.Time) string {
	a.t.Helper()
	hour := func(at any) string {
		t, err := time.Parse(time.RFC3339, at.(string))
		must(a.t, err)
		return fmt.Sprint(t.Sub(since).Round(time.Minute).Hours())
	}
	var words []string
	for _, item := range a.is(200).object()["items"].([]any) {
		i := item.(map[string]any)
		words = append(words, i["instance"].(map[string]any)["name"].(string))
		for _, period := range i["periods"].([]any) {
			p := period.(map[string]any)
			words = append(words, fmt.Sprintf("%s-%s:%v/%v", hour(p["from"]), hour(p["to"]), p["state"], p["assessments"]))
		}
		words = append(words, fmt.Sprintf("share %.3f gap %vh", i["passedShare"], i["longestGapSeconds"].(float64)/3600))
	}
	return strings.Join(words, " ")
}

func TestControlOverAPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in, them := sender{w, w.ingestToken(w.ours.admin)}, sender{w, w.ingestToken(w.theirs.admin)}
	mine := w.fed(w.ours, inventory.Item{ExternalID: "shop", Name: "shop", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)},
		inventory.Item{ExternalID: "desk", Name: "desk", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)},
		inventory.Item{ExternalID: "erp", Name: "erp", Engine: domain.Oracle, CreatedAt: w.ago(100 * day)})
	theirs := w.fed(w.theirs, inventory.Item{ExternalID: "shop", Name: "theirs", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)})
	in.send(assessmentsPath, sentBatch(
		w.of("shop", 90*time.Hour, passing("PG-S02")),
		w.of("shop", 80*time.Hour, failing("PG-S02", "/dana")),
		w.of("shop", 70*time.Hour, members{"id": "PG-S02", "outcome": "notAssessed", "reason": "may not"}),
		w.of("shop", 60*time.Hour, passing("PG-S02")),
		w.of("shop", 10*time.Hour, failing("PG-S02", "/dana")),
	)).is(202)
	them.send(assessmentsPath, sentBatch(w.of("shop", 90*time.Hour, failing("PG-S02", "/x")))).is(202)

	from := w.ago(96 * time.Hour)
	path := func(check string, from, to time.Time, more string) string {
		return "/api/v1/controls/" + check + "?" + url.Values{"from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)}}.Encode() + more
	}
	ask := func(more string) string {
		return w.get(w.ours.auditor, path("PG-S02", from, w.clock.Now().Add(time.Hour), more)).held(from)
	}
	if late := w.get(w.ours.auditor, path("PG-S02", from, w.clock.Now(), "&instanceId="+mine["shop"].String())).is(200); !strings.Contains(late.held(from), "reportedLate") ||
		strings.Contains(late.held(from), "passed") || len(late.object()["items"].([]any)[0].(map[string]any)["late"].([]any)) != 4 {
		t.Errorf("what was sent days later: %s", late.held(from))
	}
	pgtest.Unguard(t, w.deps.DB) // from here on each was recorded when it was made
	w.deps.DB.MustExec(`UPDATE events SET recorded_at = (convert_from(data, 'UTF8')::json ->> 'at')::timestamptz WHERE stream_type LIKE '%assessment'`)
	const desk, shop = "desk 0-96:notAssessed/0 share 0.000 gap 96h ", "shop 0-6:notAssessed/0 6-16:passed/1 16-26:failed/1 26-36:notAssessed/1 36-60:passed/1 60-86:notAssessed/0 86-96:failed/1 share 0.354 gap 26h"
	for more, want := range map[string]string{
		"": desk + shop, "&instanceId=" + mine["shop"].String(): shop,
		"&instanceId=" + theirs["shop"].String(): "", "&instanceId=" + uuid.NewString(): "", "&instanceId=" + mine["erp"].String(): "",
	} {
		if got := ask(more); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", more, got, want)
		}
	}
	w.get(w.ours.auditor, path("PG-X99", from, w.ago(0), "")).problem(404, "not_found")
	w.get(w.ours.viewer, path("PG-S02", from, w.ago(0), "")).problem(403, "forbidden")
	for query, want := range map[string]string{
		path("PG-S02", from, from, ""):                             "invalid_window",
		path("PG-S02", w.ago(-time.Hour), w.ago(-2*time.Hour), ""): "window_in_future",
		path("PG-S02", w.ago(400*day+time.Second), w.ago(0), ""):   "out_of_range",
		path("PG-S02", w.ago(-time.Hour), w.ago(-401*24*time.Hour), "") + strings.Repeat("&instanceId="+uuid.NewString(), 501): "window_in_future",
	} {
		if p := w.get(w.ours.auditor, query).problem(422, want); strings.Count(query, "instanceId") > 0 && len(p.Errors) != 3 {
			t.Errorf("%d rules are broken, not three", len(p.Errors))
		}
	}
	w.get(w.ours.auditor, path("PG-S02", w.ago(400*day), w.ago(0), "&instanceId="+mine["shop"].String())).is(200)

	// An exception counts from its grant on, and who granted it is named.
	x := w.post(w.ours.member, "/api/v1/exceptions", members{"checkId": "PG-S02", "objectRef": "dana", "reason": "legacy", "until": w.ago(-48 * time.Hour)}).is(201).object()["id"].(string)
	w.post(w.ours.admin, "/api/v1/exceptions/"+x+"/grant", nil).is(200)
	w.clock.Advance(2 * time.Hour)
	after := w.get(w.ours.auditor, path("PG-S02", from, w.ago(0), "&instanceId="+mine["shop"].String()))
	if got, want := after.held(from), strings.Replace(shop, "share 0.354", "96-98:accepted/0 share 0.347", 1); got != want {
		t.Errorf("with an exception\ngot  %s\nwant %s", got, want)
	}
	periods := after.object()["items"].([]any)[0].(map[string]any)["periods"].([]any)
	granted := after.object()["exceptions"].([]any)[0].(map[string]any)
	if last := periods[len(periods)-1].(map[string]any); last["exceptionId"] != x || granted["id"] != x || granted["grantedBy"].(map[string]any)["name"] != w.ours.admin.Name || granted["revokedAt"] != nil {
		t.Errorf("%v by %v", last, granted)
	}
	w.post(w.ours.admin, "/api/v1/exceptions/"+x+"/revoke", nil).is(200)
	if got := w.get(w.theirs.auditor, path("PG-S02", from, w.ago(0), "")).object(); len(got["exceptions"].([]any)) != 0 || strings.Contains(fmt.Sprint(got), "shop") {
		t.Errorf("another organization sees %v", got)
	}
	if reasons := fmt.Sprint(periods[3].(map[string]any)["reasons"]); reasons != "[may not]" {
		t.Errorf("not assessed because %s", reasons)
	}
}

// TestAnAssessmentThatWaitedInABuffer counts for its own time for three days, if a sender says so.
func TestAnAssessmentThatWaitedInABuffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	from := w.ago(100 * time.Hour)
	buffered := members{"X-Muster-Sender": "agent-1", "X-Muster-Buffered": "true"}
	for name, c := range map[string]struct {
		ago    time.Duration
		header members
		want   string
	}{
		"buffered":             {60 * time.Hour, buffered, "passed"},
		"buffered, too long":   {80 * time.Hour, buffered, "reportedLate"},
		"buffered by nobody":   {60 * time.Hour, members{"X-Muster-Buffered": "true"}, "reportedLate"},
		"a sender, not waited": {60 * time.Hour, members{"X-Muster-Sender": "agent-1"}, "reportedLate"},
		"in time":              {23 * time.Hour, nil, "passed"},
	} {
		id := w.fed(w.ours, inventory.Item{ExternalID: name, Name: name, Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)})[name]
		header := map[string]string{}
		for key, value := range c.header {
			header[key] = value.(string)
		}
		in.send(assessmentsPath, sentBatch(w.of(name, c.ago, passing("PG-S02"))), header).is(202)
		query := url.Values{"from": {from.Format(time.RFC3339)}, "to": {w.clock.Now().Format(time.RFC3339)}, "instanceId": {id.String()}}.Encode()
		got := w.get(w.ours.auditor, "/api/v1/controls/PG-S02?"+query).is(200).held(from)
		if !strings.Contains(got, c.want) || strings.Contains(got, "passed") != (c.want == "passed") {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if p := in.send(assessmentsPath, sentBatch(w.of("in time", time.Hour)), map[string]string{"X-Muster-Buffered": "perhaps"}).problem(400, "invalid_parameter"); len(p.Errors) != 1 {
		t.Errorf("%+v", p)
	}
}

// TestARemovedServerStaysInItsPeriods: it is in the answer for as long as it was there.
func TestARemovedServerStaysInItsPeriods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine := w.fed(w.ours, inventory.Item{ExternalID: "old", Name: "old", Engine: domain.PostgreSQL, CreatedAt: w.ago(2 * day)})
	sender{w, w.ingestToken(w.ours.admin)}.send(assessmentsPath, sentBatch(w.of("old", time.Hour, passing("PG-S02")))).is(202)
	mark, err := w.deps.Commands.RemoveInstance(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, MemberID: w.ours.admin.ID}, mine["old"])
	must(t, err)
	w.settle(mark)
	w.clock.Advance(time.Hour)
	from := w.ago(4 * day)
	ask := func(to time.Time, more string) answer {
		return w.get(w.ours.member, "/api/v1/controls/PG-S02?"+url.Values{"from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}}.Encode()+more)
	}
	const want = "old 47-94:notAssessed/0 94-95:passed/1 share 0.021 gap 47h"
	for _, more := range []string{"", "&instanceId=" + mine["old"].String()} {
		got := ask(w.ago(0), more)
		if got.held(from) != want || got.object()["items"].([]any)[0].(map[string]any)["removed"] != true {
			t.Errorf("%s, want %s", got.held(from), want)
		}
	}
	if got := ask(from.Add(time.Hour), "").held(from); got != "" {
		t.Errorf("before it was there: %s", got)
	}
}
