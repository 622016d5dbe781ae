package httpapi

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
)

func (w *world) act(as person, id uuid.UUID, action string) answer {
	w.t.Helper()
	return w.post(as, alertsPath+"/"+id.String()+"/"+action, nil)
}

// stands is an alert's state and mute flag.
func (a answer) stands() string {
	a.t.Helper()
	shown := a.is(200).object()
	closed := shown["resolvedAt"] != nil
	if shown["open"] == closed {
		a.t.Errorf("open is %v, and it was resolved at %v", shown["open"], shown["resolvedAt"])
	}
	if shown["isMuted"] == true {
		return shown["state"].(string) + " muted"
	}
	return shown["state"].(string)
}

// TestAlertActions: every action in every state, muted and not.
func TestAlertActions(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	const refused = "invalid_state"
	cases := []struct {
		state                              alert.State
		muted                              bool
		acknowledge, mute, unmute, resolve string
	}{
		{alert.Open, false, "Acknowledged", "Open muted", refused, "Resolved"},
		{alert.Open, true, "Acknowledged muted", refused, "Open", "Resolved muted"},
		{alert.AcknowledgedState, false, refused, "Acknowledged muted", refused, "Resolved"},
		{alert.AcknowledgedState, true, refused, refused, "Acknowledged", "Resolved muted"},
		{alert.ResolvedState, false, refused, "Resolved muted", refused, refused},
		{alert.ResolvedState, true, refused, refused, "Resolved", refused},
		{alert.AutoResolvedState, false, refused, "AutoResolved muted", refused, refused},
		{alert.AutoResolvedState, true, refused, refused, "AutoResolved", refused},
	}
	want := map[string]string{} // by external id: case and action
	var items []alerting.Item
	for i, c := range cases {
		for action, left := range map[string]string{"acknowledge": c.acknowledge, "mute": c.mute, "unmute": c.unmute, "resolve": c.resolve} {
			item := alerting.Item{ExternalID: fmt.Sprintf("%d/%s", i, action), CreatedAt: w.ago(time.Hour), State: c.state, Muted: to(c.muted)}
			if c.state.Closed() {
				item.ResolvedAt = to(w.ago(time.Minute))
			}
			items, want[item.ExternalID] = append(items, item), left
		}
	}
	for key, id := range w.raised(w.ours, items...) {
		_, action, _ := strings.Cut(key, "/")
		shown := func() map[string]any { return w.get(w.ours.member, alertsPath+"/"+id.String()).is(200).object() }
		before := shown()
		a := w.act(w.ours.member, id, action)
		if want[key] == refused {
			a.problem(409, refused)
			if diff := cmp.Diff(before, shown()); diff != "" {
				t.Errorf("%s was refused and changed it: %s", key, diff)
			}
			continue
		}
		if got := a.stands(); got != want[key] {
			t.Errorf("%s, %v, muted %v: left %s, want %s", key, before["state"], before["isMuted"], got, want[key])
		}
		if a.Header().Get("X-Muster-Lagging") != "" || a.Header().Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: headers %v", key, a.Header())
		}
		if diff := cmp.Diff(a.object(), shown()); diff != "" {
			t.Errorf("%s answered something else than is read next: %s", key, diff)
		}
	}
}

// TestOneOfSeveralConcurrentAlertActionsSucceeds, and the other callers are told so.
func TestOneOfSeveralConcurrentAlertActionsSucceeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.raised(w.ours, alerting.Item{ExternalID: "a", CreatedAt: w.ago(time.Hour)})["a"]
	path := alertsPath + "/" + id.String()
	for _, action := range []string{"acknowledge", "mute", "unmute", "resolve"} {
		answers := make([]answer, 6)
		var together sync.WaitGroup
		for i := range answers {
			as := []person{w.ours.member, w.ours.admin}[i%2]
			together.Go(func() { answers[i] = w.act(as, id, action) })
		}
		together.Wait()
		done := 0
		for _, a := range answers {
			if a.Code == 200 {
				done++
			} else {
				a.problem(409, "invalid_state")
			}
		}
		if done != 1 {
			t.Errorf("%d did %s", done, action)
		}
	}
	shown := w.get(w.ours.viewer, path)
	if got := len(strings.Split(shown.told(), ", ")); got != 5 || shown.stands() != "Resolved" {
		t.Errorf("%s: told %s", shown.stands(), shown.told())
	}
}

// told is a timeline, oldest first: what happened and who did it.
func (a answer) told() string {
	a.t.Helper()
	var words []string
	for _, m := range a.is(200).object()["timeline"].([]any) {
		moment := m.(map[string]any)
		word := moment["event"].(string)
		if who, ok := moment["actor"].(map[string]any); ok {
			word += " by " + who["name"].(string)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// TestAlertTimeline: what people did, under the names that they have today; who
// was erased is an id.
func TestAlertTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.raised(w.ours, alerting.Item{ExternalID: "a", CreatedAt: w.ago(time.Hour)})["a"]
	path := alertsPath + "/" + id.String()
	for _, step := range []struct {
		as     person
		action string
	}{{w.ours.member, "acknowledge"}, {w.ours.member, "mute"}, {w.ours.admin, "unmute"}, {w.ours.admin, "resolve"}} {
		w.clock.Advance(time.Minute)
		w.act(step.as, id, step.action).is(200)
	}
	const whole = "triggered, acknowledged by MEMBER, muted by MEMBER, unmuted by ADMIN, resolved by ADMIN"
	shown := w.get(w.ours.viewer, path)
	if got := shown.told(); got != whole {
		t.Errorf("told: %s", got)
	}
	var times []string
	for _, m := range shown.object()["timeline"].([]any) {
		times = append(times, m.(map[string]any)["at"].(string))
	}
	want := []string{}
	for _, before := range []time.Duration{time.Hour + 4*time.Minute, 3 * time.Minute, 2 * time.Minute, time.Minute, 0} {
		want = append(want, w.ago(before).Format(time.RFC3339))
	}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Error(diff)
	}
	w.exec(`UPDATE members SET name = 'Renamed' WHERE id = $1`, w.ours.admin.ID)
	_, err := w.deps.Commands.EraseMember(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, MemberID: w.ours.admin.ID}, w.ours.member.ID, nil)
	must(t, err)
	erased := w.get(w.ours.viewer, path)
	if got := erased.told(); got != "triggered, acknowledged by , muted by , unmuted by Renamed, resolved by Renamed" {
		t.Errorf("after an erasure: %s", got)
	}
	who := erased.object()["timeline"].([]any)[1].(map[string]any)["actor"].(map[string]any)
	if who["id"] != w.ours.member.ID.String() {
		t.Errorf("acknowledged by %v", who)
	}
}

// A foreign alert is an unknown one, in every action.
func TestForeignAlerts(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	foreign := w.raised(w.theirs, alerting.Item{ExternalID: "a", CreatedAt: w.ago(time.Hour)})["a"]
	instance := w.instance(w.ours, "orders")
	for _, id := range []uuid.UUID{foreign, uuid.New(), instance, w.ours.organization.ID} {
		w.get(w.ours.admin, alertsPath+"/"+id.String()).problem(404, "not_found")
		for _, action := range []string{"acknowledge", "mute", "unmute", "resolve"} {
			w.act(w.ours.admin, id, action).problem(404, "not_found")
		}
	}
	if got := w.get(w.theirs.viewer, alertsPath+"/"+foreign.String()).stands(); got != "Open" {
		t.Errorf("a stranger left it %s", got)
	}
}

// The read model stands still: the answer is what the caller did, and says that
// the lists do not show it yet.
func TestAlertActionsWhileTheReadModelLags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.raised(w.ours, alerting.Item{ExternalID: "a", CreatedAt: w.ago(time.Hour)}, alerting.Item{ExternalID: "b", CreatedAt: w.ago(time.Hour)},
		alerting.Item{ExternalID: "muted", CreatedAt: w.ago(time.Hour), Muted: to(true)})
	w.stopProjections()
	w.raisedBehind("unseen")
	for _, c := range []struct {
		key, action, want, told string
	}{
		{"a", "acknowledge", "Acknowledged", "triggered, acknowledged by MEMBER"},
		{"b", "resolve", "Resolved", "triggered, resolved by MEMBER"},
		{"muted", "unmute", "Open", "triggered, muted, unmuted by MEMBER"},
	} {
		a := w.act(w.ours.member, ids[c.key], c.action)
		if got := a.stands(); got != c.want || a.Header().Get("X-Muster-Lagging") != "true" {
			t.Errorf("%s: %s, %v", c.action, got, a.Header())
		}
		if got := a.told(); got != c.told {
			t.Errorf("%s: told %s, want %s", c.action, got, c.told)
		}
	}
	// Decided is decided, whatever the read model shows.
	w.act(w.ours.member, ids["a"], "acknowledge").problem(409, "invalid_state")
	w.act(w.ours.member, ids["b"], "resolve").problem(409, "invalid_state")
	w.act(w.ours.member, w.raisedBehind("new"), "mute").problem(503, "unavailable")
}

// raisedBehind raises an alert that no read model has seen.
func (w *world) raisedBehind(key string) uuid.UUID {
	w.t.Helper()
	at := w.ago(time.Hour)
	made, _, err := w.deps.Commands.RecordAlerts(w.t.Context(), asFeed(w.ours), []alerting.Item{{
		ExternalID: key, Title: key, Severity: alert.Info, State: alert.Open, CreatedAt: at, FirstTriggeredAt: at, LastTriggeredAt: at,
	}})
	must(w.t, err)
	return made[0].ID
}

// TestNotesAndMutesWithAnEnd: what was written, by whom and until when is with the alert,
// the answer is what is read next, and a mute that is over was ended by nobody.
func TestNotesAndMutesWithAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.raised(w.ours, alerting.Item{ExternalID: "a", CreatedAt: w.ago(time.Hour)})["a"]
	path := alertsPath + "/" + id.String()
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	w.post(w.ours.member, path+"/acknowledge", map[string]any{"note": "  known:\n<b>since Monday</b> "}).is(200)
	w.post(w.ours.member, path+"/unmute", map[string]any{"note": "n"}).problem(409, "invalid_state")
	muted := w.post(w.ours.admin, path+"/mute", map[string]any{"note": "until the move", "until": until})
	if got := muted.stands(); got != "Acknowledged muted" || muted.object()["mutedUntil"] != until.Format(time.RFC3339Nano) {
		t.Errorf("left %s until %v", got, muted.object()["mutedUntil"])
	}
	shown := w.get(w.ours.member, path)
	if diff := cmp.Diff(muted.object(), shown.is(200).object()); diff != "" {
		t.Errorf("mute answered something else than is read next: %s", diff)
	}
	listed := w.get(w.ours.member, alertsPath).is(200).object()["items"].([]any)[0].(map[string]any)
	if listed["mutedUntil"] != until.Format(time.RFC3339Nano) {
		t.Errorf("listed as muted until %v", listed["mutedUntil"])
	}
	w.exec(`UPDATE alert_mutes SET until = clock_timestamp()`)
	n, mark, err := w.deps.Commands.EndMutes(t.Context(), 10)
	must(t, err)
	if n != 1 || !w.deps.Waiter.Wait(t.Context(), mark.Log, mark.Position) {
		t.Fatalf("%d mutes ended", n)
	}
	w.post(w.ours.member, path+"/resolve", map[string]any{}).is(200)
	over := w.get(w.ours.viewer, path)
	if got := over.stands(); got != "Resolved" || over.object()["mutedUntil"] != nil {
		t.Errorf("in the end %s until %v", got, over.object()["mutedUntil"])
	}
	told := map[string]string{}
	for _, m := range over.object()["timeline"].([]any) {
		moment := m.(map[string]any)
		who := "nobody"
		if actor, ok := moment["actor"].(map[string]any); ok {
			who = actor["name"].(string)
		}
		told[moment["event"].(string)] = fmt.Sprintf("%s: %v until %v", who, moment["note"], moment["until"])
	}
	at := until.Format(time.RFC3339Nano)
	want := map[string]string{
		"triggered": "nobody: <nil> until <nil>", "acknowledged": "MEMBER: known:\n<b>since Monday</b> until <nil>", "muted": "ADMIN: until the move until " + at,
		"unmuted": "nobody: <nil> until " + at, "resolved": "MEMBER: <nil> until <nil>",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// TestInvalidAlertActionsNameEveryFault with code and place, all at once, for one alert and for many. Only an
// action with content has a body.
func TestInvalidAlertActionsNameEveryFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.raised(w.ours, alerting.Item{ExternalID: "a", CreatedAt: w.ago(time.Hour)})["a"]
	past, far := time.Now().Add(-time.Minute), time.Now().Add(alert.MaxMute+time.Hour)
	for _, c := range []struct {
		action string
		body   any
		status int
		code   string
		places string
	}{
		{"mute", map[string]any{"until": past}, 422, "out_of_range", "body #/until out_of_range"},
		{"mute", map[string]any{"until": far}, 422, "out_of_range", "body #/until out_of_range"},
		{"mute", map[string]any{"until": past, "note": "a\u202eb"}, 422, "invalid_text", "body #/note invalid_text, body #/until out_of_range"},
		{"mute", map[string]any{"until": "tomorrow"}, 400, "invalid_parameter", "body #/until invalid_parameter"},
		{"mute", map[string]any{"note": 1, "for": "1h"}, 400, "unknown_field", "body #/for unknown_field, body #/note invalid_parameter"},
		{"resolve", map[string]any{"until": far}, 400, "unknown_field", "body #/until unknown_field"},
		{"resolve", map[string]any{"note": " "}, 422, "out_of_range", "body #/note out_of_range"},
		{"acknowledge", map[string]any{"note": strings.Repeat("ü", 2001)}, 422, "out_of_range", "body #/note out_of_range"},
		{"unmute", []any{}, 400, "invalid_parameter", "body # invalid_parameter"},
	} {
		a := w.post(w.ours.member, alertsPath+"/"+id.String()+"/"+c.action, c.body).problem(c.status, c.code)
		if got := strings.Join(a.places(), ", "); got != c.places {
			t.Errorf("%s %v: %s, want %s", c.action, c.body, got, c.places)
		}
	}
	many := func(n int) []uuid.UUID { return make([]uuid.UUID, n) }
	for _, c := range []struct {
		body   map[string]any
		status int
		code   string
		places string
	}{
		{map[string]any{"ids": many(0), "action": "mute"}, 422, "out_of_range", "body #/ids out_of_range"},
		{map[string]any{"ids": many(501), "action": "mute"}, 422, "out_of_range", "body #/ids out_of_range"},
		{map[string]any{"ids": many(1), "action": "forget"}, 400, "invalid_parameter", "body #/action invalid_parameter"},
		{map[string]any{"ids": []string{"x"}, "action": "mute"}, 400, "invalid_parameter", "body #/ids/0 invalid_parameter"},
		{map[string]any{"action": "mute"}, 400, "missing_parameter", "body #/ids missing_parameter"},
		{map[string]any{"ids": many(1), "action": "resolve", "until": far, "note": "\x1b"}, 422, "invalid_text", "body #/note invalid_text, body #/until out_of_range"},
	} {
		a := w.post(w.ours.member, alertsPath+"/actions", c.body).problem(c.status, c.code)
		if got := strings.Join(a.places(), ", "); got != c.places {
			t.Errorf("%v: %s, want %s", c.body, got, c.places)
		}
	}
	if got := w.get(w.ours.viewer, alertsPath+"/"+id.String()).told(); got != "triggered" {
		t.Errorf("what was refused left %s", got)
	}
}

// TestActionsOnMany: what came of it for each, in words that the action on one has, too.
func TestActionsOnMany(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.raised(w.ours, alerting.Item{ExternalID: "a", CreatedAt: w.ago(time.Hour)}, alerting.Item{ExternalID: "b", CreatedAt: w.ago(time.Hour)},
		alerting.Item{ExternalID: "muted", CreatedAt: w.ago(time.Hour), Muted: to(true)})
	foreign := w.raised(w.theirs, alerting.Item{ExternalID: "a", CreatedAt: w.ago(time.Hour)})["a"]
	asked := []uuid.UUID{ids["b"], foreign, ids["muted"], uuid.New(), ids["a"], ids["b"]}
	a := w.post(w.ours.member, alertsPath+"/actions", map[string]any{"ids": asked, "action": "mute", "note": "the move"})
	if a.Header().Get("X-Muster-Lagging") != "" || a.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("headers %v", a.Header())
	}
	var told []string
	for i, item := range a.is(200).object()["items"].([]any) {
		of := item.(map[string]any)
		if of["id"] != asked[i].String() || of["done"] != (of["problem"] == nil) {
			t.Errorf("item %d: %v", i, of)
		}
		problem, refused := of["problem"].(map[string]any)
		if !refused {
			told = append(told, "done")
			continue
		}
		told = append(told, problem["code"].(string))
		alone := w.act(w.ours.member, asked[i], "mute").is(int(problem["status"].(float64))).object()
		for _, member := range []string{"status", "code", "title", "detail"} {
			if problem[member] != alone[member] {
				t.Errorf("%s of item %d is %v, and %v alone", member, i, problem[member], alone[member])
			}
		}
	}
	if diff := cmp.Diff([]string{"done", "not_found", "invalid_state", "not_found", "done"}, told); diff != "" {
		t.Error(diff)
	}
	if got := w.get(w.ours.viewer, alertsPath+"?muted=only").titles(); got != "a b muted" && len(strings.Fields(got)) != 3 {
		t.Errorf("muted are %s", got)
	}
	if got := w.get(w.theirs.viewer, alertsPath+"/"+foreign.String()).stands(); got != "Open" {
		t.Errorf("a stranger left it %s", got)
	}
}
