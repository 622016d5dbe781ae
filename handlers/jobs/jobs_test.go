package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/handlers/jobs"
	"muster/internal/concurrency/lease"
	"muster/internal/testing/pgtest"
)

// patience bounds every wait of these tests; none of them needs a second of it.
const patience = 20 * time.Second

type scene struct {
	t     *testing.T
	db    *sqlx.DB
	queue *jobs.Queue
}

func newScene(t *testing.T) *scene {
	t.Helper()
	db := pgtest.DB(t)
	return &scene{t: t, db: db, queue: jobs.NewQueue(db)}
}

func (s *scene) insert(list ...jobs.Job) {
	s.t.Helper()
	s.tx(func(tx *sqlx.Tx) error {
		for _, j := range list {
			if err := s.queue.Insert(s.t.Context(), tx, j); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *scene) tx(do func(tx *sqlx.Tx) error) {
	s.t.Helper()
	tx, err := s.db.BeginTxx(s.t.Context(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(do(tx), tx.Commit()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.db.ExecContext(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) rows() []jobs.Row {
	s.t.Helper()
	rows, err := s.queue.List(s.t.Context(), uuid.Nil, 1000)
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

func (s *scene) until(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			s.t.Fatalf("never: %s; jobs %+v", what, s.rows())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// subscriber is a worker process; it is closed with the test.
func (s *scene) subscriber(change func(*jobs.Config)) (*jobs.Subscriber, <-chan *message.Message) {
	s.t.Helper()
	c := jobs.Config{Worker: "w", Lease: time.Hour, LostWait: time.Nanosecond, Poll: 10 * time.Millisecond, Drain: 100 * time.Millisecond, Grace: 100 * time.Millisecond, Default: jobs.Policy{Concurrency: 8}}
	if change != nil {
		change(&c)
	}
	sub := jobs.NewSubscriber(s.queue, c)
	s.t.Cleanup(func() { _ = sub.Close() })
	messages, err := sub.Subscribe(context.Background(), string(jobs.Build))
	if err != nil {
		s.t.Fatal(err)
	}
	return sub, messages
}

func (s *scene) receive(messages <-chan *message.Message) (*message.Message, jobs.Claimed) {
	s.t.Helper()
	select {
	case m, ok := <-messages:
		if !ok {
			s.t.Fatal("the subscription is over")
		}
		c, ok := jobs.FromMessage(m)
		if !ok {
			s.t.Fatal("the message is no job")
		}
		return m, c
	case <-time.After(patience):
		s.t.Fatalf("no job came; jobs %+v", s.rows())
	}
	return nil, jobs.Claimed{}
}

// lapsed is what a job is like whose worker has died.
const lapsed = `UPDATE jobs SET due_at = now() - interval '1 ms', worker_id = CASE worker_id WHEN '' THEN '' ELSE 'gone' END WHERE dead_at IS NULL`

func (s *scene) lapse() { s.exec(lapsed) }

func build() jobs.Job {
	return jobs.Job{OrganizationID: uuid.New(), Kind: jobs.Build, Subject: uuid.New()}
}

func TestTheFenceStopsAWorkerWithoutItsLease(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.insert(build())
	// With room for one job the first does not claim its own lapsed one again.
	slow, first := s.subscriber(func(c *jobs.Config) { c.Default.Concurrency = 1 })
	message1, lost := s.receive(first)
	s.lapse()
	fast, second := s.subscriber(nil)
	message2, held := s.receive(second)
	if held.Fence <= lost.Fence || held.Attempt != 2 || lost.Attempt != 1 {
		t.Errorf("claims %+v and %+v", lost, held)
	}

	for what, try := range map[string]func(tx *sqlx.Tx) error{
		"finish":   func(tx *sqlx.Tx) error { return s.queue.Finish(t.Context(), tx, lost) },
		"hold":     func(tx *sqlx.Tx) error { return s.queue.Hold(t.Context(), tx, lost) },
		"postpone": func(tx *sqlx.Tx) error { return s.queue.Postpone(t.Context(), tx, lost, time.Now()) },
		"progress": func(tx *sqlx.Tx) error { return s.queue.SetProgress(t.Context(), tx, lost, 1, 3, "x") },
	} {
		tx := s.db.MustBegin()
		fence := fmt.Sprintf("job %s is no longer held under fence %d", lost.ID, lost.Fence)
		if err := try(tx); !lease.IsLost(t.Context(), err) || err.Error() != fence {
			t.Errorf("%s: %v, want *lease.LostError", what, err)
		}
		_ = tx.Rollback()
	}
	message1.Ack() // the loser's ack ends nothing
	if err := slow.Close(); err != nil {
		t.Fatal(err)
	}
	if rows := s.rows(); len(rows) != 1 || rows[0].Status != jobs.StatusRunning {
		t.Fatalf("after the loser's ack: %+v", rows)
	}
	s.tx(func(tx *sqlx.Tx) error { return s.queue.Finish(t.Context(), tx, held) })
	message2.Ack()
	if err := fast.Close(); err != nil {
		t.Fatal(err)
	}
	if rows := s.rows(); len(rows) != 0 {
		t.Errorf("left: %+v", rows)
	}
}

func TestHeartbeatsKeepTheLeaseAndNoticeItsLoss(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.insert(build())
	sub, messages := s.subscriber(func(c *jobs.Config) { c.Lease = 3 * time.Second })
	m, c := s.receive(messages)
	granted := s.rows()[0].LeasedUntil
	s.until("the lease was extended", func() bool { return s.rows()[0].LeasedUntil.After(*granted) })
	if m.Context().Err() != nil {
		t.Fatal("the context ended under a kept lease")
	}
	s.exec(`UPDATE jobs SET fence = nextval('job_fence'), worker_id = 'other', due_at = now() + interval '1 hour'`)
	select {
	case <-m.Context().Done():
	case <-time.After(patience):
		t.Fatal("the context outlives the lease")
	}
	if !lease.IsLost(m.Context(), nil) {
		t.Errorf("cause %v, want *lease.LostError for fence %d", context.Cause(m.Context()), c.Fence)
	}
	m.Nack()
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	if rows := s.rows(); rows[0].WorkerID != "other" || rows[0].LastError != "" {
		t.Errorf("the loser changed the job: %+v", rows[0])
	}
}

func TestManyWorkersNeverShareAJob(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const n = 200
	for range n {
		s.insert(build())
	}
	var mu sync.Mutex
	seen := map[uuid.UUID]int{}
	var subs []*jobs.Subscriber
	for range 4 {
		sub, messages := s.subscriber(nil)
		subs = append(subs, sub)
		go func() {
			for m := range messages {
				c, _ := jobs.FromMessage(m)
				mu.Lock()
				seen[c.ID]++
				mu.Unlock()
				m.Ack()
			}
		}()
	}
	s.until("all jobs are done", func() bool { return len(s.rows()) == 0 })
	for _, sub := range subs {
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for id, times := range seen {
		if times != 1 {
			t.Errorf("job %s ran %d times", id, times)
		}
	}
	if len(seen) != n {
		t.Errorf("%d jobs ran, want %d", len(seen), n)
	}
}

func TestInsertingTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	later := time.Now().Add(6 * time.Hour).UTC().Truncate(time.Microsecond)
	j := build()
	j.RunAt = later
	s.insert(j, j)
	if rows := s.rows(); len(rows) != 1 || !rows[0].RunAt.Equal(later) {
		t.Fatalf("jobs %+v, want one at %s", rows, later)
	}
	j.RunAt = time.Time{}
	s.insert(j)
	sub, messages := s.subscriber(func(c *jobs.Config) { c.Default.MaxAttempts = 1 })
	m, c := s.receive(messages) // pulled forward
	s.insert(j)
	if rows := s.rows(); len(rows) != 1 || rows[0].Status != jobs.StatusRunning {
		t.Errorf("inserting again what runs: %+v", rows)
	}
	if c.Age > time.Minute {
		t.Errorf("age %s counts from the time it was first put off to", c.Age)
	}
	m.Nack()
	s.until("set aside", func() bool { return s.rows()[0].Status == jobs.StatusDead })
	s.insert(j)
	m, c = s.receive(messages) // afresh
	if c.Attempt != 1 {
		t.Errorf("attempt %d, want a fresh start", c.Attempt)
	}
	m.Ack()
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFailedAttempt(t *testing.T) {
	t.Parallel()
	surprise := errors.New("surprise \x00 with a NUL")
	for name, tc := range map[string]struct {
		policy   jobs.Policy
		attempts int
		fails    error
		age      string
		dead     bool
	}{
		"waits":                    {jobs.Policy{MaxAttempts: 5}, 0, surprise, "0", false},
		"is the last":              {jobs.Policy{MaxAttempts: 5}, 4, surprise, "0", true},
		"is final":                 {jobs.Policy{MaxAttempts: 5}, 0, &jobs.FinalError{Err: surprise}, "0", true},
		"within its day":           {jobs.Policy{GiveUpAfter: 24 * time.Hour}, 11, surprise, "23 hours", false},
		"when its day is over":     {jobs.Policy{GiveUpAfter: 24 * time.Hour}, 11, surprise, "25 hours", true},
		"without any bound at all": {jobs.Policy{}, 99, surprise, "900 hours", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			var mourned atomic.Int32
			tc.policy.Dead = func(context.Context, *sqlx.Tx, jobs.Claimed, error) (func(), error) {
				mourned.Add(1)
				return nil, nil
			}
			s.insert(build())
			s.exec(`UPDATE jobs SET attempts = $1, queued_at = now() - $2::interval, endings = (SELECT coalesce(jsonb_agg(
				jsonb_build_object('attempt', n, 'at', now(), 'worker', 'w', 'how', 'failed', 'class', '', 'error', 'no')), '[]') FROM generate_series(1, $1) n)`, tc.attempts, tc.age)
			sub, messages := s.subscriber(func(c *jobs.Config) { c.Default = tc.policy })
			m, _ := s.receive(messages)
			if _, err := jobs.KeepErrors(func(*message.Message) ([]*message.Message, error) { return nil, tc.fails })(m); err == nil {
				t.Fatal("the middleware swallowed the error")
			}
			m.Nack()
			s.until("settled", func() bool { return s.rows()[0].WorkerID == "" })
			if err := sub.Close(); err != nil {
				t.Fatal(err)
			}
			row := s.rows()[0]
			if (row.Status == jobs.StatusDead) != tc.dead || (mourned.Load() == 1) != tc.dead {
				t.Errorf("status %s, mourned %d times", row.Status, mourned.Load())
			}
			if !strings.Contains(row.LastError, "surprise") {
				t.Errorf("last error %q", row.LastError)
			}
			left := 24*time.Hour - 23*time.Hour
			if tc.policy.GiveUpAfter > 0 && !tc.dead && time.Until(row.RunAt) > left {
				t.Errorf("next attempt in %s, want the last one within the day", time.Until(row.RunAt))
			}
		})
	}
}

func TestBackoffGrowsWithTheFourthPower(t *testing.T) {
	t.Parallel()
	for attempt, want := range map[int]time.Duration{1: time.Second, 2: 16 * time.Second, 3: 81 * time.Second, 5: 625 * time.Second} {
		for range 50 {
			if got := jobs.Backoff(attempt); got < want*9/10 || got > want*11/10 {
				t.Errorf("after attempt %d: %s, want %s ± 10 %%", attempt, got, want)
			}
		}
	}
}

func TestCloseHandsBackUnfinishedJobs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.insert(build(), build())
	sub, messages := s.subscriber(func(c *jobs.Config) {
		c.Drain, c.Grace, c.Default.Concurrency = 20*time.Millisecond, 20*time.Millisecond, 2
	})
	obedient, _ := s.receive(messages)
	s.receive(messages) // never answers
	go func() {
		<-obedient.Context().Done()
		obedient.Nack()
	}()
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(context.Cause(obedient.Context()), jobs.ErrStopping) {
		t.Errorf("cause %v", context.Cause(obedient.Context()))
	}
	for _, row := range s.rows() {
		if row.Status != jobs.StatusQueued || row.Attempts != 0 || row.WorkerID != "" || time.Until(row.RunAt) > 0 ||
			len(row.Endings) != 1 || row.Endings[0].How != jobs.EndedReturned {
			t.Errorf("handed back as %+v", row)
		}
	}
	if _, err := sub.Subscribe(t.Context(), string(jobs.Build)); err == nil {
		t.Error("a closed subscriber takes subscriptions")
	}
}

func TestTheDatabaseGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	sub, messages := s.subscriber(nil)
	s.insert(build())
	m, _ := s.receive(messages)
	// Everything that this pool and the listener hold breaks, as in a restart.
	s.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	m.Ack()
	s.until("the job is settled", func() bool {
		rows, err := s.queue.List(t.Context(), uuid.Nil, 10)
		return err == nil && (len(rows) == 0 || rows[0].WorkerID != "")
	})
	s.until("a job is inserted", func() bool {
		tx, err := s.db.BeginTxx(t.Context(), nil)
		if err != nil {
			return false
		}
		defer func() { _ = tx.Rollback() }()
		return s.queue.Insert(t.Context(), tx, build()) == nil && tx.Commit() == nil
	})
	m, _ = s.receive(messages)
	m.Ack()
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAJobIsOnlyThereWhenItsTransactionIs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	tx := s.db.MustBegin()
	if err := s.queue.Insert(t.Context(), tx, build()); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if rows := s.rows(); len(rows) != 0 {
		t.Errorf("jobs %+v", rows)
	}
}

// TestAJobStartsWhenItIsDue and not at the next look of an idle worker.
func TestAJobStartsWhenItIsDue(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	sub, messages := s.subscriber(func(c *jobs.Config) { c.Poll = time.Hour })
	for range 2 {
		later := build()
		later.RunAt = time.Now().Add(500 * time.Millisecond)
		s.insert(later)
		m, _ := s.receive(messages)
		if late := time.Since(later.RunAt); late < 0 {
			t.Errorf("it starts %v too soon", -late)
		}
		m.Ack()
	}
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestACommitWakesAnIdleWorker(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	sub, messages := s.subscriber(func(c *jobs.Config) { c.Poll = time.Hour })
	// Whether the first comes by the look after LISTEN or by its notification
	// does not matter; the second only comes by a notification.
	for range 2 {
		s.insert(build())
		m, _ := s.receive(messages)
		m.Ack()
	}
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
}
