package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// TestUnreadableRequestsAre400, with every fault at once.
func TestUnreadableRequestsAre400(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instance := w.instance(w.ours, "orders-01").String()
	for name, c := range map[string]struct {
		method, path, body, code string
		places                   []string
	}{
		"no JSON":         {"POST", "/api/v1/reports", `{"kind":`, "malformed_json", nil},
		"two documents":   {"POST", "/api/v1/reports", `{"kind":"Security"} {}`, "malformed_json", nil},
		"no UTF-8":        {"POST", "/api/v1/reports", "{\"kind\":\"\xff\"}", "malformed_json", nil},
		"a list":          {"POST", "/api/v1/reports", `[1]`, "invalid_parameter", []string{"body # invalid_parameter"}},
		"nothing in it":   {"POST", "/api/v1/reports", `{}`, "missing_parameter", []string{"body #/kind missing_parameter"}},
		"an unknown kind": {"POST", "/api/v1/reports", `{"kind":"Performance"}`, "invalid_parameter", []string{"body #/kind invalid_parameter"}},
		"kind in another case": {"POST", "/api/v1/reports", `{"Kind":"Security"}`, "unknown_field",
			[]string{"body #/Kind unknown_field", "body #/kind missing_parameter"}},
		"all at once": {"POST", "/api/v1/reports?a=1&b=2",
			`{"kind":5,"scope":{"instanceIds":["x",7,"` + instance + `"],"databaseId":"","from":"yesterday","to":1,"window":{}},"recipientIds":{},"a/b":1}`,
			"unknown_parameter", []string{
				"query a unknown_parameter", "query b unknown_parameter", "body #/a~1b unknown_field", "body #/kind invalid_parameter",
				"body #/recipientIds invalid_parameter", "body #/scope/databaseId invalid_parameter", "body #/scope/from invalid_parameter",
				"body #/scope/instanceIds/0 invalid_parameter", "body #/scope/instanceIds/1 invalid_parameter",
				"body #/scope/to invalid_parameter", "body #/scope/window unknown_field",
			}},
		"a time without a zone": {"POST", "/api/v1/reports", `{"kind":"InstanceScorecard","scope":{"from":"2026-11-20T10:00:00"}}`, "invalid_parameter",
			[]string{"body #/scope/from invalid_parameter"}},
		"null for a list":     {"POST", "/api/v1/reports", `{"kind":"Security","recipientIds":null}`, "invalid_parameter", []string{"body #/recipientIds invalid_parameter"}},
		"no kind":             {"GET", "/api/v1/reports", "", "missing_parameter", []string{"query kind missing_parameter"}},
		"an empty kind":       {"GET", "/api/v1/reports?kind=", "", "invalid_parameter", []string{"query kind invalid_parameter"}},
		"a kind of two":       {"GET", "/api/v1/reports?kind=Security&kind=Other", "", "invalid_parameter", []string{"query kind invalid_parameter"}},
		"page 0":              {"GET", "/api/v1/reports?kind=Security&page=0", "", "invalid_parameter", []string{"query page invalid_parameter"}},
		"page x, size 21":     {"GET", "/api/v1/reports?kind=Security&page=x&pageSize=21", "", "invalid_parameter", []string{"query page invalid_parameter", "query pageSize invalid_parameter"}},
		"a huge page":         {"GET", "/api/v1/reports?kind=Security&page=99999999999", "", "invalid_parameter", []string{"query page invalid_parameter"}},
		"page twice":          {"GET", "/api/v1/reports?kind=Security&page=1&page=2", "", "invalid_parameter", []string{"query page invalid_parameter"}},
		"a typo":              {"GET", "/api/v1/reports?kind=Security&Page=1", "", "unknown_parameter", []string{"query Page unknown_parameter"}},
		"a status unknown":    {"GET", "/api/v1/reports?kind=Security&status=Ready&status=Done", "", "invalid_parameter", []string{"query status invalid_parameter"}},
		"a bad escape":        {"GET", "/api/v1/reports?kind=Security&%zz", "", "invalid_parameter", []string{"query  invalid_parameter"}},
		"an empty id filter":  {"GET", "/api/v1/instances?id=", "", "invalid_parameter", []string{"query id invalid_parameter"}},
		"an id of no form":    {"GET", "/api/v1/reports/verify", "", "invalid_parameter", []string{"path reportId invalid_parameter"}},
		"a braced id":         {"GET", "/api/v1/instances/{" + instance + "}", "", "invalid_parameter", []string{"path instanceId invalid_parameter"}},
		"U+0000 in a filter":  {"GET", "/api/v1/instances?q=a%00b", "", "invalid_parameter", []string{"query q invalid_parameter"}},
		"a foreign cursor":    {"GET", "/api/v1/audit-events?cursor=dHJhaWw6Nw", "", "invalid_cursor", []string{"query cursor invalid_cursor"}},
		"a cursor with a NUL": {"GET", "/api/v1/audit-events?cursor=" + base64.RawURLEncoding.EncodeToString([]byte("audit:2026-11-20T00:00:00Z|a\x00b|1")), "", "invalid_cursor", []string{"query cursor invalid_cursor"}},
		"a cursor of no text": {"GET", "/api/v1/audit-events?cursor=" + base64.RawURLEncoding.EncodeToString([]byte("audit:2026-11-20T00:00:00Z|a\xff|1")), "", "invalid_cursor", []string{"query cursor invalid_cursor"}},
		"limit 201":           {"GET", "/api/v1/audit-events?limit=201", "", "invalid_parameter", []string{"query limit invalid_parameter"}},
		"a body too many":     {"POST", "/api/v1/instances/" + instance + "/assess", `{"now":true}`, "unknown_field", []string{"body #/now unknown_field"}},
		"a DSN of no form": {"POST", "/api/v1/instances", `{"name":"x","engine":"postgresql","dsn":"host=db password=hunter2"}`, "invalid_parameter",
			[]string{"body #/dsn invalid_parameter"}},
		"no name, no DSN": {"POST", "/api/v1/instances", `{"engine":"db2","name":""}`, "missing_parameter",
			[]string{"body #/dsn missing_parameter", "body #/engine invalid_parameter", "body #/name invalid_parameter"}},
		"a role unknown": {"POST", "/api/v1/members", `{"email":"no address","name":"x","role":"root"}`, "invalid_parameter",
			[]string{"body #/email invalid_parameter", "body #/role invalid_parameter"}},
		"a scope unknown": {"POST", "/api/v1/api-tokens", `{"name":"x","scopes":["reports:read","all"],"expiresAt":"soon"}`, "invalid_parameter",
			[]string{"body #/expiresAt invalid_parameter", "body #/scopes/1 invalid_parameter"}},
	} {
		p := w.do(request{method: c.method, path: c.path, as: w.ours.admin, body: c.body}).problem(400, c.code)
		if diff := cmp.Diff(c.places, p.places()); diff != "" && len(c.places)+len(p.places()) > 0 {
			t.Errorf("%s: %s", name, diff)
		}
		if strings.Contains(p.Detail, "hunter2") {
			t.Errorf("%s: the answer repeats a password", name)
		}
	}
	if page := w.get(w.ours.member, "/api/v1/reports?kind=Security").is(200).object()["page"]; page.(map[string]any)["totalItems"] != 0.0 {
		t.Errorf("refused requests left reports: %v", page)
	}
}

// TestRequestsThatBreakRulesAre422, every rule at once.
func TestRequestsThatBreakRulesAre422(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	one, two := w.instance(w.ours, "one"), w.instance(w.ours, "two")
	now := w.clock.Now()
	ids := func(n int) []uuid.UUID {
		out := make([]uuid.UUID, n)
		for i := range out {
			out[i] = uuid.New()
		}
		return out
	}
	scorecard := func(from, to time.Time, instances ...uuid.UUID) map[string]any {
		return map[string]any{"kind": "InstanceScorecard", "scope": map[string]any{"instanceIds": instances, "from": from, "to": to}}
	}
	for name, c := range map[string]struct {
		body any
		code string
	}{
		"a month and a minute": {scorecard(now.Add(-31*24*time.Hour-time.Minute), now, one), "report_range_too_wide"},
		"from after to":        {scorecard(now, now.Add(-time.Hour), one), "invalid_window"},
		"in the future":        {scorecard(now.Add(-time.Hour), now.Add(time.Hour), one), "window_in_future"},
		"two instances":        {scorecard(now.Add(-time.Hour), now, one, two), "scorecard_needs_one_instance"},
		"no range":             {map[string]any{"kind": "InstanceScorecard", "scope": map[string]any{"instanceIds": []uuid.UUID{one}}}, "range_required"},
		"a range too many":     {map[string]any{"kind": "Security", "scope": map[string]any{"from": now.Add(-time.Hour), "to": now}}, "range_not_allowed"},
		"a database too many":  {map[string]any{"kind": "Security", "scope": map[string]any{"databaseId": uuid.New()}}, "database_not_allowed"},
		"a database elsewhere": {map[string]any{"kind": "InstanceScorecard", "scope": map[string]any{"instanceIds": []uuid.UUID{one}, "databaseId": uuid.New(), "from": now.Add(-time.Hour), "to": now}}, "database_not_on_instance"},
		"101 instances":        {map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": ids(101)}}, "too_many_instances"},
		"21 recipients":        {map[string]any{"kind": "Security", "recipientIds": ids(20)}, "too_many_recipients"},
		"a stranger":           {map[string]any{"kind": "Security", "recipientIds": []uuid.UUID{w.theirs.member.ID}}, "recipient_not_member"},
	} {
		p := w.post(w.ours.member, "/api/v1/reports", c.body).problem(422, c.code)
		if len(p.Errors) == 0 {
			t.Errorf("%s: no field is named", name)
		}
	}
	both := map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []uuid.UUID{one, uuid.New()}}, "recipientIds": []uuid.UUID{uuid.New()}}
	p := w.post(w.ours.member, "/api/v1/reports", both)
	p.is(422)
	var shown shownProblem
	p.decode(&shown)
	for _, place := range []string{"body #/scope/instanceIds/1 instance_not_in_organization", "body #/recipientIds/0 recipient_not_member"} {
		if !slices.Contains(shown.places(), place) {
			t.Errorf("%q is not among %v", place, shown.places())
		}
	}
	w.post(w.ours.admin, "/api/v1/instances", map[string]any{"name": "a\x00b", "engine": "postgresql", "dsn": "x"}).problem(422, "out_of_range")
	w.get(w.ours.viewer, "/api/v1/instances?"+strings.Repeat("id="+one.String()+"&", 501)).problem(422, "too_many_instances")
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	const list = "/api/v1/reports?kind=Security"
	as := w.ours.member
	with := func(method, path, body string, header map[string]string) answer {
		return w.do(request{method: method, path: path, as: as, body: body, header: header})
	}
	if got := with("GET", list, "", map[string]string{"X-Request-Id": "a.b-C_9"}).is(200).Header().Get("X-Request-Id"); got != "a.b-C_9" {
		t.Errorf("request id %q is not taken over", got)
	}
	if got := with("GET", list, "", map[string]string{"X-Request-Id": "a b"}).Header().Get("X-Request-Id"); got == "a b" {
		t.Error("a request id of another form is taken over")
	}
	for accept, status := range map[string]int{
		"": 200, "*/*": 200, "application/*": 200, "text/html, application/json;q=0.5": 200, "text/html": 406, "application/json;q=0": 406,
	} {
		a := with("GET", list, "", map[string]string{"Accept": accept}).is(status)
		if status == 406 {
			a.problem(406, "not_acceptable")
		}
	}
	with("POST", "/api/v1/reports", "{}", map[string]string{"Content-Type": "text/plain"}).problem(415, "unsupported_media_type")
	with("POST", "/api/v1/reports", "{}", map[string]string{"Content-Encoding": "gzip"}).problem(415, "unsupported_media_type")
	with("POST", "/api/v1/reports", "{}", map[string]string{"Content-Type": "application/json; charset=utf-8"}).problem(400, "missing_parameter")
	with("POST", "/api/v1/reports", "", nil).problem(400, "malformed_json")
	with("POST", "/api/v1/reports", `{"kind":"`+strings.Repeat("x", 64<<10)+`"}`, nil).problem(413, "body_too_large")
	with("GET", list+"&q="+strings.Repeat("x", 32<<10), "", nil).problem(414, "uri_too_long")
	with("GET", "/api/v2/reports", "", nil).problem(404, "not_found")
	with("GET", "/api/v1/reports/", "", nil).problem(404, "not_found")
	if allow := with("PUT", "/api/v1/reports", "{}", nil).problemWith(405, "method_not_allowed").Header().Get("Allow"); allow != "GET, HEAD, POST" && allow != "POST, GET, HEAD" {
		t.Errorf("Allow is %q", allow)
	}
	with("POST", "/api/v1/members", "{}", map[string]string{"Idempotency-Key": "k"}).problem(403, "forbidden")
	with("POST", "/api/v1/exports/seen", "{}", map[string]string{"Idempotency-Key": "k"}).problem(400, "idempotency_not_supported")
	for _, header := range []map[string]string{
		{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
	} {
		with("POST", "/api/v1/reports", `{"kind":"Security"}`, header).problem(403, "cross_origin_request")
	}
	with("POST", "/api/v1/reports", `{}`, map[string]string{"Origin": "http://muster.test"}).problem(400, "missing_parameter")

	packed := with("GET", "/api/v1/openapi.json", "", map[string]string{"Accept-Encoding": "gzip"}).is(200)
	unpack, err := gzip.NewReader(packed.Body)
	must(t, err)
	var document map[string]any
	must(t, json.NewDecoder(unpack).Decode(&document))
	if document["openapi"] != "3.1.0" || packed.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("openapi.json: %v %v", document["openapi"], packed.Header())
	}
	for _, refuses := range []string{"gzip;q=0.0", "gzip; Q=0, *", "identity", "br"} {
		if a := with("GET", "/api/v1/openapi.json", "", map[string]string{"Accept-Encoding": refuses}).is(200); a.Header().Get("Content-Encoding") != "" {
			t.Errorf("packed for a caller that takes %s", refuses)
		}
	}
	if a := with("GET", "/api/v1/openapi.json", "", map[string]string{"Accept-Encoding": "*;q=0, gzip"}).is(200); a.Header().Get("Content-Encoding") != "gzip" {
		t.Error("not packed for a caller that takes nothing but gzip")
	}
	if a := with("GET", "/healthz", "", map[string]string{"Accept-Encoding": "gzip"}).is(200); a.Header().Get("Content-Encoding") != "" {
		t.Error("a few bytes are compressed")
	}
}

func (a answer) problemWith(status int, code string) answer {
	a.t.Helper()
	a.problem(status, code)
	return a
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var last answer
	for range 600 {
		last = w.do(request{method: "GET", path: "/version"})
	}
	last.is(200)
	if got := last.Header().Get("RateLimit"); !strings.HasPrefix(got, `"default";r=0;t=`) {
		t.Errorf("RateLimit is %q", got)
	}
	refused := w.do(request{method: "GET", path: "/version"}).problemWith(429, "rate_limited")
	if refused.Header().Get("Retry-After") == "" || refused.Header().Get("RateLimit-Policy") != `"default";q=600;w=60` {
		t.Errorf("headers %v", refused.Header())
	}
	w.do(request{method: "GET", path: "/healthz"}).is(200) // a probe is never refused
	w.do(request{method: "GET", path: "/nowhere"}).problem(429, "rate_limited")
	w.get(w.ours.member, "/api/v1/organization").is(200) // another principal
	w.clock.Advance(time.Minute)
	w.do(request{method: "GET", path: "/version"}).is(200)
	w.clock.Advance(-time.Hour)
	w.do(request{method: "GET", path: "/version"}).is(200)

	w.deps.Unlimited = true
	w.build()
	if a := w.do(request{method: "GET", path: "/version"}); a.Header().Get("RateLimit") != "" {
		t.Error("a limit is told that is not kept")
	}
}

func TestPanicsAndFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(d *Dependencies) { d.Log = slog.New(slog.DiscardHandler) })
	body := map[string]any{"kind": "Security"}
	w.deps.Waiter = nil // whoever waits panics
	w.build()
	p := w.post(w.ours.member, "/api/v1/reports", body).problem(500, "internal_error")
	if strings.Contains(p.Detail, "nil") || strings.Contains(p.Detail, ".go") {
		t.Errorf("the answer tells of our insides: %s", p.Detail)
	}
	// Also where the answer would have been packed, which ends while the panic passes.
	w.do(request{method: "POST", path: "/api/v1/reports", as: w.ours.member, json: body, header: map[string]string{"Accept-Encoding": "gzip"}}).problem(500, "internal_error")
	must(t, w.deps.DB.Close())
	a := w.get(w.ours.member, "/api/v1/organization")
	if a.Code != 503 && a.Code != 500 {
		t.Errorf("without a database: %d", a.Code)
	}
	w.do(request{method: "GET", path: "/healthz"}).is(200)
	ready := w.do(request{method: "GET", path: "/readyz"}).is(503).object()
	if ready["status"] != "unready" {
		t.Errorf("readyz: %v", ready)
	}
}

func TestIngestFleet(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	all := w.ingestToken(w.ours.admin)
	item := func(key string) map[string]any {
		return map[string]any{"externalId": key, "name": key, "engine": "postgresql", "createdAt": "2026-09-01T08:00:00Z",
			"databases": []any{map[string]any{"externalId": "d", "name": "d", "createdAt": "2026-09-01T08:00:00Z"}}}
	}
	send := func(token string, body any, header map[string]string) answer {
		r := request{method: "POST", path: "/ingest/v1/fleet", token: token, header: header}
		if text, ok := body.(string); ok {
			r.body = text
		} else {
			r.json = body
		}
		return w.do(r)
	}
	first := send(all, map[string]any{"instances": []any{item("a"), item("b")}}, nil).is(200)
	second := send(all, map[string]any{"instances": []any{item("a"), item("b")}}, nil).is(200)
	if first.Body.String() != second.Body.String() {
		t.Errorf("sent again:\n%s\n%s", first.Body, second.Body)
	}
	var ids struct {
		Instances []struct{ ID uuid.UUID }
	}
	first.decode(&ids)
	w.get(w.ours.viewer, "/api/v1/instances/"+ids.Instances[0].ID.String()+"/databases").is(200)
	if n := w.get(w.ours.viewer, "/api/v1/instances?sort=-name").is(200).object()["page"].(map[string]any)["totalItems"]; n != 2.0 {
		t.Errorf("%v instances", n)
	}

	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(make([]byte, 5<<20))
	must(t, z.Close())
	gz := map[string]string{"Content-Encoding": "gzip"}
	send(all, zipped.String(), gz).problem(413, "body_too_large")
	send(all, "no gzip", gz).problem(400, "malformed_json")
	zipped.Reset()
	z.Reset(&zipped)
	must(t, json.NewEncoder(z).Encode(map[string]any{"instances": []any{item("c")}}))
	must(t, z.Close())
	send(all, zipped.String(), gz).is(200)

	bad := item("x")
	delete(bad, "name")
	bad["engine"], bad["port"] = 5, 1
	p := send(all, map[string]any{"instances": []any{item("y"), bad}}, nil).problem(400, "invalid_parameter")
	want := []string{"body #/instances/1/engine invalid_parameter", "body #/instances/1/name missing_parameter", "body #/instances/1/port unknown_field"}
	if diff := cmp.Diff(want, p.places()); diff != "" {
		t.Error(diff)
	}
	late := item("late")
	late["createdAt"] = w.clock.Now().Add(time.Hour)
	p = send(all, map[string]any{"instances": []any{item("z"), late, item("z")}}, nil).problem(422, "time_in_future")
	want = []string{"body #/instances/1/createdAt time_in_future", "body #/instances/2/externalId duplicate_external_id"}
	if diff := cmp.Diff(want, p.places()); diff != "" {
		t.Error(diff)
	}
	if n := w.get(w.ours.viewer, "/api/v1/instances").is(200).object()["page"].(map[string]any)["totalItems"]; n != 3.0 {
		t.Errorf("a refused call left something: %v instances", n)
	}

	only := w.ingestToken(w.ours.admin, ids.Instances[0].ID)
	send(only, map[string]any{"instances": []any{item("a")}}, nil).is(200)
	send(only, map[string]any{"instances": []any{item("b")}}, nil).problem(403, "outside_token")
	send(only, map[string]any{"instances": []any{item("new")}}, nil).problem(403, "outside_token")
}
