package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/internal/concurrency/pause"
)

const (
	// firstPause is how long a loop waits after its first fall, and longestPause after
	// many: a loop that falls at once each time costs one line of the log a minute.
	firstPause, longestPause = time.Second, time.Minute
	// steadyAfter is how long a loop runs until its next fall counts as the first.
	steadyAfter = 5 * time.Minute
	// soundAfter is how long a loop runs after a fall until it is in trouble no more.
	soundAfter = time.Minute
)

// errReturned says that a loop ended by itself.
var errReturned = errors.New("the loop ended without being stopped")

// Supervisor runs the loops of a process. A nil Supervisor logs and counts nothing.
type Supervisor struct {
	log    *slog.Logger
	counts Counts

	mu    sync.Mutex
	loops map[string]*loop
}

// Counts is told about loops, by their names.
type Counts struct {
	Known     func(name string) // when a loop runs for the first time
	Restarted func(name string) // after each fall
}

// loop is what is known of the loops with one name.
type loop struct {
	falls  int
	last   time.Time
	fallen map[*int]time.Time // runs that are in trouble, until when; zero: until they say
}

// New returns a supervisor.
func New(log *slog.Logger, counts Counts) *Supervisor {
	return &Supervisor{log: log, counts: counts, loops: map[string]*loop{}}
}

// Run runs a loop until ctx ends, again and again. It returns nil, or the error with which
// the loop ended after ctx had.
func (s *Supervisor) Run(ctx context.Context, name string, run func(context.Context) error) error {
	return s.run(ctx, name, func(ctx context.Context) (done bool, err error) {
		err = run(ctx)
		return false, cmp.Or(err, errReturned)
	})
}

// Finish runs work that has an end, again and again until it returns nil or ctx ends.
func (s *Supervisor) Finish(ctx context.Context, name string, run func(context.Context) error) error {
	return s.run(ctx, name, func(ctx context.Context) (done bool, err error) {
		err = run(ctx)
		return err == nil, err
	})
}

func (s *Supervisor) run(ctx context.Context, name string, run func(context.Context) (done bool, err error)) error {
	s = cmp.Or(s, New(slog.New(slog.DiscardHandler), Counts{}))
	trial := trialOf(ctx)
	s.register(name)
	of := new(int) // identifies this run among the loops of the name
	defer s.sound(name, of)
	wait := time.Duration(0)
	for {
		began := time.Now()
		done := false
		err := trial.call(ctx, name, func(ctx context.Context) (err error) {
			done, err = run(ctx)
			return err
		})
		switch {
		case done && err == nil:
			return nil
		case ctx.Err() != nil && (errors.Is(err, errReturned) || errors.Is(err, context.Canceled)):
			return nil
		case ctx.Err() != nil:
			if errors.As(err, new(*PanicError)) {
				s.fell(ctx, name, of, err, 0, 0)
			}
			return fmt.Errorf("%s: %w", name, err)
		}
		if time.Since(began) >= steadyAfter {
			wait = 0
		}
		wait = min(max(2*wait, cmp.Or(trial.Pause, firstPause)), longestPause)
		s.fell(ctx, name, of, err, wait, cmp.Or(trial.Sound, soundAfter))
		if pause.For(ctx, wait) != nil {
			return nil
		}
	}
}

// Turn does one turn of something that is done now and then, such as a chore. It returns
// do's error. Where do panics, the turn counts as a fall, and the loop of that name is in
// trouble until a turn ends without one.
func (s *Supervisor) Turn(ctx context.Context, name string, do func(context.Context) error) error {
	s = cmp.Or(s, New(slog.New(slog.DiscardHandler), Counts{}))
	s.register(name)
	err := trialOf(ctx).call(ctx, name, do)
	var panicked *PanicError
	if errors.As(err, &panicked) {
		s.fell(ctx, name, nil, err, 0, 0)
	} else {
		s.sound(name, nil)
	}
	return err
}

func (s *Supervisor) register(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loops[name] != nil {
		return
	}
	s.loops[name] = &loop{fallen: map[*int]time.Time{}}
	if s.counts.Known != nil {
		s.counts.Known(name)
	}
}

// fell notes a fall, after which the loop waits for a time; sound is how long it must run
// then, 0: until it says that it is sound.
func (s *Supervisor) fell(ctx context.Context, name string, of *int, err error, wait, sound time.Duration) {
	line := []any{"loop", name, "error", err}
	var panicked *PanicError
	if errors.As(err, &panicked) {
		line = append(line, "stack", string(panicked.Stack))
	}
	if sound > 0 {
		line = append(line, "again_in", wait)
	}
	s.log.ErrorContext(ctx, "a background loop fell", line...)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.loops[name]
	l.falls++
	l.last = time.Now()
	l.fallen[of] = time.Time{}
	if sound > 0 {
		l.fallen[of] = l.last.Add(wait + sound)
	}
	if s.counts.Restarted != nil {
		s.counts.Restarted(name)
	}
}

func (s *Supervisor) sound(name string, of *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.loops[name].fallen, of)
}

// Loop is how the loops of one name are.
type Loop struct {
	Name    string
	Falls   int       // since the process began
	Last    time.Time // the last fall; zero: there was none
	Trouble bool      // it fell, and has not run for a minute since
}

// Loops returns all loops that have run, by their names.
func (s *Supervisor) Loops() []Loop {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Loop, 0, len(s.loops))
	for _, name := range slices.Sorted(maps.Keys(s.loops)) {
		l := s.loops[name]
		one := Loop{Name: name, Falls: l.falls, Last: l.last}
		for _, until := range l.fallen {
			one.Trouble = one.Trouble || until.IsZero() || time.Now().Before(until)
		}
		all = append(all, one)
	}
	return all
}

// Check returns an error that names the loops in trouble; nil: none is.
func (s *Supervisor) Check(context.Context) error {
	var fallen []string
	for _, l := range s.Loops() {
		if l.Trouble {
			fallen = append(fallen, fmt.Sprintf("%s (%d)", l.Name, l.Falls))
		}
	}
	if fallen == nil {
		return nil
	}
	return fmt.Errorf("loops that fell less than a minute ago, with their falls: %s", strings.Join(fallen, ", "))
}
