package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/inspection"
	"muster/internal/concurrency/fairslots"
	"muster/internal/concurrency/lease"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/engine/live"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Intervals between looks at one server. Each is moved by up to a tenth, so
// that servers registered together do not stay together.
const (
	interval      = 6 * time.Hour
	retryInterval = 15 * time.Minute // out of reach, or tables of it were locked
	// Inactive, or registered so lately that the fleet does not list it yet.
	inactiveInterval = 30 * time.Second
	faultInterval    = time.Minute // something is wrong with ourselves
)

// lease is how long a claim holds without being extended, and claimTimeout how
// long making one may take.
const (
	term         = time.Minute
	claimTimeout = 5 * time.Second
)

// Fleet is what the collector records of a server; *commands.Service is one.
type Fleet interface {
	ChangeInstance(ctx context.Context, actor usecase.Actor, id uuid.UUID, change inventory.Change) (usecase.Mark, error)
	RecordDatabases(ctx context.Context, actor usecase.Actor, instance uuid.UUID, names []string) (usecase.Mark, error)
	RecordAssessmentTx(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, all ...fleet.Assessed) (usecase.Mark, error)
}

// Accepted returns the exceptions in force for an instance: findings that they cover do not
// count in its score.
type Accepted func(ctx context.Context, organization, instance uuid.UUID) ([]snapshot.Exception, error)

// Instances says whether an instance has to be assessed.
type Instances interface {
	// Active is false for inactive, removed, unknown and foreign instances.
	Active(ctx context.Context, organization, instance uuid.UUID) (bool, error)
}

// Collector assesses the servers that have a connection registered.
type Collector struct {
	// Loops is notified if an assessment panics; nil: nothing is.
	Loops *supervise.Supervisor

	store      *assessment.Store
	fleet      Fleet
	instances  Instances
	accepted   Accepted
	reach      *servers.Reach
	inspectors map[fleet.Engine]inspection.Inspector
	log        *slog.Logger
	wake       chan struct{}
	limit      func(ctx context.Context) (context.Context, context.CancelFunc) // of a look
	looks      *turn                                                           // of assessments
	lightLooks *turn
}

// turn decides which server this process assesses next. One claim is made at a time: the next
// one considers the slots that it took.
type turn struct {
	claiming sync.Mutex
	*fairslots.Slots
}

// claimed claims in turn, and has the slot taken; free gives it back.
func claimed[C any](t *turn, claim func(fairslots.Order) (C, bool, error), organization func(C) uuid.UUID) (c C, free func(), ok bool, err error) {
	t.claiming.Lock()
	defer t.claiming.Unlock()
	if c, ok, err = claim(t.Order()); err != nil || !ok {
		return c, nil, false, err
	}
	t.Take(organization(c))
	return c, func() { t.Free(organization(c)) }, true, nil
}

// New returns a collector that connects as far as reach goes; Run makes it work by
// itself. An error names every fault in the embedded catalogue, feed or rules.
func New(
	store *assessment.Store, fleet Fleet, instances Instances, accepted Accepted, reach *servers.Reach, log *slog.Logger, now func() time.Time,
) (*Collector, error) {
	all, err := live.Inspectors(now)
	if err != nil {
		return nil, fmt.Errorf("start the collector: %w", err)
	}
	return &Collector{
		store: store, fleet: fleet, instances: instances, accepted: accepted, reach: reach, inspectors: all, log: log, wake: make(chan struct{}, 1),
		limit: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, inspection.LookLimit)
		},
		looks: &turn{Slots: fairslots.NewSlots(atOnce)}, lightLooks: &turn{Slots: fairslots.NewSlots(lightAtOnce)},
	}, nil
}

// JudgeBy sets the feed by which versions are judged; until then it is the embedded one.
func (c *Collector) JudgeBy(source feed.Source) {
	for _, one := range c.inspectors {
		one.JudgeBy(source)
	}
}

// Try connects to the server that dsn names, to show that it can be assessed, and returns its
// identity: *servers.DSNError, *servers.ConnectionError or *servers.UnknownEngineError say why
// it cannot. It asks the organization's copies of the server for their identity again, because
// one of them may be the same server, restarted.
func (c *Collector) Try(ctx context.Context, organization uuid.UUID, engine fleet.Engine, dsn string) (servers.Identity, error) {
	if c.inspectors[engine] == nil {
		return servers.Identity{}, &servers.UnknownEngineError{Engine: engine}
	}
	target, err := c.reach.Target(engine, dsn)
	if err != nil {
		return servers.Identity{}, err
	}
	is, err := identify(ctx, target)
	if err != nil {
		return servers.Identity{}, err
	}
	copies, err := c.store.Copies(ctx, organization, is)
	if err != nil {
		return servers.Identity{}, err
	}
	for _, known := range copies {
		if !known.Related(is) {
			continue
		}
		if err := c.refresh(ctx, organization, known.Instance); err != nil {
			return servers.Identity{}, err
		}
	}
	return is, nil
}

// identify asks a target for its identity. A server that accepts the connection and does not
// answer is unknown.
func identify(ctx context.Context, target servers.Target) (servers.Identity, error) {
	session, err := target.Open(ctx, target.Database, servers.StatementTimeout)
	if err != nil {
		return servers.Identity{}, err
	}
	defer session.Close(ctx)
	is, err := target.Identify(ctx, session)
	if err != nil {
		return servers.Identity{Engine: target.Engine}, ctx.Err()
	}
	return is, nil
}

// refresh asks for the identity of an instance's server now. If it cannot be asked, the earlier
// one stays.
func (c *Collector) refresh(ctx context.Context, organization, instance uuid.UUID) error {
	credentials, ok, err := c.store.Credentials(ctx, organization, instance)
	if err != nil || !ok {
		return err
	}
	target, err := credentials.Target(c.reach)
	if err != nil {
		return nil //nolint:nilerr // its own looks say so
	}
	is, err := identify(ctx, target)
	if err != nil || is.Process == "" {
		return ctx.Err()
	}
	_, err = c.store.SawServer(ctx, organization, instance, is)
	return err
}

// Request makes an instance due and wakes this process's collector; others
// find it within a few seconds. Errors: *NotCollectedError.
func (c *Collector) Request(ctx context.Context, organization, instance uuid.UUID) error {
	known, err := c.store.Due(ctx, organization, instance)
	if err != nil {
		return err
	}
	if !known {
		return &NotCollectedError{Instance: instance}
	}
	c.wakeUp()
	return nil
}

// wakeUp has this process look at what is due at once.
func (c *Collector) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default: // it is awake already
	}
}

// AssessNow assesses and classifies one instance and stores the result, or waits for another
// caller that does. An unreachable server is a result, not an error. *NotCollectedError and
// *InactiveError say that there was nothing to do.
func (c *Collector) AssessNow(ctx context.Context, organization, instance uuid.UUID) error {
	before, err := c.store.Attempt(ctx, organization, instance)
	if err != nil {
		return err
	}
	return c.assessSince(ctx, organization, instance, before)
}

// assessSince returns once an attempt has finished since before, ours or another caller's.
func (c *Collector) assessSince(ctx context.Context, organization, instance uuid.UUID, before assessment.Attempt) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		claim, ok, err := unbroken(ctx, func(ctx context.Context) (assessment.Claim, bool, error) {
			return c.store.ClaimSince(ctx, organization, instance, before, term)
		})
		if err != nil {
			return err
		}
		if ok {
			if err := c.look(ctx, claim); !lease.IsLost(ctx, err) {
				return err
			}
			continue // the connection was replaced meanwhile: the new one counts
		}
		now, err := c.store.Attempt(ctx, organization, instance)
		switch {
		case err != nil:
			return err
		case !now.Known:
			return &NotCollectedError{Instance: instance}
		case now.Finished > before.Finished:
			return nil
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// Fresh returns an assessment that reached the server no longer than maxAge ago. If there is
// none, the server is assessed now, and the result is returned, even if it is unreachable.
// Errors as AssessNow's.
func (c *Collector) Fresh(ctx context.Context, organization, instance uuid.UUID, maxAge time.Duration) (*assessment.Kept, error) {
	a, err := c.store.Reached(ctx, organization, instance, maxAge) // nearly always there is one
	if err != nil || a != nil {
		return a, err
	}
	before, err := c.store.Attempt(ctx, organization, instance) // before the next look: an assessment that finishes after it counts
	if err != nil {
		return nil, err
	}
	a, err = c.store.Reached(ctx, organization, instance, maxAge)
	if err != nil || a != nil {
		return a, err
	}
	if err := c.assessSince(ctx, organization, instance, before); err != nil {
		return nil, err
	}
	return c.store.Newest(ctx, organization, instance)
}

// AssessDue assesses the server that is due longest, of the organization whose turn it is; ok
// is false where none is.
func (c *Collector) AssessDue(ctx context.Context) (ok bool, err error) {
	claim, free, ok, err := claimed(c.looks, func(order fairslots.Order) (assessment.Claim, bool, error) {
		return unbroken(ctx, func(ctx context.Context) (assessment.Claim, bool, error) { return c.store.ClaimDue(ctx, term, order) })
	}, func(claim assessment.Claim) uuid.UUID { return claim.Organization })
	if err != nil || !ok {
		return false, err
	}
	defer free()
	err = c.look(ctx, claim)
	var inactive *InactiveError
	if errors.As(err, &inactive) {
		err = nil
	}
	return true, err
}

// unbroken claims without being stopped in the middle: a claim that the database has granted
// after its caller stopped waiting would hold the server until its lease lapses. The assessment
// then finds ctx done, and releases it.
func unbroken(ctx context.Context, claim func(context.Context) (assessment.Claim, bool, error)) (assessment.Claim, bool, error) {
	if ctx.Err() != nil {
		return assessment.Claim{}, false, ctx.Err()
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	return claim(bounded)
}
