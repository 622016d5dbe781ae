package jobs

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/fairslots"
	"muster/internal/concurrency/lease"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/postgres/listen"
	"muster/internal/process/telemetry"
)

// DeadFunc records the consequences in the transaction that sets a job aside. The job's row
// still exists; append events last. It may run again if the transaction fails; committed,
// unless it is nil, runs once, when the transaction is committed.
type DeadFunc func(ctx context.Context, tx *sqlx.Tx, c Claimed, cause error) (committed func(), err error)

// Policy says how the jobs of one kind are worked on.
type Policy struct {
	// Concurrency is how many of one organization run at once in this process, and half of
	// how many run at once of all (internal/concurrency/fairslots); 1 where zero.
	Concurrency int
	// MaxAttempts sets a job aside after so many, failed or lost; 0: no bound by count.
	MaxAttempts int
	// GiveUpAfter sets a job aside once it has been due for so long; 0: no
	// bound by time. The last attempt is made when it is reached. Where that is
	// lost, others are made until so many in a row were (lostBeyond).
	GiveUpAfter time.Duration
	// Backoff is the wait after so many attempts that failed; Backoff the
	// function where nil. Those that were lost do not count: they say nothing
	// of the work, and have waited for the end of a lease.
	Backoff func(failures int) time.Duration
	// Dead may be nil.
	Dead DeadFunc
	// Class names the kind of an error, for the job's row (Ending, EarlierError);
	// nil: no error has one.
	Class func(err error) string
}

// lostBeyond is how many attempts in a row are lost before a job whose time is up is set aside.
// A job that kills its worker ends in this way, and a job that was only at work when the
// machine went down for days is tried again.
const lostBeyond = 3

// usedUp says whether a claim has to bury the job: its attempts, or its time, are used up, and
// no worker has recorded that.
func (p Policy) usedUp(c Claimed) bool {
	if p.MaxAttempts > 0 && c.Attempt > p.MaxAttempts {
		return true
	}
	lost, _ := c.lostLast()
	return p.GiveUpAfter > 0 && c.Age >= p.GiveUpAfter && lost >= lostBeyond
}

// Backoff is failures⁴ seconds, give or take 10 % so that what failed together
// is not tried again together: 1 s, 16 s, 81 s, 4 min, 10 min, 22 min, …
func Backoff(failures int) time.Duration {
	seconds := float64(failures) * float64(failures) * float64(failures) * float64(failures)
	return time.Duration(seconds * (0.9 + 0.2*rand.Float64()) * float64(time.Second))
}

// Config is what a Subscriber needs to know. Zero durations take the defaults.
type Config struct {
	// Worker names this process in the job table and in the audit trail.
	Worker string
	// Lease is how long a claim holds without a heartbeat; 30 s. A dead
	// worker's job is taken over within it.
	Lease time.Duration
	// LostWait is how much longer than its lease a job waits after the second attempt in a row
	// without an outcome, 1 s; 16 times that after the third, and 81 times after each later
	// one.
	LostWait time.Duration
	// Poll is the safety net under the notifications; 1 s. It is also how
	// late a job may start whose notification was lost.
	Poll time.Duration
	// Drain is how long Close lets running handlers finish; 15 s.
	Drain time.Duration
	// Grace is how long Close then waits for handlers whose context it has
	// cancelled; 3 s.
	Grace time.Duration
	// Policies holds one per kind; a kind without one gets Default.
	Policies map[JobKind]Policy
	Default  Policy
	// Settled is called for every attempt that is over, with its ending and its duration; nil:
	// it is not called. It must not block.
	Settled func(kind JobKind, outcome RunOutcome, took time.Duration)
	Log     *slog.Logger
	Loops   *supervise.Supervisor // runs what works in the background
}

// SetDefaults sets what is left out.
func (c *Config) SetDefaults() {
	if c.Lease <= 0 {
		c.Lease = 30 * time.Second
	}
	if c.LostWait <= 0 {
		c.LostWait = time.Second
	}
	if c.Poll <= 0 {
		c.Poll = time.Second
	}
	if c.Drain <= 0 {
		c.Drain = 15 * time.Second
	}
	if c.Grace <= 0 {
		c.Grace = 3 * time.Second
	}
	if c.Settled == nil {
		c.Settled = func(JobKind, RunOutcome, time.Duration) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// Subscriber gives out jobs as Watermill messages; a topic is a Kind. Acking a
// message ends its job unless the handler has done so itself, nacking it puts
// the job back with a wait, or sets it aside.
type Subscriber struct {
	queue *Queue
	cfg   Config

	claiming context.Context    // ends with Close: no new claims
	noMore   context.CancelFunc // …
	stop     context.Context    // ends when running handlers must stop, cause ErrStopping
	stopNow  context.CancelFunc // …
	listen   sync.Once
	wake     *listen.Wake  // a job of a Kind was inserted
	looks    chan struct{} // one token a look at the queue

	mu         sync.Mutex
	closed     bool
	loops      supervise.Group
	deliveries sync.WaitGroup
	closeOnce  sync.Once
}

var _ message.Subscriber = (*Subscriber)(nil)

// NewSubscriber returns a subscriber on the queue. It holds one database
// connection for notifications from the first Subscribe to Close.
func NewSubscriber(queue *Queue, cfg Config) *Subscriber {
	cfg.SetDefaults()
	claiming, noMore := context.WithCancel(context.Background())
	stop, cancel := context.WithCancelCause(context.Background())
	return &Subscriber{
		queue:    queue,
		cfg:      cfg,
		claiming: claiming,
		noMore:   noMore,
		stop:     stop,
		stopNow:  func() { cancel(ErrStopping) },
		wake:     listen.NewWake(),
		looks:    make(chan struct{}, looksAtOnce),
	}
}

// Subscribe starts claiming jobs of the kind named by topic until ctx or the subscriber ends.
// The messages' contexts outlive ctx: a handler that is at work when a shutdown begins may
// finish; see Close.
func (s *Subscriber) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	policy, ok := s.cfg.Policies[JobKind(topic)]
	if !ok {
		policy = s.cfg.Default
	}
	out := make(chan *message.Message)
	l := &loop{
		sub:    s,
		kind:   JobKind(topic),
		policy: policy,
		out:    out,
	}
	if l.policy.Concurrency <= 0 {
		l.policy.Concurrency = 1
	}
	if l.policy.Class == nil {
		l.policy.Class = func(error) string { return "" }
	}
	if l.policy.Backoff == nil {
		l.policy.Backoff = Backoff
	}
	l.turns = fairslots.NewSlots(l.policy.Concurrency)
	l.slots = make(chan struct{}, l.turns.All())
	s.listen.Do(func() {
		channel := listen.Channel{
			Name: Channel, Sessions: s.sessions, Retry: s.cfg.Poll, Heard: s.wake.Raise,
			Lost: func(err error) { s.cfg.Log.Warn("not listening for new jobs, polling meanwhile", "error", err) },
		}
		s.loops.Go(func() error {
			return s.cfg.Loops.Run(s.claiming, "listen for jobs", func(ctx context.Context) error {
				channel.Listen(ctx)
				return ctx.Err()
			})
		})
	})
	s.loops.Go(func() error {
		defer close(out)
		ctx, over := context.WithCancel(ctx)
		defer over()
		defer context.AfterFunc(s.claiming, over)()
		return s.cfg.Loops.Finish(ctx, "claim jobs", l.run)
	})
	return out, nil
}

// sessions are those that notifications are heard over. While there is one the worker is
// known to be there.
func (s *Subscriber) sessions(ctx context.Context, do func(*pgx.Conn) error) error {
	return listen.Pooled(s.queue.db.DB)(ctx, func(conn *pgx.Conn) error {
		if err := present(ctx, conn, s.cfg.Worker); err != nil {
			return err
		}
		return do(conn)
	})
}

// Close stops claiming at once, lets running handlers finish for Drain,
// cancels the contexts of the others (cause ErrStopping), and after Grace
// hands back what is still held. Every call returns when that is done.
func (s *Subscriber) Close() error {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.noMore()
		s.mu.Unlock()
		_ = s.loops.Wait() // its error is returned below
		done := make(chan struct{})
		go func() { // waits for those that are supervised
			s.deliveries.Wait()
			close(done)
		}()
		drain := time.NewTimer(s.cfg.Drain)
		defer drain.Stop()
		select {
		case <-done:
		case <-drain.C:
			s.stopNow()
			<-done // each delivery ends Grace after stop at the latest
		}
		s.stopNow()
	})
	s.deliveries.Wait()
	return s.loops.Wait()
}

type loop struct {
	sub    *Subscriber
	kind   JobKind
	policy Policy
	out    chan<- *message.Message
	slots  chan struct{}    // one token a running job
	turns  *fairslots.Slots // whose jobs run
}

func (l *loop) run(ctx context.Context) error {
	for l.next(ctx) {
	}
	return nil
}

// next takes a slot and a job for it; false: the subscription is over.
func (l *loop) next(ctx context.Context) (more bool) {
	// A slot first, a claim second: a claimed job starts at once, so a lease never runs out in
	// a buffer.
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	handedOver := false
	defer func() {
		if !handedOver {
			<-l.slots
		}
	}()
	woken := l.sub.wake.Changed(string(l.kind))
	c, ok, rest, err := l.look(ctx)
	if err != nil && ctx.Err() == nil {
		l.sub.cfg.Log.Warn("cannot claim a job, trying again", "kind", string(l.kind), "error", err)
	}
	switch {
	case !ok:
		return pause.Unless(ctx, rest, woken) == nil
	case l.policy.usedUp(c):
		f := failure{cause: c.lastWords()}
		c.Attempt-- // this claim is none
		from, _ := telemetry.Resume(ctx, c.Metadata)
		if l.bury(from, c, f) {
			l.sub.cfg.Settled(c.Kind, Dead, 0) // the duration of the last attempt is unknown
		}
		return true
	}
	handedOver = l.deliver(ctx, c)
	return handedOver
}

// look claims a job if one is due. If it claims none, it says how long to rest: until the next one is due, and Poll
// at most. Every idle process looks each second for each kind, so a look that finds nothing is cheap.
func (l *loop) look(ctx context.Context) (c Claimed, ok bool, rest time.Duration, err error) {
	select {
	case l.sub.looks <- struct{}{}:
	case <-ctx.Done():
		return Claimed{}, false, 0, nil
	}
	defer func() { <-l.sub.looks }()
	bounded, cancel := context.WithTimeout(ctx, claimTimeout)
	ahead, err := l.sub.queue.lookAhead(bounded, l.kind)
	cancel()
	if err == nil && ahead.Due {
		c, ok, err = l.claim(ctx)
	}
	return c, ok, ahead.rest(l.sub.cfg.Poll), err
}

// looksAtOnce is how many kinds look for a job at the same time. A look takes less than a millisecond. All kinds
// look when a process starts, and each second after that: without a bound, each of them took a connection of its
// own from the pool that requests wait for, and planned its statements there.
const looksAtOnce = 2

// claimTimeout bounds a claim on a database that does not answer.
const claimTimeout = 10 * time.Second

// claim is not cancelled with ctx: a claim whose answer is thrown away would
// cost the job a lease and an attempt.
func (l *loop) claim(ctx context.Context) (Claimed, bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(claimTimeout, l.sub.cfg.Lease)) // a later one has lapsed
	defer cancel()
	return l.sub.queue.claim(ctx, l.kind, l.sub.cfg.Worker, l.sub.cfg.Lease, l.policy.MaxAttempts, l.sub.cfg.LostWait, l.turns.Order())
}

// bury sets a job aside and says whether that is done. If it is not, the outcome of the attempt
// is recorded alone and the job comes again after a lease: to be buried if its attempts are
// used up, otherwise for another attempt.
func (l *loop) bury(ctx context.Context, c Claimed, f failure) bool {
	within := func(do func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
		defer cancel()
		return do(ctx)
	}
	log := l.sub.cfg.Log.With("kind", string(c.Kind), "job", c.ID, "subject", c.Subject, "attempts", c.Attempt, "cause", f.cause)
	err := within(func(ctx context.Context) error { return l.sub.queue.setAside(ctx, c, f, l.policy.Dead) })
	if err == nil {
		log.ErrorContext(ctx, "job set aside")
		return true
	}
	if lease.IsLost(ctx, err) {
		return false
	}
	log.ErrorContext(ctx, "cannot set a job aside, trying again after a lease", "error", err)
	err = within(func(ctx context.Context) error { return l.sub.queue.retryLater(ctx, c, l.sub.cfg.Lease, f) })
	if err != nil && !lease.IsLost(ctx, err) {
		log.WarnContext(ctx, "cannot put a job back, it comes again when its lease lapses", "error", err)
	}
	return false
}

// deliver hands the job to the router, and its slot to who sees it through; false: the
// subscription is over.
func (l *loop) deliver(ctx context.Context, c Claimed) bool {
	d := newDelivery(ctx, l, c)
	l.turns.Take(c.OrganizationID)
	l.sub.deliveries.Add(1)
	select {
	case l.out <- d.msg:
		go func() {
			defer l.sub.deliveries.Done()
			defer func() {
				full := l.turns.Free(c.OrganizationID)
				<-l.slots
				if full { // its next job may have waited for this
					l.sub.wake.Raise(string(l.kind))
				}
			}()
			// Where it falls, the job comes again when its lease lapses.
			_ = l.sub.cfg.Loops.Turn(d.ctx, "see jobs through", func(context.Context) error {
				d.supervise()
				return nil
			})
		}()
		return true
	case <-ctx.Done():
	}
	defer l.sub.deliveries.Done()
	d.handBack(false)
	return false
}
