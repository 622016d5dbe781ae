// Package supervisetest makes the background loops of a program panic, for tests.
package supervisetest

import (
	"bytes"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/internal/concurrency/supervise"
)

// Saboteur breaks the loops under a context. Each loop that it breaks panics once: at its
// next look at the context of its run, or where its next run begins.
type Saboteur struct {
	mu     sync.Mutex
	loops  map[string]*target
	broken map[string]bool // panics that were caused
}

type target struct {
	armed bool
	ends  []context.CancelFunc // of the runs
}

// New returns a saboteur of a program whose loops start again after pause and are sound
// after sound.
func New(ctx context.Context, pause, sound time.Duration) (*Saboteur, context.Context) {
	s := &Saboteur{loops: map[string]*target{}, broken: map[string]bool{}}
	return s, (&supervise.Trial{Around: s.around, Pause: pause, Sound: sound}).Under(ctx)
}

// Loops are the names of the loops that have run so far.
func (s *Saboteur) Loops() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.loops))
}

// Break has a loop panic.
func (s *Saboteur) Break(loop string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loops[loop].armed = true
}

// Broken says whether a loop that Break was called for has panicked.
func (s *Saboteur) Broken(loop string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken[loop]
}

// End ends the context of a loop's runs: for a loop that waits for others and never looks at
// it. It returns, though nothing stopped it, and panics where its next run begins.
func (s *Saboteur) End(loop string) {
	s.mu.Lock()
	ends := s.loops[loop].ends
	s.loops[loop].ends = nil
	s.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

func (s *Saboteur) around(ctx context.Context, loop string) context.Context {
	ctx, end := context.WithCancel(ctx)
	s.mu.Lock()
	of := s.loops[loop]
	if of == nil {
		of = &target{}
		s.loops[loop] = of
	}
	of.ends = append(of.ends, end)
	s.mu.Unlock()
	run := &mined{Context: ctx, of: s, loop: loop, goroutine: goroutine()}
	run.step()
	return run
}

// mined is the context of a run, which panics in the run's own goroutine once the loop is to be
// broken. Other holders of the context, such as loops within the loop, continue.
type mined struct {
	context.Context //nolint:containedctx // it is one
	of              *Saboteur
	loop, goroutine string
}

func (m *mined) Err() error {
	m.step()
	return m.Context.Err()
}

func (m *mined) Value(key any) any {
	m.step()
	return m.Context.Value(key)
}

func (m *mined) step() {
	m.of.mu.Lock()
	// A loop that had no turn until it is stopped is not broken: the end of a process is another matter.
	armed := m.of.loops[m.loop].armed && goroutine() == m.goroutine && m.Context.Err() == nil && !inLibrary()
	if armed {
		m.of.loops[m.loop].armed = false
		m.of.broken[m.loop] = true
	}
	m.of.mu.Unlock()
	if armed {
		panic("a test broke the loop " + m.loop)
	}
}

// inLibrary says that a driver looks at the context: if it panicked, it would keep its
// connection.
func inLibrary() bool {
	calls := make([]uintptr, 64)
	frames := runtime.CallersFrames(calls[:runtime.Callers(1, calls)])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "database/sql.") || strings.HasPrefix(frame.Function, "net/") || strings.HasPrefix(frame.Function, "github.com/") {
			return true
		}
		if !more {
			return false
		}
	}
}

// goroutine is the number of the calling one.
func goroutine() string {
	var head [64]byte
	_, number, _ := bytes.Cut(head[:runtime.Stack(head[:], false)], []byte("goroutine "))
	number, _, _ = bytes.Cut(number, []byte(" "))
	return string(number)
}
