package jobs_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/handlers/jobs"
)

// attempts lets the one job be tried by a worker each time, which ends as the letters say: it
// fails, dies, is stopped, or (r) a person has the job retried that was set aside.
func (s *scene) attempts(ends string, policy jobs.Policy) {
	s.t.Helper()
	for _, end := range ends {
		if end == 'r' {
			sub, _ := s.subscriber(func(c *jobs.Config) { c.Default = policy }) // buries it, where the last attempt was lost
			s.until("set aside", func() bool { return s.rows()[0].Status == jobs.StatusDead })
			if err := sub.Close(); err != nil {
				s.t.Fatal(err)
			}
			if err := s.queue.Retry(s.t.Context(), uuid.Nil, s.rows()[0].ID); err != nil {
				s.t.Fatal(err)
			}
			continue
		}
		sub, messages := s.subscriber(func(c *jobs.Config) { c.Default = policy })
		m, _ := s.receive(messages)
		switch end {
		case 'f':
			fail(m, errors.New("no"))
		case 'd':
			s.exec(`UPDATE jobs SET fence = nextval('job_fence')`) // it is not heard any more
			m.Nack()
		}
		if err := sub.Close(); err != nil {
			s.t.Fatal(err)
		}
		s.lapse()
	}
}

// TestLostAttemptsDoNotDelayARetry: the wait after a failure grows with the failures before it.
// It does not grow with attempts that died with their worker, nor with those before a person
// retried the job.
func TestLostAttemptsDoNotDelayARetry(t *testing.T) {
	t.Parallel()
	for ends, failures := range map[string]int{
		"f": 1, "fff": 3, "ddddf": 1, "fddf": 2, "sfsdsf": 2,
		"fffffrf": 1, "fffffrddff": 2, "dddddrdf": 1, "fffffrsf": 1,
	} {
		t.Run(ends, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			var last atomic.Int64
			s.insert(build())
			s.attempts(ends, jobs.Policy{MaxAttempts: 5, Backoff: func(failures int) time.Duration {
				last.Store(int64(failures))
				return 0
			}})
			if got := int(last.Load()); got != failures {
				t.Errorf("it waits as after %d failures, want %d; %q", got, failures, endings(s.rows()[0]))
			}
		})
	}
}

// TestAJobThatKillsItsWorkersForADay is set aside where only time bounds it, and one whose
// worker was gone for days is not.
func TestAJobThatKillsItsWorkersForADay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ends, age string
		cause     string // empty: it is tried once more
	}{
		"within its day":  {"dddddd", "23 hours", ""},
		"away for days":   {"d", "3 days", ""},
		"a day and twice": {"fdd", "25 hours", ""},
		"a day of deaths": {"fddd", "25 hours", "the last 3 of 4 attempts ended without a word from the worker, which died or lost the database; the last error before that: no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := newScene(t), &mourner{}
			policy := jobs.Policy{GiveUpAfter: 24 * time.Hour, Dead: m.dead}
			s.insert(build())
			s.attempts(tc.ends, policy)
			s.exec(`UPDATE jobs SET queued_at = now() - $1::interval`, tc.age)
			sub, messages := s.subscriber(func(c *jobs.Config) { c.Default = policy })
			if tc.cause == "" {
				message, claimed := s.receive(messages)
				if claimed.Attempt != len(tc.ends)+1 {
					t.Errorf("attempt %d", claimed.Attempt)
				}
				message.Ack()
			} else {
				s.until("set aside", func() bool { return s.rows()[0].Status == jobs.StatusDead })
				if row := s.rows()[0]; row.LastError != tc.cause || row.Attempts != len(tc.ends) {
					t.Errorf("set aside after %d attempts for %q", row.Attempts, row.LastError)
				}
			}
			if err := sub.Close(); err != nil {
				t.Fatal(err)
			}
			if want := min(1, len(tc.cause)); len(m.causes) != want || m.committed != want {
				t.Errorf("Dead was asked %d times and committed %d times", len(m.causes), m.committed)
			}
		})
	}
}
