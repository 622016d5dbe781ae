package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/google/uuid"

	"muster/internal/httpapi/contract"
)

// TestIngestPushesBack: what cannot be taken in is refused at once and whole,
// and taken in once there is room.
func TestIngestPushesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(d *Dependencies) { d.Unlimited = true }) // no quota protects memory
	ours, theirs := w.ingestToken(w.ours.admin), w.ingestToken(w.theirs.admin)
	send := func(token string) answer {
		body := fmt.Sprintf(`{"instances":[{"externalId":"a","name":"a","engine":"mysql","createdAt":%q}]}`, "2026-09-01T08:00:00Z")
		return w.do(request{method: "POST", path: "/ingest/v1/fleet", token: token, body: body})
	}
	var leave []func()
	hold := func(owner uuid.UUID, n int) {
		t.Helper()
		for range n {
			out, ok := w.server.intake.enter(owner, 1)
			if !ok {
				t.Fatal("no place")
			}
			leave = append(leave, out)
		}
	}
	hold(w.ours.organization.ID, ingestPerOwner)
	refused := send(ours).problemWith(429, "rate_limited")
	if refused.Header().Get("Retry-After") != "5" {
		t.Errorf("Retry-After is %q", refused.Header().Get("Retry-After"))
	}
	if n := w.get(w.ours.viewer, "/api/v1/instances").is(200).object()["page"].(map[string]any)["totalItems"]; n != 0.0 {
		t.Errorf("a refused call left %v instances", n)
	}
	send(theirs).is(200) // others have their own share
	hold(uuid.New(), ingestPlaces-ingestPerOwner)
	send(theirs).problem(429, "rate_limited")
	w.do(request{method: "POST", path: "/ingest/v1/fleet", token: "mst_ing_x", body: "{}"}).problem(401, "unauthenticated") // takes no place
	w.get(w.ours.viewer, "/api/v1/instances").is(200)                                                                       // people are not held up
	for _, out := range leave {
		out()
	}
	send(ours).is(200)
	send(theirs).is(200)
	if w.server.intake.inside != 0 || len(w.server.intake.of) != 0 || !w.server.intake.turns.TryAcquire(ingestAtOnce) {
		t.Errorf("after all is done %d are inside, or some at work", w.server.intake.inside)
	}
}

// TestEveryIngestRouteSaysWhenToComeAgain, in seconds: an agent obeys that. (What a
// database brings about that is away, TestADatabaseThatGoesAwayIsUnavailable has.)
func TestEveryIngestRouteSaysWhenToComeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(d *Dependencies) { d.Unlimited = true })
	token := w.ingestToken(w.ours.admin)
	leave, ok := w.server.intake.enter(w.ours.organization.ID, ingestPerOwner)
	if !ok {
		t.Fatal("no place")
	}
	defer leave()
	routes := 0
	for _, r := range w.server.contract.Routes {
		if !r.IsIngest() {
			continue
		}
		routes++
		status, code := 429, "rate_limited"
		if r.Raw { // whose senders try again after a 503, and not all of them after a 429
			status, code = 503, "unavailable"
		}
		for mediaType := range r.Operation.RequestBody.Value.Content {
			header := map[string]string{"Content-Type": mediaType}
			if slices.Contains(r.Encodings, "snappy") {
				header["Content-Encoding"] = "snappy"
			}
			a := w.do(request{method: r.Method, path: r.Path, token: token, body: "{}", header: header})
			a.problemWith(status, code)
			if seconds, err := strconv.Atoi(a.Header().Get("Retry-After")); err != nil || seconds < 1 {
				t.Errorf("%s %s: %d with Retry-After %q", r.Path, mediaType, a.Code, a.Header().Get("Retry-After"))
			}
		}
	}
	if routes < 8 {
		t.Errorf("%d routes take something in", routes)
	}
}

// TestIngestWaitsItsTurn: no more work at a time than may, and who gives up
// waiting gives back their place.
func TestIngestWaitsItsTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.ingestToken(w.ours.admin)
	var done []func()
	for range ingestAtOnce {
		d, err := w.server.intake.turn(t.Context(), 1)
		must(t, err)
		done = append(done, d)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	a := w.doIn(gone, request{method: http.MethodPost, path: "/ingest/v1/fleet", token: token, body: `{"instances":[]}`})
	if a.Code != 429 && a.Code != 503 { // whichever of its waits the caller gave up in
		t.Errorf("got %d: %s", a.Code, a.Body)
	}
	if w.server.intake.inside != 0 {
		t.Errorf("%d are inside", w.server.intake.inside)
	}
	answered := make(chan int)
	go func() {
		answered <- w.do(request{method: "POST", path: "/ingest/v1/fleet", token: token, body: `{"instances":[]}`}).Code
	}()
	select {
	case status := <-answered:
		t.Errorf("answered %d before it was its turn", status)
	default:
	}
	done[0]()
	if status := <-answered; status != 200 {
		t.Errorf("in its turn: %d", status)
	}
}

// TestIngestWeighs: a call counts as so many as it may come to, so that the
// places bound what waits in memory whatever a route takes.
func TestIngestWeighs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit, length    int64
		encoding         string
		waiting, working int
	}{
		"nothing":                        {4 << 20, 0, "", 1, 1},
		"a usual call":                   {4 << 20, 4 << 20, "", 1, 1},
		"a small message":                {32 << 20, 3000, "", 1, 1},
		"a byte over":                    {32 << 20, 4<<20 + 1, "", 2, 2},
		"the largest message":            {32 << 20, 32 << 20, "", 8, 8},
		"one of unknown size":            {32 << 20, -1, "", 8, 8},
		"a packed one may be large":      {32 << 20, 30_000, "gzip", 1, 8},
		"a packed usual call is no more": {4 << 20, 30_000, "gzip", 1, 1},
		"a small packed one":             {32 << 20, 3000, "gzip", 1, 1},
		"snappy packs less":              {32 << 20, 100_000, "snappy", 1, 1},
		"much of it":                     {32 << 20, 1 << 20, "snappy", 1, 6},
		"all of it":                      {32 << 20, 32 << 20, "snappy", 8, 8},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.ContentLength = c.length
		r.Header.Set("Content-Encoding", c.encoding)
		row := &contract.Route{BodyLimit: c.limit}
		if c.encoding == "snappy" {
			row.Encodings = []string{"snappy"}
		}
		if waiting, working := weights(r, row); waiting != c.waiting || working != c.working {
			t.Errorf("%s weighs %d and at work %d, want %d and %d", name, waiting, working, c.waiting, c.working)
		}
	}
	stile, owner := newTurnstile(ingestAtOnce, ingestPlaces, ingestPerOwner), uuid.New()
	leave, ok := stile.enter(owner, 8)
	_, second := stile.enter(owner, 8)
	_, third := stile.enter(owner, 1)
	if !ok || !second || third {
		t.Error("two of the largest messages are not all that an organization may have inside")
	}
	leave()
	if _, ok := stile.enter(owner, 8); !ok {
		t.Error("what left still takes its places")
	}
	done, err := stile.turn(t.Context(), 8)
	must(t, err)
	if stile.turns.TryAcquire(1) {
		t.Error("the largest message does not work alone")
	}
	done()
	if !stile.turns.TryAcquire(ingestAtOnce) {
		t.Error("a turn was not given back whole")
	}
}
