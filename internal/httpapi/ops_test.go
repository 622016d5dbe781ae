package httpapi

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/process/zones"
)

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	must(t, err)
	return u
}

func TestOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested(w.ours, w.ours.member)
	w.requested(w.theirs, w.theirs.member)

	jobs := w.get(w.ours.auditor, "/api/v1/ops/jobs").is(200).object()
	if items := jobs["items"].([]any); len(items) != 1 || items[0].(map[string]any)["reportId"] != id.String() || jobs["queued"] != 1.0 {
		t.Errorf("jobs %v", jobs)
	}
	names := ""
	for _, p := range w.get(w.ours.auditor, "/api/v1/ops/projections").is(200).object()["items"].([]any) {
		names += p.(map[string]any)["name"].(string) + " "
	}
	for _, want := range []string{"report_history", "audit", "fleet", "alerts", "exceptions"} {
		if !strings.Contains(names, want) {
			t.Errorf("%s is not among %s", want, names)
		}
	}
	w.get(w.ours.auditor, "/api/v1/ops/projections/fleet/diff").problem(404, "not_found")
	w.post(w.ours.admin, "/api/v1/ops/projections/fleet/rebuild", nil).is(202)
	eventually(t, "the rebuild's difference", func() bool { return w.get(w.ours.auditor, "/api/v1/ops/projections/fleet/diff").Code == 200 })
	if diff := w.get(w.ours.auditor, "/api/v1/ops/projections/fleet/diff").is(200).object(); diff["empty"] != true {
		t.Errorf("diff %v", diff)
	}

	// A job that was set aside.
	_, err := w.deps.DB.Exec(`UPDATE jobs SET dead_at = now(), last_error = 'boom' WHERE subject = $1`, id)
	must(t, err)
	dead := w.get(w.ours.admin, "/api/v1/ops/dead-letters").is(200).object()["items"].([]any)
	if len(dead) != 1 || dead[0].(map[string]any)["error"] != "boom" {
		t.Fatalf("dead letters %v", dead)
	}
	letter := "/api/v1/ops/dead-letters/" + dead[0].(map[string]any)["id"].(string)
	w.post(w.theirs.admin, letter+"/retry", nil).problem(404, "not_found")
	w.post(w.ours.admin, letter+"/retry", nil).is(202)
	w.post(w.ours.admin, letter+"/retry", nil).problem(404, "not_found")
	// That of a report that has ended: nothing is done, and nothing is on record as done.
	_, err = w.deps.DB.Exec(`UPDATE jobs SET dead_at = now(), endings = job_ending('[]', 5, now(), 'w1', 'failed', 'other', 'boom') WHERE subject = $1`, id)
	must(t, err)
	w.fails(id)
	retried := w.entries("deadLetterRetried")
	w.post(w.ours.admin, letter+"/retry", nil).problem(409, "report_is_final")
	w.post(w.theirs.admin, letter+"/retry", nil).problem(404, "not_found")
	dead = w.get(w.ours.admin, "/api/v1/ops/dead-letters").is(200).object()["items"].([]any)
	if len(dead) != 1 || w.entries("deadLetterRetried") != retried || retried != 1 {
		t.Errorf("after a refusal: dead letters %v, %d entries where there was %d", dead, w.entries("deadLetterRetried"), retried)
	}
	if e := dead[0].(map[string]any)["endings"].([]any); len(e) != 1 || e[0].(map[string]any)["error"] != "boom" || e[0].(map[string]any)["workerId"] != "w1" {
		t.Errorf("endings %v", e)
	}
	w.do(request{method: "DELETE", path: letter, as: w.ours.admin}).is(204)

	if got := w.get(w.ours.auditor, "/metrics").is(200).Body.String(); !strings.Contains(got, `muster_build_info{commit="abc",version="test"} 1`) {
		t.Errorf("metrics %q", got)
	}
	zoneData := fmt.Sprint(w.get(person{}, "/version").is(200).object()["timeZoneData"])
	if data := zones.Current(); zoneData != fmt.Sprintf("map[release:%s source:%s stale:false]", data.Release, data.Source) || data.Release < "2026f" { // C4
		t.Errorf("time zone data: %s", zoneData)
	}
	if v := w.get(person{}, "/version").is(200).object(); v["commit"] != "abc" || v["go"] != "go1.26" {
		t.Errorf("version %v", v)
	}
	w.get(person{}, "/readyz").is(200)
}

// fails ends a report as its worker would.
func (w *world) fails(id uuid.UUID) {
	w.t.Helper()
	tx := w.deps.DB.MustBegin()
	_, err := w.deps.Commands.MarkFailed(w.t.Context(), tx, w.ours.organization.ID, id, report.Failed{Code: report.CodeGenerationFailed, Message: "It failed."})
	must(w.t, errors.Join(err, tx.Commit()))
}

// entries counts what the audit list says of a type.
func (w *world) entries(entryType string) int {
	w.t.Helper()
	return len(w.get(w.ours.auditor, "/api/v1/audit-events?type="+entryType).is(200).object()["items"].([]any))
}

// eventually looks again until the projections' process has got round to it.
func eventually(t *testing.T, what string, seen func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if seen() {
			return
		}
	}
	t.Fatal("never seen: ", what)
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	if got := w.get(w.ours.admin, "/api/v1/ops/outbox").is(200).object()["items"].([]any); len(got) != 0 {
		t.Errorf("outbox %v", got)
	}
	from, err := mail.ParseFrom("Muster <muster@localhost>")
	must(t, err)
	message, err := (&mail.Composer{From: from, Now: w.clock.Now}).Compose(mail.ReadyNotice{OrganizationID: w.ours.organization.ID, ReportID: uuid.New(), MemberID: w.ours.member.ID, Kind: "Security Report"},
		mail.Address{Name: "Ana", Email: "ana@ours.example"})
	must(t, err)
	_, err = w.deps.Outbox.Send(t.Context(), message)
	must(t, err)
	items := w.get(w.ours.admin, "/api/v1/ops/outbox").is(200).object()["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("outbox %v", items)
	}
	path := "/api/v1/ops/outbox/" + items[0].(map[string]any)["id"].(string)
	if raw := w.get(w.ours.admin, path).is(200).object()["raw"].(string); !strings.Contains(raw, "ana@ours.example") {
		t.Errorf("mail %q", raw)
	}
	w.get(w.theirs.admin, path).problem(404, "not_found")
	if got := w.get(w.theirs.admin, "/api/v1/ops/outbox").is(200).object()["items"].([]any); len(got) != 0 {
		t.Errorf("another organization's outbox %v", got)
	}
}

func TestAuditList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.requested(w.ours, w.ours.member)
	must(t, w.deps.Accounts.RecordSecurity(t.Context(), accounts.SecurityEntry{At: w.clock.Now(), OrganizationID: w.ours.organization.ID,
		MemberID: w.ours.member.ID, Type: "signedIn", IP: "192.0.2.7"}))
	whole := w.get(w.ours.auditor, "/api/v1/audit-events?limit=200").is(200).object()["items"].([]any)
	var paged []any
	for path := "/api/v1/audit-events?limit=2"; path != ""; {
		page := w.get(w.ours.auditor, path).is(200).object()
		paged = append(paged, page["items"].([]any)...)
		path = ""
		if next, more := page["nextCursor"].(string); more {
			path = "/api/v1/audit-events?limit=2&cursor=" + next
		}
	}
	if len(paged) != len(whole) {
		t.Errorf("%d entries in pages, %d at once", len(paged), len(whole))
	}
	kinds := map[string]int{}
	for i, e := range whole {
		entry := e.(map[string]any)
		kinds[entry["type"].(string)]++
		if i > 0 && entry["at"].(string) > whole[i-1].(map[string]any)["at"].(string) && len(entry["at"].(string)) == len(whole[i-1].(map[string]any)["at"].(string)) {
			t.Errorf("entry %d is newer than the one before", i)
		}
	}
	if kinds["queued"] != 1 || kinds["signedIn"] != 5 || kinds["memberInvited"] != 4 {
		t.Errorf("kinds %v", kinds)
	}
	mine := w.get(w.ours.auditor, "/api/v1/audit-events?actorId="+w.ours.member.ID.String()).is(200).object()["items"].([]any)
	if len(mine) != 3 {
		t.Errorf("the member's own: %v", mine)
	}
	if one := w.get(w.ours.auditor, "/api/v1/audit-events?type=signedIn").is(200).object()["items"].([]any); len(one) != 5 {
		t.Errorf("sign-ins: %v", one)
	}
	w.get(w.ours.auditor, "/api/v1/audit-events?from=2026-11-20T10:00:00Z&to=2026-11-20T10:00:00Z").problem(422, "invalid_window")
}

// TestLoopsThatFellAreListed for whoever looks at operations, of all processes.
func TestLoopsThatFellAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/ops/loops"
	if items := w.get(w.ours.auditor, path).is(200).object()["items"].([]any); len(items) != 0 {
		t.Errorf("before anything fell: %v", items)
	}
	w.deps.DB.MustExec(`INSERT INTO loop_falls VALUES ('host/1/a', 'watch servers', 3, now(), true, now())`)
	items := w.get(w.ours.auditor, path).is(200).object()["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("it lists %v", items)
	}
	one := items[0].(map[string]any)
	delete(one, "lastAt")
	if diff := cmp.Diff(map[string]any{"loop": "watch servers", "process": "host/1/a", "falls": 3.0, "inTrouble": true}, one); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.get(w.ours.viewer, path).is(403)
}
