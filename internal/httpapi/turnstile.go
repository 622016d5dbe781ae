package httpapi

import (
	"context"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
)

// How /ingest pushes back. A call waits with its body as it was received, and unpacks it in
// its turn. What is more than ingestHeavy then is heavy: of such calls one works at a time,
// in a turn of its own, so that whoever sends little never waits for it.
const (
	ingestHeavy    = 4 << 20  // bytes
	ingestAtOnce   = 7        // one of them heavy
	ingestShare    = 3        // of one organization: what has begun cannot be stopped when another comes
	ingestPlaces   = 32       // those at work, and those that wait or are being received
	ingestPerOwner = 16       // of one organization, so that the others get in; half of it of a token that is not alone
	ingestBytes    = 80 << 20 // of bodies as they were received
	ingestRetry    = 5 * time.Second
	ingestAlone    = 5 * time.Minute // for how long none of an organization's other tokens called, where one is alone
)

// turnstile lets some callers in and a few of them work at a time, organizations in turn. Each
// process has its own: two replicas take in twice as much, and each protects itself.
//
// It has no turns.Gate for each kind of turn. An organization's share is of the turns of both
// kinds together, and the one heavy turn cannot be halved.
type turnstile struct {
	now func() time.Time

	mu      sync.Mutex
	inside  room
	of      map[uuid.UUID]room // of organizations
	ofToken map[uuid.UUID]room
	callers map[uuid.UUID][2]caller // of organizations: who called last, and who of all others did; an entry each
	lanes   [2]lane
	work    map[uuid.UUID]int // turns that organizations have
	given   uint64            // turns there were
}

// caller is a token that called, whether it got a place or not.
type caller struct {
	token uuid.UUID
	at    time.Time
}

// room is what the callers inside take up.
type room struct {
	calls int
	bytes int64
}

// lane is a kind of turn.
type lane struct {
	free    int
	waiting []*waiter            // in the order in which they came
	last    map[uuid.UUID]uint64 // an organization's last turn, also of one that left; forgotten when nobody is inside
}

type waiter struct {
	owner uuid.UUID
	mayGo chan struct{} // closed in its turn
}

// Lanes, in the order in which they are looked at.
const (
	light = iota
	heavy
)

func newTurnstile(now func() time.Time) *turnstile {
	return &turnstile{
		now: now,
		lanes: [2]lane{
			light: {free: ingestAtOnce - 1, last: map[uuid.UUID]uint64{}},
			heavy: {free: 1, last: map[uuid.UUID]uint64{}},
		},
		of: map[uuid.UUID]room{}, ofToken: map[uuid.UUID]room{}, callers: map[uuid.UUID][2]caller{}, work: map[uuid.UUID]int{},
	}
}

// enter takes a place at once or not at all. leave gives it back.
func (t *turnstile) enter(owner, token uuid.UUID, bytes int64) (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own, alone := t.of[owner], t.alone(owner, token)
	if t.inside.calls >= ingestPlaces || own.calls >= ingestPerOwner || t.inside.bytes+bytes > ingestBytes || own.bytes+bytes > ingestBytes/2 {
		return nil, false
	}
	// One call of any size may always come: a body may have more than half of an organization's bytes.
	if its := t.ofToken[token]; !alone && (its.calls >= ingestPerOwner/2 || its.calls > 0 && its.bytes+bytes > ingestBytes/4) {
		return nil, false
	}
	t.move(owner, token, 1, bytes)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.move(owner, token, -1, -bytes)
	}, true
}

// alone notes that a token calls, and says whether none of its organization's others did lately.
// Of those one that was turned away is enough: it finds room when it comes again.
func (t *turnstile) alone(owner, token uuid.UUID) bool {
	last := t.callers[owner]
	if last[0].token != token {
		last[1] = last[0]
	}
	last[0] = caller{token, t.now()}
	t.callers[owner] = last
	return last[1].token == uuid.Nil || last[0].at.Sub(last[1].at) > ingestAlone
}

func (t *turnstile) move(owner, token uuid.UUID, calls int, bytes int64) {
	add(t.of, owner, calls, bytes)
	add(t.ofToken, token, calls, bytes)
	t.inside.calls, t.inside.bytes = t.inside.calls+calls, t.inside.bytes+bytes
	if t.inside.calls == 0 {
		for _, l := range t.lanes {
			clear(l.last)
		}
	}
}

func add(of map[uuid.UUID]room, id uuid.UUID, calls int, bytes int64) {
	its := room{of[id].calls + calls, of[id].bytes + bytes}
	if of[id] = its; its.calls == 0 {
		delete(of, id)
	}
}

// turn waits until it is the caller's turn; done ends it.
func (t *turnstile) turn(ctx context.Context, owner uuid.UUID, kind int) (done func(), err error) {
	w := t.ask(owner, kind)
	select {
	case <-w.mayGo:
		return func() { t.end(w, kind) }, nil
	case <-ctx.Done():
		t.end(w, kind)
		return nil, ctx.Err()
	}
}

// ask takes a place behind those that wait for a turn of the kind.
func (t *turnstile) ask(owner uuid.UUID, kind int) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &waiter{owner: owner, mayGo: make(chan struct{})}
	t.lanes[kind].waiting = append(t.lanes[kind].waiting, w)
	t.give()
	return w
}

// end ends a turn, or the wait for one. Either may be what kept another from its turn.
func (t *turnstile) end(w *waiter, kind int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.lanes[kind]
	if at := slices.Index(l.waiting, w); at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
	} else {
		l.free++
		if t.work[w.owner]--; t.work[w.owner] == 0 {
			delete(t.work, w.owner)
		}
	}
	t.give()
}

// give gives turns to those that wait, as long as there are any that may be given.
func (t *turnstile) give() {
	for kind := range t.lanes {
		l := &t.lanes[kind]
		for l.free > 0 {
			at := t.next(l)
			if at < 0 {
				break
			}
			w := l.waiting[at]
			l.waiting = slices.Delete(l.waiting, at, at+1)
			l.free--
			t.given++
			t.work[w.owner]++
			l.last[w.owner] = t.given
			close(w.mayGo)
		}
	}
}

// next is the caller whose turn it is: one of the organization whose last turn of the kind is
// longest ago; -1: nobody may have one.
func (t *turnstile) next(l *lane) int {
	best := -1
	for i, w := range l.waiting {
		if t.work[w.owner] >= ingestShare {
			continue
		}
		if best < 0 || l.last[w.owner] < l.last[l.waiting[best].owner] {
			best = i
		}
	}
	return best
}

// takeIn receives a body of /ingest, waits for its turn, and looks at it. Nothing was written
// for a caller who is turned away, so that sending it again is right.
func (s *server) takeIn(c *gin.Context, call *wire.Call, row *contract.Route) *wire.Problem {
	busy := &wire.Problem{Code: "rate_limited", Detail: "Too many calls are being processed right now. Nothing of this call was stored; send it again.", RetryAfter: ingestRetry}
	// Alertmanager gives up on a 429, and on no 5xx (prometheus/alertmanager#2121); so
	// does Prometheus' remote_write unless it is told retry_on_http_429.
	if row.Raw {
		busy.Code = "unavailable"
	}
	size := c.Request.ContentLength
	if size < 0 {
		size = row.BodyLimit
	}
	owner := call.Principal.Organization.ID
	leave, ok := s.intake.enter(owner, call.Principal.ID, size)
	if !ok {
		return busy
	}
	call.Leave = append(call.Leave, leave)
	used := time.Since(call.Began)
	body, err := received(c.Request)
	if err != nil {
		return wire.BodyProblem(err, row.BodyLimit)
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.writes-used) // the body's time is the sender's
	call.Leave = append(call.Leave, cancel)
	c.Request = c.Request.WithContext(ctx)
	held := row.Hold(c.Request, body, ingestHeavy)
	kind := light
	if held.Unpacked() > ingestHeavy {
		kind = heavy
	}
	done := func() {}
	call.Leave = append(call.Leave, func() { done() })
	for {
		end, err := s.intake.turn(ctx, owner, kind)
		if err != nil {
			return busy
		}
		if done = end; kind == heavy {
			done = spared(end)
		}
		c.Request.Body = held
		p := row.CheckRequest(c)
		if p != contract.Outgrown {
			return p
		}
		done()
		done = func() {}
		held.Again(row)
		kind = heavy
	}
}

// heavyGC is how much the heap may grow, in percent, between two collections while a heavy
// call works, which has most of the heap. Otherwise it may grow by 100 percent.
const heavyGC = 30

// spared has a heavy call take less memory and more time. The end of its turn returns the memory
// that it left behind to the system: the next heavy call would begin on top of that.
func spared(done func()) func() {
	before := debug.SetGCPercent(heavyGC)
	return func() {
		debug.SetGCPercent(before)
		debug.FreeOSMemory()
		done()
	}
}

// received is the body of a request as it was sent. Most requests say how long it is.
func received(req *http.Request) ([]byte, error) {
	if req.ContentLength < 0 {
		return io.ReadAll(req.Body)
	}
	body := make([]byte, req.ContentLength)
	n, err := io.ReadFull(req.Body, body)
	if err == io.EOF {
		err = nil
	}
	if err == nil { // its end ends the time that it has to arrive
		_, _ = req.Body.Read(make([]byte, 1))
	}
	return body[:n], err
}
