package listen

import "sync"

// Wake tells goroutines of this process that something they wait for may have changed. It never
// says what: a woken goroutine looks for itself, so a superfluous wake-up does no harm and the
// poll makes up for a missing one.
type Wake struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
}

// NewWake returns a Wake without waiters.
func NewWake() *Wake { return &Wake{waiting: map[string]chan struct{}{}} }

// Raise wakes everyone who waits for the subject; "": for any.
func (w *Wake) Raise(subject string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for waited, ch := range w.waiting {
		if subject == "" || waited == subject {
			close(ch)
			delete(w.waiting, waited)
		}
	}
}

// Changed returns a channel that closes at the next Raise. Taken before one
// looks at the database, it cannot miss a change between the look and the wait.
func (w *Wake) Changed(subject string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch, ok := w.waiting[subject]
	if !ok {
		ch = make(chan struct{})
		w.waiting[subject] = ch
	}
	return ch
}
