package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// firstSeen makes findings as old as that, by their check.
func (w *world) firstSeen(in tenant, check string, ago time.Duration) {
	w.t.Helper()
	_, err := w.deps.DB.Exec(`UPDATE findings SET first_seen_at = $3 WHERE organization_id = $1 AND check_id = $2`, in.organization.ID, check, w.ago(ago))
	must(w.t, err)
}

// findingOf is the only finding that a list has of a check.
func (w *world) findingOf(as person, check string) map[string]any {
	w.t.Helper()
	items := w.get(as, "/api/v1/findings?status=open&status=accepted&status=notAssessed&checkId="+check).is(200).object()["items"].([]any)
	if len(items) != 1 {
		w.t.Fatalf("%d findings of %s", len(items), check)
	}
	return items[0].(map[string]any)
}

// overdue is how many findings the overview counts as overdue; nil: it does not say.
func (w *world) overdue(as person, query string) any {
	w.t.Helper()
	return w.get(as, overviewPath+query).is(200).object()["overdueFindings"]
}

// ofEach are checks of PostgreSQL, one of each severity, the worst first.
func (w *world) ofEach() (ids []string) {
	w.t.Helper()
	for _, severity := range []string{"Critical", "High", "Medium", "Low"} {
		for _, check := range w.deps.Checks.Checks() {
			if check.Engine == "postgresql" && check.Severity == severity {
				ids = append(ids, check.ID)
				break
			}
		}
	}
	if len(ids) != 4 {
		w.t.Fatalf("checks %v", ids)
	}
	return ids
}

func TestAFindingIsDueByItsSeverity(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders, theirs := w.instance(w.ours, "orders"), w.instance(w.theirs, "theirs")
	checks := w.ofEach()
	var results []snapshot.CheckResult
	for _, check := range checks {
		results = append(results, broken(check, "", "x", nil))
	}
	w.assessed(w.ours, orders, results...)
	w.assessed(w.theirs, theirs, results...)
	for _, check := range checks {
		w.firstSeen(w.theirs, check, 1000*day)
	}
	for i, days := range []time.Duration{7, 30, 90, 180} {
		for age, want := range map[time.Duration]int{
			0: 0, days * day: 0, days*day + time.Microsecond: 1, (days + 1) * day: 1, (days+1)*day + time.Microsecond: 2, (days + 100) * day: 100,
		} {
			w.firstSeen(w.ours, checks[i], age)
			f := w.findingOf(w.ours.member, checks[i])
			if f["overdueDays"] != float64(want) {
				t.Errorf("%s, first seen %s ago, is overdue for %v days, want %d", checks[i], age, f["overdueDays"], want)
			}
			if due := w.ago(age - days*day).Format(time.RFC3339Nano); f["dueAt"] != due {
				t.Errorf("%s is due at %v, want %s", checks[i], f["dueAt"], due)
			}
			for only, listed := range map[string]bool{"true": want > 0, "false": want == 0} {
				if got := w.get(w.ours.member, "/api/v1/findings?overdue="+only+"&checkId="+checks[i]).found(); (got != "") != listed {
					t.Errorf("overdue=%s, %s old: %q", only, age, got)
				}
			}
			if groups := w.get(w.ours.member, "/api/v1/findings/groups?overdue=true&checkId="+checks[i]).is(200).object()["items"].([]any); (len(groups) == 1) != (want > 0) {
				t.Errorf("%s old: %d groups are overdue", age, len(groups))
			}
			if n := w.overdue(w.ours.member, ""); n != float64(min(want, 1)) {
				t.Errorf("%s old: the overview counts %v", age, n)
			}
		}
		w.firstSeen(w.ours, checks[i], 0)
	}

	for i, age := range []time.Duration{7 * day, 31 * day, 100 * day, 179 * day} { // due now, a day ago, ten days ago, tomorrow
		w.firstSeen(w.ours, checks[i], age)
	}
	order := strings.Join([]string{checks[2] + ":x", checks[1] + ":x", checks[0] + ":x", checks[3] + ":x"}, " ")
	if got := w.get(w.ours.auditor, "/api/v1/findings?sort=dueAt").found(); got != order {
		t.Errorf("by due date: %s, want %s", got, order)
	}
	if got := w.get(w.ours.auditor, "/api/v1/findings?sort=-dueAt&overdue=true").found(); got != checks[1]+":x "+checks[2]+":x" {
		t.Errorf("the latest first: %s", got)
	}
	for query, want := range map[string]any{"": 2.0, only(orders): 2.0, only(theirs): 0.0, only(uuid.New()): 0.0} {
		if got := w.overdue(w.ours.admin, query); got != want {
			t.Errorf("overview%s: %v are overdue, want %v", query, got, want)
		}
	}
	if got := w.overdue(w.ours.viewer, ""); got != nil { // who reads no findings
		t.Errorf("a viewer learns %v", got)
	}
	w.do(request{method: "PATCH", path: "/api/v1/organization", as: w.ours.admin, header: map[string]string{"If-Match": "*"},
		json: map[string]any{"dueDays": map[string]any{"high": 31, "critical": 1}}}).is(200)
	if got := w.get(w.ours.member, "/api/v1/findings?overdue=true&sort=dueAt").found(); got != checks[2]+":x "+checks[0]+":x" {
		t.Errorf("with other days: %s", got)
	}
	if f := w.findingOf(w.ours.member, checks[0]); f["overdueDays"] != 6.0 {
		t.Errorf("critical ones are due after a day: %v", f["overdueDays"])
	}
	for _, neither := range []string{"1", "TRUE", "perhaps", ""} {
		w.get(w.ours.member, "/api/v1/findings?overdue="+neither).problem(400, "invalid_parameter")
	}
	w.get(w.ours.member, "/api/v1/findings?assigneeId=x").problem(400, "invalid_parameter")
}

func TestAcceptedAndUnassessedFindingsAreNotOverdue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	orders := w.instance(w.ours, "orders")
	w.assessed(w.ours, orders, broken("PG-S01", "", "line 1", nil), broken("PG-C04", "", "idx", nil),
		snapshot.CheckResult{CheckID: "PG-S17", Status: snapshot.StatusNotAssessed, Reason: "no grant"})
	for _, check := range []string{"PG-S01", "PG-S17"} {
		w.firstSeen(w.ours, check, 400*day)
	}
	if f := w.findingOf(w.ours.member, "PG-S17"); f["dueAt"] != nil || f["overdueDays"] != 0.0 {
		t.Errorf("a check that could not be run: %v", f)
	}
	for _, sort := range []string{"dueAt", "-dueAt"} {
		if got := w.get(w.ours.member, "/api/v1/findings?status=open&status=notAssessed&sort="+sort).found(); !strings.HasSuffix(got, " PG-S17:<nil>") {
			t.Errorf("by %s: %s", sort, got)
		}
	}
	if got := w.overdue(w.ours.member, ""); got != 1.0 {
		t.Errorf("%v are overdue", got)
	}
	x := w.asked(w.ours.member, func(b map[string]any) { b["instanceId"] = orders })
	w.decide(w.ours.admin, x, "grant").is(200)
	if f := w.findingOf(w.ours.member, "PG-S01"); f["status"] != "accepted" || f["overdueDays"] != 0.0 || f["dueAt"] == nil {
		t.Errorf("accepted: %v", f)
	}
	if got := w.get(w.ours.member, "/api/v1/findings?status=open&status=accepted&overdue=true").found(); got != "" {
		t.Errorf("accepted, and listed as overdue: %s", got)
	}
	if got := w.overdue(w.ours.member, ""); got != 0.0 {
		t.Errorf("accepted, and %v are overdue", got)
	}
	w.decide(w.ours.admin, x, "revoke").is(200)
	if f := w.findingOf(w.ours.member, "PG-S01"); f["overdueDays"] != 393.0 {
		t.Errorf("accepted no longer: %v", f["overdueDays"])
	}

	w.without("findings", func() {
		w.build()
		o := w.get(w.ours.member, overviewPath).is(200).object()
		if o["overdueFindings"] != nil || o["alerts"] == nil || !strings.Contains(fmt.Sprint(o["unavailable"]), "overdueFindings") {
			t.Errorf("findings cannot be read: %v", o)
		}
	})
}

func TestAFindingIsAssignedAndTicketed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	orders, theirs := w.instance(w.ours, "orders"), w.instance(w.theirs, "theirs")
	w.assessed(w.ours, orders, broken("PG-S01", "", "line 1", nil), broken("PG-C04", "", "idx", nil))
	w.assessed(w.theirs, theirs, broken("PG-S01", "", "line 1", nil))
	f := w.findingOf(w.ours.member, "PG-S01")
	path := "/api/v1/findings/" + f["id"].(string)
	patch := func(as person, path string, body any) answer {
		return w.do(request{method: "PATCH", path: path, as: as, json: body})
	}
	shown := func(as person) string {
		f := w.get(as, path).is(200).object()
		return fmt.Sprint(f["assigneeId"], " ", f["assigneeName"], " ", f["ticketUrl"])
	}
	const ticket = "https://tickets.ours.example/browse/DBA-112?focus=1#note"
	zoe := w.person(w.ours.organization, "member", "zoe@ours.example")
	changed := patch(w.ours.member, path, map[string]any{"assigneeId": zoe.ID, "ticketUrl": " " + ticket}).is(200).object()
	if changed["assigneeId"] != zoe.ID.String() || changed["assigneeName"] != zoe.Name || changed["ticketUrl"] != ticket {
		t.Errorf("the answer: %v", changed)
	}
	if got := shown(w.ours.auditor); got != fmt.Sprint(zoe.ID, " ", zoe.Name, " ", ticket) {
		t.Errorf("kept %s", got)
	}
	for query, want := range map[string]string{"?assigneeId=" + zoe.ID.String(): "PG-S01:line 1", "?assigneeId=" + w.ours.admin.ID.String(): "", "?assigneeId=" + w.theirs.admin.ID.String(): ""} {
		if got := w.get(w.ours.member, "/api/v1/findings"+query).found(); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	patch(w.ours.member, path, map[string]any{"assigneeId": zoe.ID, "ticketUrl": ticket}).is(200) // as it is: no entry
	patch(w.ours.admin, path, map[string]any{"ticketUrl": nil}).is(200)                           // the assignee stays
	patch(w.ours.admin, path, map[string]any{"ticketUrl": ticket}).is(200)
	if got := shown(w.ours.member); got != fmt.Sprint(zoe.ID, " ", zoe.Name, " ", ticket) {
		t.Errorf("the ticket was changed, and now %s", got)
	}

	// Who may not, and what cannot be.
	patch(w.ours.viewer, path, map[string]any{"assigneeId": zoe.ID}).problem(403, "forbidden")
	patch(w.ours.auditor, path, map[string]any{"assigneeId": zoe.ID}).problem(403, "forbidden")
	foreign := patch(w.theirs.admin, path, map[string]any{"assigneeId": nil}).problem(404, "not_found")
	unknown := patch(w.ours.admin, "/api/v1/findings/"+uuid.NewString(), map[string]any{"assigneeId": nil}).problem(404, "not_found")
	if foreign.Detail != unknown.Detail {
		t.Errorf("a foreign finding is told from an unknown one: %v, %v", foreign, unknown)
	}
	invited := w.post(w.ours.admin, "/api/v1/members", map[string]any{"email": "new@ours.example", "name": "New", "role": "member"}).is(201).object()["member"].(map[string]any)["id"]
	for _, nobody := range []any{w.theirs.admin.ID, uuid.New(), invited} {
		patch(w.ours.member, path, map[string]any{"assigneeId": nobody}).problem(422, "unknown_member")
	}
	for _, none := range []string{
		"DBA-112", "javascript:alert(1)", "ftp://tickets.example/1", "https:///1", "https://ana:secret@tickets.example/1", "https://ana@tickets.example/1",
		"https://tickets.example/\u202e1", "https://tickets.example/" + strings.Repeat("a", 2000),
	} {
		refused := patch(w.ours.member, path, map[string]any{"ticketUrl": none})
		if refused.Code != 422 && refused.Code != 400 || strings.Contains(refused.Body.String(), "secret") {
			t.Errorf("%s: %d %s", none, refused.Code, refused.Body)
		}
	}
	patch(w.ours.member, path, map[string]any{}).problem(400, "invalid_parameter")
	patch(w.ours.member, path, map[string]any{"owner": "x"}).problem(400, "unknown_field")
	if got := shown(w.ours.member); got != fmt.Sprint(zoe.ID, " ", zoe.Name, " ", ticket) {
		t.Errorf("what was refused left %s", got)
	}

	audit := w.get(w.ours.auditor, "/api/v1/audit-events?type=findingAssigned&type=findingTicketed").is(200)
	if strings.Contains(audit.Body.String(), "tickets.ours.example") {
		t.Error("the log has the address of the ticket")
	}
	list := audit.object()
	var entries []string
	for _, item := range list["items"].([]any) {
		e := item.(map[string]any)
		data := e["data"].(map[string]any)
		entries = append(entries, fmt.Sprint(e["type"], " ", data["checkId"], " ", data["instanceId"] == orders.String(), " ", data["assigneeId"] == zoe.ID.String(), " ", data["linked"]))
		if e["subjectId"] != f["id"] || list["names"].(map[string]any)[f["id"].(string)] != "PG-S01" {
			t.Errorf("about %v, which is called %v", e["subjectId"], list["names"])
		}
	}
	if got := strings.Join(entries, "; "); got != "findingTicketed PG-S01 true false true; findingTicketed PG-S01 true false false; findingTicketed PG-S01 true false true; findingAssigned PG-S01 true true <nil>" {
		t.Errorf("entries %s", got)
	}
	if theirs := w.get(w.theirs.auditor, "/api/v1/audit-events?type=findingAssigned").is(200).object()["items"].([]any); len(theirs) != 0 {
		t.Errorf("theirs: %v", theirs)
	}

	// Who is disabled keeps it, until it is another's; who is erased does not.
	w.do(request{method: "PATCH", path: memberPath(zoe), as: w.ours.admin, json: map[string]any{"status": "disabled"}}).is(200)
	patch(w.ours.member, path, map[string]any{"assigneeId": zoe.ID, "ticketUrl": nil}).is(200)
	if got := shown(w.ours.member); got != fmt.Sprint(zoe.ID, " ", zoe.Name, " <nil>") {
		t.Errorf("disabled: %s", got)
	}
	w.do(request{method: "DELETE", path: memberPath(zoe), as: w.ours.admin}).is(204)
	if got := shown(w.ours.member); got != "<nil> <nil> <nil>" {
		t.Errorf("erased: %s", got)
	}
	if got := w.get(w.ours.member, "/api/v1/findings?assigneeId="+zoe.ID.String()).found(); got != "" {
		t.Errorf("erased, and assigned: %s", got)
	}
	patch(w.ours.member, path, map[string]any{"ticketUrl": ticket}).is(200)
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + orders.String(), as: w.ours.admin}).is(204)
	patch(w.ours.member, path, map[string]any{"ticketUrl": nil}).problem(404, "not_found")
	var left int
	must(t, w.deps.DB.Get(&left, `SELECT count(*) FROM finding_assignments`))
	if left != 0 {
		t.Errorf("%d assignments of a removed server", left)
	}
}

func TestAReturningFindingIsMarkedAsReopened(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	orders := w.instance(w.ours, "orders")
	fails, passes := broken("PG-S01", "", "line 1", nil), snapshot.CheckResult{CheckID: "PG-S01", Status: snapshot.StatusPass}
	w.assessed(w.ours, orders, fails)
	first := w.findingOf(w.ours.member, "PG-S01")
	if first["reopenedAt"] != nil || first["earlier"] != nil {
		t.Errorf("it never came back: %v", first)
	}
	path := "/api/v1/findings/" + first["id"].(string)
	w.do(request{method: "PATCH", path: path, as: w.ours.member, json: map[string]any{"assigneeId": w.ours.admin.ID, "ticketUrl": "https://tickets.example/1"}}).is(200)
	w.assessed(w.ours, orders, passes)
	closed := w.get(w.ours.member, path).is(200).object()
	if closed["status"] != "passed" || closed["overdueDays"] != 0.0 || closed["ticketUrl"] != "https://tickets.example/1" {
		t.Errorf("closed: %v", closed)
	}
	back := func(what string, closedAt any) map[string]any {
		t.Helper()
		w.assessed(w.ours, orders, fails)
		f := w.findingOf(w.ours.member, "PG-S01")
		earlier, _ := f["earlier"].(map[string]any)
		if f["id"] != first["id"] || f["reopenedAt"] != f["firstSeenAt"] || f["firstSeenAt"] == first["firstSeenAt"] ||
			earlier["firstSeenAt"] != first["firstSeenAt"] || earlier["closedAt"] != closedAt {
			t.Errorf("%s: %v", what, f)
		}
		if f["assigneeId"] != w.ours.admin.ID.String() || f["ticketUrl"] != "https://tickets.example/1" {
			t.Errorf("%s: it is %v's, with the ticket %v", what, f["assigneeName"], f["ticketUrl"])
		}
		return f
	}
	once := back("came back", closed["passedSince"])
	w.assessed(w.ours, orders, fails) // found again: it says so still
	if again := w.findingOf(w.ours.member, "PG-S01"); again["reopenedAt"] != once["reopenedAt"] || fmt.Sprint(again["earlier"]) != fmt.Sprint(once["earlier"]) {
		t.Errorf("found again: %v", again)
	}
	w.assessed(w.ours, orders, passes)
	back("came back twice", w.get(w.ours.member, path).is(200).object()["passedSince"])
}
