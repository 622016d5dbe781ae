package jobs_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/tests"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/handlers/jobs"
	"muster/internal/testing/pgtest"
)

// publisher makes a job of each message, so that Watermill's suite can run on
// the queue. The program has none: its jobs are inserted in the transactions
// that append the events which ask for them.
type publisher struct {
	db    *sqlx.DB
	queue *jobs.Queue
}

func (p publisher) Publish(topic string, messages ...*message.Message) error {
	ctx := context.Background()
	tx, err := p.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, m := range messages {
		m.Metadata.Set(suiteID, m.UUID)
		job := jobs.Job{OrganizationID: uuid.New(), Kind: jobs.JobKind(topic), Subject: uuid.New(),
			Payload: m.Payload, Metadata: jobs.JobMetadata(m.Metadata)}
		if err := p.queue.Insert(ctx, tx, job); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (publisher) Close() error { return nil }

// suiteID carries the suite's message id: it sends one id to several topics,
// where a job's id is its own.
const suiteID = "suite_id"

// suiteSubscriber restores the ids of the messages. Watermill's own decorator for that never
// ends if nobody reads its last message, and the suite does not read it.
type suiteSubscriber struct {
	*jobs.Subscriber
	closed  chan struct{}
	close   func()
	running *sync.WaitGroup
}

func newSuiteSubscriber(sub *jobs.Subscriber) suiteSubscriber {
	closed := make(chan struct{})
	return suiteSubscriber{sub, closed, sync.OnceFunc(func() { close(closed) }), &sync.WaitGroup{}}
}

func (s suiteSubscriber) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	in, err := s.Subscriber.Subscribe(ctx, topic)
	if err != nil {
		return nil, err
	}
	out := make(chan *message.Message)
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		defer close(out)
		for m := range in {
			m.UUID = m.Metadata.Get(suiteID)
			select {
			case out <- m:
			case <-s.closed:
				m.Nack()
			}
		}
	}()
	return out, nil
}

func (s suiteSubscriber) Close() error {
	s.close()
	err := s.Subscriber.Close()
	s.running.Wait()
	return err
}

// conformant is the configuration for the topics that the suite invents: messages that it
// expects again at once must not wait, and many nacks must not set a message aside.
func conformant() jobs.Config {
	return jobs.Config{
		Worker: "conformance",
		Drain:  100 * time.Millisecond,
		Grace:  100 * time.Millisecond,
		Poll:   50 * time.Millisecond,
		Default: jobs.Policy{
			Concurrency: 10,
			Backoff:     func(int) time.Duration { return 0 },
		},
	}
}

func TestWatermillConformance(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	queue := jobs.NewQueue(db)
	construct := func(*testing.T) (message.Publisher, message.Subscriber) {
		return publisher{db: db, queue: queue}, newSuiteSubscriber(jobs.NewSubscriber(queue, conformant()))
	}
	tests.TestPubSub(t, tests.Features{
		// Kinds have one handler each: no other handler may see the same job.
		ConsumerGroups: false,
		// A worker that dies after the work and before the commit works twice.
		ExactlyOnceDelivery: false,
		// Jobs of one kind run side by side and retries wait.
		GuaranteedOrder: false,
		Persistent:      true,
		// A finished job is gone; its history is in the event log.
		NewSubscriberReceivesOldMessages: false,
		// The full size is 10,000 jobs of two commits each; -short's shows the same.
		ForceShort: true,
	}, construct, nil)
}
