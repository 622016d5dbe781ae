package jobs_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5/pgconn"

	"muster/handlers/jobs"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// lingers is a commit that waits for longer than the workers of TestAStallOfCommitsAbandonsNoJob
// do. They cancel theirs, but PostgreSQL drops a cancellation that comes before its statement,
// and that commit then keeps the job locked for as long as the stall lasts.
const lingers = `wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '2 seconds'`

// TestAStallOfCommitsAbandonsNoJob: two workers claim it, at work and in vain, for more than
// the leases of its attempts together, and when commits return it is done.
func TestAStallOfCommitsAbandonsNoJob(t *testing.T) {
	t.Parallel()
	server, url := pgtest.Stalling(t)
	db := pgtest.Connect(t, url)
	s := &scene{t: t, db: db, queue: jobs.NewQueue(db)}
	const term, attempts = 150 * time.Millisecond, 2
	m := &mourner{}
	var works []<-chan *message.Message
	for _, name := range []string{"a", "b"} {
		_, messages := s.subscriber(func(c *jobs.Config) {
			c.Worker, c.Lease = name, term
			c.Default = jobs.Policy{Concurrency: 1, MaxAttempts: attempts, Dead: m.dead}
		})
		works = append(works, messages)
	}
	s.until("both workers are there", func() bool {
		var there int
		return db.Get(&there, `SELECT count(DISTINCT objid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`) == nil && there == 2
	})
	s.insert(build())
	var first *message.Message
	select {
	case first = <-works[0]:
	case first = <-works[1]:
	case <-time.After(patience):
		t.Fatal("nobody begins")
	}
	resume := server.Stall(t)
	<-first.Context().Done() // its lease could not be kept
	first.Nack()
	s.until("more leases than attempts lapsed", func() bool {
		s.exec(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ` + lingers)
		rows := s.rows()
		return len(rows) == 0 || len(rows[0].Endings) > 2*attempts
	})
	resume()
	var acked atomic.Int64
	for _, messages := range works {
		go func() {
			for m := range messages { // until the subscriber is closed
				acked.Add(1)
				m.Ack()
			}
		}()
	}
	s.until("it is done", func() bool { return len(s.rows()) == 0 })
	if acked.Load() == 0 {
		t.Error("the job is gone, and nobody did it")
	}
	if len(m.causes) > 0 {
		t.Errorf("it was set aside: %v", m.causes)
	}
}

// TestAnInterruptionByTheDatabaseIsNoAttempt, and the job is not tried again at once.
func TestAnInterruptionByTheDatabaseIsNoAttempt(t *testing.T) {
	t.Parallel()
	state := func(code string) error { return fmt.Errorf("append: %w", &pgconn.PgError{Code: code}) }
	for name, tc := range map[string]struct {
		cause       error
		interrupted bool
	}{
		"a full disk":        {state("53100"), true},
		"a standby":          {state("25006"), true},
		"a stop":             {state("57P01"), true},
		"a lock not got":     {state("55P03"), true},
		"a connection lost":  {fmt.Errorf("commit: %w", &postgres.ConnectionLostError{Err: errors.New("reset")}), true},
		"a bad connection":   {fmt.Errorf("lock the claim: %w", driver.ErrBadConn), true},
		"a wrong statement":  {state("42601"), false},
		"out of memory":      {state("53200"), false},
		"time that is up":    {fmt.Errorf("render: %w", context.DeadlineExceeded), false},
		"final all the same": {&jobs.FinalError{Err: state("53100")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := newScene(t), &mourner{}
			var waited atomic.Int64
			_, messages := s.subscriber(func(c *jobs.Config) {
				c.Default = jobs.Policy{Concurrency: 1, MaxAttempts: 2, Dead: m.dead, Backoff: func(n int) time.Duration {
					waited.Store(int64(n))
					return 0
				}}
			})
			s.insert(build())
			if !tc.interrupted {
				for range 2 {
					msg, _ := s.receive(messages)
					fail(msg, tc.cause)
					if errors.As(tc.cause, new(*jobs.FinalError)) {
						break
					}
				}
				s.until("set aside", func() bool { return s.rows()[0].Status == jobs.StatusDead })
				return
			}
			for n := range 5 {
				msg, c := s.receive(messages)
				fail(msg, tc.cause)
				s.until("put back", func() bool { return len(s.rows()[0].Endings) == n+1 })
				if c.Attempt != 1 || waited.Load() != int64(min(n+1, 3)) {
					t.Errorf("interruption %d is of attempt %d, and waits as after %d", n+1, c.Attempt, waited.Load())
				}
			}
			msg, _ := s.receive(messages)
			msg.Ack()
			s.until("done", func() bool { return len(s.rows()) == 0 })
		})
	}
}

// TestAJobThatIsLostAgainWaitsLonger: the first job whose lease lapses is taken at once, the next time it waits
// longer, and a failure in between begins anew.
func TestAJobThatIsLostAgainWaitsLonger(t *testing.T) {
	t.Parallel()
	for endings, seconds := range map[string]int{"": 0, "l": 1, "ll": 16, "lli": 81, "lllll": 81, "llf": 0, "llfl": 1, "lls": 0} {
		t.Run(endings, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.insert(build())
			noted := []jobs.Ending{}
			for n, how := range endings {
				noted = append(noted, jobs.Ending{Attempt: n + 1, How: map[rune]string{'l': "lost", 'i': "interrupted", 'f': "failed", 's': "returned"}[how]})
			}
			kept, err := json.Marshal(noted)
			if err != nil {
				t.Fatal(err)
			}
			s.exec(`UPDATE jobs SET attempts = 1, endings = $1`, string(kept))
			claimed := func(ago time.Duration) bool {
				s.exec(`UPDATE jobs SET worker_id = 'gone', due_at = now() - $1 * interval '1 ms'`, ago.Milliseconds())
				ok, err := s.queue.ClaimOnce(t.Context(), time.Second)
				if err != nil {
					t.Fatal(err)
				}
				return ok
			}
			if seconds > 0 && claimed(time.Duration(seconds)*time.Second-500*time.Millisecond) {
				t.Error("it is taken too early")
			}
			if !claimed(time.Duration(seconds)*time.Second + time.Millisecond) {
				t.Error("it is not taken in time")
			}
		})
	}
}
