package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
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
			out, ok := w.server.intake.enter(owner)
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
	if w.server.intake.inside != 0 || len(w.server.intake.of) != 0 || len(w.server.intake.turns) != 0 {
		t.Errorf("after all is done %d are inside, %d at work", w.server.intake.inside, len(w.server.intake.turns))
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
		d, err := w.server.intake.turn(t.Context())
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
