package httpapi

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/notify"
	"muster/projections/projectionstest"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// told makes a channel and a rule that tells everything through it, and an alert that is told.
func (w *world) told(of tenant) (channel, rule string) {
	w.t.Helper()
	made := w.post(of.admin, "/api/v1/channels", map[string]any{"name": "hidden", "kind": "email", "administrators": true}).is(201)
	channel = made.object()["id"].(string)
	rule = w.post(of.admin, "/api/v1/notification-rules", map[string]any{"name": "hidden", "match": map[string]any{}, "channelIds": []string{channel}}).is(201).object()["id"].(string)
	now := w.clock.Now()
	_, mark, err := w.deps.Commands.RecordFirings(w.t.Context(), usecase.Actor{OrganizationID: of.organization.ID, Component: "watch"},
		[]alert.Firing{{Key: "watch/told", Title: "told", Severity: alert.Critical, StartsAt: now, SeenAt: now}})
	must(w.t, err)
	if !w.deps.Waiter.Wait(w.t.Context(), mark.Log, mark.Position) {
		w.t.Fatal("the projections do not follow")
	}
	w.followed()
	return channel, rule
}

// TestAnOutageNamesItsFirstNotification, by the alert that says the server is down, and by no other one.
func TestAnOutageNamesItsFirstNotification(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.told(w.ours) // a rule that tells all
	shop, other, theirs := w.instance(w.ours, "shop"), w.instance(w.ours, "other"), w.instance(w.theirs, "theirs")
	now := w.clock.Now()
	fire := func(rule string, at uuid.UUID, ended bool) {
		t.Helper()
		f := alert.Firing{Key: "watch/" + rule + "/" + at.String(), Title: rule, Severity: alert.Critical, Rule: &alert.Rule{ID: rule, Name: rule}, InstanceID: at, StartsAt: now, SeenAt: now}
		if ended {
			f.Resolved, f.EndsAt = true, now.Add(time.Minute)
		}
		_, mark, err := w.deps.Commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "watch"}, []alert.Firing{f})
		must(t, err)
		if !w.deps.Waiter.Wait(t.Context(), mark.Log, mark.Position) {
			t.Fatal("the projections do not follow")
		}
		w.followed()
	}
	outage := func(of uuid.UUID) map[string]any {
		t.Helper()
		return w.get(w.ours.viewer, "/api/v1/instances/"+of.String()+"/outage").is(200).object()
	}
	fire("volume", shop, false)
	if got := outage(shop); got["alert"] != nil || got["first"] != nil {
		t.Errorf("a full volume is no outage: %v", got)
	}
	fire("down", shop, false)
	if got := outage(shop); got["alert"] == nil || got["notifications"] != 1.0 || got["first"] != nil {
		t.Errorf("down, and nobody told yet: %v", got)
	}
	w.exec(`UPDATE deliveries SET status = 'sent', closed_at = now()`)
	first, _ := outage(shop)["first"].(map[string]any)
	if first == nil || first["event"] != "alert.raised" || first["status"] != "sent" {
		t.Errorf("told first: %v", first)
	}
	if got := outage(other); got["alert"] != nil {
		t.Errorf("the outage of another server: %v", got)
	}
	fire("down", uuid.Nil, false)
	if got := outage(other); got["alert"] == nil {
		t.Errorf("many at once: %v", got)
	}
	fire("down", uuid.Nil, true)
	fire("down", shop, true)
	if got := outage(shop); got["alert"] != nil {
		t.Errorf("it is over: %v", got)
	}
	w.get(w.ours.viewer, "/api/v1/instances/"+theirs.String()+"/outage").problem(404, "not_found")
}

// followed puts what happened into deliveries.
func (w *world) followed() {
	w.t.Helper()
	d := notify.Dispatcher{DB: w.deps.DB, Events: w.deps.Events, Registry: usecase.Registry(), Queue: w.deps.Jobs, Now: w.clock.Now}
	must(w.t, projectionstest.Handle(context.WithoutCancel(w.t.Context()), w.deps.DB, d.Groups()...))
}

// TestChannelsAreMadeChangedAndRemoved without ever showing their secret.
func TestChannelsAreMadeChangedAndRemoved(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	var mu sync.Mutex
	var posts []http.Header
	code := 204
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body)
		posts = append(posts, r.Header)
		answer.WriteHeader(code)
		_, _ = answer.Write([]byte("s3cret"))
	}))
	t.Cleanup(server.Close)
	made := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": " On call ", "kind": "webhook", "url": server.URL + "/x", "secret": webhookSecret}).is(201)
	channel := made.object()
	path := "/api/v1/channels/" + channel["id"].(string)
	if made.Header().Get("Location") != path || channel["name"] != "On call" || channel["url"] != server.URL+"/x" || channel["lastDelivery"] != nil {
		t.Errorf("made %v at %s", channel, made.Header().Get("Location"))
	}
	if who := channel["createdBy"].(map[string]any); who["id"] != w.ours.admin.ID.String() {
		t.Errorf("made by %v", who)
	}
	tested := w.post(w.ours.admin, path+"/test", nil).is(200)
	if answer := tested.object(); answer["ok"] != true || answer["statusCode"] != 204.0 || answer["error"] != nil || len(posts) != 1 || posts[0].Get("Webhook-Signature") == "" {
		t.Errorf("a test: %v", answer)
	}
	code = 410
	if answer := w.post(w.ours.admin, path+"/test", nil).is(200).object(); answer["ok"] != false || answer["statusCode"] != 410.0 || answer["error"] != "The receiver answered 410 Gone." {
		t.Errorf("a test that fails: %v", answer)
	}
	changed := w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: map[string]any{"name": "Nights"}}).is(200)
	if changed.object()["name"] != "Nights" || changed.object()["url"] != server.URL+"/x" {
		t.Errorf("changed to %v", changed.object())
	}
	rule := w.post(w.ours.admin, "/api/v1/notification-rules", map[string]any{"name": "All", "match": map[string]any{}, "channelIds": []any{channel["id"]}}).is(201).object()
	w.do(request{method: "DELETE", path: path, as: w.ours.admin}).problem(409, "channel_in_use")
	w.do(request{method: "DELETE", path: "/api/v1/notification-rules/" + rule["id"].(string), as: w.ours.admin}).is(204)
	w.do(request{method: "DELETE", path: path, as: w.ours.admin}).is(204)
	w.get(w.ours.admin, path).problem(404, "not_found")
	for _, a := range []answer{made, tested, changed, w.get(w.ours.admin, "/api/v1/audit-events")} {
		if text := a.Body.String(); strings.Contains(text, webhookSecret) || strings.Contains(text, "s3cret") {
			t.Errorf("a secret is shown: %s", text)
		}
	}
	audited := w.get(w.ours.admin, "/api/v1/audit-events?limit=200").is(200)
	var types []string
	for _, e := range audited.object()["items"].([]any) {
		types = append(types, e.(map[string]any)["type"].(string))
	}
	for _, want := range []string{"channelCreated", "channelTested", "channelChanged", "channelRemoved", "notificationRuleCreated", "notificationRuleRemoved"} {
		if !slices.Contains(types, want) {
			t.Errorf("the audit list has no %s: %v", want, types)
		}
	}
	if strings.Contains(audited.Body.String(), server.URL) || !strings.Contains(audited.Body.String(), `"Nights"`) {
		t.Errorf("the audit list shows an address, or no name: %s", audited.Body.String())
	}
}

// TestBadNotifications are refused with every broken rule at once.
func TestBadNotifications(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	channel, rule := w.told(w.ours)
	for name, c := range map[string]struct {
		path  string
		body  map[string]any
		codes string
	}{
		"nobody":             {"channels", map[string]any{"name": "x", "kind": "email"}, "member_required"},
		"a stranger":         {"channels", map[string]any{"name": "x", "kind": "email", "memberIds": []string{uuid.NewString()}}, "recipient_not_member"},
		"all of a webhook":   {"channels", map[string]any{"name": "\u202e", "kind": "webhook", "url": "ftp://x", "memberIds": []string{w.ours.admin.ID.String()}}, "invalid_name out_of_range url_not_allowed secret_required"},
		"a private network":  {"channels", map[string]any{"name": "x", "kind": "chat", "url": "http://10.0.0.1/"}, "url_not_allowed"},
		"metadata of clouds": {"channels", map[string]any{"name": "x", "kind": "alertmanager", "url": "http://169.254.169.254"}, "url_not_allowed"},
		"a rule":             {"notification-rules", map[string]any{"name": "x", "match": map[string]any{"instanceIds": []string{uuid.NewString()}}, "channelIds": []string{}, "groupSeconds": -1, "repeatMinutes": 1, "quiet": map[string]any{"from": "22:00", "to": "22:00", "timeZone": "Mars/Olympus", "exceptCritical": false}}, "out_of_range out_of_range out_of_range out_of_range unknown_time_zone instance_not_in_organization"},
		"an unknown channel": {"notification-rules", map[string]any{"name": " ", "match": map[string]any{}, "channelIds": []string{channel, uuid.NewString()}}, "out_of_range unknown_channel"},
		"a preview":          {"notification-rules/preview", map[string]any{"match": map[string]any{}, "groupSeconds": 3601}, "out_of_range"},
	} {
		a := w.post(w.ours.admin, "/api/v1/"+c.path, c.body).is(422)
		var codes []string
		for _, e := range a.object()["errors"].([]any) {
			codes = append(codes, e.(map[string]any)["code"].(string))
		}
		if got := strings.Join(codes, " "); got != c.codes {
			t.Errorf("%s: %q, want %q: %s", name, got, c.codes, a.Body.String())
		}
	}
	path := "/api/v1/notification-rules/" + rule
	quiet := map[string]any{"from": "22:00", "to": "07:00", "timeZone": "Europe/Amsterdam", "exceptCritical": true}
	change := func(body map[string]any) map[string]any {
		return w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: body}).is(200).object()
	}
	if got := change(map[string]any{"quiet": quiet})["quiet"]; got == nil {
		t.Error("quiet hours were not set")
	}
	if got := change(map[string]any{"name": "Other"}); got["quiet"] == nil || got["name"] != "Other" {
		t.Errorf("a change of the name: %v", got)
	}
	if got := change(map[string]any{"quiet": nil})["quiet"]; got != nil {
		t.Errorf("quiet hours stay: %v", got)
	}
}

// TestDeliveriesAreShown in a list, by what narrows it, by alert and by server.
func TestDeliveriesAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instance := w.instance(w.ours, "orders")
	channel, rule := w.told(w.ours)
	list := w.get(w.ours.auditor, "/api/v1/deliveries?limit=1").is(200).object()
	items := list["items"].([]any)
	if len(items) != 1 || list["nextCursor"] != nil {
		t.Fatalf("listed %v", list)
	}
	d := items[0].(map[string]any)
	event := d["events"].([]any)[0].(map[string]any)
	if d["status"] != "pending" || d["nextAttemptAt"] == nil || event["type"] != "alert.raised" || event["title"] != "told" || d["omitted"] != 0.0 {
		t.Errorf("a delivery: %v", d)
	}
	for query, want := range map[string]int{
		"?status=sent": 0, "?status=pending&status=failed": 1, "?channelId=" + channel: 1, "?channelId=" + uuid.NewString(): 0,
		"?eventType=alert.raised": 1, "?eventType=alert.resolved": 0, "?from=" + w.clock.Now().Add(time.Hour).Format(time.RFC3339): 0,
	} {
		if got := w.get(w.ours.admin, "/api/v1/deliveries"+query).is(200).object()["items"].([]any); len(got) != want {
			t.Errorf("%s: %d, want %d", query, len(got), want)
		}
	}
	path := "/api/v1/deliveries/" + d["id"].(string)
	w.get(w.ours.auditor, path).is(200)
	w.post(w.ours.admin, path+"/retry", nil).problem(409, "invalid_state")
	w.exec(`UPDATE deliveries SET status = 'failed', closed_at = now()`)
	if got := w.post(w.ours.admin, path+"/retry", nil).is(202).object(); got["status"] != "pending" {
		t.Errorf("tried again: %v", got)
	}
	told := w.get(w.ours.viewer, "/api/v1/alerts/"+event["alertId"].(string)+"/notifications").is(200).object()["items"].([]any)
	if len(told) != 1 || told[0].(map[string]any)["recipients"].([]any)[0].(map[string]any)["id"] != w.ours.admin.ID.String() {
		t.Errorf("told of the alert: %v", told)
	}
	rules := w.get(w.ours.viewer, "/api/v1/instances/"+instance.String()+"/notification-rules").is(200).object()["items"].([]any)
	if len(rules) != 1 || rules[0].(map[string]any)["rule"].(map[string]any)["id"] != rule {
		t.Errorf("told of the server: %v", rules)
	}
	preview := w.post(w.ours.admin, "/api/v1/notification-rules/preview", map[string]any{"match": map[string]any{"severity": []string{"critical"}}}).is(200).object()
	if preview["events"] != 1.0 || preview["notifications"] != 1.0 || len(preview["items"].([]any)) != 1 {
		t.Errorf("a preview: %v", preview)
	}
}
