package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

// worker is the actor of a build's life.
func worker(organization uuid.UUID) usecase.Actor {
	return usecase.Actor{OrganizationID: organization, Component: "worker"}
}

// lockReport makes every other writer of a report wait until tx ends. Its claim, if it still
// has one, comes first, because a second request for the same report locks it before it reaches
// the stream.
func lockReport(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID) error {
	err := statement.Exec(ctx, tx, fmt.Sprintf("lock the claim of report %s", id),
		`SELECT FROM report_claims WHERE organization_id = $1 AND report_id = $2 FOR UPDATE`, organization, id)
	if err != nil {
		return err
	}
	return usecase.LockStream(ctx, tx, id)
}

// decideReport decides about a report under its lock: see decide.
func (s *Service) decideReport(
	ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID,
	choose func(r *report.Report, now time.Time) ([]report.Event, error),
	before func(r *report.Report, events []report.Event) error,
) (usecase.Mark, error) {
	if err := lockReport(ctx, tx, actor.OrganizationID, id); err != nil {
		return usecase.Mark{}, err
	}
	var r report.Report
	return usecase.Decide(ctx, s.Base, tx, actor, reportPlace(id), r.Apply, func(now time.Time) ([]report.Event, error) {
		if r.Status() == "" {
			return nil, &usecase.NotFoundError{What: "report"}
		}
		return choose(&r, now)
	}, func(events []report.Event) error {
		if before == nil {
			return nil
		}
		return before(&r, events)
	})
}

func reportPlace(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Reports, StreamType: report.StreamType, ID: id}
}

// releaseClaim lets the next identical request create a report of its own.
func releaseClaim(ctx context.Context, tx *sqlx.Tx, r *report.Report, organization uuid.UUID) error {
	return statement.Exec(ctx, tx, "release the claim of a report", `DELETE FROM report_claims WHERE organization_id = $1 AND fingerprint = $2`, organization, r.Fingerprint())
}

// StartBuild records that worker took the request: BuildStarted if it was Queued, BuildResumed
// with reason if it was Building already. The same worker and attempt twice are one fact.
//
// Like every use case that takes a transaction it must be called last in it: from its append to
// the commit the log's head row is locked. Errors of all of them: *usecase.NotFoundError,
// *report.TransitionError.
func (s *Service) StartBuild(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, workerID string, attempt int, reason string) (usecase.Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.Start(workerID, attempt, reason)
	}, nil)
}

// CompleteStep records a finished step of the build. A step at or before the
// last one of this attempt is known already.
func (s *Service) CompleteStep(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, step report.StepCompleted) (usecase.Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.CompleteStep(step)
	}, nil)
}

// MarkReady records the finished file and releases the claim. RecipientIDs (with members who
// joined meanwhile) and ExpiresAt are set here, from RetentionSeconds.
//
// finish runs before the append, with the event as it will be recorded: it inserts the mail,
// expiry and erasure jobs, so that all writers lock jobs before the log. It does not run if
// this Ready is recorded already; a Ready with another file is a *report.TransitionError.
func (s *Service) MarkReady(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, ready report.Ready, finish func(report.Ready) error) (usecase.Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, now time.Time) ([]report.Event, error) {
		return r.Ready(ready, now)
	}, func(r *report.Report, events []report.Event) error {
		if err := releaseClaim(ctx, tx, r, organization); err != nil {
			return err
		}
		for _, e := range events {
			if recorded, ok := e.(report.Ready); ok && finish != nil {
				return finish(recorded)
			}
		}
		return nil
	})
}

// RecordSigned records the second revision of the PDF; lost: the file of the recorded one is
// gone. keep runs before the append, if the revision is recorded now.
func (s *Service) RecordSigned(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, signed report.Signed, lost bool, keep func() error) (usecase.Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.Sign(signed, lost)
	}, func(_ *report.Report, events []report.Event) error {
		if len(events) == 0 {
			return nil
		}
		return keep()
	})
}

// MarkFailed ends a request with a code and a sentence, and releases its claim. A request that
// never started goes through Building.
func (s *Service) MarkFailed(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, failed report.Failed) (usecase.Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.Fail(failed)
	}, func(r *report.Report, _ []report.Event) error {
		return releaseClaim(ctx, tx, r, organization)
	})
}

// MarkExpired records that the retention window has elapsed. Before it has,
// the answer is a *report.NotDueError with the time to come back.
func (s *Service) MarkExpired(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID) (usecase.Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, now time.Time) ([]report.Event, error) {
		return r.Expire(now)
	}, nil)
}

// RecordInputsErased records that the inputs document was deleted by rule
// (retention, member_erased); whom it named needs no remembering then.
func (s *Service) RecordInputsErased(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, rule string) (usecase.Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.EraseInputs(rule)
	}, func(*report.Report, []report.Event) error {
		return statement.Exec(ctx, tx, fmt.Sprintf("forget whom report %s names", id), `DELETE FROM report_people WHERE organization_id = $1 AND report_id = $2`, organization, id)
	})
}

// RecordMail records the outcome of one recipient's mail: a report.EmailSent or a
// report.EmailFailed. A sent mail stays sent. Errors besides those of StartBuild:
// *report.NotRecipientError.
//
// keep runs before the append, if the mail was sent and may be stored: while the report is
// available, and nobody whom it names is erased. Nil: it is not stored.
func (s *Service) RecordMail(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, outcome report.Event, named []uuid.UUID, keep func() error) (usecase.Mark, error) {
	return s.decideReport(ctx, tx, worker(organization), id, func(r *report.Report, _ time.Time) ([]report.Event, error) {
		return r.RecordMail(outcome)
	}, func(r *report.Report, _ []report.Event) error {
		if _, sent := outcome.(report.EmailSent); !sent || keep == nil || r.StatusAt(s.Clock()) != report.StatusReady {
			return nil
		}
		erased, err := s.Accounts.LockPeople(ctx, tx, organization, named)
		if err != nil || erased {
			return err
		}
		return keep()
	})
}

// RecordDownload records that the actor fetched one of the report's files, at most once
// an hour. A report that is not Ready, or whose window has elapsed by the clock where
// the file ends with it, is a *report.TransitionError: record first, then send the file.
func (s *Service) RecordDownload(ctx context.Context, actor usecase.Actor, id uuid.UUID, file string) (usecase.Mark, error) {
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		return s.decideReport(ctx, tx, actor, id, func(r *report.Report, now time.Time) ([]report.Event, error) {
			return r.RecordDownload(actor.MemberID, file, now)
		}, nil)
	})
}

// RecordPeople remembers, in the transaction of Ready, whom the inputs document
// of a report names, and queues its erasure where one of them was erased while it
// was built: the members' rows are locked first.
func (s *Service) RecordPeople(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID, members []uuid.UUID) error {
	if len(members) == 0 {
		return nil
	}
	erased, err := s.Accounts.LockPeople(ctx, tx, organization, members)
	if err != nil {
		return err
	}
	if erased {
		return s.Jobs.InsertErasure(ctx, tx, organization, report)
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("record whom report %s names", report), `INSERT INTO report_people (organization_id, report_id, member_id)
		SELECT $1, $2, unnest($3::uuid[]) ON CONFLICT DO NOTHING`, organization, report, members)
}

// ReportFinalError says that a report is not built any more, because it has ended.
type ReportFinalError struct {
	Report uuid.UUID
	Status report.Status
}

func (e *ReportFinalError) Error() string {
	return fmt.Sprintf("report %s is %s, so building it again would change nothing; request the report again instead", e.Report, e.Status)
}

// RetryJob lets a job that was set aside run again, with its full number of attempts. It
// refuses the build of a report that has ended, because a worker would find nothing left to do.
// Nothing is locked, because a report that has ended stays so. Errors: *ReportFinalError, and
// those of Jobs.Retry.
func (s *Service) RetryJob(ctx context.Context, organization, job uuid.UUID) error {
	id, isBuild, err := s.Jobs.DeadBuild(ctx, organization, job)
	if err != nil {
		return err
	}
	if isBuild {
		var r report.Report
		if _, err := usecase.Fold(ctx, s.Base, s.DB, organization, id, r.Apply); err != nil {
			return err
		}
		switch status := r.Status(); status {
		case report.StatusReady, report.StatusFailed, report.StatusExpired:
			return &ReportFinalError{Report: id, Status: status}
		case report.StatusQueued, report.StatusBuilding:
		}
	}
	return s.Jobs.Retry(ctx, organization, job)
}
