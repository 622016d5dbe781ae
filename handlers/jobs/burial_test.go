package jobs_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"muster/handlers/jobs"
)

// burials makes the database fail the first so many transactions that set a job
// aside, each when it commits. The sequence counts those that are rolled back, too.
const burials = `
CREATE SEQUENCE burials;
CREATE FUNCTION fail_burial() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF nextval('burials') <= TG_ARGV[0]::int THEN
		RAISE EXCEPTION 'the disk has its day' USING ERRCODE = TG_ARGV[1];
	END IF;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER fail_burial AFTER UPDATE ON jobs DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (OLD.dead_at IS NULL AND NEW.dead_at IS NOT NULL) EXECUTE FUNCTION fail_burial(`

// mourner records the calls of Policy.Dead, and their results.
type mourner struct {
	mu        sync.Mutex
	causes    []error
	committed int
	settled   map[jobs.RunOutcome]int
}

func (m *mourner) dead(_ context.Context, _ *sqlx.Tx, _ jobs.Claimed, cause error) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.causes = append(m.causes, cause)
	return func() { m.mu.Lock(); m.committed++; m.mu.Unlock() }, nil
}

func (m *mourner) count(_ jobs.JobKind, outcome jobs.RunOutcome, _ time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.settled == nil {
		m.settled = map[jobs.RunOutcome]int{}
	}
	m.settled[outcome]++
}

func (m *mourner) policy(maxAttempts int) func(*jobs.Config) {
	return func(c *jobs.Config) {
		c.Settled = m.count
		c.Default = jobs.Policy{Concurrency: 1, MaxAttempts: maxAttempts, Dead: m.dead,
			Backoff: func(int) time.Duration { return 0 }, Class: func(error) string { return "surprise" }}
	}
}

// fail ends an attempt with an error.
func fail(m *message.Message, err error) {
	_, _ = jobs.KeepErrors(func(*message.Message) ([]*message.Message, error) { return nil, err })(m)
	m.Nack()
}

// comes lets the one job come again whenever it was put off, until it holds.
func (s *scene) comes(what string, holds func(jobs.Row) bool) jobs.Row {
	s.t.Helper()
	s.until(what, func() bool {
		if holds(s.rows()[0]) {
			return true
		}
		s.exec(`UPDATE jobs SET due_at = now() - interval '1 second' WHERE dead_at IS NULL AND worker_id = ''`)
		return false
	})
	return s.rows()[0]
}

func endings(r jobs.Row) (how []string) {
	for _, e := range r.Endings {
		how = append(how, strings.TrimSpace(e.How+" "+e.Error))
		if e.At.IsZero() || e.Worker == "" || e.Attempt == 0 {
			how = append(how, "incomplete")
		}
	}
	return how
}

// TestABurialThatCannotBeCommitted: why the job failed is remembered, whatever
// becomes of the transactions that are to say so, and nothing is counted that did
// not come about.
func TestABurialThatCannotBeCommitted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fails string // how many burials, and with what

		told    int // how often Dead is asked
		settled map[jobs.RunOutcome]int
	}{
		"at once":               {"0, '58030'", 1, map[jobs.RunOutcome]int{jobs.Retried: 1, jobs.Dead: 1}},
		"a deadlock":            {"1, '40P01'", 2, map[jobs.RunOutcome]int{jobs.Retried: 1, jobs.Dead: 1}},
		"fails once":            {"1, '58030'", 2, map[jobs.RunOutcome]int{jobs.Retried: 2, jobs.Dead: 1}},
		"fails again and again": {"3, '53100'", 4, map[jobs.RunOutcome]int{jobs.Retried: 2, jobs.Dead: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := newScene(t), &mourner{}
			s.exec(burials + tc.fails + ")")
			s.insert(build())
			sub, messages := s.subscriber(m.policy(2))
			for _, err := range []error{errors.New("first"), errors.New("second")} {
				msg, _ := s.receive(messages)
				fail(msg, err)
			}
			row := s.comes("set aside", func(r jobs.Row) bool { return r.Status == jobs.StatusDead })
			if err := sub.Close(); err != nil {
				t.Fatal(err)
			}
			if row.LastError != "second" || row.Attempts != 2 {
				t.Errorf("set aside after %d attempts for %q", row.Attempts, row.LastError)
			}
			if diff := cmp.Diff([]string{"failed first", "failed second"}, endings(row)); diff != "" {
				t.Error(diff)
			}
			if len(m.causes) != tc.told || m.committed != 1 {
				t.Errorf("Dead was asked %d times and committed %d times", len(m.causes), m.committed)
			}
			for i, cause := range m.causes {
				var earlier *jobs.EarlierError
				if cause.Error() != "second" || errors.As(cause, &earlier) && earlier.Class != "surprise" {
					t.Errorf("burial %d is told %#v", i, cause)
				}
			}
			if diff := cmp.Diff(tc.settled, m.settled); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAFinalErrorThatCannotBeBuried comes again, for there are attempts left.
func TestAFinalErrorThatCannotBeBuried(t *testing.T) {
	t.Parallel()
	s, m := newScene(t), &mourner{}
	s.exec(burials + "1, '58030')")
	s.insert(build())
	sub, messages := s.subscriber(m.policy(5))
	first, _ := s.receive(messages)
	fail(first, &jobs.FinalError{Err: errors.New("no such thing")})
	s.until("put back", func() bool { return s.rows()[0].WorkerID == "" })
	s.lapse()
	again, claimed := s.receive(messages)
	fail(again, &jobs.FinalError{Err: errors.New("no such thing")})
	row := s.comes("set aside", func(r jobs.Row) bool { return r.Status == jobs.StatusDead })
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"failed no such thing", "failed no such thing"}, endings(row)); diff != "" || claimed.Attempt != 2 {
		t.Error(claimed.Attempt, diff)
	}
	if diff := cmp.Diff(map[jobs.RunOutcome]int{jobs.Retried: 1, jobs.Dead: 1}, m.settled); diff != "" || m.committed != 1 {
		t.Error(m.committed, diff)
	}
}

// TestTheReasonOfADeadJobIsTrue in every order in which its attempts can end.
func TestTheReasonOfADeadJobIsTrue(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		attempts string // f fails, d dies, s is stopped, b dies while it buries the job
		cause    string
	}{
		"all failed":               {"fff", "attempt 3"},
		"all died":                 {"ddd", "the last 3 of 3 attempts ended without a word from the worker, which died or lost the database"},
		"only the last died":       {"ffd", "the last 1 of 3 attempts ended without a word from the worker, which died or lost the database; the last error before that: attempt 2"},
		"the last did not die":     {"ddf", "attempt 3"},
		"stopped between two":      {"dsfsf", "attempt 3"},
		"died while it was buried": {"fffbb", "attempt 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m := newScene(t), &mourner{}
			s.insert(build())
			if strings.HasSuffix(tc.attempts, "f") || strings.Contains(tc.attempts, "b") {
				s.exec(burials + "1, '58030')") // or the failure is buried as what it is
			}
			for _, end := range tc.attempts {
				if end == 'b' { // a claim of which nothing came
					s.exec(`UPDATE jobs SET attempts = 4, worker_id = 'gone', fence = nextval('job_fence'), due_at = now()`)
					continue
				}
				sub, messages := s.subscriber(m.policy(3))
				msg, c := s.receive(messages)
				switch end {
				case 'f':
					fail(msg, errors.New("attempt "+string(rune('0'+c.Attempt))))
				case 'd':
					s.exec(`UPDATE jobs SET fence = nextval('job_fence')`) // it is not heard any more
					msg.Nack()
				}
				if err := sub.Close(); err != nil {
					t.Fatal(err)
				}
				s.lapse()
			}
			sub, _ := s.subscriber(m.policy(3))
			row := s.comes("set aside", func(r jobs.Row) bool { return r.Status == jobs.StatusDead })
			if err := sub.Close(); err != nil {
				t.Fatal(err)
			}
			if row.LastError != tc.cause || row.Attempts != 3 {
				t.Errorf("set aside after %d attempts for %q, want %q", row.Attempts, row.LastError, tc.cause)
			}
			if got, want := len(row.Endings), len(strings.TrimRight(tc.attempts, "b")); got != want {
				t.Errorf("%d endings %q, want %d", got, endings(row), want)
			}
		})
	}
}
