package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/intake/budgets"
)

const budgetsPath = "/api/v1/ops/budgets"

// withBudgets is a world whose organizations have these budgets.
func withBudgets(t *testing.T, limits budgets.Limits) *world {
	t.Helper()
	return newWorld(t, func(d *Dependencies) {
		d.Budgets = budgets.New(d.DB, limits, d.Log, d.Now)
		d.Commands.Budgets = d.Budgets
	})
}

// exhausted holds that a call is refused because of a budget.
func (a answer) exhausted(want string) {
	a.t.Helper()
	var p struct {
		Code   string
		Budget struct {
			Name, Of    string
			Limit, Used int64
			ResetAt     *string
		}
	}
	a.is(429).decode(&p)
	reset := "when alerts are resolved"
	if p.Budget.ResetAt != nil {
		reset = *p.Budget.ResetAt
	}
	got := fmt.Sprintf("%s: %s %d of %d %s, %s, retry after %s", p.Code, p.Budget.Of, p.Budget.Used, p.Budget.Limit, p.Budget.Name, reset, a.Header().Get("Retry-After"))
	if got != "budget_exhausted: "+want {
		a.t.Errorf("refused with %s\nwant budget_exhausted: %s", got, want)
	}
}

// budgets are what a person is shown of them: used of limit, and by each token.
func (w *world) budgets(as person) map[string]string {
	w.t.Helper()
	var list struct {
		Items []struct {
			Name        string
			Limit, Used int64
			Tokens      []struct {
				Token       string
				Limit, Used int64
			}
		}
	}
	w.get(as, budgetsPath).is(200).decode(&list)
	all := map[string]string{}
	for _, b := range list.Items {
		all[b.Name] = fmt.Sprintf("%d of %d", b.Used, b.Limit)
		for _, t := range b.Tokens {
			all[b.Name] += fmt.Sprintf(", %d of %d", t.Used, t.Limit)
		}
	}
	return all
}

// TestTheBudgetOfBytes: bodies count as they are unpacked, whether a call is taken or not; the
// call that would exceed the budget is refused whole, other organizations are not, and midnight
// begins anew.
func TestTheBudgetOfBytes(t *testing.T) {
	t.Parallel()
	w := withBudgets(t, budgets.Limits{Bytes: 400, Events: 1000, OpenAlerts: 1000, TokenShare: 50})
	noon := w.clock.Now().Truncate(24 * time.Hour).Add(36 * time.Hour)
	w.clock.Advance(noon.Sub(w.clock.Now()))
	w.ours, w.theirs = w.withSessions(populated.ours), w.withSessions(populated.theirs) // theirs of before are over
	one, two, foreign := sender{w, w.ingestToken(w.ours.admin)}, sender{w, w.ingestToken(w.ours.admin)}, sender{w, w.ingestToken(w.theirs.admin)}
	fleet := func(key string, size int) string {
		body := fmt.Sprintf(`{"instances":[{"externalId":%q,"name":%q,"engine":"postgresql","createdAt":"2026-01-01T00:00:00Z"}]}`, key, key)
		return body + strings.Repeat(" ", size-len(body))
	}
	midnight := noon.Add(12 * time.Hour).Format(time.RFC3339)
	one.send(fleetPath, `{"instances":17`+strings.Repeat(" ", 35)).is(400)
	one.send(fleetPath, zipped(t, []byte(fleet("a", 151))), map[string]string{"Content-Encoding": "gzip"}).exhausted("token 50 of 200 bytes, " + midnight + ", retry after 43200")
	one.send(fleetPath, zipped(t, []byte(fleet("a", 150))), map[string]string{"Content-Encoding": "gzip"}).is(200)
	one.send(fleetPath, ``).exhausted("token 200 of 200 bytes, " + midnight + ", retry after 43200")
	two.send(fleetPath, fleet("b", 200)).is(200)
	two.send(fleetPath, fleet("c", 150)).exhausted("organization 400 of 400 bytes, " + midnight + ", retry after 43200")
	foreign.send(fleetPath, fleet("d", 200)).is(200)
	if diff := cmp.Diff(map[string]string{"bytes": "400 of 400, 200 of 200, 200 of 200", "events": "2 of 1000, 1 of 500, 1 of 500", "openAlerts": "0 of 1000"}, w.budgets(w.ours.auditor)); diff != "" {
		t.Error(diff)
	}
	if n := w.count(`SELECT count(*) FROM stream_keys WHERE key IN ('a', 'b', 'c', 'd') AND stream_id IS NOT NULL`); n != 3 {
		t.Errorf("%d of the four are there, want all but c", n)
	}
	must(t, w.deps.Senders.Flush(t.Context()))
	if n := w.count(`SELECT coalesce(sum(n), 0) FROM sender_counts WHERE reason = 'budget_exhausted'`); n != 3 {
		t.Errorf("the page of senders tells of %d refused calls, want 3", n)
	}
	w.get(w.ours.viewer, budgetsPath).is(403)
	w.clock.Advance(12 * time.Hour)
	two.send(fleetPath, fleet("c", 150)).is(200)
}

// TestTheBudgetOfEvents: a call is taken or refused whole at every door that appends events, and
// what appends none is taken.
func TestTheBudgetOfEvents(t *testing.T) {
	t.Parallel()
	w := withBudgets(t, budgets.Limits{Bytes: 1e9, Events: 8, OpenAlerts: 1000, TokenShare: 100})
	in := sender{w, w.ingestToken(w.ours.admin)}
	fleet := func(keys ...string) (body members) {
		var all []members
		for _, key := range keys {
			all = append(all, members{"externalId": key, "name": key, "engine": "postgresql", "createdAt": "2026-01-01T00:00:00Z", "databases": []members{{"externalId": "db", "name": "db", "createdAt": "2026-01-01T00:00:00Z"}}})
		}
		return members{"instances": all}
	}
	refused := func(a answer, used int) {
		t.Helper()
		var p struct{ Budget struct{ Used int } }
		if a.is(429).decode(&p); p.Budget.Used != used {
			t.Errorf("refused with %d used, want %d", p.Budget.Used, used)
		}
	}
	before := w.events("fleet")
	in.send(fleetPath, fleet("a")).is(200)                                  // 2
	in.send(fleetPath, fleet("b", "c")).is(200)                             // 6
	in.send(fleetPath, fleet("a", "b", "c")).is(200)                        // none
	in.send(nativePath, members{"alerts": []any{w.item("x", nil)}}).is(200) // 7
	refused(in.send(fleetPath, fleet("d")), 7)
	refused(in.send(nativePath, members{"alerts": []any{w.item("y", nil), w.item("z", nil)}}), 7)
	refused(in.send(apiPath, `[{"labels":{"alertname":"one"}},{"labels":{"alertname":"two"}}]`), 7)
	refused(in.send(assessmentsPath, members{"assessments": []members{w.of("a", 2*time.Hour), w.of("b", time.Hour)}}), 7)
	in.send(assessmentsPath, members{"assessments": []members{w.of("a", time.Hour)}}).is(202) // 8
	refused(in.send(nativePath, members{"alerts": []any{w.item("y", nil)}}), 8)
	in.send(nativePath, members{"alerts": []any{w.item("x", nil)}}).is(200)
	in.send(nativePath, members{"alerts": []any{w.item("x", members{"state": "Resolved", "resolvedAt": w.clock.Now()})}}).is(200) // 9: it closes
	in.send(samplesPath, members{"hosts": []members{w.ofHost(members{"instances": []string{}})}}).is(202)
	if n := len(w.events("fleet")) - len(before); n != 9 {
		t.Errorf("%d events were appended, want 9", n)
	}
	if got := w.budgets(w.ours.admin)["events"]; got != "9 of 8, 9 of 8" {
		t.Errorf("events: %s", got)
	}
}

// TestTheBoundOfOpenAlerts: each door of alerts refuses what would leave too many open: the
// native feed's the whole call, Alertmanager's the transactions that go beyond the bound. What
// is open can be resolved, also by a message that raises too many.
func TestTheBoundOfOpenAlerts(t *testing.T) {
	t.Parallel()
	w := withBudgets(t, budgets.Limits{Bytes: 1e9, Events: 1e6, OpenAlerts: 2500, TokenShare: 50})
	in, other := sender{w, w.ingestToken(w.ours.admin)}, sender{w, w.ingestToken(w.ours.admin)}
	alerts := func(status string, from, to int) string {
		var all []string
		for i := from; i < to; i++ {
			ends := ""
			if status == "resolved" {
				ends = fmt.Sprintf(`,"endsAt":%q`, w.clock.Now().Format(time.RFC3339))
			}
			all = append(all, fmt.Sprintf(`{"status":%q,"labels":{"alertname":"n%d"},"startsAt":%q%s}`, status, i, w.clock.Now().Add(-time.Hour).Format(time.RFC3339), ends))
		}
		return strings.Join(all, ",")
	}
	firing := func(status string, from, to int) string {
		return `{"version":"4","alerts":[` + alerts(status, from, to) + `]}`
	}
	const free = ", when alerts are resolved, retry after 60"
	in.send(webhookPath, firing("firing", 0, 1251)).exhausted("token 1250 of 1250 openAlerts" + free) // the last one has a transaction of its own
	in.send(webhookPath, firing("firing", 0, 1250)).is(200)                                           // all of it was taken
	in.send(nativePath, members{"alerts": []any{w.item("one", nil)}}).exhausted("token 1250 of 1250 openAlerts" + free)
	in.send(webhookPath, `{"version":"4","alerts":[`+alerts("firing", 5000, 5250)+`,`+alerts("resolved", 0, 250)+`]}`).exhausted("token 1250 of 1250 openAlerts" + free)
	if got := w.budgets(w.ours.admin)["openAlerts"]; !strings.HasPrefix(got, "1000 of 2500") {
		t.Errorf("open after the ends: %s", got)
	}
	in.send(webhookPath, firing("firing", 250, 1250)).is(200)
	in.send(webhookPath, firing("firing", 5000, 5250)).is(200)
	in.send(nativePath, members{"alerts": []any{w.item("one", nil)}}).exhausted("token 1250 of 1250 openAlerts" + free)
	in.send(apiPath, `[{"labels":{"alertname":"two"}}]`).exhausted("token 1250 of 1250 openAlerts" + free)
	other.send(nativePath, members{"alerts": []any{w.item("one", nil)}}).is(200)
	other.send(webhookPath, firing("firing", 2000, 3250)).exhausted("organization 2251 of 2500 openAlerts" + free)
	other.send(webhookPath, firing("firing", 2000, 3249)).is(200)
	(sender{w, w.ingestToken(w.ours.admin)}).send(apiPath, `[{"labels":{"alertname":"two"}}]`).exhausted("organization 2500 of 2500 openAlerts" + free)
	if n := w.count(`SELECT count(*) FROM events WHERE type = 'alert.raised'`); n != 2750 {
		t.Errorf("%d were raised, want 2750", n)
	}
	other.send(webhookPath, firing("resolved", 250, 260)).is(200) // of the first token's
	in.send(apiPath, `[{"labels":{"alertname":"two"}}]`).is(200)
	id := w.listed(w.ours.admin, "&status=open")[0].ID
	w.act(w.ours.admin, id, "resolve").is(200)
	if got := w.budgets(w.ours.admin)["openAlerts"]; !strings.HasPrefix(got, "2490 of 2500") {
		t.Errorf("open: %s", got)
	}
	counted, err := w.deps.Commands.OpenAlerts(t.Context(), w.deps.DB, w.ours.organization.ID)
	sum := int64(0)
	for _, n := range counted {
		sum += n
	}
	if err != nil || sum != 2490 || len(counted) != 2 {
		t.Errorf("counted anew: %v, %v", counted, err)
	}
}

// TestARefusalBeforeMidnightSaysWhenToRetry: midnight passes between the refusal and its answer.
func TestARefusalBeforeMidnightSaysWhenToRetry(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	p := exhausted(&budgets.ExhaustedError{Name: budgets.Bytes, Limit: 1, Used: 1, ResetAt: midnight}, midnight.Add(time.Millisecond))
	if p.RetryAfter != time.Second {
		t.Errorf("Retry-After is %s", p.RetryAfter)
	}
}
