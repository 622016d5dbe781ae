package clocktest

import (
	"sync"
	"time"
)

// Clock stands still between two calls of Advance. Any number of goroutines may
// use it.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// At returns a clock that shows a time.
func At(at time.Time) *Clock { return &Clock{at: at} }

// Now is what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock, back if d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Stay returns once the hour or the day that goes on ends in no less than long. It is for tests
// whose times are the database's, and whose subject counts by hours or days.
func Stay(period, long time.Duration) {
	now := time.Now()
	if left := now.Truncate(period).Add(period).Sub(now); left < long {
		time.Sleep(left)
	}
}
