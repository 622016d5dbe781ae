package httpapi

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/domain/organization"
	"muster/internal/testing/pgtest"
)

// TestADatabaseThatDoesNotCommit: whatever writes is answered 503 in its time, also where a
// key is to be kept with the answer, a file handed out on record, or a refusal noted; and
// what reads is answered, though each token and session is to be written down as used.
func TestADatabaseThatDoesNotCommit(t *testing.T) {
	t.Parallel()
	server, url := pgtest.Stalling(t)
	w := newWorldOn(t, url, unlimited)
	instance := w.instance(w.ours, "orders")
	report := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, report, pdfText)
	reads := w.token(w.ours.admin, organization.ScopeAdmin)
	unused, sends := w.token(w.ours.admin, organization.ScopeAdmin), w.ingestToken(w.ours.admin)
	w.do(request{method: "GET", path: "/metrics", token: reads}).is(200)
	w.clock.Advance(2 * time.Minute)
	w.server.writes = 500 * time.Millisecond
	const patience = 10 * time.Second // what is waited for takes three, and the machine is busy

	resume := server.Stall(t)
	var asking sync.WaitGroup
	for name, r := range map[string]request{
		"request a report":       {method: "POST", path: "/api/v1/reports", as: w.ours.member, body: `{"kind":"Security","scope":{"instanceIds":["` + instance.String() + `"]}}`},
		"request one with a key": {method: "POST", path: "/api/v1/reports", as: w.ours.admin, header: map[string]string{"Idempotency-Key": "k"}, body: `{"kind":"Security","scope":{"instanceIds":["` + instance.String() + `"]}}`},
		"send samples":           {method: "POST", path: "/ingest/v1/samples", token: sends, json: members{"hosts": []members{{"host": "h", "instances": []string{}, "at": w.clock.Now(), "cpuPercent": 1}}}},
		"send instances":         {method: "POST", path: "/ingest/v1/fleet", token: sends, json: members{"instances": []members{{"externalId": "x", "name": "x", "engine": "postgresql", "createdAt": w.clock.Now()}}}},
		"sign out":               {method: "DELETE", path: "/api/v1/session", as: w.ours.auditor},
		"sign in":                {method: "POST", path: "/api/v1/session", json: members{"email": "nobody@ours.example", "password": "guess"}},
		"mint a token":           {method: "POST", path: "/api/v1/api-tokens", as: w.ours.admin, json: members{"name": "t", "scopes": []string{"reports:read"}, "expiresAt": w.clock.Now().Add(time.Hour)}},
		"download":               {method: "GET", path: "/api/v1/reports/" + report.String() + "/download", as: w.ours.member},
	} {
		asking.Go(func() {
			began := time.Now()
			got := w.do(r)
			if took := time.Since(began); took > patience {
				t.Errorf("%s took %s", name, took)
			}
			if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || !strings.Contains(got.Body.String(), `"unavailable"`) {
				t.Errorf("%s: %d %s", name, got.Code, got.Body)
			}
		})
	}
	for name, r := range map[string]request{
		"figures with a token":     {method: "GET", path: "/metrics", token: reads},
		"a token's first use":      {method: "GET", path: "/api/v1/instances", token: unused},
		"a page with a session":    {method: "GET", path: "/api/v1/instances", as: w.ours.viewer},
		"another with the session": {method: "GET", path: "/api/v1/alerts", as: w.ours.viewer},
	} {
		asking.Go(func() {
			began := time.Now()
			if got := w.do(r); got.Code != http.StatusOK || time.Since(began) > patience/2 {
				t.Errorf("%s: %d after %s %s", name, got.Code, time.Since(began), got.Body)
			}
		})
	}
	asking.Go(func() {
		began := time.Now()
		if got := w.get(w.ours.viewer, "/api/v1/audit-events"); got.Code != http.StatusForbidden || time.Since(began) > patience/2 {
			t.Errorf("a refusal: %d after %s", got.Code, time.Since(began))
		}
	})
	asking.Wait()
	resume()
	if got := w.get(w.ours.member, "/api/v1/reports/"+report.String()+"/download"); got.Code != http.StatusOK {
		t.Errorf("when commits return a download is %d %s", got.Code, got.Body)
	}
}

// TestFewWaitForADatabaseThatDoesNotCommit: others that write are refused at once, before
// they take the connections that reads need.
func TestFewWaitForADatabaseThatDoesNotCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stuck := true
	w.server.Stuck = func() bool { return stuck }
	mint := request{method: "POST", path: "/api/v1/api-tokens", as: w.ours.admin, json: members{"name": "t", "scopes": []string{"reports:read"}, "expiresAt": w.clock.Now().Add(time.Hour)}}
	w.do(mint).is(201) // the first few are tried
	w.server.writing.Add(stuckWrites)
	w.do(mint).problem(503, "unavailable")
	w.get(w.ours.viewer, "/api/v1/instances").is(200)
	stuck = false
	w.do(mint).is(201)
	if n := w.server.writing.Load(); n != stuckWrites {
		t.Errorf("%d requests write, though four do", n)
	}
}
