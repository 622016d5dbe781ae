package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
)

// How /ingest pushes back. A call of 4 MiB takes some 60 MiB while it is read and
// written, and one of the connections that people's requests share; what waits
// has been received and takes its size. A larger one counts as so many of 4 MiB:
// in its place by its size, in its turn by what it may come to unpacked.
const (
	ingestUnit     = 4 << 20
	ingestAtOnce   = 4
	ingestPlaces   = 32 // those at work, and those that wait or are being received
	ingestPerOwner = 16 // of one organization, so that the others get in
	ingestRetry    = 5 * time.Second
)

// turnstile lets some callers in and a few of them work at a time. It is of this
// process: two replicas take in twice as much, and each protects itself.
type turnstile struct {
	places, perOwner int
	atOnce           int
	turns            *semaphore.Weighted

	mu     sync.Mutex
	inside int
	of     map[uuid.UUID]int
}

func newTurnstile(atOnce, places, perOwner int) *turnstile {
	return &turnstile{places: places, perOwner: perOwner, atOnce: atOnce, turns: semaphore.NewWeighted(int64(atOnce)), of: map[uuid.UUID]int{}}
}

// enter takes places at once or not at all. leave gives them back.
func (t *turnstile) enter(owner uuid.UUID, weight int) (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inside+weight > t.places || t.of[owner]+weight > t.perOwner {
		return nil, false
	}
	t.inside += weight
	t.of[owner] += weight
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.inside -= weight
		if t.of[owner] -= weight; t.of[owner] == 0 {
			delete(t.of, owner)
		}
	}, true
}

// turn waits until it is the caller's turn, in the order in which they came;
// done ends it. The heaviest have it alone.
func (t *turnstile) turn(ctx context.Context, weight int) (done func(), err error) {
	n := int64(min(weight, t.atOnce))
	if err := t.turns.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { t.turns.Release(n) }, nil
}

// weights are how many calls of the usual size a request counts as: while it waits,
// and at work, where it has been unpacked.
func weights(req *http.Request, r *contract.Route) (waiting, working int) {
	size := req.ContentLength
	if size < 0 {
		size = r.BodyLimit
	}
	unpacked := size
	switch {
	case slices.Contains(r.Encodings, "snappy"):
		unpacked *= contract.SnappyRatio
	case contract.EncodingOf(req) != "":
		unpacked *= contract.GzipRatio
	}
	units := func(bytes int64) int { return max(1, int((min(bytes, r.BodyLimit)+ingestUnit-1)/ingestUnit)) }
	return units(size), units(unpacked)
}

// takeIn receives a body of /ingest and waits for its turn. Nothing was written
// for a caller who is turned away, so that sending it again is right.
func (s *server) takeIn(c *gin.Context, call *wire.Call, row *contract.Route) *wire.Problem {
	busy := &wire.Problem{Code: "rate_limited", Detail: "Too many calls are being processed right now. Nothing of this call was stored; send it again.", RetryAfter: ingestRetry}
	// Alertmanager gives up on a 429, and on no 5xx (prometheus/alertmanager#2121); so
	// does Prometheus' remote_write unless it is told retry_on_http_429.
	if row.Raw {
		busy.Code = "unavailable"
	}
	waiting, working := weights(c.Request, row)
	leave, ok := s.intake.enter(call.Principal.Organization.ID, waiting)
	if !ok {
		return busy
	}
	call.Leave = append(call.Leave, leave)
	used := time.Since(call.Began)
	body, err := io.ReadAll(c.Request.Body)
	if err != nil {
		return wire.BodyProblem(err, row.BodyLimit)
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.writes-used) // the body's time is the sender's
	call.Leave = append(call.Leave, cancel)
	c.Request = c.Request.WithContext(ctx)
	done, err := s.intake.turn(c.Request.Context(), working)
	if err != nil {
		return busy
	}
	call.Leave = append(call.Leave, done)
	return nil
}
