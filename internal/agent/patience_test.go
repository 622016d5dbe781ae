package agent

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// line answers calls without a network, so that a test's clock is the only one.
type line struct {
	began   time.Time
	answers []http.HandlerFunc
	at      []string // when each call came, and what
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	l.at = append(l.at, time.Since(l.began).Round(time.Second).String()+" "+string(body))
	answer := l.answers[0]
	if len(l.answers) > 1 {
		l.answers = l.answers[1:]
	}
	if answer == nil { // it hangs
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	answer(w, r)
	return w.Result(), nil
}

func (l *line) with(a answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { a(w, sentCall{path: r.URL.Path}) }
}

// onLine runs do with an agent that sends for two hours and ten minutes by a clock of its
// own.
func onLine(t *testing.T, l *line, do func(b *bench)) {
	t.Helper()
	_ = pack(nil) // what it makes once belongs to nobody's clock
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t}
		b.open("http://muster.example.org", &http.Client{Transport: l})
		l.began = time.Now()
		do(b)
		ctx, cancel := context.WithTimeout(t.Context(), 130*time.Minute)
		defer cancel()
		if err := b.deliver(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestTheServerSetsThePace: Retry-After is kept to the second. Without it each pause is longer, up to a minute.
// A call that hangs is given up after half a minute, and sent again.
func TestTheServerSetsThePace(t *testing.T) {
	l := new(line)
	busy := func(status int, after string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", after)
			refused(status, "unavailable")(w, sentCall{})
		}
	}
	l.answers = []http.HandlerFunc{busy(429, "7"), busy(503, "90"), busy(503, "86400"), l.with(taken)}
	onLine(t, l, func(b *bench) { b.store.mustKeep(t, factOf(fleetFact, "db", `"F"`)) })
	if want := []string{`0s "F"`, `7s "F"`, `1m37s "F"`, `1h1m37s "F"`}; !slices.Equal(l.at, want) {
		t.Errorf("sent %q, want %q", l.at, want)
	}

	l = new(line)
	away := l.with(refused(502, ""))
	l.answers = []http.HandlerFunc{away, away, away, away, away, away, away, away, away, nil, l.with(taken)}
	onLine(t, l, func(b *bench) { b.store.mustKeep(t, factOf(fleetFact, "db", `"F"`)) })
	if len(l.at) != 11 {
		t.Fatalf("sent %q", l.at)
	}
	last := time.Duration(0)
	for i, call := range l.at {
		text, _, _ := strings.Cut(call, " ")
		at, err := time.ParseDuration(text)
		must(t, err)
		longest := time.Second << max(i-1, 0)
		if i > 6 {
			longest = time.Minute
		}
		if i == 10 { // after one that hung
			at -= callTimeout
		}
		if pause := at - last; i > 0 && (pause < longest/2-time.Second || pause > longest+time.Second) {
			t.Errorf("call %d comes %s after the one before, want %s at most and half of it at least", i, pause, longest)
		}
		last = at
	}
}

// TestARefusedFactIsTriedAgainEveryHour, and what is held is sent when its holder is gone.
func TestARefusedFactIsTriedAgainEveryHour(t *testing.T) {
	l := new(line)
	held := l.with(refused(409, "instance_held", "instance_held #/statements/0/instance"))
	l.answers = []http.HandlerFunc{l.with(refused(422, "x", "x #/instances/0")), held, held, l.with(taken), l.with(refused(422, "x")), l.with(taken)}
	onLine(t, l, func(b *bench) {
		b.store.mustKeep(t, factOf(fleetFact, "db", `"F"`), statementsOf("db", time.Now(), "1"))
	})
	wanted := []struct {
		after time.Duration
		body  string
	}{
		{0, `"F"`}, {0, `{"statements":[1]}`}, {heldPause, `{"statements":[1]}`}, {2 * heldPause, `{"statements":[1]}`}, {refusedPause, `"F"`}, {2 * refusedPause, `"F"`},
	}
	if len(l.at) != len(wanted) {
		t.Fatalf("sent %q", l.at)
	}
	for i, want := range wanted {
		text, body, _ := strings.Cut(l.at[i], " ")
		at, err := time.ParseDuration(text)
		must(t, err)
		if late := at - want.after; body != want.body || late < 0 || late > 3*idle { // it looks that often whether anything is to be sent
			t.Errorf("call %d is %s, want %s after %s", i, l.at[i], want.body, want.after)
		}
	}
}
