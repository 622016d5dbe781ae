package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
)

// How /ingest pushes back. A call of 4 MiB takes some 60 MiB while it is read and
// written, and one of the connections that people's requests share; what waits
// has been received and takes its size.
const (
	ingestAtOnce   = 4
	ingestPlaces   = 32 // those at work, and those that wait or are being received
	ingestPerOwner = 16 // of one organization, so that the others get in
	ingestRetry    = 5 * time.Second
	// ingestReceive is how long a body may take: a place is not for keeping.
	ingestReceive = 30 * time.Second
)

// turnstile lets some callers in and a few of them work at a time. It is of this
// process: two replicas take in twice as much, and each protects itself.
type turnstile struct {
	places, perOwner int
	turns            chan struct{}

	mu     sync.Mutex
	inside int
	of     map[uuid.UUID]int
}

func newTurnstile(atOnce, places, perOwner int) *turnstile {
	return &turnstile{places: places, perOwner: perOwner, turns: make(chan struct{}, atOnce), of: map[uuid.UUID]int{}}
}

// enter takes a place at once or not at all. leave gives it back.
func (t *turnstile) enter(owner uuid.UUID) (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inside >= t.places || t.of[owner] >= t.perOwner {
		return nil, false
	}
	t.inside++
	t.of[owner]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.inside--
		if t.of[owner]--; t.of[owner] == 0 {
			delete(t.of, owner)
		}
	}, true
}

// turn waits until it is the caller's turn; done ends it.
func (t *turnstile) turn(ctx context.Context) (done func(), err error) {
	select {
	case t.turns <- struct{}{}:
		return func() { <-t.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// takeIn receives a body of /ingest and waits for its turn. Nothing was written
// for a caller who is turned away, so that sending it again is right.
func (s *server) takeIn(c *gin.Context, call *call) *problem {
	busy := &problem{Code: "rate_limited", Detail: "Too much is being taken in just now; nothing of this call was kept. Send it again.", RetryAfter: ingestRetry}
	leave, ok := s.intake.enter(call.principal.Organization.ID)
	if !ok {
		return busy
	}
	call.leave = append(call.leave, leave)
	line := http.NewResponseController(c.Writer)
	_ = line.SetReadDeadline(time.Now().Add(ingestReceive)) // fails in tests only, where there is no line
	body, err := io.ReadAll(c.Request.Body)
	if err != nil {
		return bodyProblem(err, call.row.bodyLimit)
	}
	_ = line.SetReadDeadline(time.Time{}) // what follows is ours to bound
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	done, err := s.intake.turn(c.Request.Context())
	if err != nil {
		return busy
	}
	call.leave = append(call.leave, done)
	return nil
}
