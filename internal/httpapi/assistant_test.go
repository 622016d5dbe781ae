package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"muster/domain/organization"
	"muster/internal/httpapi/wire"
	"muster/internal/text/pageaddress"
)

// ownTimes are the parts of a tool's answer that two calls of it differ in.
var ownTimes = regexp.MustCompile(`"(asOf|generatedAt|comparedAt|to|source)":"[^"]*",?`)

// readScopes are the scopes that let a token in at /mcp.
var readScopes = []organization.Scope{
	organization.ScopeMetricsRead, organization.ScopeAlertsRead, organization.ScopeReportsRead, organization.ScopeReportsDownload, organization.ScopeAuditRead,
}

// judge is the official SDK's client, connected with a token.
type judge struct {
	t *testing.T
	*mcp.ClientSession
}

// bearer sends a token with every request.
type bearer struct {
	token string
	http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// site serves the world on a port of this machine.
func (w *world) site() string {
	w.t.Helper()
	site := httptest.NewServer(w.handler)
	w.t.Cleanup(site.Close)
	return site.URL
}

func (w *world) assistant(site, token string) judge {
	w.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "judge", Version: "1"}, nil).Connect(w.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: site + "/mcp", HTTPClient: &http.Client{Transport: bearer{token, http.DefaultTransport}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	must(w.t, err)
	w.t.Cleanup(func() { session.Close() })
	return judge{w.t, session}
}

// toolAnswer is what a tool answers.
type toolAnswer struct {
	Notice, Tool, Page, Source string
	AsOf                       time.Time
	Units                      map[string]string
	Coverage                   map[string]any
	Missing                    []string
	Next                       map[string]any
	MachineText                []string
	Data                       map[string]any
	Error                      *struct {
		Code, Title, Detail, Source string
		RetryAfterSeconds           int
	}
	text string
}

func (a judge) use(tool string, args map[string]any) (out toolAnswer) {
	a.t.Helper()
	result, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s %v: %v", tool, args, err)
	}
	out.text = result.Content[0].(*mcp.TextContent).Text
	must(a.t, json.Unmarshal([]byte(out.text), &out))
	structured, err := json.Marshal(result.StructuredContent)
	must(a.t, err)
	if len(result.Content) != 1 || !sameJSON(string(structured), out.text) {
		a.t.Errorf("%s: the text is not the structured content", tool)
	}
	if result.IsError != (out.Error != nil) {
		a.t.Errorf("%s: isError is %t: %s", tool, result.IsError, out.text)
	}
	return out
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
}

func (a judge) tools() []*mcp.Tool {
	a.t.Helper()
	list, err := a.ListTools(a.t.Context(), nil)
	must(a.t, err)
	return list.Tools
}

func (a judge) names() (names []string) {
	for _, t := range a.tools() {
		names = append(names, t.Name)
	}
	return names
}

// calls are one call of every tool, and of every choice that it has, about things that has names
// the ids of.
func calls(t *testing.T, tools []*mcp.Tool, has map[string]string, now time.Time) map[string]map[string]any {
	t.Helper()
	given := map[string]any{"kind": "Security", "from": now.Add(-2 * time.Hour).Format(time.RFC3339), "checkId": "PG-S01"}
	by := map[string]string{"utilization": "host", "query_performance": "statement", "wait_events": "instance", "alert_history": "alert", "connections": "instance"}
	series := map[string]string{"utilization": "cpu", "query_performance": "average", "wait_events": "all", "alert_history": "active", "connections": "total"}
	// what only some of a tool's choices take
	takes := map[string][]string{"control": {"checkId", "from"}, "report": {"reportId"}}
	all := map[string]map[string]any{}
	for _, tool := range tools {
		schema := tool.InputSchema.(map[string]any)
		properties, required := schema["properties"].(map[string]any), schema["required"].([]any)
		choice, choices := "", []any{""}
		for _, name := range []string{"part", "metric", "of"} {
			if p, ok := properties[name].(map[string]any); ok {
				choice, choices = name, p["enum"].([]any)
			}
		}
		for _, chosen := range choices {
			args, what := map[string]any{}, fmt.Sprint(chosen)
			for name := range properties {
				value, known := given[name]
				if id, ok := has[name]; ok {
					value, known = id, true
				}
				if known && (slices.Contains(required, any(name)) || slices.Contains(takes[what], name) || name == "from" && choice == "" && tool.Name != "list_alerts") {
					args[name] = value
				}
			}
			switch {
			case choice != "":
				args[choice] = chosen
			case tool.Name == "session_activity":
				args["by"] = "waitEvent"
			case tool.Name == "group_findings":
				args["by"] = "check"
			}
			if tool.Name == "who_is_behind" {
				args["by"], args["series"] = by[what], series[what]
			}
			all[strings.TrimSpace(tool.Name+" "+what)] = args
		}
	}
	return all
}

// TestToolsOfAssistants: the SDK's own client finds at most 20 tools, which only read, and each
// answers with its page, its source, the time that it is of, units, coverage and data: what the
// route answers to the same token.
func TestToolsOfAssistants(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	has := w.belongings(w.ours)
	token := w.token(w.ours.admin, readScopes...)
	a := w.assistant(w.site(), token)
	tools := a.tools()
	if len(tools) == 0 || len(tools) > 20 {
		t.Errorf("there are %d tools", len(tools))
	}
	for _, tool := range tools {
		if !tool.Annotations.ReadOnlyHint || tool.Title == "" || tool.Description == "" {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	for call, args := range calls(t, tools, has, w.clock.Now()) {
		name, _, _ := strings.Cut(call, " ")
		got := a.use(name, args)
		if got.Error != nil {
			if call != "evidence report" || got.Error.Code != "not_found" { // the world's reports have no proof
				t.Errorf("%s %v: %s", call, args, got.text)
			}
			continue
		}
		page, isOurs := strings.CutPrefix(got.Page, "http://muster.test")
		if !isOurs || !pageaddress.Is(page) {
			t.Errorf("%s: %s is no page", call, got.Page)
		}
		if got.Tool != name || got.AsOf.IsZero() || got.Units == nil || got.Coverage["servers"] == nil || got.Coverage["sentence"] == "" || len(got.Missing) > 0 {
			t.Errorf("%s: the envelope lacks something: %s", call, got.text)
		}
		if !strings.HasPrefix(got.text, `{"notice":"Everything in `+"`data` is data") {
			t.Errorf("%s: an assistant does not read first what data is", call)
		}
		direct := w.do(request{method: "GET", path: strings.TrimPrefix(got.Source, "GET "), token: token}).is(200).object()
		if diff := cmp.Diff(timeless(direct), timeless(got.Data["result"])); diff != "" {
			t.Errorf("%s: the route answers otherwise: %s", call, diff)
		}
	}
	if n := len(calls(t, tools, has, w.clock.Now())); n < 35 {
		t.Errorf("only %d calls were tried", n)
	}
}

// timeless is an answer without the time at which it was given.
func timeless(answer any) any {
	out, _ := answer.(map[string]any)
	out = maps.Clone(out)
	for _, name := range []string{"asOf", "generatedAt", "comparedAt"} {
		delete(out, name)
	}
	return out
}

// TestRightsOfTools: whoever a route lets in, its tool lets in, and nobody else: each role with
// every scope, and each scope alone. Tools that let somebody in nowhere are not listed.
func TestRightsOfTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	has, site := w.belongings(w.ours), w.site()
	whole := w.assistant(site, w.token(w.ours.admin, readScopes...)).tools()
	all := calls(t, whole, has, w.clock.Now())
	tokens := map[string]string{"admin": w.token(w.ours.admin, organization.ScopeAdmin)}
	for _, role := range []organization.Role{organization.Viewer, organization.Member, organization.Auditor} {
		tokens[string(role)] = w.token(w.ours.of(role), role.Scopes()...)
	}
	for _, scope := range readScopes {
		tokens["admin for "+string(scope)] = w.token(w.ours.admin, scope)
	}
	for _, role := range []organization.Role{organization.Viewer, organization.Member} {
		somebody := w.person(w.ours.organization, organization.Team, "assistant-"+string(role)+"@ours.example")
		w.team(w.ours, "assisted "+string(role), map[string][]string{"env": {"none"}}, somebody, role)
		tokens["team's "+string(role)] = w.anyToken(somebody, organization.ScopeAdmin)
	}
	for who, token := range tokens {
		a := w.assistant(site, token)
		listed, admitted := a.names(), map[string]bool{}
		for call, args := range all {
			name, _, _ := strings.Cut(call, " ")
			got := a.use(name, args)
			source := w.sourceOf(call, args)
			direct := w.do(request{method: "GET", path: source, token: token})
			if direct.Code != http.StatusForbidden {
				admitted[name] = true
			}
			switch {
			case direct.Code == http.StatusOK && got.Error != nil:
				t.Errorf("%s: %s is refused with %s, its route is not", who, call, got.Error.Code)
			case direct.Code != http.StatusOK && (got.Error == nil || got.Error.Code != direct.object()["code"]):
				t.Errorf("%s: %s answers %s, its route %s", who, call, got.text, direct.Body)
			}
		}
		if want := slices.DeleteFunc(toolNames(whole), func(name string) bool { return !admitted[name] }); !slices.Equal(want, listed) {
			t.Errorf("%s sees the tools %v, may use %v", who, listed, want)
		}
	}
}

func toolNames(tools []*mcp.Tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// sourceOf is the address that a call reads, as an administrator's call says it.
func (w *world) sourceOf(call string, args map[string]any) string {
	w.t.Helper()
	if w.sources == nil {
		w.sources = map[string]string{}
	}
	if w.sources[call] == "" {
		name, _, _ := strings.Cut(call, " ")
		admin := w.message(w.token(w.ours.admin, organization.ScopeAdmin), name, args)
		if admin.Error != nil {
			admin.Source = admin.Error.Source
		}
		w.sources[call] = strings.TrimPrefix(admin.Source, "GET ")
	}
	return w.sources[call]
}

// message sends one call of a tool as a body, without the SDK's client.
func (w *world) message(token, tool string, args map[string]any) (out toolAnswer) {
	w.t.Helper()
	a := w.do(request{method: "POST", path: "/mcp", token: token, json: map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	}}).is(200)
	var reply struct {
		Result struct{ StructuredContent json.RawMessage }
	}
	a.decode(&reply)
	must(w.t, json.Unmarshal(reply.Result.StructuredContent, &out))
	return out
}

// TestForeignIDsOfTools: a tool answers to what belongs to another organization as to what there
// is not.
func TestForeignIDsOfTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	theirs := w.belongings(w.theirs)
	theirs["tag"] = "env:hidden"
	a := w.assistant(w.site(), w.token(w.ours.admin, readScopes...))
	tools, tried := a.tools(), 0
	for call, args := range calls(t, tools, theirs, w.clock.Now()) {
		name, _, _ := strings.Cut(call, " ")
		properties := tools[slices.IndexFunc(tools, func(t *mcp.Tool) bool { return t.Name == name })].InputSchema.(map[string]any)["properties"].(map[string]any)
		for _, of := range []string{"instanceId", "databaseId", "owner", "statementId", "episodeId", "findingId", "alertId", "reportId", "assigneeId"} {
			id, known := theirs[of]
			if of == "owner" {
				id, known = theirs["teamId"], true
			}
			if of == "assigneeId" {
				id, known = theirs["memberId"], true
			}
			if p, ok := properties[of].(map[string]any); !ok || !known || p == nil {
				continue
			}
			tried++
			unknown := uuid.NewString()
			ask := func(id string) string {
				with := maps.Clone(args)
				with[of] = id
				got := a.use(name, with)
				return ownTimes.ReplaceAllString(strings.ReplaceAll(got.text, id, "…"), "")
			}
			if foreign, none := ask(id), ask(unknown); foreign != none {
				t.Errorf("%s: a foreign %s is told apart: %s\n%s", call, of, foreign, none)
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d foreign ids were tried", tried)
	}
}

// TestTheDoorOfAssistants: it is closed unless an operator opens it, takes API tokens only and one
// message at a time, and has no streams.
func TestTheDoorOfAssistants(t *testing.T) {
	t.Parallel()
	closed := sharedWorld(t, func(d *Dependencies) { d.AssistantsOff = true })
	ping := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "ping"}
	closed.do(request{method: "POST", path: "/mcp", token: closed.token(closed.ours.admin, organization.ScopeAdmin), json: ping}).problem(404, "not_found")
	w := sharedWorld(t)
	token := w.token(w.ours.viewer, organization.ScopeAlertsRead)
	w.do(request{method: "POST", path: "/mcp", token: token, json: ping}).is(200)
	w.do(request{method: "POST", path: "/mcp", token: token, json: map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}}).is(202)
	w.do(request{method: "POST", path: "/mcp", as: w.ours.admin, json: ping}).problem(401, "unauthenticated")
	w.do(request{method: "POST", path: "/mcp", token: w.ingestToken(w.ours.admin), json: ping}).problem(401, "unauthenticated")
	w.do(request{method: "POST", path: "/mcp", token: w.token(w.ours.admin, organization.ScopeMarksWrite), json: ping}).problem(403, "forbidden")
	w.do(request{method: "POST", path: "/mcp", token: token, json: []any{ping, ping}}).problem(400, "malformed_json")
	w.do(request{method: "POST", path: "/mcp", token: token, json: map[string]any{"no": "message"}}).problem(400, "invalid_parameter")
	w.do(request{method: "GET", path: "/mcp", token: token}).problem(405, "method_not_allowed")
	w.do(request{method: "DELETE", path: "/mcp", token: token}).problem(405, "method_not_allowed")
	w.do(request{method: "POST", path: "/mcp", token: token, json: map[string]any{"jsonrpc": "2.0", "id": 1, "method": "x", "params": map[string]any{"x": strings.Repeat("x", 65<<10)}}}).problem(413, "body_too_large")
}

// TestArgumentsOfTools: what does not fit is refused with what would.
func TestArgumentsOfTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	token := w.token(w.ours.admin, organization.ScopeAdmin)
	for _, c := range []struct {
		tool string
		args map[string]any
		code string
	}{
		{"list_alerts", map[string]any{"stauts": "open"}, "invalid_parameter"},
		{"list_alerts", map[string]any{"status": "opened"}, "invalid_parameter"},
		{"list_alerts", map[string]any{"pageSize": 51}, "invalid_parameter"},
		{"list_alerts", map[string]any{"q": map[string]any{"a": 1}}, "invalid_parameter"},
		{"list_alerts", map[string]any{"instanceId": []any{[]any{"a"}}}, "invalid_parameter"},
		{"list_alerts", map[string]any{"instanceId": nil, "q": nil}, ""},
		{"get_alert", nil, "invalid_parameter"},
		{"get_alert", map[string]any{"alertId": "../../ops/jobs"}, "not_found"},
		{"get_alert", map[string]any{"alertId": ".."}, "invalid_parameter"},
		{"get_alert", map[string]any{"alertId": "a?b=c#d"}, "invalid_parameter"},
		{"get_alert", map[string]any{"alertId": []any{"a", "b"}}, "invalid_parameter"},
		{"get_alert", map[string]any{"alertId": uuid.NewString()}, "not_found"},
		{"read_metric", nil, "invalid_parameter"},
		{"read_metric", map[string]any{"metric": "everything"}, "invalid_parameter"},
		{"read_metric", map[string]any{"metric": "utilization", "from": "yesterday"}, "invalid_parameter"},
		{"read_metric", map[string]any{"metric": "utilization", "from": w.ago(300 * day).Format(time.RFC3339), "bucketSize": "1m"}, "too_many_buckets"},
		{"read_metric", map[string]any{"metric": "utilization", "from": w.ago(7 * day).Format(time.RFC3339), "bucketSize": "1m"}, "answer_too_large"},
		{"read_metric", map[string]any{"metric": "utilization"}, ""},
		{"read_metric", map[string]any{"metric": "utilization", "from": w.ago(30 * day).Format(time.RFC3339)}, ""},
	} {
		got := w.message(token, c.tool, c.args)
		if code := ""; got.Error != nil && got.Error.Code != c.code || got.Error == nil && c.code != code {
			t.Errorf("%s %v: %+v, want %q", c.tool, c.args, got.Error, c.code)
		}
	}
}

// TestAssistantsHaveALimit: whoever asks for page after page comes to the end of the pages, or to
// the rate limit, which says when to go on. A call counts as what it reads.
func TestAssistantsHaveALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.alerting()
	token := w.token(w.ours.member, organization.ScopeAlertsRead, organization.ScopeMetricsRead)
	var titles []string
	for page := any(1); page != nil; {
		got := w.message(token, "list_alerts", map[string]any{"pageSize": 2, "page": page})
		for _, item := range got.Data["result"].(map[string]any)["items"].([]any) {
			titles = append(titles, item.(map[string]any)["title"].(string))
		}
		page = got.Next["page"]
	}
	if len(titles) != 6 {
		t.Errorf("page after page has %v", titles)
	}
	for i := range 400 {
		a := w.do(request{method: "POST", path: "/mcp", token: token, json: map[string]any{
			"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "list_alerts", "arguments": map[string]any{"page": 1_000_000 + i}},
		}})
		if a.Code == http.StatusOK && !strings.Contains(a.Body.String(), `"isError":true`) {
			continue
		}
		if i < 150 || i > 250 { // 600 requests a minute; a call is three
			t.Errorf("call %d is refused", i)
		}
		// the call itself, or what it reads
		if !strings.Contains(a.Body.String(), `"code":"rate_limited"`) || a.Header().Get("Retry-After") == "" && !strings.Contains(a.Body.String(), `"retryAfterSeconds":`) {
			t.Errorf("got %s", a.Body)
		}
		return
	}
	t.Error("a client pages without end")
}

// TestAuditOfAssistants: each tool that a token uses is in the audit list once an hour.
func TestAuditOfAssistants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token(w.ours.member, organization.ScopeAlertsRead)
	for range 3 {
		w.message(token, "list_alerts", nil)
		w.message(token, "get_alert", map[string]any{"alertId": uuid.NewString()})
	}
	var rows []string
	for _, item := range w.get(w.ours.auditor, "/api/v1/audit-events?type=assistantRead").is(200).object()["items"].([]any) {
		item := item.(map[string]any)
		rows = append(rows, fmt.Sprint(item["type"], " ", item["data"]))
	}
	if len(rows) != 2 || !strings.Contains(strings.Join(rows, "; "), "list_alerts, token ") {
		t.Errorf("the audit list has %v", rows)
	}
}

// TestACallEndsWithItsClient: the requests of a call have the context of the client's connection.
func TestACallEndsWithItsClient(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	token := w.token(w.ours.member, organization.ScopeAlertsRead)
	gone, leave := context.WithCancel(context.Background())
	leave()
	req := httptest.NewRequestWithContext(gone, "POST", "http://muster.test/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_alerts","arguments":{}}}`))
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.handler.ServeHTTP(httptest.NewRecorder(), req)
	}()
	select {
	case <-done:
	case <-time.After(wire.RequestTimeout / 3):
		t.Fatal("a call goes on after its client left")
	}
}

// TestAClientThatReadsNothingIsGivenUp: it sends calls and never reads an answer. Its connection ends with the server's
// timeout for writing, and no call goes on.
func TestAClientThatReadsNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	token := w.token(w.ours.member, organization.ScopeAlertsRead)
	var blocked, served atomic.Int64
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		blocked.Add(1)
		defer func() { blocked.Add(-1); served.Add(1) }()
		w.handler.ServeHTTP(rw, r)
	}))
	site.Config.WriteTimeout = time.Second
	closed := make(chan struct{}, 1)
	site.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	site.Start()
	t.Cleanup(site.Close)
	conn, err := net.Dial("tcp", site.Listener.Addr().String())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.(*net.TCPConn).SetReadBuffer(1))
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	call := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: muster.test\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	go func() {
		for range 10_000 { // until nobody takes them any more
			if _, err := conn.Write([]byte(call)); err != nil {
				return
			}
		}
	}()
	select {
	case <-closed:
	case <-time.After(wire.RequestTimeout):
		t.Fatalf("after %d answers that nobody read, the connection is open", served.Load())
	}
	if n := blocked.Load(); n != 0 || served.Load() < 2 {
		t.Errorf("%d calls of a closed connection go on, after %d", n, served.Load())
	}
}
