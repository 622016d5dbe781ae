package httpapi

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// policy is a limit on requests: quota in each window.
type policy struct {
	name   string
	quota  int
	window time.Duration
}

var (
	defaultPolicy  = policy{"default", 600, time.Minute}
	downloadPolicy = policy{"download", 60, time.Minute}
)

// "reports" (30 an hour and member, 10 building at once) and "login" are not
// here: those are counted in the database, by commands and accounts.

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

// allow takes from the limit and writes the RateLimit headers
// (draft-ietf-httpapi-ratelimit-headers-10). Several policies stand side by side.
func (l *limiter) allow(h http.Header, key string) *problem {
	ok, remaining, reset := l.take(key)
	addToList(h, "RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", l.name, l.quota, int(l.window.Seconds())))
	addToList(h, "RateLimit", fmt.Sprintf("%q;r=%d;t=%d", l.name, remaining, wholeSeconds(reset)))
	if ok {
		return nil
	}
	return &problem{Code: "rate_limited", Detail: fmt.Sprintf("Retry in %d seconds.", wholeSeconds(reset)), RetryAfter: reset}
}

func addToList(h http.Header, name, entry string) {
	if before := h.Get(name); before != "" {
		entry = before + ", " + entry
	}
	h.Set(name, entry)
}
