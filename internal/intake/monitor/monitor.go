package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/concurrency/lease"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/engine/live"
	"muster/internal/intake"
	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
)

const (
	// lookEvery is how often each process looks for what is registered, removed and
	// free to be measured.
	lookEvery = 2 * time.Second
	// renewEvery leaves two further tries before a lease runs out.
	renewEvery = term / 3
	// connectsAtOnce bounds the handshakes of one organization in a process, and is half of the
	// bound of all (internal/concurrency/fairslots).
	connectsAtOnce = 16
	// writesAtOnce bounds the connections to our own database. A thousand servers
	// make 100 batches a second of a few milliseconds each.
	writesAtOnce = 4
)

// Fleet knows the databases of a server; *commands.Service is one.
type Fleet interface {
	DatabasesOf(ctx context.Context, organization, instance uuid.UUID) (map[string]uuid.UUID, error)
	RecordDatabases(ctx context.Context, actor usecase.Actor, instance uuid.UUID, names []string) (usecase.Mark, error)
}

// Instances knows which instances have to be measured.
type Instances interface {
	// ActiveAmong returns those that are active, and not removed: instances[i] is
	// asked for in organizations[i].
	ActiveAmong(ctx context.Context, organizations, instances []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Connections knows how servers are reached; *assessment.Store is one.
type Connections interface {
	Registered(ctx context.Context) ([]assessment.Registered, error)
	Credentials(ctx context.Context, organization, instance uuid.UUID) (assessment.Credentials, bool, error)
	// Due has the server assessed soon; ok is false where none is registered.
	Due(ctx context.Context, organization, instance uuid.UUID) (ok bool, err error)
	// SawServer keeps which server answers for an instance, and says whether another did.
	SawServer(ctx context.Context, organization, instance uuid.UUID, is servers.Identity) (moved bool, err error)
	// DueAgain has the server assessed soon whose last assessment could not connect.
	DueAgain(ctx context.Context, organization, instance uuid.UUID) error
}

// Texts knows which organizations keep the texts of statements; *accounts.Store does.
type Texts interface {
	KeepsTexts(ctx context.Context, organization uuid.UUID) (bool, error)
}

// Config is what a monitor works with.
type Config struct {
	DB          *sqlx.DB // of the leases
	Connections Connections
	Reach       *servers.Reach // how far connections may go
	Fleet       Fleet
	Instances   Instances
	Intake      intake.Store
	Texts       Texts // nil: they are not stored
	Log         *slog.Logger
	Loops       *supervise.Supervisor // runs what measures each server
	Now         func() time.Time
	// Kept is called with the result of each batch; nil: it is not called.
	Kept func(measurements.Receipt)
}

// Monitor measures the servers that have a connection registered, with
// other processes that do.
type Monitor struct {
	Config
	engines map[fleet.Engine]measure.Engine
	leases  leases
	process uuid.UUID
	gate    *measure.Gate
	writes  chan struct{}

	// Run's alone:
	measured map[uuid.UUID]*measured
	renewed  time.Time
	failures []error // to renew, since then
}

// measured is a server that this process measures.
type measured struct {
	claim    claim
	revision string // of its connection
	stop     context.CancelFunc
	ended    chan struct{} // closed when it is not measured any more
}

// New returns a monitor; Run makes it work.
func New(c Config) *Monitor {
	return &Monitor{
		Config: c, engines: live.Measured(c.Now), leases: leases{c.DB}, process: uuid.New(),
		gate: measure.NewGate(connectsAtOnce), writes: make(chan struct{}, writesAtOnce),
		measured: make(map[uuid.UUID]*measured),
	}
}

// Run measures until ctx ends, gives back what it holds, and returns ctx's error.
func (m *Monitor) Run(ctx context.Context) error {
	for failing := false; ; {
		err := m.look(ctx)
		if err != nil && ctx.Err() == nil && !failing { // once, not every two seconds
			m.Log.WarnContext(ctx, "look for servers to measure", "error", err)
		}
		failing = err != nil
		if pause.For(ctx, lookEvery) != nil {
			break
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	m.end(last, func(uuid.UUID, *measured) bool { return true })
	if err := m.leases.leave(last, m.process); err != nil {
		m.Log.WarnContext(last, "stop measuring servers", "error", err)
	}
	return ctx.Err()
}

// look ends what is not to be measured here any more, and begins what is.
func (m *Monitor) look(ctx context.Context) error {
	wanted, err := m.wanted(ctx)
	if err != nil {
		return err
	}
	m.end(ctx, func(id uuid.UUID, one *measured) bool {
		server, ok := wanted[id]
		return !ok || server.Revision != one.revision
	})
	if err := m.renew(ctx); err != nil {
		return err
	}
	processes, err := m.leases.join(ctx, m.process)
	if err != nil {
		return err
	}
	share := (len(wanted) + processes - 1) / processes
	m.endSome(ctx, len(m.measured)-share)
	return m.begin(ctx, wanted, share-len(m.measured))
}

// wanted are the servers of the whole installation that have to be measured.
func (m *Monitor) wanted(ctx context.Context) (map[uuid.UUID]assessment.Registered, error) {
	registered, err := m.Connections.Registered(ctx)
	if err != nil {
		return nil, err
	}
	var organizations, instances []uuid.UUID
	for _, r := range registered {
		organizations, instances = append(organizations, r.Organization), append(instances, r.Instance)
	}
	active, err := m.Instances.ActiveAmong(ctx, organizations, instances)
	if err != nil {
		return nil, err
	}
	wanted := make(map[uuid.UUID]assessment.Registered)
	for _, r := range registered {
		if _, measured := m.engines[r.Engine]; measured && active[r.Instance] {
			wanted[r.Instance] = r
		}
	}
	return wanted, nil
}

// renew prolongs the claims, and ends what another process has taken over.
func (m *Monitor) renew(ctx context.Context) error {
	if len(m.measured) == 0 || m.Now().Sub(m.renewed).Abs() < renewEvery {
		return nil
	}
	claims := make([]claim, 0, len(m.measured))
	for _, one := range m.measured {
		claims = append(claims, one.claim)
	}
	held, err := m.leases.renew(ctx, claims)
	if err != nil {
		if len(m.failures) < int(term/lookEvery) { // by then others may have taken them
			m.failures = append(m.failures, err)
		}
		return err
	}
	if lost := len(claims) - len(held); lost > 0 && len(m.failures) > 0 {
		m.Log.WarnContext(ctx, "let go of servers", "error",
			&lease.LostError{What: fmt.Sprintf("the claims on %d servers were lost", lost), Err: errors.Join(m.failures...)})
	}
	m.renewed, m.failures = m.Now(), nil
	m.end(ctx, func(id uuid.UUID, _ *measured) bool { return !held[id] })
	return m.leases.forget(ctx)
}

// endSome lets go of so many, for the others to take.
func (m *Monitor) endSome(ctx context.Context, surplus int) {
	m.end(ctx, func(uuid.UUID, *measured) bool {
		surplus--
		return surplus >= 0
	})
}

// end stops measuring those that over picks, and those whose claim their own transaction found
// lost. It waits until none of them is being measured: the next process must not meet this one
// there.
func (m *Monitor) end(ctx context.Context, over func(uuid.UUID, *measured) bool) {
	var tokens []uuid.UUID
	var stopped []*measured
	for id, one := range m.measured {
		select {
		case <-one.ended:
		default:
			if !over(id, one) {
				continue
			}
		}
		one.stop()
		tokens = append(tokens, one.claim.Token)
		stopped = append(stopped, one)
		delete(m.measured, id)
	}
	for _, one := range stopped {
		<-one.ended
	}
	if len(tokens) == 0 {
		return
	}
	if err := m.leases.release(ctx, tokens); err != nil && ctx.Err() == nil {
		m.Log.WarnContext(ctx, "let go of servers", "error", err)
	}
}

// begin claims up to room of the servers that nobody measures.
func (m *Monitor) begin(ctx context.Context, wanted map[uuid.UUID]assessment.Registered, room int) error {
	if room <= 0 {
		return nil
	}
	held, err := m.leases.held(ctx)
	if err != nil {
		return err
	}
	var free []assessment.Registered
	for id, server := range wanted {
		if !held[id] {
			free = append(free, server)
		}
	}
	if len(free) == 0 {
		return nil
	}
	// Processes that begin at once would otherwise want the same ones.
	rand.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	claims, err := m.leases.claim(ctx, free[:min(room, len(free))])
	if err != nil {
		return err
	}
	for _, c := range claims {
		m.start(ctx, c, wanted[c.Instance])
	}
	return nil
}

func (m *Monitor) start(ctx context.Context, c claim, r assessment.Registered) {
	ctx, stop := context.WithCancel(ctx)
	one := &measured{claim: c, revision: r.Revision, stop: stop, ended: make(chan struct{})}
	m.measured[c.Instance] = one
	go func() {
		defer close(one.ended)
		_ = m.Loops.Finish(ctx, "measure servers", func(ctx context.Context) error {
			m.server(c, r.Engine).Run(ctx)
			return nil
		})
	}()
}

// server is what measures a claimed server.
func (m *Monitor) server(c claim, e fleet.Engine) *measure.Server {
	at := &home{Monitor: m, claim: c}
	return measure.New(measure.Config{
		Engine: m.engines[e], Organization: c.Organization, Instance: c.Instance, Home: at,
		Gate: m.gate, Log: m.Log.With("instance", c.Instance), Unnamed: true, Now: m.Now, Identified: at.identified,
	})
}
