package fairslots

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// Gate lets work of this process through as slots become free.
type Gate struct {
	slots *Slots

	mu      sync.Mutex
	free    int
	waiting []*waiter // the longest first
}

type waiter struct {
	organization uuid.UUID
	passed       chan struct{} // closed when it has its slot
}

// NewGate returns a gate that lets so much work of one organization through at once, and
// twice as much of all.
func NewGate(each int) *Gate {
	slots := NewSlots(each)
	return &Gate{slots: slots, free: slots.All()}
}

// NewSharedGate returns a gate that lets so much work through at once, and all of it may be of
// one organization. It is for work that is over within seconds.
func NewSharedGate(all int) *Gate { return &Gate{slots: NewSlots(all), free: all} }

// Pass waits for a slot, which leave gives back. The error is ctx's.
func (g *Gate) Pass(ctx context.Context, organization uuid.UUID) (leave func(), err error) {
	w := &waiter{organization: organization, passed: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.admit()
	g.mu.Unlock()
	leave = sync.OnceFunc(func() { g.leave(organization) })
	select {
	case <-w.passed:
		return leave, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(g.waiting, w)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	g.mu.Unlock()
	if i < 0 { // it has its slot since
		leave()
	}
	return nil, ctx.Err()
}

func (g *Gate) leave(organization uuid.UUID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slots.Free(organization)
	g.free++
	g.admit()
}

// admit gives free slots to those that wait. The caller holds the lock.
func (g *Gate) admit() {
	for g.free > 0 {
		organizations := make([]uuid.UUID, len(g.waiting))
		for i, w := range g.waiting {
			organizations[i] = w.organization
		}
		organization, ok := g.slots.next(organizations)
		if !ok {
			return
		}
		i := slices.Index(organizations, organization)
		g.slots.Take(organization)
		g.free--
		close(g.waiting[i].passed)
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}
