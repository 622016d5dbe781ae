package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"muster/internal/intake/alertmanager"
)

const (
	nativePath  = "/ingest/v1/alerts"
	webhookPath = "/ingest/v1/alertmanager/webhook"
	apiPath     = "/ingest/v1/alertmanager/api/v2/alerts"
)

// sender is a program with an ingest token.
type sender struct {
	*world
	token string
}

func (s sender) send(path string, body any, header ...map[string]string) answer {
	s.t.Helper()
	r := request{method: "POST", path: path, token: s.token}
	if text, ok := body.(string); ok {
		r.body = text
	} else {
		r.json = body
	}
	if len(header) > 0 {
		r.header = header[0]
	}
	return s.do(r)
}

// receipt sends a message of an agent and returns what became of its alerts.
func (s sender) receipt(path, body string) (received, dropped int) {
	s.t.Helper()
	var got struct{ Received, Dropped int }
	s.send(path, body).is(200).decode(&got)
	return got.Received, got.Dropped
}

// dropped is what the figures say that was dropped on a route.
func (w *world) dropped(path string) map[string]float64 {
	out := map[string]float64{}
	for _, reason := range []string{"malformed", "no_labels", "invalid_time", "truncated", "too_many", "forbidden"} {
		if n := testutil.ToFloat64(w.deps.Metrics.IngestDropped.WithLabelValues(path, reason)); n > 0 {
			out[reason] = n
		}
	}
	return out
}

// item is an alert that fired for an hour until a minute ago.
func (w *world) item(key string, change map[string]any) map[string]any {
	now := w.clock.Now()
	item := map[string]any{"externalId": key, "title": "Lock waits above 5", "severity": "critical", "state": "Open",
		"createdAt": now.Add(-time.Hour), "firstTriggeredAt": now.Add(-time.Hour), "lastTriggeredAt": now.Add(-time.Minute)}
	for name, value := range change {
		item[name] = value
	}
	return item
}

func batch(items ...map[string]any) map[string]any { return map[string]any{"alerts": items} }

// listedAlert is an alert as the list shows it.
type listedAlert struct {
	ID                                            uuid.UUID
	Title, State, Severity                        string
	Occurrences                                   int
	FirstTriggeredAt, LastTriggeredAt, ResolvedAt time.Time
	Instance, Database                            *struct{ ID uuid.UUID }
}

// listed are the alerts of the list, the latest first.
func (w *world) listed(as person, query string) []listedAlert {
	w.t.Helper()
	var page struct{ Items []listedAlert }
	w.get(as, "/api/v1/alerts?pageSize=100"+query).is(200).decode(&page)
	return page.Items
}

// TestIngestAlerts is the native door: what is answered shows at once, and a
// call that comes again, or twice at once, changes nothing more.
func TestIngestAlerts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	in.send("/ingest/v1/fleet", map[string]any{"instances": []any{map[string]any{"externalId": "pg-1", "name": "orders", "engine": "postgresql",
		"createdAt": "2026-09-01T08:00:00Z", "databases": []any{map[string]any{"externalId": "o", "name": "orders", "createdAt": "2026-09-01T08:00:00Z"}}}}}).is(200)
	both := batch(w.item("a", map[string]any{"instance": "pg-1", "database": "o"}),
		w.item("b", map[string]any{"state": "Resolved", "resolvedAt": w.clock.Now(), "isMuted": true, "instance": nil, "database": nil}))
	first := in.send(nativePath, both).is(200)
	var recorded struct {
		Alerts []struct {
			ExternalID string
			ID         uuid.UUID
		}
	}
	first.decode(&recorded)
	if len(recorded.Alerts) != 2 || recorded.Alerts[0].ExternalID != "a" || recorded.Alerts[1].ExternalID != "b" {
		t.Fatalf("got %s", first.Body)
	}
	head := func() (position int64) {
		must(t, w.deps.DB.Get(&position, `SELECT max(position) FROM events WHERE organization_id = $1`, w.ours.organization.ID))
		return position
	}
	before := head()
	var twice sync.WaitGroup
	for range 4 {
		twice.Go(func() {
			if again := in.send(nativePath, both); again.Body.String() != first.Body.String() {
				t.Errorf("sent again:\n%s\n%s", first.Body, again.Body)
			}
		})
	}
	twice.Wait()
	if after := head(); after != before {
		t.Errorf("sent again, the log grew from %d to %d", before, after)
	}
	fresh := batch(w.item("c", nil), w.item("d", nil))
	answers := make([]answer, 2)
	for i := range answers {
		twice.Go(func() { answers[i] = in.send(nativePath, fresh) })
	}
	twice.Wait()
	if answers[0].is(200).Body.String() != answers[1].is(200).Body.String() {
		t.Errorf("twice at once:\n%s\n%s", answers[0].Body, answers[1].Body)
	}
	if shown := w.listed(w.ours.viewer, ""); len(shown) != 4 {
		t.Errorf("%d alerts are shown", len(shown))
	}
	if at := w.listed(w.ours.viewer, "&instanceName=orders"); len(at) != 1 || at[0].ID != recorded.Alerts[0].ID || at[0].Database == nil {
		t.Errorf("at the instance there are %+v", at)
	}
	if theirs := w.listed(w.theirs.viewer, ""); len(theirs) != 0 {
		t.Errorf("the others see %+v", theirs)
	}
	if n := testutil.ToFloat64(w.deps.Metrics.Ingested.WithLabelValues("alert")); n != 2+4*2+2*2 {
		t.Errorf("%v alerts are counted as recorded", n)
	}
}

// TestIngestAlertsRefusals: a batch is refused whole, and every bad member named.
func TestIngestAlertsRefusals(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	instance := w.instance(w.ours, "orders")
	now := w.clock.Now()
	missing := w.item("x", map[string]any{"severity": "awful", "isMuted": "no", "createdAt": "yesterday", "port": 1})
	delete(missing, "title")
	places := in.send(nativePath, batch(w.item("y", nil), missing)).problem(400, "invalid_parameter").places()
	want := []string{"body #/alerts/1/createdAt invalid_parameter", "body #/alerts/1/isMuted invalid_parameter", "body #/alerts/1/port unknown_field",
		"body #/alerts/1/severity invalid_parameter", "body #/alerts/1/title missing_parameter"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
	in.send(nativePath, `{"alerts":[`).problem(400, "malformed_json")
	in.send(nativePath, map[string]any{}).problem(400, "missing_parameter")

	p := in.send(nativePath, batch(
		w.item("good", nil),
		w.item("1", map[string]any{"state": "Resolved"}),
		w.item("2", map[string]any{"resolvedAt": now}),
		w.item("3", map[string]any{"lastTriggeredAt": now.Add(-2 * time.Hour)}),
		w.item("4", map[string]any{"createdAt": now.Add(6 * time.Minute)}),
		w.item("good", nil),
		w.item("6", map[string]any{"instance": "nobody", "database": "x"}),
		w.item("7", map[string]any{"instance": instance.String(), "database": "x"}),
		w.item("8", map[string]any{"database": "x"}),
		w.item("9", map[string]any{"title": strings.Repeat("x", 501)}),
	))
	want = []string{
		"body #/alerts/1/resolvedAt resolved_at_required", "body #/alerts/2/resolvedAt resolved_at_not_allowed",
		"body #/alerts/3/lastTriggeredAt invalid_firing_window", "body #/alerts/4/createdAt time_in_future",
		"body #/alerts/5/externalId duplicate_external_id", "body #/alerts/6/instance unknown_instance",
		"body #/alerts/7/database unknown_database", "body #/alerts/8/database unknown_database", "body #/alerts/9/title out_of_range",
	}
	if diff := cmp.Diff(want, p.problem(422, "resolved_at_required").places()); diff != "" {
		t.Error(diff)
	}
	in.send(nativePath, batch(w.item("a\x00b", nil))).problem(422, "out_of_range")
	many := make([]map[string]any, 10_001)
	for i := range many {
		many[i] = w.item(fmt.Sprint(i), nil)
	}
	if places := in.send(nativePath, batch(many...)).problem(422, "too_many_items").places(); !slices.Equal(places, []string{"body #/alerts too_many_items"}) {
		t.Errorf("too many are at %v", places)
	}
	if shown := w.listed(w.ours.viewer, ""); len(shown) != 0 {
		t.Errorf("a refused call left %+v", shown)
	}

	gz := map[string]string{"Content-Encoding": "gzip"}
	in.send(nativePath, bomb(t, " ", 5<<20), gz).problem(413, "body_too_large")
	in.send(nativePath, "no gzip", gz).problem(400, "malformed_json")
	packed, err := json.Marshal(batch(w.item("good", map[string]any{"instance": instance.String()})))
	must(t, err)
	in.send(nativePath, zipped(t, packed), gz).is(200)
	if shown := w.listed(w.ours.viewer, ""); len(shown) != 1 {
		t.Errorf("of a packed call there are %+v", shown)
	}

	limited := sender{w, w.ingestToken(w.ours.admin, instance)}
	limited.send(nativePath, string(packed)).is(200)
	other := w.instance(w.ours, "billing").String()
	got := limited.send(nativePath, batch(w.item("new", nil), w.item("good", map[string]any{"instance": instance.String()}),
		w.item("theirs", map[string]any{"instance": other}), w.item("which", map[string]any{"database": "x"}))).problem(403, "outside_token").places()
	if want = []string{"body #/alerts/0 outside_token", "body #/alerts/2/instance outside_token", "body #/alerts/3/database outside_token"}; !slices.Equal(got, want) {
		t.Errorf("forbidden are %q", got)
	}
	in.send(nativePath, batch(w.item("taken", map[string]any{"instance": other}), w.item("taken too", map[string]any{"instance": other}))).is(200)
	limited.send(nativePath, batch(w.item("taken", map[string]any{"instance": instance.String()}), w.item("taken too", map[string]any{"instance": instance.String()}))).is(200)
	if shown := w.listed(w.ours.viewer, "&instanceName=billing&q=Lock"); len(shown) != 2 || shown[0].State != "Open" || shown[1].State != "Open" {
		t.Errorf("of the other instance there are %+v", shown)
	}
	fleet := func(names ...string) (batch map[string]any) {
		var items []any
		for _, name := range names {
			items = append(items, map[string]any{"externalId": name, "name": "n", "engine": "postgresql", "createdAt": now})
		}
		return map[string]any{"instances": items}
	}
	got = limited.send("/ingest/v1/fleet", fleet(other, instance.String(), "new")).problem(403, "outside_token").places()
	if want = []string{"body #/instances/0/externalId outside_token", "body #/instances/1/name outside_token", "body #/instances/2/externalId outside_token"}; !slices.Equal(got, want) {
		t.Errorf("forbidden are %q", got)
	}
}

func zipped(t *testing.T, body []byte) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(body)
	must(t, err)
	must(t, z.Close())
	return out.String()
}

// bomb is gzip of that many bytes, all the same: of one MiB again and again, for what
// several members unpack to is one stream (RFC 1952). To compress 32 MiB takes the race
// detector seconds.
func bomb(t *testing.T, of string, size int) string {
	t.Helper()
	const piece = 1 << 20
	pieces := strings.Repeat(zipped(t, bytes.Repeat([]byte(of), piece)), size/piece)
	return pieces + zipped(t, bytes.Repeat([]byte(of), size%piece))
}

// TestBothAlertmanagerEndpointsFeedOneAlert: an alert that comes by either endpoint, or by both, is one alert
// at its instance, and over when both say so.
func TestBothAlertmanagerEndpointsFeedOneAlert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	instance := w.instance(w.ours, "orders")
	start := w.clock.Now().Add(-10 * time.Minute)
	labels := `"labels":{"alertname":"LockWaits","instance":"orders:9187","severity":"critical"},"annotations":{"summary":"Lock waits above 5"},"startsAt":"` + start.Format(time.RFC3339) + `"`
	webhook := func(status, ends string) string {
		return `{"version":"4","status":"` + status + `","alerts":[{"status":"` + status + `",` + labels + `,"endsAt":"` + ends + `"}],"more":{}}`
	}
	const open = "0001-01-01T00:00:00Z"
	steps := []struct {
		road, body    string
		state         string
		alerts, after int // how many there are then; minutes that pass first
	}{
		{webhookPath, webhook("firing", open), "Open", 1, 0},
		{apiPath, `[{` + labels + `,"endsAt":"` + w.clock.Now().Add(4*time.Minute).Format(time.RFC3339) + `"}]`, "Open", 1, 1},
		{webhookPath, webhook("firing", open), "Open", 1, 1},
		{apiPath, `[{` + labels + `,"endsAt":"` + w.clock.Now().Add(3*time.Minute).Format(time.RFC3339) + `"}]`, "AutoResolved", 1, 3},
		{webhookPath, webhook("resolved", w.clock.Now().Add(3*time.Minute).Format(time.RFC3339)), "AutoResolved", 1, 0},
		{webhookPath, webhook("resolved", w.clock.Now().Add(3*time.Minute).Format(time.RFC3339)), "AutoResolved", 1, 1},
	}
	for i, step := range steps {
		w.clock.Advance(time.Duration(step.after) * time.Minute)
		if received, dropped := in.receipt(step.road, step.body); received != 1 || dropped != 0 {
			t.Errorf("step %d: %d received, %d dropped", i, received, dropped)
		}
		shown := w.listed(w.ours.viewer, "&instanceName=orders")
		if len(shown) != step.alerts || shown[0].State != step.state || shown[0].Instance == nil || shown[0].Instance.ID != instance || !shown[0].FirstTriggeredAt.Equal(start) {
			t.Fatalf("step %d: %+v", i, shown)
		}
		if shown[0].Title != "Lock waits above 5" || shown[0].Severity != "critical" || shown[0].Occurrences != 1 {
			t.Fatalf("step %d: %+v", i, shown)
		}
	}
	if over := w.listed(w.ours.viewer, "")[0]; !over.ResolvedAt.Equal(start.Add(13*time.Minute)) || over.LastTriggeredAt.After(over.ResolvedAt) {
		t.Errorf("it fired until %s and was over at %s", over.LastTriggeredAt, over.ResolvedAt)
	}
	// The same labels elsewhere are somebody else's.
	if received, dropped := (sender{w, w.ingestToken(w.theirs.admin)}).receipt(webhookPath, webhook("firing", open)); received != 1 || dropped != 0 {
		t.Errorf("theirs: %d received, %d dropped", received, dropped)
	}
	if shown := w.listed(w.theirs.viewer, ""); len(shown) != 1 || shown[0].Instance != nil {
		t.Errorf("theirs: %+v", shown)
	}
	if shown := w.listed(w.ours.viewer, ""); len(shown) != 1 {
		t.Errorf("ours: %+v", shown)
	}
}

// TestAlertmanagerLenience: what cannot be used is dropped and counted; the rest
// of its message is taken.
func TestAlertmanagerLenience(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	instance := w.instance(w.ours, "orders")
	other := w.instance(w.ours, "billing")
	const items = `{"labels":{"alertname":"Nul\u0000","instance":"or\u0000ders","datname":"\u0000"},"annotations":{"summary":"a\u0000b"},"status":"firing","fingerprint":"\u0000"},
		null, {"labels":{}}, {"labels":{"a":1}},
		{"labels":{"a":"b"},"startsAt":"2026-01-01T00:00:00Z","endsAt":"2025-01-01T00:00:00Z","status":"resolved"},
		{"labels":{"alertname":"Unknown","instance":"nobody:1"},"status":"firing","generatorURL":7,"new":[]}`
	for _, c := range []struct {
		path, body string
		want       map[string]float64
	}{
		{webhookPath, `{"version":"4","truncatedAlerts":3,"alerts":[` + items + `]}`, map[string]float64{"malformed": 3, "invalid_time": 1, "truncated": 3}},
		{apiPath, `[` + items + `]`, map[string]float64{"malformed": 2, "no_labels": 1, "invalid_time": 1}},
	} {
		if received, dropped := in.receipt(c.path, c.body); received != 6 || dropped != 4 {
			t.Errorf("%s: %d received, %d dropped", c.path, received, dropped)
		}
		if diff := cmp.Diff(c.want, w.dropped(c.path)); diff != "" {
			t.Errorf("%s: dropped (-want +got):\n%s", c.path, diff)
		}
		shown := w.listed(w.ours.viewer, "")
		titles := []string{}
		for _, a := range shown {
			titles = append(titles, a.Title)
			if a.Instance != nil {
				t.Errorf("%s has an instance", a.Title)
			}
		}
		slices.Sort(titles)
		if !slices.Equal(titles, []string{"Unknown", "ab"}) { // the same by both roads
			t.Errorf("shown are %q", titles)
		}
	}

	limited := sender{w, w.ingestToken(w.ours.admin, instance)}
	message := `[{"labels":{"alertname":"A","instance":"orders"}},{"labels":{"alertname":"A","muster_instance":"` + other.String() + `"}},{"labels":{"alertname":"Nowhere"}}]`
	if received, dropped := limited.receipt(apiPath, message); received != 3 || dropped != 2 {
		t.Errorf("a limited token: %d received, %d dropped", received, dropped)
	}
	if n := w.dropped(apiPath)["forbidden"]; n != 2 {
		t.Errorf("%v are counted as forbidden", n)
	}
	// A fingerprint is no way to another instance's alert either.
	in.receipt(webhookPath, `{"version":"4","alerts":[{"status":"firing","labels":{"alertname":"B","instance":"billing"},"fingerprint":"00000000000000bb"}]}`)
	if _, dropped := limited.receipt(webhookPath, `{"version":"4","alerts":[{"status":"resolved","labels":{"alertname":"B","instance":"orders"},"fingerprint":"00000000000000bb"}]}`); dropped != 0 {
		t.Error("an alert of a limited token's own instance is dropped")
	}
	if shown := w.listed(w.ours.viewer, "&instanceName=billing"); len(shown) != 1 || shown[0].State != "Open" {
		t.Errorf("of the other instance there are %+v", shown)
	}
}

// TestALimitedTokenTakesNoAlertOfAnotherInstance: the attacks by external id, by a stated
// fingerprint and by names that two instances have, each before and after the real alert.
func TestALimitedTokenTakesNoAlertOfAnotherInstance(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	all := sender{w, w.ingestToken(w.ours.admin)}
	var made struct{ Instances []struct{ ID uuid.UUID } }
	server := func(id, name, host string) map[string]any {
		return map[string]any{"externalId": id, "name": name, "host": host, "engine": "postgresql", "createdAt": "2026-09-01T08:00:00Z"}
	}
	all.send("/ingest/v1/fleet", map[string]any{"instances": []any{
		server("pg-a", "orders-prod", "host-a"), server("pg-x", "orders-prod", "host-x"), server("pg-y", "host-a", "host-y"),
	}}).is(200).decode(&made)
	a, x := sender{w, w.ingestToken(w.ours.admin, made.Instances[0].ID)}, sender{w, w.ingestToken(w.ours.admin, made.Instances[1].ID)}
	at := func(path, of string) string {
		return map[string]string{webhookPath: `{"version":"4","alerts":[` + of + `]}`, grafanaPath: `{"version":"1","orgId":1,"alerts":[` + of + `]}`, apiPath: `[` + of + `]`}[path]
	}
	fired := func(who sender, path, labels string) (dropped, ambiguous int, reasons map[string]int) {
		t.Helper()
		var got struct {
			Dropped, Ambiguous int
			Reasons            map[string]int
		}
		who.send(path, at(path, `{"status":"firing","labels":`+labels+`,"fingerprint":"aaaaaaaaaaaaaaaa"}`)).is(200).decode(&got)
		return got.Dropped, got.Ambiguous, got.Reasons
	}
	where := func(title string) (found []uuid.UUID) {
		t.Helper()
		for _, one := range w.listed(w.ours.viewer, "&q="+title) {
			if one.State != "Open" || one.Instance == nil {
				t.Fatalf("%s: %+v", title, one)
			}
			found = append(found, one.Instance.ID)
		}
		return found
	}
	own := []uuid.UUID{made.Instances[0].ID}

	x.send(nativePath, batch(w.item("disk-full-orders", map[string]any{"instance": "pg-x", "title": "forged"}))).is(200)
	a.send(nativePath, batch(w.item("disk-full-orders", map[string]any{"instance": "pg-a", "title": "realdisk"}))).is(200)
	if got := where("realdisk"); !slices.Equal(got, own) {
		t.Errorf("by its external id the alert is at %v", got)
	}
	for _, path := range []string{webhookPath, apiPath, grafanaPath} {
		road := strings.ReplaceAll(path, "/", "")
		if dropped, _, reasons := fired(x, path, `{"alertname":"forged`+road+`","muster_instance":"pg-x"}`); dropped != 0 || len(reasons) != 0 {
			t.Errorf("%s: of its own instance %d are dropped for %v", path, dropped, reasons)
		}
		if dropped, ambiguous, reasons := fired(a, path, `{"alertname":"real`+road+`","muster_instance":"pg-a"}`); dropped != 0 || ambiguous != 0 || len(reasons) != 0 {
			t.Errorf("%s: %d are dropped, %d are ambiguous, %v", path, dropped, ambiguous, reasons)
		}
		if got := where("real" + road); !slices.Equal(got, own) {
			t.Errorf("%s: by a fingerprint that both state the alert is at %v", path, got)
		}
		if dropped, _, reasons := fired(x, path, `{"alertname":"theirs","muster_instance":"pg-a"}`); dropped != 1 || reasons["forbidden"] != 1 {
			t.Errorf("%s: of another's instance %d are dropped for %v", path, dropped, reasons)
		}
		for who, sends := range map[string]sender{"all": all, "a": a} {
			if dropped, ambiguous, _ := fired(sends, path, `{"alertname":"name`+who+road+`","muster_instance":"orders-prod"}`); dropped != 0 || ambiguous != 1 {
				t.Errorf("%s: of a name that two have %d are dropped, %d are ambiguous", path, dropped, ambiguous)
			}
			if got := where("name" + who + road); !slices.Equal(got, own) {
				t.Errorf("%s: of a name that two have it is at %v", path, got)
			}
			if dropped, ambiguous, _ := fired(sends, path, `{"alertname":"host`+who+road+`","instance":"host-a:9100"}`); dropped != 0 || ambiguous != 0 {
				t.Errorf("%s: of a host that another is named after %d are dropped, %d are ambiguous", path, dropped, ambiguous)
			}
			if got := where("host" + who + road); !slices.Equal(got, own) {
				t.Errorf("%s: of a host that another is named after it is at %v", path, got)
			}
		}
	}
}

// TestAlertmanagerRefusals: what is no message is refused whole.
func TestAlertmanagerRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	gz := map[string]string{"Content-Encoding": "gzip"}
	for _, path := range []string{webhookPath, apiPath} {
		in.send(path, "{").problem(400, "malformed_json")
		in.send(path, "[] []").problem(400, "malformed_json")
		in.send(path, "").problem(400, "malformed_json")
		in.send(path, "no gzip", gz).problem(400, "malformed_json")
		in.send(path, `7`).problem(400, "invalid_parameter")
		in.send(path, "[]", map[string]string{"Content-Type": "application/x-protobuf"}).problem(415, "unsupported_media_type")
		in.send(path, "[]", map[string]string{"Content-Encoding": "snappy"}).problem(415, "unsupported_media_type")
		in.send(path, bomb(t, " ", 32<<20+1), gz).problem(413, "body_too_large")
		in.send(path, strings.Repeat(" ", 32<<20+1)).problem(413, "body_too_large")
		w.do(request{method: "POST", path: path, body: "[]"}).problem(401, "unauthenticated")
	}
	for body, place := range map[string]string{`{"version":"3","alerts":[]}`: "#/version", `{}`: "#/version", `{"version":"4","alerts":{}}`: "#/alerts"} {
		if places := in.send(webhookPath, body).problem(400, "invalid_parameter").places(); !slices.Equal(places, []string{"body " + place + " invalid_parameter"}) {
			t.Errorf("%s: %v", body, places)
		}
	}
	// Their own parameters, and types with more to them, are let be.
	if received, _ := in.receipt(apiPath+"?timeout=5s", "[]"); received != 0 {
		t.Errorf("of none %d are received", received)
	}
	in.send(apiPath, zipped(t, []byte("[]"))+bomb(t, " ", 5<<20), map[string]string{"Content-Encoding": "gzip", "Content-Type": "application/json; charset=utf-8"}).is(200)
	leave, ok := w.server.intake.enter(w.ours.organization.ID, uuid.New(), 1)
	for ; ok; leave, ok = w.server.intake.enter(w.ours.organization.ID, uuid.New(), 1) {
		defer leave()
	}
	pushedBack := func(path string, status int, code string) {
		if after := in.send(path, "[]").problemWith(status, code).Header().Get("Retry-After"); after != "5" {
			t.Errorf("%s: Retry-After is %q", path, after)
		}
	}
	pushedBack(nativePath, 429, "rate_limited")
	pushedBack(webhookPath, 503, "unavailable") // which Alertmanager tries again
	pushedBack(apiPath, 503, "unavailable")
	if shown := w.listed(w.ours.viewer, ""); len(shown) != 0 {
		t.Errorf("refused calls left %+v", shown)
	}
}

// TestAHugeMessageOfAlertsIsAnswered: its first 10,000 alerts are taken, and the sender
// is told so, because refused it would send the same again without end.
func TestAHugeMessageOfAlertsIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	const path = "/ingest/v1/alertmanager/api/v2/alerts"
	body := "[" + strings.Repeat("{},", alertmanager.Most-1) + `{"labels":{"alertname":"first"}}` + strings.Repeat(`,{"labels":{"alertname":"behind"}}`, 20_000) + "]"
	if received, dropped := in.receipt(path, body); received != alertmanager.Most+20_000 || dropped != received-1 {
		t.Errorf("%d are received and %d dropped", received, dropped)
	}
	if diff := cmp.Diff(map[string]float64{"no_labels": alertmanager.Most - 1, "too_many": 20_000}, w.dropped(path)); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if alerts := w.listed(w.ours.viewer, ""); len(alerts) != 1 || alerts[0].Title != "first" {
		t.Errorf("kept: %+v", alerts)
	}
}
