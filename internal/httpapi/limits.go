package httpapi

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"muster/internal/accounts"
	"muster/internal/httpapi/wire"
)

type policy struct {
	name   string
	quota  int
	window time.Duration
}

var (
	defaultPolicy  = policy{"default", 600, time.Minute}
	downloadPolicy = policy{"download", 60, time.Minute}
)

// counted is the limit that an operation is under in the database, where commands
// and accounts count: it holds over all replicas. What is left of it is told only
// once it is used up, because nobody looks before.
func (s *server) counted(operation string) (policy, bool) {
	if s.Unlimited {
		return policy{}, false
	}
	switch operation {
	case "createReport":
		return policy{"reports", s.Commands.Limits.CreatesPerHour, time.Hour}, s.Commands.Limits.CreatesPerHour > 0
	case "signIn", "changePassword":
		return policy{"login", accounts.FailuresPerAccount, accounts.FailureWindow}, true
	}
	return policy{}, false
}

// tellUsedUp writes the RateLimit header of a refusal by such a limit.
func (s *server) tellUsedUp(call *wire.Call, p *wire.Problem) {
	if p.StatusCode() != http.StatusTooManyRequests || p.LimitTold || p.RetryAfter == 0 {
		return
	}
	if limit, ok := s.counted(call.Operation); ok {
		addToList(call.Header, "RateLimit", limit.left(0, p.RetryAfter))
	}
}

// left and String are the policy in the RateLimit headers
// (draft-ietf-httpapi-ratelimit-headers-10).
func (p policy) left(remaining int, reset time.Duration) string {
	return fmt.Sprintf("%q;r=%d;t=%d", p.name, remaining, wire.WholeSeconds(reset))
}

func (p policy) String() string {
	return fmt.Sprintf("%q;q=%d;w=%d", p.name, p.quota, int(p.window.Seconds()))
}

// limiter counts requests in fixed windows, in this process's memory: two
// replicas each grant the quota. A window starts with its caller's first
// request, so that callers do not all start afresh at the same second.
type limiter struct {
	policy
	now func() time.Time

	mu    sync.Mutex
	seen  map[string]*window
	sweep time.Time
}

type window struct {
	ends time.Time
	used int
}

func newLimiter(p policy, now func() time.Time) *limiter {
	return &limiter{policy: p, now: now, seen: map[string]*window{}}
}

// take counts one request of key. ok is false where the quota was used up;
// remaining and reset describe the window either way.
func (l *limiter) take(key string) (ok bool, remaining int, reset time.Duration) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now)
	w := l.seen[key]
	if w == nil || !now.Before(w.ends) || w.ends.Sub(now) > l.window { // the last: the clock went back
		w = &window{ends: now.Add(l.window)}
		l.seen[key] = w
	}
	ok = w.used < l.quota
	if ok {
		w.used++
	}
	return ok, l.quota - w.used, w.ends.Sub(now)
}

// networkKey is under what those are counted whom nobody knows.
func networkKey(ip string) string { return "ip:" + accounts.Network(ip) }

// forget drops windows that have ended, once a window, so that the map holds
// no more than two windows' callers.
func (l *limiter) forget(now time.Time) {
	if now.Before(l.sweep) {
		return
	}
	for key, w := range l.seen {
		if !now.Before(w.ends) {
			delete(l.seen, key)
		}
	}
	l.sweep = now.Add(l.window)
}

// allow takes from the limit and writes the RateLimit headers. Several policies
// stand side by side.
func (l *limiter) allow(h http.Header, key string) *wire.Problem {
	ok, remaining, reset := l.take(key)
	addToList(h, "RateLimit-Policy", l.String())
	addToList(h, "RateLimit", l.left(remaining, reset))
	if ok {
		return nil
	}
	return &wire.Problem{Code: "rate_limited", Detail: fmt.Sprintf("Retry in %d seconds.", wire.WholeSeconds(reset)), RetryAfter: reset, LimitTold: true}
}

func addToList(h http.Header, name, entry string) {
	if before := h.Get(name); before != "" {
		entry = before + ", " + entry
	}
	h.Set(name, entry)
}
