package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment/inspection"
	"muster/internal/concurrency/supervise"
	"muster/internal/intake/measure"
	"muster/internal/intake/ownhost"
	"muster/internal/measurements"
	"muster/internal/watch"
)

// Options are what an agent runs with.
type Options struct {
	Config     *Config
	Server     *url.URL
	TokenFile  string
	Version    string
	Engines    func(now func() time.Time) map[fleet.Engine]measure.Engine
	Inspectors map[fleet.Engine]inspection.Inspector
	Log        *slog.Logger
	Rehearse   time.Duration // how long Check measures each server by the agent's own loop; 0: it does not
	Client     *http.Client  // nil: one with the machine's certificates
}

// Agent measures and assesses servers and sends what it finds.
type Agent struct {
	Options
	config  *Config
	store   *store
	sender  *sender
	host    string // this machine's name
	engines map[fleet.Engine]measure.Engine
	gate    *measure.Gate
	loops   *supervise.Supervisor
	watched []*watched
	work    chan struct{} // something is to be sent
	changed chan struct{} // a server is reached, or is not any more
	skew    atomic.Int64  // how far the server's clock is ahead, where that is too far

	// of the goroutine that sends:
	waits     map[string]time.Time // until when, by waitKey
	refused   map[string]refusals  // by waitKey
	strangers map[string]bool      // instances that the server does not have, or not from us
	called    map[string]called    // by external id, what the server calls those that our token may not rename
	retried   time.Time
	delivery  measure.Troubles // what keeps everything from being sent
	drops     measure.Troubles // by what is dropped and of whom
	older     measure.Troubles // likewise, of what the server is too old for
	facts     measure.Troubles // likewise, of what is refused
	names     measure.Troubles // likewise, of what the server calls otherwise
}

// connectsAtOnce bounds the handshakes of an agent.
const connectsAtOnce = 8

// Open opens the agent's directory. Errors: *InUseError.
func Open(o Options) (*Agent, error) {
	machine, err := ownhost.ThisMachine()
	if err != nil {
		return nil, err
	}
	s, err := openStore(o.Config.Directory, o.Config.Buffer)
	if err != nil {
		return nil, err
	}
	id, err := s.sender(machine.Name)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read who the agent is: %w", err), s.close())
	}
	client := o.Client
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	a := &Agent{
		Options: o, config: o.Config, store: s, host: machine.Name, gate: measure.NewGate(connectsAtOnce), loops: supervise.New(o.Log, supervise.Counts{}),
		sender: &sender{client: client, server: o.Server, tokenFile: o.TokenFile, id: id, version: o.Version},
		work:   make(chan struct{}, 1), changed: make(chan struct{}, 1), waits: map[string]time.Time{}, refused: map[string]refusals{}, strangers: map[string]bool{}, called: map[string]called{},
	}
	a.delivery = measure.Troubles{Log: o.Log, Fails: "nothing can be sent; it is kept", Works: "the server takes what is sent again"}
	a.drops = measure.Troubles{Log: o.Log, Fails: "the server takes none of it, and it is dropped", Works: "the server takes it again"}
	a.older = measure.Troubles{Log: o.Log, Fails: "the server is older than this agent and does not know all of this; it is kept until the server is upgraded", Works: "the server takes it again"}
	a.facts = measure.Troubles{Log: o.Log, Fails: "the server refuses the assessment; the agent tries again every hour", Works: "the server accepts the assessment"}
	a.names = measure.Troubles{Log: o.Log, Fails: "the token is limited to instances and cannot rename or move them; what Muster has stays", Works: "Muster and the configuration have the same name and host of the server"}
	a.engines = o.Engines(a.Now)
	for _, one := range o.Config.Servers {
		w := &watched{Server: one, agent: a, id: uuid.NewSHA1(space, []byte(one.ExternalID)), signs: map[signKey]watch.Sign{}}
		if w.state, err = s.server(one.ExternalID); err != nil {
			return nil, errors.Join(err, s.close())
		}
		a.watched = append(a.watched, w)
	}
	return a, nil
}

// Close gives the directory back.
func (a *Agent) Close() error { return a.store.close() }

// Now is the time, by the server's clock where ours is far from it.
func (a *Agent) Now() time.Time { return time.Now().Add(time.Duration(a.skew.Load())) }

const (
	// tolerated is how far our clock may be off before the server's counts: less than
	// what the server itself takes for the future, more than what a call takes.
	tolerated = time.Minute
	// steady is by how much the two may move against each other before that is noticed.
	steady = 10 * time.Second
)

// noteClock keeps how far our clock is off. Samples are then given the server's time: one
// from the future would be refused, one from the past would be late.
func (a *Agent) noteClock(ctx context.Context, skew time.Duration) {
	if skew == 0 {
		return
	}
	if skew.Abs() < tolerated {
		skew = 0
	}
	was := time.Duration(a.skew.Load())
	switch {
	case (skew - was).Abs() <= steady:
		return
	case skew == 0:
		a.Log.InfoContext(ctx, "this machine's clock is right again")
	default:
		a.Log.WarnContext(ctx, "this machine's clock is off; the server's time is used", "off", (-skew).Round(time.Second))
	}
	a.skew.Store(int64(skew))
}

// wake has what is kept sent.
func (a *Agent) wake() {
	select {
	case a.work <- struct{}{}:
	default:
	}
}

// Run measures, assesses and sends until ctx ends. Unsent data is sent the next time. A loop
// that fails is started again.
func (a *Agent) Run(ctx context.Context) error {
	a.askTheTime(ctx)
	if err := a.announceAll(); err != nil {
		return err
	}
	var group supervise.Group
	loop := func(name string, run func(context.Context) error) {
		group.Go(func() error { return a.loops.Run(ctx, name, run) })
	}
	for _, w := range a.watched {
		loop("measure "+w.ExternalID, w.measure)
		if w.AssessEvery > 0 && a.Inspectors[w.Engine] != nil {
			loop("assess "+w.ExternalID, w.assess)
		}
		if w.Backups != nil {
			loop("read the backups of "+w.ExternalID, w.readBackups)
		}
	}
	if a.config.Host {
		loop("measure this machine", a.measureHost)
	}
	loop("send", a.deliver)
	loop("say how the agent is", a.report)
	return group.Wait()
}

// measure measures a server until ctx ends.
func (w *watched) measure(ctx context.Context) error {
	a := w.agent
	measure.New(measure.Config{
		Engine: a.engines[w.Engine], Instance: w.id, Home: w, Gate: a.gate,
		Log: a.Log.With("server", w.ExternalID), Now: a.Now, Identified: w.identified,
	}).Run(ctx)
	return ctx.Err()
}

// reached keeps why the server cannot be reached, and has the server of Muster told at once
// when that changes.
func (w *watched) reached(outcomes []measurements.Reached) {
	w.mu.Lock()
	was := w.trouble
	for _, r := range outcomes {
		switch {
		case r.Part != "":
			w.part(r)
		case r.Up:
			w.trouble = trouble{}
		default:
			w.trouble = trouble{r.Code, r.Sentence, r.Since, r.At}
		}
	}
	changed := (was == trouble{}) != (w.trouble == trouble{}) || was.Class != w.trouble.Class
	w.mu.Unlock()
	if changed {
		select {
		case w.agent.changed <- struct{}{}:
		default:
		}
	}
}

// part keeps how a part was measured, for the next report.
func (w *watched) part(r measurements.Reached) {
	of := r.Part + "/" + r.Database
	if r.Up {
		delete(w.failing, of)
		return
	}
	r.Since = r.At
	if before, failed := w.failing[of]; failed {
		r.Since = before.Since
	}
	if w.failing == nil {
		w.failing = map[string]measurements.Reached{}
	}
	w.failing[of] = r
}

// announceAll tells the server of every instance that it was not told of as it is.
func (a *Agent) announceAll() error {
	for _, w := range a.watched {
		w.mu.Lock()
		after := w.state
		if after.CreatedAt.IsZero() {
			after.CreatedAt = a.Now().Truncate(time.Second)
		}
		err := w.announceChanged(&after)
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// announceChanged is announce where the server was told something else the last time.
func (w *watched) announceChanged(after *serverState) error {
	if _, err := w.announcement(after); err != nil || after.Announced == w.state.Announced {
		return err
	}
	return w.announce(after)
}

// announceAgain tells the server of an instance that it does not know.
func (a *Agent) announceAgain(ctx context.Context, id string) {
	w := a.watching(id)
	if w == nil {
		return // it was taken out of the configuration
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	after := w.state
	pending, err := a.store.announcing(id)
	if err == nil && !pending {
		err = w.announce(&after)
	}
	if err != nil {
		a.Log.WarnContext(ctx, "announce a server again", "server", id, "error", err)
	}
}

// watching is the server with an external id; nil: there is none.
func (a *Agent) watching(id string) *watched {
	for _, w := range a.watched {
		if w.ExternalID == id {
			return w
		}
	}
	return nil
}

// complain logs why nothing can be sent, once.
func (a *Agent) complain(ctx context.Context, err error) {
	kind := "away"
	var p *Problem
	if errors.As(err, &p) {
		kind = p.Code
	}
	a.delivery.Failed(ctx, "delivery", kind, err.Error())
}
