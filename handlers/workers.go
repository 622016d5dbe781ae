package handlers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"muster/handlers/jobs"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/process/telemetry"
)

// Handler does one job. Returning nil ends the job unless the handler has done
// so itself; an error puts it back, or sets it aside.
type Handler func(ctx context.Context, job jobs.Claimed) error

// Task is how the jobs of one kind are worked on.
type Task struct {
	Kind    jobs.JobKind
	Policy  jobs.Policy
	Timeout time.Duration // of one attempt
	Handle  Handler
}

// WorkersConfig is what Workers need to know.
type WorkersConfig struct {
	jobs.Config // the tasks bring its Policies
	// Recorded is called after every attempt, when its records are committed, so that the read
	// models look at once: by themselves they look every second, and a report was seen to be
	// Ready 847 ms late (measured). Nil: it is not called.
	Recorded func(ctx context.Context)
	Tracer   trace.Tracer // nil: attempts make no spans
}

// Workers runs tasks on Watermill's Router, and chores beside it.
type Workers struct {
	queue  *jobs.Queue
	cfg    WorkersConfig
	tasks  []Task
	chores []chore
}

type chore struct {
	name  string
	every time.Duration
	do    func(context.Context) error
}

// NewWorkers returns workers on the queue; they do nothing before Run.
func NewWorkers(queue *jobs.Queue, cfg WorkersConfig) *Workers {
	cfg.SetDefaults()
	if cfg.Recorded == nil {
		cfg.Recorded = func(context.Context) {}
	}
	return &Workers{queue: queue, cfg: cfg}
}

// Add adds a task. Each kind has one.
func (w *Workers) Add(t Task) { w.tasks = append(w.tasks, t) }

// Every adds a chore that each process does now and then, first after a while.
// Several processes may do it at once, so it must bear that.
func (w *Workers) Every(name string, interval time.Duration, do func(context.Context) error) {
	w.chores = append(w.chores, chore{name: name, every: interval, do: do})
}

// routerGrace is how much longer the router waits than the subscriber, so that
// it is the subscriber who decides when a handler's time is up.
const routerGrace = 5 * time.Second

// Run works until ctx ends, then claims nothing more, lets running jobs finish
// or hands them back, and returns: within 20 s with the default Drain.
func (w *Workers) Run(ctx context.Context) error {
	sub := w.subscriber()
	router, err := w.router(sub)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var chores supervise.Group
	for _, c := range w.chores {
		chores.Go(func() error { return w.repeat(ctx, c) })
	}
	ran := make(chan error, 1)
	go func() { ran <- supervise.Call(func() error { return router.Run(ctx) }) }()
	select {
	case err = <-ran: // could not start, or every subscription ended
	case <-ctx.Done():
		// The router's own Close does not reach the subscriber once ctx has
		// ended, and waits without ever telling a handler to stop.
		err = errors.Join(sub.Close(), <-ran)
	}
	err = errors.Join(err, sub.Close())
	stop() // also where the router ended by itself
	err = errors.Join(err, chores.Wait())
	if err != nil {
		return fmt.Errorf("run the workers: %w", err)
	}
	return nil
}

func (w *Workers) subscriber() *jobs.Subscriber {
	cfg := w.cfg.Config
	cfg.Policies = make(map[jobs.JobKind]jobs.Policy, len(w.tasks))
	for _, t := range w.tasks {
		cfg.Policies[t.Kind] = t.Policy
	}
	return jobs.NewSubscriber(w.queue, cfg)
}

// router puts the tasks on Watermill's Router. From the outside in: an attempt is part of the
// request that led to it, the read models are notified when an attempt is over, the reason of
// its failure is kept for the job's row, a panic becomes such a failure, published messages
// carry the correlation id, and an attempt has an end.
func (w *Workers) router(sub message.Subscriber) (*message.Router, error) {
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: w.cfg.Drain + routerGrace},
		watermill.NewSlogLoggerWithLevelMapping(w.cfg.Log, map[slog.Level]slog.Level{
			slog.LevelInfo: slog.LevelDebug,
			// A failed attempt, which trace tells with what it belongs to.
			slog.LevelError: slog.LevelDebug,
		}))
	if err != nil {
		return nil, fmt.Errorf("make the router: %w", err)
	}
	router.AddMiddleware(w.trace, w.tell, jobs.KeepErrors, middleware.Recoverer, middleware.CorrelationID)
	for _, t := range w.tasks {
		h := router.AddConsumerHandler(string(t.Kind), string(t.Kind), sub, consume(t.Handle))
		if t.Timeout > 0 {
			h.AddMiddleware(middleware.Timeout(t.Timeout))
		}
	}
	return router, nil
}

// trace lets an attempt's lines in the log say which request led to it, and makes it a span in
// a trace of its own that links to the insertion of the job: an expiry in a month is not part
// of today's request.
func (w *Workers) trace(next message.HandlerFunc) message.HandlerFunc {
	return func(msg *message.Message) ([]*message.Message, error) {
		ctx, from := telemetry.Resume(msg.Context(), msg.Metadata)
		job, _ := jobs.FromMessage(msg)
		end := func(error) {}
		if w.cfg.Tracer != nil {
			var span trace.Span
			ctx, span = w.cfg.Tracer.Start(ctx, "process "+string(job.Kind), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer),
				trace.WithLinks(linkTo(from)...), trace.WithAttributes(
					attribute.String("muster.job.kind", string(job.Kind)),
					attribute.Int("muster.job.attempt", job.Attempt),
					attribute.String("muster.report.id", job.Subject.String()),
				))
			end = func(err error) { telemetry.End(span, err) }
		}
		msg.SetContext(ctx)
		produced, err := next(msg)
		end(err)
		if err != nil { // not an error of ours yet: it is tried again
			w.cfg.Log.WarnContext(ctx, "attempt failed", "kind", string(job.Kind), "job", job.ID, "subject", job.Subject,
				"attempt", job.Attempt, "error", err)
		}
		return produced, err
	}
}

func linkTo(from trace.SpanContext) []trace.Link {
	if !from.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: from}}
}

func (w *Workers) tell(next message.HandlerFunc) message.HandlerFunc {
	return func(msg *message.Message) ([]*message.Message, error) {
		ctx := msg.Context() // the inner ones replace it by one that has ended when they return
		defer w.cfg.Recorded(ctx)
		return next(msg)
	}
}

func consume(handle Handler) message.NoPublishHandlerFunc {
	return func(msg *message.Message) error {
		job, ok := jobs.FromMessage(msg)
		if !ok {
			return &jobs.FinalError{Err: errors.New("the message is no job")}
		}
		return handle(msg.Context(), job)
	}
}

func (w *Workers) repeat(ctx context.Context, c chore) error {
	for pause.For(ctx, c.every) == nil {
		if err := w.cfg.Loops.Turn(ctx, c.name, c.do); err != nil && ctx.Err() == nil {
			w.cfg.Log.Warn("chore failed, trying again next time", "chore", c.name, "error", err)
		}
	}
	return nil
}
