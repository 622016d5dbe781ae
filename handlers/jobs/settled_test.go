package jobs_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/go-cmp/cmp"

	"muster/handlers/jobs"
	"muster/internal/process/telemetry"
)

// TestEveryAttemptIsSettled: the counter is called once for each attempt, also if its handler
// finished the job itself.
func TestEveryAttemptIsSettled(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var mu sync.Mutex
	told := map[jobs.RunOutcome]int{}
	settled := func(_ jobs.JobKind, outcome jobs.RunOutcome, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		told[outcome]++
		if took < 0 {
			t.Errorf("an attempt took %s", took)
		}
	}
	sub, messages := s.subscriber(func(c *jobs.Config) {
		c.Settled, c.Default = settled, jobs.Policy{Concurrency: 1, MaxAttempts: 2, Backoff: func(int) time.Duration { return 0 }}
	})
	fail := jobs.KeepErrors(func(*message.Message) ([]*message.Message, error) { return nil, errors.New("no") })
	next := func() *message.Message {
		m, _ := s.receive(messages)
		return m
	}
	s.insert(build())
	next().Ack()
	s.insert(build())
	for range 2 { // the second sets it aside
		m := next()
		_, _ = fail(m)
		m.Nack()
	}
	s.insert(build())
	next() // and never answers
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(map[jobs.RunOutcome]int{jobs.Done: 1, jobs.Retried: 1, jobs.Dead: 1, jobs.Returned: 1}, told); diff != "" {
		t.Error(diff)
	}
}

// TestAJobKnowsItsRequest: the job carries the request in its context, in addition to its own
// metadata.
func TestAJobKnowsItsRequest(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	job := build()
	job.Metadata = map[string]string{"own": "kept"}
	tx := s.db.MustBegin()
	if err := errors.Join(s.queue.Insert(telemetry.WithRequestID(t.Context(), "r-1"), tx, job), tx.Commit()); err != nil {
		t.Fatal(err)
	}
	_, messages := s.subscriber(nil)
	m, claimed := s.receive(messages)
	defer m.Ack()
	ctx, _ := telemetry.Resume(t.Context(), claimed.Metadata)
	if telemetry.RequestID(ctx) != "r-1" || claimed.Metadata["own"] != "kept" || len(job.Metadata) != 1 {
		t.Errorf("the job's metadata is %v", claimed.Metadata)
	}
}
