package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/snappy"

	"muster/internal/httpapi/contract"
)

// TestIngestPushesBack: what cannot be taken in is refused at once and whole,
// and taken in once there is room.
func TestIngestPushesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited) // no quota protects memory
	ours, theirs := w.ingestToken(w.ours.admin), w.ingestToken(w.theirs.admin)
	send := func(token string) answer {
		body := fmt.Sprintf(`{"instances":[{"externalId":"a","name":"a","engine":"mysql","createdAt":%q}]}`, "2026-09-01T08:00:00Z")
		return w.do(request{method: "POST", path: "/ingest/v1/fleet", token: token, body: body})
	}
	var leave []func()
	hold := func(owner uuid.UUID, n int) {
		t.Helper()
		for range n {
			out, ok := w.server.intake.enter(owner, uuid.New(), 0)
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
	w.server.nobodyInside(t)
	flood := uuid.New()
	for range ingestPerOwner / 2 { // beside ours, which called
		out, ok := w.server.intake.enter(w.ours.organization.ID, flood, 0)
		if !ok {
			t.Fatal("no place")
		}
		defer out()
	}
	if _, ok := w.server.intake.enter(w.ours.organization.ID, flood, 0); ok {
		t.Error("one token has more than half of the places")
	}
	send(ours).is(200)
}

// nobodyInside is that all that was taken was given back.
func (s *server) nobodyInside(t *testing.T) {
	t.Helper()
	i := s.intake
	if i.inside != (room{}) || len(i.of)+len(i.ofToken) != 0 || len(i.work) != 0 || i.lanes[light].free != ingestAtOnce-1 || i.lanes[heavy].free != 1 {
		t.Errorf("after all is done there are %+v inside, and at work %v", i.inside, i.work)
	}
}

// TestEveryIngestRouteSendsRetryAfter, in seconds: an agent obeys that.
// (TestALostDatabaseIsReportedAsUnavailable has the answers while a database is away.)
func TestEveryIngestRouteSendsRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	token := w.ingestToken(w.ours.admin)
	for range ingestPerOwner {
		leave, ok := w.server.intake.enter(w.ours.organization.ID, uuid.New(), 0)
		if !ok {
			t.Fatal("no place")
		}
		defer leave()
	}
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

// TestIngestLimitsConcurrentCalls: no more work at a time than allowed, and a caller that gives up waiting
// gives back its place.
func TestIngestLimitsConcurrentCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.ingestToken(w.ours.admin)
	var done []func()
	for range ingestShare {
		d, err := w.server.intake.turn(t.Context(), w.ours.organization.ID, light)
		must(t, err)
		done = append(done, d)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	a := w.doIn(gone, request{method: http.MethodPost, path: "/ingest/v1/fleet", token: token, body: `{"instances":[]}`})
	if a.Code != 429 && a.Code != 503 { // whichever of its waits the caller gave up in
		t.Errorf("got %d: %s", a.Code, a.Body)
	}
	if n := w.server.intake.inside.calls; n != 0 {
		t.Errorf("%d are inside", n)
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

// TestIngestWeighs: what a call comes to unpacked is what its packing says, and a call that
// comes to more than a usual one takes the heavy turn.
func TestIngestWeighs(t *testing.T) {
	t.Parallel()
	megabytes := bytes.Repeat([]byte("x"), 5<<20)
	for name, c := range map[string]struct {
		body     []byte
		encoding string
		want     int64
	}{
		"nothing":                  {nil, "", 0},
		"a plain one":              {megabytes, "", 5 << 20},
		"a packed one":             {[]byte(zipped(t, megabytes)), "gzip", 5 << 20},
		"a claim beyond the limit": {slices.Concat(make([]byte, 1<<20), []byte{0, 0, 0, 4}), "gzip", 64 << 20},
		"a claim beyond gzip":      {[]byte{0, 0, 0, 4}, "gzip", 4 * contract.GzipRatio},
		"snappy":                   {snappy.Encode(nil, megabytes[:1<<20]), "snappy", 1 << 20},
		"a claim beyond snappy":    {[]byte{255, 255, 255, 15}, "snappy", 4 * contract.SnappyRatio},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Content-Encoding", c.encoding)
		row := &contract.Route{BodyLimit: 32 << 20}
		if c.encoding == "snappy" {
			row.Encodings = []string{"snappy"}
		}
		if got := row.Hold(r, c.body, ingestHeavy).Unpacked(); got != c.want {
			t.Errorf("%s comes to %d bytes, want %d", name, got, c.want)
		}
	}
	stile, owner, token := newTurnstile(time.Now), uuid.New(), uuid.New()
	leave, ok := stile.enter(owner, token, 32<<20)
	_, second := stile.enter(owner, token, 32<<20)
	_, small := stile.enter(owner, token, 1<<20)
	_, theirs := stile.enter(uuid.New(), uuid.New(), 32<<20)
	if !ok || second || !small || !theirs {
		t.Error("an organization does not have half of the bytes")
	}
	leave()
	if _, ok := stile.enter(owner, token, 32<<20); !ok {
		t.Error("what left still takes its place")
	}
}

// TestATokenLeavesRoomForOthers: one token has all places of its organization while the others
// call nothing, and half of them as soon as another wants one.
func TestATokenLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	now := time.Now()
	stile := newTurnstile(func() time.Time { return now })
	owner, flood, calm := uuid.New(), uuid.New(), uuid.New()
	var inside []func()
	enter := func(token uuid.UUID, bytes int64) bool {
		leave, ok := stile.enter(owner, token, bytes)
		if ok {
			inside = append(inside, leave)
		}
		return ok
	}
	fill := func() (n int) {
		for enter(flood, 0) {
			n++
		}
		return n
	}
	leave := func(n int) {
		for _, out := range inside[:n] {
			out()
		}
		inside = inside[n:]
	}
	if n := fill(); n != ingestPerOwner {
		t.Errorf("a token that is alone has %d places", n)
	}
	if enter(calm, 0) {
		t.Error("an organization has more places than it may")
	}
	leave(1)
	if n := fill(); n != 0 {
		t.Errorf("the token that has %d places takes what another waits for", ingestPerOwner-1)
	}
	if !enter(calm, 0) {
		t.Error("the other finds no room when it comes again")
	}
	leave(len(inside))
	if n := fill(); n != ingestPerOwner/2 {
		t.Errorf("beside another a token has %d places", n)
	}
	leave(len(inside))
	if !enter(flood, 32<<20) || enter(flood, 0) || !enter(calm, 8<<20) {
		t.Error("beside another a token has more than one call of half of the bytes")
	}
	leave(len(inside))
	now = now.Add(ingestAlone + time.Second)
	if n := fill(); n != ingestPerOwner {
		t.Errorf("a token that is alone again has %d places", n)
	}
}

// TestOrganizationsTakeTurnsAtIngest: none of them has more than half of the turns, and one heavy call runs at
// a time.
func TestOrganizationsTakeTurnsAtIngest(t *testing.T) {
	t.Parallel()
	stile := newTurnstile(time.Now)
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	var all []*waiter
	kinds, ended := map[*waiter]int{}, map[*waiter]bool{}
	ask := func(owner uuid.UUID, kind int) *waiter {
		w := stile.ask(owner, kind)
		all = append(all, w)
		kinds[w] = kind
		return w
	}
	goes := func(w *waiter) bool {
		select {
		case <-w.mayGo:
			return true
		default:
			return false
		}
	}
	end := func(w *waiter) {
		stile.end(w, kinds[w])
		ended[w] = true
	}
	have := func(what, want string) {
		t.Helper()
		if got := fmt.Sprint(stile.work[a], stile.work[b], stile.work[c]); got != want {
			t.Errorf("%s: a, b and c have %s turns, want %s", what, got, want)
		}
	}
	ours := []*waiter{ask(a, light), ask(a, light), ask(a, light), ask(a, light), ask(a, light)}
	large := ask(a, heavy)
	have("alone", "3 0 0")
	end(ours[0])
	if !goes(ours[3]) || goes(large) {
		t.Error("who came first is not the first")
	}
	theirs := []*waiter{ask(b, light), ask(b, light), ask(b, light), ask(b, light)}
	have("another comes", "3 3 0")
	third := ask(c, light)
	end(theirs[0])
	if !goes(third) || goes(theirs[3]) {
		t.Error("the light turns do not go round")
	}
	end(ours[1])
	end(ours[2])
	have("what waits goes on", "3 3 1")
	if !goes(large) || !goes(ours[4]) && stile.work[a] < ingestShare {
		t.Error("the heavy turn is given to nobody")
	}
	larger, theirLarge := ask(a, heavy), ask(c, heavy)
	end(large)
	if !goes(theirLarge) || goes(larger) {
		t.Error("the heavy turn does not go round")
	}
	for range all { // whoever ends lets another begin
		for _, w := range slices.Clone(all) {
			if goes(w) && !ended[w] {
				end(w)
			}
		}
	}
	if len(stile.work) != 0 || stile.lanes[light].free != ingestAtOnce-1 || stile.lanes[heavy].free != 1 {
		t.Errorf("at the end %v are at work", stile.work)
	}
}

// TestRetryingCallersDoNotOvertake: organizations that send one call after the other do
// not come before one that always has a call that waits.
func TestRetryingCallersDoNotOvertake(t *testing.T) {
	t.Parallel()
	stile := newTurnstile(time.Now)
	busy := uuid.New()
	if _, ok := stile.enter(busy, uuid.New(), 0); !ok {
		t.Fatal("no place")
	}
	type call struct {
		owner uuid.UUID
		leave func()
		*waiter
	}
	send := func(owner uuid.UUID) call {
		leave, ok := stile.enter(owner, uuid.New(), 0)
		if !ok {
			t.Fatal("no place")
		}
		return call{owner, leave, stile.ask(owner, light)}
	}
	stile.end(stile.ask(busy, light), light)
	var others []call
	for range 2 * ingestAtOnce {
		others = append(others, send(uuid.New()))
	}
	waits := stile.ask(busy, light)
	for range 100 {
		for i, one := range others {
			select {
			case <-waits.mayGo:
				return
			case <-one.mayGo:
				stile.end(one.waiter, light)
				one.leave()
				others[i] = send(one.owner)
			default:
			}
		}
	}
	t.Error("hundreds of calls of others that came later are done before")
}
