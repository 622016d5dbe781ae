package readiness

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
)

const (
	// patience is how long a check may take before it counts as failed: a prober gives
	// up after some seconds, too.
	patience = 2 * time.Second
	// fresh is how long an answer holds. More frequent callers get the same answer.
	fresh = time.Second
	// complainEvery is how often the log says again that a check fails.
	complainEvery = time.Minute
)

// errHangs says that a check has not come back.
var errHangs = errors.New("no answer within " + patience.String())

// Need is something that a process needs.
type Need struct {
	Name string
	// Required is what nothing works without.
	Required bool
	// Run looks, once. Where it is about something that lags behind, it says how far.
	Run func(ctx context.Context) (lag *time.Duration, err error)
}

// Result is what came of a check.
type Result struct {
	Name     string
	Required bool
	OK       bool
	Took     time.Duration
	Lag      *time.Duration // nil: nothing lags
}

// Status is what the findings come to.
type Status string

// The statuses.
const (
	Ready    Status = "ready"
	Degraded Status = "degraded" // something fails that not all needs
	Unready  Status = "unready"
)

// Board has the checks of one process.
type Board struct{ probes []*probe }

// New returns a board of checks.
func New(log *slog.Logger, checks ...Need) *Board {
	b := &Board{}
	for _, c := range checks {
		b.probes = append(b.probes, &probe{Need: c, log: log})
	}
	return b
}

// Ask runs the checks, or takes what was found a moment ago, in their order. It
// returns within two seconds and a little.
func (b *Board) Ask(ctx context.Context) (Status, []Result) {
	findings := make([]Result, len(b.probes))
	var asking supervise.Group
	for i, p := range b.probes {
		asking.Go(func() error {
			findings[i] = p.ask(ctx)
			return nil
		})
	}
	asking.Join()
	status := Ready
	for _, f := range findings {
		switch {
		case f.OK:
		case f.Required:
			status = Unready
		case status == Ready:
			status = Degraded
		}
	}
	return status, findings
}

// probe is a check with what is known of it.
type probe struct {
	Need
	log *slog.Logger

	mu         sync.Mutex
	running    *run // nil: nobody looks
	last       *run // that came back
	failing    bool
	passed     bool // ever
	complained time.Time
}

// run is one look. What it found is there when done is closed.
type run struct {
	began, ended time.Time
	done         chan struct{}
	lag          *time.Duration
	err          error
}

func (p *probe) ask(ctx context.Context) Result {
	r := p.look(ctx)
	found := Result{Name: p.Name, Required: p.Required}
	err := pause.Unless(ctx, time.Until(r.began.Add(patience)), r.done)
	if err == nil {
		err = errHangs
	} // else nobody waits for the answer
	select {
	case <-r.done: // also where it is known and the time was up
		found.Lag, found.Took, err = r.lag, r.ended.Sub(r.began), r.err
	default:
		found.Took = time.Since(r.began)
	}
	found.OK = err == nil
	p.tell(ctx, err)
	return found
}

// look is the run under way, that of a moment ago, or a new one.
func (p *probe) look(ctx context.Context) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil {
		return p.running
	}
	if p.last != nil && time.Since(p.last.ended) < fresh {
		return p.last
	}
	r := &run{began: time.Now(), done: make(chan struct{})}
	p.running = r
	go func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // others may wait for it, too
		defer cancel()
		r.lag, r.err = supervise.Value(func() (*time.Duration, error) { return p.Run(bounded) })
		p.mu.Lock()
		defer p.mu.Unlock()
		r.ended = time.Now()
		p.running, p.last = nil, r
		close(r.done)
	}()
	return r
}

// tell logs a change, and from time to time that there is none.
func (p *probe) tell(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		switch {
		case p.failing && p.passed:
			p.log.InfoContext(ctx, "a check passes again", "check", p.Name)
		case p.failing: // since the start
			p.log.InfoContext(ctx, "a check passes", "check", p.Name)
		}
		p.failing, p.passed = false, true
		return
	}
	if !p.failing || time.Since(p.complained) >= complainEvery {
		p.log.WarnContext(ctx, "a check fails", "check", p.Name, "required", p.Required, "error", err)
		p.failing, p.complained = true, time.Now()
	}
}
