package readiness

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Alarm fails a check for a while after an event that must not happen and that nothing looks
// for again.
type Alarm struct {
	Now   func() time.Time
	Lasts time.Duration

	mu   sync.Mutex
	at   time.Time
	seen string
}

// Ring notes what was seen.
func (a *Alarm) Ring(seen string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at, a.seen = a.Now(), seen
}

// Check returns what was seen last, until Lasts is over.
func (a *Alarm) Check(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at.IsZero() || a.Now().Sub(a.at) >= a.Lasts {
		return nil
	}
	return errors.New(a.seen)
}
