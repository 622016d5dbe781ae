package handlers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
)

// choreTimeout is the end of one attempt at an expiry or erasure.
const choreTimeout = time.Minute

// behind is how long an expiry is put off that the database thinks is due and
// this worker's clock does not.
const behind = 5 * time.Second

// Expirer ends the window of Ready reports.
type Expirer struct {
	DB      *sqlx.DB
	Queue   *jobs.Queue
	Reports *commands.Service
}

// Task is how expiry jobs are worked on. They are tried for ever: a report that
// has expired reads as expired meanwhile, but its file must go.
func (e *Expirer) Task() Task {
	return Task{Kind: jobs.Expire, Timeout: choreTimeout, Handle: e.Handle, Policy: jobs.Policy{Backoff: hourly}}
}

// hourly is jobs.Backoff with an end to its growth.
func hourly(attempt int) time.Duration { return min(jobs.Backoff(attempt), time.Hour) }

// Handle appends Expired and queues the erasure of the PDF.
func (e *Expirer) Handle(ctx context.Context, job jobs.Claimed) error {
	err := e.Queue.End(ctx, job, func(tx *sqlx.Tx) error {
		erase := jobs.Job{OrganizationID: job.OrganizationID, Kind: jobs.Erase, Subject: job.Subject, Key: jobs.ErasePDF}
		if err := e.Queue.Insert(ctx, tx, erase); err != nil {
			return err
		}
		_, err := e.Reports.MarkExpired(ctx, tx, job.OrganizationID, job.Subject)
		return err
	})
	var early *report.NotDueError
	if errors.As(err, &early) {
		return e.postpone(ctx, job, early.Due)
	}
	if err != nil {
		return fmt.Errorf("expire report %s: %w", job.Subject, err)
	}
	return nil
}

func (e *Expirer) postpone(ctx context.Context, job jobs.Claimed, due time.Time) error {
	if soon := job.At.Add(behind); due.Before(soon) {
		due = soon
	}
	return eventstore.Transact(ctx, e.DB, func(tx *sqlx.Tx) error { return e.Queue.Postpone(ctx, tx, job, due) })
}
