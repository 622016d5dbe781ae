package jobs

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"muster/internal/concurrency/lease"
	"muster/internal/process/telemetry"
)

// Metadata of the messages, beside what Job.Metadata brought.
const (
	metadataOrganization = "muster_organization"
	metadataSubject      = "muster_subject"
	metadataKind         = "muster_kind"
	metadataKey          = "muster_key"
	metadataAttempt      = "muster_attempt"
)

type deliveryKey struct{}

// delivery is one claimed job on its way through the router.
type delivery struct {
	loop   *loop
	job    Claimed
	msg    *message.Message
	ctx    context.Context // the message's, before any middleware wraps it
	cancel context.CancelCauseFunc
	begun  time.Time // monotonic: only differences are used

	mu      sync.Mutex
	failure error
}

func newDelivery(ctx context.Context, l *loop, c Claimed) *delivery {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	d := &delivery{loop: l, job: c, ctx: ctx, cancel: cancel, begun: time.Now()}
	d.msg = message.NewMessage(c.ID.String(), c.Payload)
	maps.Copy(d.msg.Metadata, c.Metadata)
	d.msg.Metadata.Set(metadataOrganization, c.OrganizationID.String())
	d.msg.Metadata.Set(metadataSubject, c.Subject.String())
	d.msg.Metadata.Set(metadataKind, string(c.Kind))
	d.msg.Metadata.Set(metadataKey, c.Key)
	d.msg.Metadata.Set(metadataAttempt, strconv.Itoa(c.Attempt))
	middleware.SetCorrelationID(c.Subject.String(), d.msg)
	d.msg.SetContext(context.WithValue(ctx, deliveryKey{}, d))
	return d
}

// FromMessage returns the job behind a message; ok is false for a message that
// no Subscriber made.
func FromMessage(msg *message.Message) (c Claimed, ok bool) {
	d, ok := msg.Context().Value(deliveryKey{}).(*delivery)
	if !ok {
		return Claimed{}, false
	}
	return d.job, true
}

// KeepErrors is the middleware that lets the Subscriber know why a handler
// failed: Watermill's Nack carries no reason. It belongs outside of whatever
// may turn the error into another one.
func KeepErrors(next message.HandlerFunc) message.HandlerFunc {
	return func(msg *message.Message) ([]*message.Message, error) {
		produced, err := next(msg)
		if d, ok := msg.Context().Value(deliveryKey{}).(*delivery); ok && err != nil {
			d.mu.Lock()
			d.failure = err
			d.mu.Unlock()
		}
		return produced, err
	}
}

// errNacked is the error if the handler gave none.
var errNacked = errors.New("the handler gave no reason")

// supervise keeps the lease until the handler has answered, and then settles
// the job. It returns at the latest Grace after the subscriber was stopped.
func (d *delivery) supervise() {
	defer d.cancel(nil)
	queue, cfg := d.loop.sub.queue, &d.loop.sub.cfg
	stopKeeping := lease.Kept{
		Term: cfg.Lease, What: d.job.lost(), Lost: d.cancel,
		Renew: func(ctx context.Context) error { return queue.heartbeat(ctx, d.job, cfg.Lease) },
	}.Keep(context.Background())
	defer stopKeeping()
	stop := d.loop.sub.stop.Done()
	var graceOver <-chan time.Time
	for {
		select {
		case <-d.msg.Acked():
			stopKeeping()
			d.settle(d.finish)
			return
		case <-d.msg.Nacked():
			stopKeeping()
			d.settle(d.failed)
			return
		case <-stop:
			stop = nil
			d.cancel(ErrStopping)
			grace := time.NewTimer(cfg.Grace)
			defer grace.Stop()
			graceOver = grace.C
		case <-graceOver:
			stopKeeping()
			d.handBack(true)
			return
		}
	}
}

// settleTimeout bounds a settling on a database that does not answer; then the
// lease lapses and the job is tried again.
const settleTimeout = 10 * time.Second

func (d *delivery) settle(how func(context.Context) (RunOutcome, error)) {
	ctx, _ := telemetry.Resume(context.Background(), d.job.Metadata)
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	outcome, err := how(ctx)
	d.loop.sub.cfg.Settled(d.job.Kind, outcome, time.Since(d.begun))
	// A lost fence is the usual case after an ack: the handler has finished
	// the job in its own transaction.
	if err != nil && !lease.IsLost(ctx, err) {
		d.loop.sub.cfg.Log.WarnContext(ctx, "cannot settle a job, it runs again when its lease lapses",
			"kind", string(d.job.Kind), "job", d.job.ID, "error", err)
	}
}

func (d *delivery) finish(ctx context.Context) (RunOutcome, error) {
	return Done, d.loop.sub.queue.Finish(ctx, d.loop.sub.queue.db, d.job)
}

// handBack gives the job up because the subscription ends; begun says whether a
// handler got it.
func (d *delivery) handBack(begun bool) {
	d.settle(func(ctx context.Context) (RunOutcome, error) { return d.returned(ctx, begun) })
	d.cancel(ErrStopping)
}

func (d *delivery) returned(ctx context.Context, begun bool) (RunOutcome, error) {
	return Returned, d.loop.sub.queue.handBack(ctx, d.job, begun)
}

// failed decides between giving back, another attempt, and setting aside.
func (d *delivery) failed(ctx context.Context) (RunOutcome, error) {
	d.mu.Lock()
	cause := d.failure
	d.mu.Unlock()
	if cause == nil {
		cause = errNacked
	}
	if errors.Is(context.Cause(d.ctx), ErrStopping) {
		return d.returned(ctx, true)
	}
	policy := d.loop.policy
	f := failure{cause: cause, class: policy.Class(cause), attempt: true}
	var final *FinalError
	if interrupted(cause) && !errors.As(cause, &final) {
		f.cutOff = true
		return Retried, d.loop.sub.queue.retryLater(ctx, d.job, policy.Backoff(min(d.job.interruptions()+1, mostInterruptions)), f)
	}
	wait := policy.Backoff(d.job.failures() + 1)
	var later interface{ RetryAfter() time.Duration }
	if errors.As(cause, &later) { // the other side said when to come back
		wait = max(wait, later.RetryAfter())
	}
	dead := errors.As(cause, &final) || policy.MaxAttempts > 0 && d.job.Attempt >= policy.MaxAttempts
	if policy.GiveUpAfter > 0 {
		left := policy.GiveUpAfter - d.job.Age
		dead = dead || left <= 0
		wait = min(wait, left)
	}
	if dead && d.loop.bury(ctx, d.job, f) {
		return Dead, nil
	}
	if dead { // bury has said why it could not, and noted what it could
		return Retried, nil
	}
	return Retried, d.loop.sub.queue.retryLater(ctx, d.job, wait, f)
}
