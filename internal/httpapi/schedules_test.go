package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/eventstore"
	"muster/internal/mail/sent"
)

const schedulesPath = "/api/v1/schedules"

// everyDay is a schedule of Security, at eight in Amsterdam, that breaks no rule.
func everyDay(change ...func(body members)) members {
	body := members{"name": "Security every day", "kind": "Security", "every": "day", "at": "08:00", "timeZone": "Europe/Amsterdam"}
	for _, c := range change {
		c(body)
	}
	return body
}

func (w *world) patch(as person, path string, body any) answer {
	w.t.Helper()
	return w.do(request{method: "PATCH", path: path, as: as, json: body})
}

// run has a worker's part done: what becomes of a schedule at a time.
func (w *world) run(as tenant, id uuid.UUID, at time.Time) {
	w.t.Helper()
	run, err := w.deps.Commands.PlanRun(context.Background(), as.organization.ID, id, at)
	must(w.t, err)
	w.inTx(func(ctx context.Context, tx *sqlx.Tx) (usecase.Mark, error) {
		return w.deps.Commands.RunSchedule(ctx, tx, run, func(time.Time) string { return "away" }, func(time.Time) error { return nil })
	})
	head, err := w.deps.Events.Head(context.Background(), w.deps.DB, eventstore.Reports)
	must(w.t, err)
	w.settle(usecase.Mark{Log: head.Log, Position: head.Position})
}

func TestASchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.clock.Advance(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Sub(w.clock.Now()))
	w.ours = w.withSessions(w.ours) // of that time
	orders := w.instance(w.ours, "orders")
	made := w.post(w.ours.member, schedulesPath, everyDay(func(b members) {
		b["kind"], b["scope"], b["recipientIds"] = "InstanceScorecard", members{"instanceIds": []string{orders.String()}, "window": "7d"}, []string{w.ours.viewer.ID.String()}
	})).is(201)
	path := made.Header().Get("Location")
	id := uuid.MustParse(strings.TrimPrefix(path, schedulesPath+"/"))
	shown := made.object()
	for field, want := range map[string]any{
		"id": id.String(), "name": "Security every day", "kind": "InstanceScorecard", "scopeLabel": "orders", "every": "day", "weekday": nil, "dayOfMonth": nil,
		"at": "08:00", "timeZone": "Europe/Amsterdam", "onlyIfChanged": false, "enabled": true, "paused": nil, "lastRun": nil,
	} {
		if shown[field] != want {
			t.Errorf("%s is %v, want %v", field, shown[field], want)
		}
	}
	if owner := shown["owner"].(map[string]any); owner["id"] != w.ours.member.ID.String() || owner["name"] != "MEMBER" {
		t.Errorf("owner %v", owner)
	}
	if dues := fmt.Sprint(shown["nextDueAts"]); dues != "[2026-11-21T07:00:00Z 2026-11-22T07:00:00Z 2026-11-23T07:00:00Z 2026-11-24T07:00:00Z 2026-11-25T07:00:00Z]" {
		t.Errorf("next due %s", dues)
	}
	if scope := shown["scope"].(map[string]any); scope["window"] != "7d" || fmt.Sprint(scope["instanceIds"]) != "["+orders.String()+"]" || scope["databaseId"] != nil {
		t.Errorf("scope %v", scope)
	}

	changed := w.patch(w.ours.member, path, members{"every": "week", "weekday": "monday", "name": "Orders"}).is(200).object()
	if changed["weekday"] != "monday" || changed["name"] != "Orders" || changed["nextDueAts"].([]any)[0] != "2026-11-23T07:00:00Z" {
		t.Errorf("changed to %v", changed)
	}
	if off := w.patch(w.ours.admin, path, members{"enabled": false}).is(200).object(); off["enabled"] != false || len(off["nextDueAts"].([]any)) != 0 {
		t.Errorf("switched off: %v", off)
	}
	taken := w.patch(w.ours.admin, path, members{"enabled": true, "takeOver": true}).is(200).object()
	if taken["owner"].(map[string]any)["id"] != w.ours.admin.ID.String() {
		t.Errorf("taken over by %v", taken["owner"])
	}
	w.patch(w.ours.member, path, members{"name": "Mine"}).problem(403, "forbidden")
	w.do(request{method: "DELETE", path: path, as: w.ours.member}).problem(403, "forbidden")
	w.patch(w.ours.viewer, path, members{"name": "Mine"}).problem(403, "forbidden")

	if all := w.get(w.ours.viewer, schedulesPath).is(200).object()["items"].([]any); len(all) != 1 || all[0].(map[string]any)["name"] != "Orders" {
		t.Errorf("the list has %v", all)
	}
	if theirs := w.get(w.theirs.viewer, schedulesPath).is(200).object()["items"].([]any); len(theirs) != 0 {
		t.Errorf("theirs has %v", theirs)
	}
	w.do(request{method: "DELETE", path: path, as: w.ours.admin}).is(204)
	w.get(w.ours.admin, path).problem(404, "not_found")
	w.get(w.ours.admin, path+"/runs").problem(404, "not_found")
}

func TestRunsOfASchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.clock.Advance(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Sub(w.clock.Now()))
	w.ours = w.withSessions(w.ours)
	path := w.post(w.ours.member, schedulesPath, everyDay()).is(201).Header().Get("Location")
	id := uuid.MustParse(strings.TrimPrefix(path, schedulesPath+"/"))
	told := func(query string) string {
		t.Helper()
		page := w.get(w.ours.viewer, path+"/runs"+query).is(200).object()
		words := []string{fmt.Sprint(page["page"].(map[string]any)["totalItems"])}
		for _, item := range page["items"].([]any) {
			run := item.(map[string]any)
			words = append(words, strings.TrimSuffix(fmt.Sprintf("%s %s %v", run["dueAt"].(string)[8:13], run["status"], run["reason"]), " <nil>"))
		}
		return strings.Join(words, ", ")
	}
	if got := told(""); got != "0" {
		t.Errorf("before the first: %s", got)
	}
	w.clock.Advance(2 * 24 * time.Hour) // 22 November, noon
	w.ours = w.withSessions(w.ours)
	if got := told(""); got != "2, 22T07 waiting, 21T07 waiting" {
		t.Errorf("before anybody looked: %s", got)
	}
	if last := w.get(w.ours.viewer, path).is(200).object()["lastRun"].(map[string]any); last["status"] != "waiting" || last["reportId"] != nil {
		t.Errorf("the last run is %v", last)
	}
	w.run(w.ours, id, w.clock.Now())
	if got := told(""); got != "2, 22T07 requested, 21T07 missed away" {
		t.Errorf("after: %s", got)
	}
	w.clock.Advance(24 * time.Hour)
	w.ours = w.withSessions(w.ours)
	for query, want := range map[string]string{
		"?pageSize=1":        "3, 23T07 waiting",
		"?pageSize=1&page=2": "3, 22T07 requested",
		"?pageSize=2&page=2": "3, 21T07 missed away",
		"?pageSize=2&page=9": "3",
	} {
		if got := told(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	run := w.get(w.ours.viewer, path+"/runs?page=2&pageSize=1").is(200).object()["items"].([]any)[0].(map[string]any)
	requested := w.get(w.ours.viewer, "/api/v1/reports/"+run["reportId"].(string)).is(200).object()
	if requested["requester"].(map[string]any)["id"] != w.ours.member.ID.String() || run["startedAt"] == nil {
		t.Errorf("run %v of report %v", run, requested)
	}
	audit := w.get(w.ours.auditor, "/api/v1/audit-events?type=scheduleMissed&type=scheduleRequested&type=scheduleCreated").is(200).object()
	var types []string
	for _, item := range audit["items"].([]any) {
		types = append(types, item.(map[string]any)["type"].(string))
	}
	slices.Sort(types)
	if got := strings.Join(types, " "); got != "scheduleCreated scheduleMissed scheduleRequested" || audit["names"].(map[string]any)[id.String()] != "Security every day" {
		t.Errorf("the audit list has %s and calls it %v", got, audit["names"])
	}

	w.patch(w.ours.admin, "/api/v1/members/"+w.ours.member.ID.String(), members{"status": "disabled"}).is(200)
	if paused := w.get(w.ours.viewer, path).is(200).object()["paused"]; paused != "owner_disabled" {
		t.Errorf("its owner is disabled, and it is paused by %v", paused)
	}
	w.do(request{method: "DELETE", path: "/api/v1/members/" + w.ours.member.ID.String(), as: w.ours.admin}).is(204)
	if shown := w.get(w.ours.viewer, path).is(200).object(); shown["paused"] != "owner_erased" {
		t.Errorf("its owner is erased, and it is paused by %v", shown["paused"])
	}
}

func TestSchedulesThatBreakRules(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	foreign := w.instance(w.theirs, "theirs")
	p := w.post(w.ours.member, schedulesPath, everyDay(func(b members) {
		b["name"], b["kind"], b["every"], b["timeZone"], b["onlyIfChanged"] = "\u202e", "DataInventory", "month", "Mars/Olympus", true
		b["scope"], b["recipientIds"] = members{"instanceIds": []string{foreign.String()}, "window": "7d"}, []string{w.theirs.member.ID.String()}
	}))
	var got []string
	for _, e := range p.problem(422, "day_of_month_required").Errors {
		got = append(got, e.Pointer+" "+e.Code)
	}
	slices.Sort(got)
	want := []string{
		"#/dayOfMonth day_of_month_required", "#/name invalid_name", "#/onlyIfChanged not_comparable", "#/recipientIds/0 recipient_not_member",
		"#/scope/instanceIds/0 instance_not_in_organization", "#/scope/window range_not_allowed", "#/timeZone unknown_time_zone",
	}
	if !slices.Equal(got, want) {
		t.Errorf("broken are %v, want %v", got, want)
	}
	w.post(w.ours.member, schedulesPath, everyDay(func(b members) { b["at"] = "8 o'clock" })).problem(400, "invalid_parameter")
	w.post(w.ours.member, schedulesPath, everyDay(func(b members) { b["every"] = "year" })).problem(400, "invalid_parameter")
	w.post(w.ours.viewer, schedulesPath, everyDay()).problem(403, "forbidden")

	dues := w.post(w.ours.member, schedulesPath+"/preview", members{"every": "month", "dayOfMonth": -1, "at": "17:30", "timeZone": "America/Sao_Paulo"}).is(200).object()["nextDueAts"].([]any)
	if len(dues) != 5 || !strings.HasSuffix(dues[0].(string), "T20:30:00Z") {
		t.Errorf("previewed are %v", dues)
	}
	w.post(w.ours.member, schedulesPath+"/preview", members{"every": "week", "at": "17:30", "timeZone": "Local"}).problem(422, "weekday_required")
}

// TestZonesWithNewRules, C4: whatever the machine's zone data is, due times, what the page
// shows of them, and runs follow the rules of 2026.
func TestZonesWithNewRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.clock.Advance(time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC).Sub(w.clock.Now()))
	w.ours = w.withSessions(w.ours) // of that time
	places := map[string]string{}
	wanted := map[string]string{
		"America/Vancouver": "2026-11-27T15:00:00Z 2026-11-27T08:00:00-07:00", "America/Edmonton": "2026-11-27T14:00:00Z 2026-11-27T08:00:00-06:00",
		"Africa/Casablanca": "2026-11-27T08:00:00Z 2026-11-27T08:00:00Z", "America/Winnipeg": "2026-11-27T13:00:00Z 2026-11-27T08:00:00-05:00",
	}
	for zone, want := range wanted {
		made := w.post(w.ours.member, schedulesPath, everyDay(func(b members) { b["timeZone"] = zone })).is(201)
		previewed := w.post(w.ours.member, schedulesPath+"/preview", members{"every": "day", "at": "08:00", "timeZone": zone}).is(200).object()
		for what, shown := range map[string]map[string]any{"schedule": made.object(), "preview": previewed} {
			at, local := shown["nextDueAts"].([]any), shown["nextDueLocal"].([]any)
			i := slices.IndexFunc(at, func(due any) bool { return strings.HasPrefix(due.(string), "2026-11-27") })
			if i < 0 || len(local) != len(at) || fmt.Sprint(at[i], " ", local[i]) != want {
				t.Errorf("%s in %s: due %v, local %v, want %s", what, zone, at, local, want)
			}
		}
		places[zone] = made.Header().Get("Location")
	}
	w.clock.Advance(time.Date(2026, 11, 27, 16, 0, 0, 0, time.UTC).Sub(w.clock.Now()))
	w.ours = w.withSessions(w.ours)
	for zone, want := range wanted {
		run := w.get(w.ours.member, places[zone]+"/runs").is(200).object()["items"].([]any)[0].(map[string]any)
		if got := fmt.Sprint(run["dueAt"], " ", run["dueLocal"]); got != want {
			t.Errorf("the run in %s: %s, want %s", zone, got, want)
		}
	}
}

// TestAnOrganizationHasFiveHundredSchedules, exactly, also where several are made at once
// and the read model has not come to them.
func TestAnOrganizationHasFiveHundredSchedules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.post(w.ours.member, schedulesPath, everyDay()).is(201).Header().Get("Location")
	_, err := w.deps.DB.Exec(`INSERT INTO schedules_v1.schedules SELECT gen_random_uuid(), organization_id, owner_id, name, terms, due_from, created_at
		FROM schedules_v1.schedules, generate_series(1, 496)`) // 497 are there
	must(t, err)
	w.stopProjections()
	creates := func() (codes map[string]int) {
		t.Helper()
		codes = map[string]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, _, err := w.deps.Commands.CreateSchedule(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, MemberID: w.ours.member.ID}, schedule.Terms{
					Name: "Daily", Kind: report.Security, Enabled: true, Recurrence: schedule.Recurrence{Every: schedule.Day, At: "08:00", TimeZone: "UTC"},
				})
				outcome := "made"
				if err != nil {
					outcome = err.Error()
				}
				mu.Lock()
				codes[outcome]++
				mu.Unlock()
			})
		}
		all.Wait()
		return codes
	}
	if codes := creates(); codes["made"] != 3 || len(codes) != 2 {
		t.Errorf("with 497 there: %v, want 3 made", codes)
	}
	w.do(request{method: "DELETE", path: first, as: w.ours.member}).is(204)
	if codes := creates(); codes["made"] != 1 || len(codes) != 2 {
		t.Errorf("with one removed: %v, want 1 made", codes)
	}
	w.post(w.ours.member, schedulesPath, everyDay()).problem(422, "too_many_schedules")
	w.post(w.theirs.member, schedulesPath, everyDay()).is(201)
}

func TestMailsOfAReportAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested(w.ours, w.ours.member, w.ours.viewer.ID)
	path := "/api/v1/reports/" + id.String() + "/mails"
	if none := w.get(w.ours.auditor, path).is(200).object()["items"].([]any); len(none) != 0 {
		t.Errorf("before it is ready: %v", none)
	}
	w.ready(w.ours, id, pdfText)
	const text = "Subject: Security Report ready\r\n\r\nHello\r\n"
	for _, p := range []person{w.ours.viewer, w.ours.member} {
		w.inTx(func(ctx context.Context, tx *sqlx.Tx) (usecase.Mark, error) {
			return usecase.Mark{Log: eventstore.Reports}, sent.Keep(ctx, tx, sent.Mail{
				OrganizationID: w.ours.organization.ID, ReportID: id, MemberID: p.ID, RequesterID: w.ours.member.ID,
				To: p.Email, Subject: "Security Report ready", Message: []byte(text),
			})
		})
	}
	items := w.get(w.ours.auditor, path).is(200).object()["items"].([]any)
	digest := sha256.Sum256([]byte(text))
	if len(items) != 2 {
		t.Fatalf("mails %v", items)
	}
	first := items[0].(map[string]any)
	if first["member"].(map[string]any)["name"] != "MEMBER" || first["to"] != w.ours.member.Email || first["sha256"] != hex.EncodeToString(digest[:]) || first["sizeBytes"] != float64(len(text)) {
		t.Errorf("the first is %v", first)
	}
	one := path + "/" + w.ours.viewer.ID.String()
	if raw := w.get(w.ours.admin, one).is(200).object()["raw"]; raw != text {
		t.Errorf("it is %q", raw)
	}
	for name, as := range map[string]person{"a member": w.ours.member, "its recipient": w.ours.viewer} {
		if a := w.get(as, path); a.Code != 403 {
			t.Errorf("%s reads mails: %d", name, a.Code)
		}
	}
	w.get(w.theirs.admin, path).problem(404, "not_found")
	w.get(w.theirs.admin, one).problem(404, "not_found")
	w.get(w.ours.admin, path+"/"+w.ours.auditor.ID.String()).problem(404, "not_found")

	w.do(request{method: "DELETE", path: "/api/v1/members/" + w.ours.viewer.ID.String(), as: w.ours.admin}).is(204)
	w.get(w.ours.admin, one).problem(404, "not_found")
	if left := w.get(w.ours.admin, path).is(200).object()["items"].([]any); len(left) != 1 {
		t.Errorf("after the recipient was erased: %v", left)
	}
	w.clock.Advance(31 * 24 * time.Hour)
	w.ours.admin = w.again(w.ours.admin)
	w.get(w.ours.admin, path).problem(410, "expired")
	w.get(w.ours.admin, one).problem(410, "expired")
}
