package httpapi

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/internal/testing/clocktest"
)

// TestEveryRateLimitIsReported: each of the four policies of §14 by its name, on the answers that count on it,
// with the remaining quota if the policy is the reason.
func TestEveryRateLimitIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deps.Commands.Limits = commands.Limits{CreatesPerHour: 2, BuildingAtOnce: 3}
	const standard = `"default";q=600;w=60`
	told := func(a answer, policies string, left ...string) {
		t.Helper()
		if got := a.Header().Get("RateLimit-Policy"); got != policies {
			t.Errorf("RateLimit-Policy is %s, want %s", got, policies)
		}
		for _, part := range left {
			if !strings.Contains(a.Header().Get("RateLimit"), part) {
				t.Errorf("RateLimit is %s, without %s", a.Header().Get("RateLimit"), part)
			}
		}
		if limited := a.Code == 429; limited != (a.Header().Get("Retry-After") != "") && a.Code != 202 {
			t.Errorf("%d with Retry-After %q", a.Code, a.Header().Get("Retry-After"))
		}
	}
	told(w.get(w.ours.member, "/api/v1/organization").is(200), standard, `"default";r=599;t=60`)
	told(w.get(w.ours.member, "/nowhere").is(404), standard, `"default";r=`)
	told(w.get(person{}, "/api/v1/session").is(200), standard, `"default";r=`)

	create := func(as person) answer {
		instance := w.instance(w.ours, "i-"+uuid.NewString()[:8])
		return w.post(as, "/api/v1/reports", map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []uuid.UUID{instance}}})
	}
	const reports = standard + `, "reports";q=2;w=3600`
	told(create(w.ours.member).is(202), reports)
	told(create(w.ours.member).is(202), reports)
	told(create(w.ours.member).problemWith(429, "rate_limited"), reports, `"reports";r=0;t=36`)
	told(create(w.ours.admin).is(202), reports) // another member's hour
	told(create(w.ours.admin).problemWith(429, "too_many_building"), reports, `"reports";r=0;t=`)

	ready := w.requested(w.theirs, w.theirs.member)
	w.ready(w.theirs, ready, pdfText)
	path := "/api/v1/reports/" + ready.String() + "/download"
	const download = standard + `, "download";q=60;w=60`
	for range 60 {
		told(w.get(w.theirs.member, path).is(200), download, `"download";r=`)
	}
	told(w.get(w.theirs.member, path).problemWith(429, "rate_limited"), download, `"download";r=0;t=`)
	told(w.get(w.theirs.member, "/api/v1/reports/"+ready.String()+"/files/report.pdf").problemWith(429, "rate_limited"), download, `"download";r=0;t=`)
	told(w.get(w.theirs.auditor, path).is(200), download, `"download";r=59;t=60`)

	const login = standard + `, "login";q=5;w=300`
	for {
		a := w.post(person{}, "/api/v1/session", map[string]any{"email": "nobody@ours.example", "password": "wrong"})
		if a.Code == 429 {
			told(a.problemWith(429, "login_throttled"), login, `"login";r=0;t=`)
			break
		}
		told(a.problemWith(401, "invalid_credentials"), login)
	}
	// Used up by requests and not by reports: the header says so.
	for range 600 {
		w.get(w.ours.auditor, "/api/v1/setup")
	}
	last := w.post(w.ours.auditor, "/api/v1/reports", map[string]any{})
	told(last.problemWith(429, "rate_limited"), reports, `"default";r=0;t=60`)
	if strings.Contains(last.Header().Get("RateLimit"), "reports") {
		t.Errorf("RateLimit is %s", last.Header().Get("RateLimit"))
	}
}

// TestAClockThatGoesBack: who used up their quota by a clock that ran ahead waits
// a window at most once it is set right, and what is left stays a quota.
func TestAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	clock := clocktest.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	l := newLimiter(policy{"test", 2, time.Minute}, clock.Now)
	take := func(want bool) {
		t.Helper()
		if ok, _, reset := l.take("ana"); ok != want || reset > time.Minute {
			t.Errorf("taken: %t, the window ends in %s", ok, reset)
		}
	}
	take(true)
	take(true)
	take(false)
	clock.Advance(-24 * time.Hour)
	take(true)
	take(true)
	take(false)
	clock.Advance(time.Minute)
	take(true)
}
