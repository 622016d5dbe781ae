package handlers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/schedule"
	"muster/eventstore"
	"muster/handlers/jobs"
)

// Scheduler requests the reports of schedules that are due. A schedule that is switched on
// has one job, which comes when it is due next; what is due is decided by the schedule's
// events and the database's clock, whenever the job comes.
type Scheduler struct{ Parts }

// The points of a run.
const (
	pointPlanned point = "planned"
	pointRun     point = "run"
)

// runsAtOnce is how many schedules of one organization a process handles at once. A schedule
// that requests only after changes may have servers assessed first.
const runsAtOnce = 2

// lookAgain is how long a schedule is left alone at most, so that a change of the rules of
// its time zone is noticed.
const lookAgain = 24 * time.Hour

// Task is how run jobs are worked on. They are tried forever: if no attempt succeeds until the
// next due time, that is a fact, too.
func (s *Scheduler) Task(concurrency int) Task {
	return Task{
		Kind: jobs.Run, Timeout: buildTimeout, Handle: s.Handle,
		Policy: jobs.Policy{Concurrency: concurrency, Backoff: hourly},
	}
}

// Handle records what becomes of the due times of one schedule that have come, and lets
// its job come again when the next is due.
func (s *Scheduler) Handle(ctx context.Context, job jobs.Claimed) error {
	run, err := s.Reports.PlanRun(ctx, job.OrganizationID, job.Subject, job.At)
	if err != nil {
		return err
	}
	if run.Requests() && run.Terms.OnlyIfChanged {
		if run.Unchanged, err = s.unchanged(ctx, job, run); err != nil {
			return fmt.Errorf("compare the findings for schedule %s: %w", job.Subject, err)
		}
	}
	if err := s.pass(ctx, pointPlanned); err != nil {
		return err
	}
	err = s.commit(ctx, job, run)
	var full *commands.NoRoomError
	if errors.As(err, &full) {
		return s.again(ctx, job, job.At.Add(full.RetryAfter))
	}
	if err != nil {
		return fmt.Errorf("run schedule %s: %w", job.Subject, err)
	}
	return s.pass(ctx, pointRun)
}

func (s *Scheduler) commit(ctx context.Context, job jobs.Claimed, run *commands.ScheduleRun) error {
	return eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) error {
		if err := s.Queue.Hold(ctx, tx, job); err != nil {
			return err
		}
		_, err := s.Reports.RunSchedule(ctx, tx, run, whyMissed(job), func(next time.Time) error {
			if next.IsZero() {
				return s.Queue.Finish(ctx, tx, job)
			}
			if look := job.At.Add(lookAgain); next.After(look) {
				next = look
			}
			return s.Queue.Postpone(ctx, tx, job, next)
		})
		return err
	})
}

func (s *Scheduler) again(ctx context.Context, job jobs.Claimed, at time.Time) error {
	return eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) error { return s.Queue.Postpone(ctx, tx, job, at) })
}

// whyMissed says why a due time had no result until the next one. The job has been due since
// the time in its row: earlier due times were looked at, and waited.
func whyMissed(job jobs.Claimed) func(due time.Time) string {
	since := job.At.Add(-job.Age)
	failed := slices.ContainsFunc(job.Endings, func(e jobs.Ending) bool { return e.How == jobs.EndedFailed })
	return func(due time.Time) string {
		if failed || due.Before(since) {
			return schedule.ReasonNextDue
		}
		return schedule.ReasonAway
	}
}

// unchanged returns the report of the last run that became Ready, if its findings are those of
// now; uuid.Nil if they differ, or if there is none.
func (s *Scheduler) unchanged(ctx context.Context, job jobs.Claimed, run *commands.ScheduleRun) (uuid.UUID, error) {
	last, digest, err := s.lastReady(ctx, job.OrganizationID, run.Reports)
	if err != nil || digest == "" {
		return uuid.Nil, err
	}
	var altered *AlteredFactsError
	now, err := s.Gatherer.Findings(ctx, Gathering{OrganizationID: job.OrganizationID, Queued: run.Queued, RequestedAt: job.At})
	if errors.As(err, &altered) { // nothing to compare: the report that is requested says so
		return uuid.Nil, nil
	}
	if err != nil || now != digest {
		return uuid.Nil, err
	}
	return last, nil
}

// lastReady is the first of some reports that became Ready, and the digest of its findings. The
// digest is empty if there is none, or if the report is older than digests.
func (s *Scheduler) lastReady(ctx context.Context, organization uuid.UUID, reports []uuid.UUID) (last uuid.UUID, digest string, err error) {
	for _, id := range reports {
		rec, err := s.load(ctx, organization, id)
		if err != nil {
			return uuid.Nil, "", err
		}
		switch {
		case rec.ready == nil:
		case rec.ready.Findings == nil:
			return uuid.Nil, "", nil
		default:
			return id, rec.ready.Findings.SHA256, nil
		}
	}
	return uuid.Nil, "", nil
}
