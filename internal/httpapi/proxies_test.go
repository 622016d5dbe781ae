package httpapi

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/uuid"
)

// TestLagging: a write whose projections stand still answers all the same,
// with what it knows, and says so.
func TestLagging(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instance := w.instance(w.ours, "one")
	w.stopProjections()
	asked := map[string]any{
		"kind": "Security", "scope": map[string]any{"instanceIds": []uuid.UUID{instance}}, "recipientIds": []uuid.UUID{w.ours.member.ID},
	}
	a := w.post(w.ours.member, "/api/v1/reports", asked).is(202)
	made := a.object()["report"].(map[string]any)
	if a.Header().Get("X-Muster-Lagging") != "true" || made["status"] != "Queued" || made["scopeLabel"] != "one" || made["recipientCount"] != 1.0 {
		t.Errorf("answered %v %s", a.Header(), a.Body)
	}
	a = w.post(w.ours.auditorAsMember(w), "/api/v1/reports", asked).is(200)
	again := a.object()["report"].(map[string]any)
	if a.Header().Get("X-Muster-Lagging") != "true" || again["status"] != "Queued" || again["id"] != made["id"] || again["scopeLabel"] != "one" {
		t.Errorf("answered %v %s", a.Header(), a.Body)
	}
}

// TestClientAddress: only a trusted proxy is believed about whose request it is.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	for name, trusted := range map[string]bool{"behind our proxy": true, "in the open": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sharedWorld(t, func(d *Dependencies) {
				if trusted {
					d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // httptest's peer
				}
			})
			ask := func(from string) int {
				return w.do(request{method: "GET", path: "/version", header: map[string]string{"X-Forwarded-For": from}}).Code
			}
			for range 600 {
				ask("198.51.100.1")
			}
			if got := ask("198.51.100.1"); got != 429 {
				t.Errorf("the 601st: %d", got)
			}
			if got := ask("198.51.100.2"); (got == 200) != trusted {
				t.Errorf("another address: %d", got)
			}
		})
	}
}

// TestANetworkHasOneQuota: whoever has an IPv6 network has 2^64 addresses, and
// must have neither as many quotas nor as many places in our memory.
func TestANetworkHasOneQuota(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, func(d *Dependencies) {
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	ask := func(path, from string) int {
		return w.do(request{method: "GET", path: path, header: map[string]string{"X-Forwarded-For": from}}).Code
	}
	for i := range 300 {
		ask("/version", fmt.Sprintf("2001:db8:1:2::%x", i+1))
		ask("/nowhere", fmt.Sprintf("2001:db8:1:2:%x::", i+1))
	}
	for path, want := range map[string]int{"/version": 200, "/nowhere": 404} {
		if got := ask(path, "2001:db8:1:2:ffff::1"); got != 429 {
			t.Errorf("%s from the same network: %d", path, got)
		}
		if got := ask(path, "2001:db8:1:3::1"); got != want {
			t.Errorf("%s from the next network: %d", path, got)
		}
	}
}

// TestAForgedRequestIsAuditedWithItsAddress: the auditor reads from where the browser
// came that another site abused, not which proxy passed it on.
func TestAForgedRequestIsAuditedWithItsAddress(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, func(d *Dependencies) {
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	header := map[string]string{"Sec-Fetch-Site": "cross-site", "X-Forwarded-For": "198.51.100.7"}
	w.do(request{method: "POST", path: "/api/v1/reports", as: w.ours.member, body: "{}", header: header}).problem(403, "cross_origin_request")
	for range 599 { // they count on that address's quota, and not on the member's
		w.do(request{method: "POST", path: "/api/v1/reports", as: w.ours.member, body: "{}", header: header})
	}
	w.do(request{method: "POST", path: "/api/v1/reports", as: w.ours.member, body: "{}", header: header}).problem(429, "rate_limited")
	w.get(w.ours.member, "/api/v1/reports?kind=Security").is(200)
	items := w.get(w.ours.auditor, "/api/v1/audit-events?type=refused").is(200).object()["items"].([]any)
	if len(items) != 1 || items[0].(map[string]any)["data"].(map[string]any)["ip"] != "198.51.100.7" {
		t.Errorf("noted as %v", items)
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	const friend = "https://friend.example"
	w := sharedWorld(t, func(d *Dependencies) { d.CORSOrigins = []string{friend} })
	const path = "/api/v1/reports?kind=Security"
	from := func(origin string, as person, token string) answer {
		return w.do(request{method: "GET", path: path, as: as, token: token, header: map[string]string{"Origin": origin}})
	}
	ok := from(friend, person{}, w.token(w.ours.member, "reports:read")).is(200)
	if ok.Header().Get("Access-Control-Allow-Origin") != friend || ok.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("headers %v", ok.Header())
	}
	from(friend, w.ours.member, "").problem(401, "unauthenticated") // the cookie is ignored
	if got := from("https://evil.example", w.ours.member, "").is(200).Header().Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("a stranger may read: %q", got)
	}
	preflight := w.do(request{method: "OPTIONS", path: path, header: map[string]string{"Origin": friend, "Access-Control-Request-Method": "POST"}}).is(204)
	if preflight.Header().Get("Access-Control-Allow-Methods") != "GET, POST, PATCH, DELETE" {
		t.Errorf("preflight %v", preflight.Header())
	}
	if got := w.do(request{method: "OPTIONS", path: path, header: map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}}); got.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a stranger's preflight: %v", got.Header())
	}
	post := func(origin string) answer {
		return w.do(request{method: "POST", path: "/api/v1/reports", token: w.token(w.ours.member, "reports:create"), body: "{}", header: map[string]string{"Origin": origin}})
	}
	post(friend).problem(400, "missing_parameter")
	post("https://evil.example").problem(403, "cross_origin_request")
}
