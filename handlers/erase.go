package handlers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/files/blobs"
	"muster/internal/mail/sent"
	"muster/internal/report/brief"
)

// choreTimeout is the end of one attempt at an expiry or erasure.
const choreTimeout = time.Minute

// behind is how long an expiry is put off that the database thinks is due and
// this worker's clock does not.
const behind = 5 * time.Second

// Expirer ends the window of Ready reports.
type Expirer struct{ Parts }

// Task is how expiry jobs are worked on. They are tried forever: an expired report reads as
// expired meanwhile, but its file must be deleted.
func (e *Expirer) Task() Task {
	return Task{Kind: jobs.Expire, Timeout: choreTimeout, Handle: e.Handle, Policy: jobs.Policy{Backoff: hourly}}
}

// hourly is jobs.Backoff with an end to its growth.
func hourly(failures int) time.Duration { return min(jobs.Backoff(failures), time.Hour) }

// Handle appends Expired and queues the erasure of the PDF.
func (e *Expirer) Handle(ctx context.Context, job jobs.Claimed) error {
	err := e.end(ctx, job, fmt.Sprintf("expire report %s", job.Subject), func(tx *sqlx.Tx) (usecase.Mark, error) {
		erase := jobs.Job{OrganizationID: job.OrganizationID, Kind: jobs.Erase, Subject: job.Subject, Key: jobs.ErasePDF}
		if err := e.Queue.Insert(ctx, tx, erase); err != nil {
			return usecase.Mark{}, err
		}
		return e.Reports.MarkExpired(ctx, tx, job.OrganizationID, job.Subject)
	})
	var early *report.NotDueError
	if errors.As(err, &early) {
		return e.postpone(ctx, job, early.Due)
	}
	return err
}

func (e *Expirer) postpone(ctx context.Context, job jobs.Claimed, due time.Time) error {
	if soon := job.At.Add(behind); due.Before(soon) {
		due = soon
	}
	return eventstore.Transact(ctx, e.DB, func(tx *sqlx.Tx) error { return e.Queue.Postpone(ctx, tx, job, due) })
}

// The rules by which inputs are erased, as the event names them.
const (
	ruleRetention    = "retention"     // their time has come
	ruleMemberErased = "member_erased" // a person whom they name was erased
)

// Eraser deletes what may no longer be kept.
type Eraser struct{ Parts }

// Task is how erasure jobs are worked on. They are tried forever: a promise to delete does not
// lapse.
func (e *Eraser) Task() Task {
	return Task{Kind: jobs.Erase, Timeout: choreTimeout, Handle: e.Handle, Policy: jobs.Policy{Backoff: hourly}}
}

// Handle deletes what one rule is about: the PDF with its companions, its brief and the mails
// that were sent about it, or the inputs. The file goes first and the event
// follows: the other way round a crash could leave a file that the log says is
// gone.
func (e *Eraser) Handle(ctx context.Context, job jobs.Claimed) error {
	rec, err := e.load(ctx, job.OrganizationID, job.Subject)
	if err != nil {
		return err
	}
	if rec.ready == nil {
		return nil // nothing was ever kept under a name
	}
	switch job.Key {
	case jobs.ErasePDF:
		if rec.Status() != report.StatusExpired {
			return &jobs.FinalError{Err: fmt.Errorf("report %s is %s: its PDF is still offered", job.Subject, rec.Status())}
		}
		if err := sent.Forget(ctx, e.DB, job.OrganizationID, job.Subject); err != nil {
			return err
		}
		if err := brief.Forget(ctx, e.DB, job.OrganizationID, job.Subject); err != nil {
			return err
		}
		return e.eraseFiles(ctx, rec.files())
	case jobs.EraseInputs:
		return e.eraseInputs(ctx, job, rec.ready.InputsKey, ruleRetention)
	case jobs.ErasePeople:
		return e.eraseInputs(ctx, job, rec.ready.InputsKey, ruleMemberErased)
	}
	return &jobs.FinalError{Err: fmt.Errorf("erase job for %q", job.Key)}
}

func (e *Eraser) eraseFiles(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := e.Blobs.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// eraseInputs erases them by a rule. Where another rule came first, its event
// stays the only one.
func (e *Eraser) eraseInputs(ctx context.Context, job jobs.Claimed, file, rule string) error {
	if err := e.Blobs.Delete(ctx, file); err != nil {
		return err
	}
	doing := fmt.Sprintf("record the erasure of the inputs of report %s", job.Subject)
	return e.end(ctx, job, doing, func(tx *sqlx.Tx) (usecase.Mark, error) {
		return e.Reports.RecordInputsErased(ctx, tx, job.OrganizationID, job.Subject, rule)
	})
}

// Sweeper deletes files that no event names: those that dead workers left behind, and those
// that were written for a deleted organization.
type Sweeper struct{ Parts }

// SweepEvery is how often it is worth looking.
const SweepEvery = time.Hour

// strayAge protects files of reports that this database does not know (yet, or
// any more): they must at least be older than any attempt to build one.
const strayAge = time.Hour

// Swept says what a sweep did.
type Swept struct {
	Looked  int
	Deleted int
}

// Sweep deletes the strays. A file whose report is still being built is never
// one, however old: its worker may be about to commit.
func (s *Sweeper) Sweep(ctx context.Context) (Swept, error) {
	var swept Swept
	var last, departed uuid.UUID
	var rec *recorded
	var deleted bool
	for file, err := range s.Blobs.List(ctx, blobs.Prefix) {
		if err != nil {
			return swept, err
		}
		organization, id, ok := blobs.ParseName(file.Name)
		if !ok {
			continue // not ours
		}
		swept.Looked++
		if organization != departed {
			if deleted, err = s.Accounts.WasDeleted(ctx, organization); err != nil {
				return swept, err
			}
			departed = organization
		}
		if rec == nil || id != last { // a report's files are listed side by side
			if rec, err = s.lookUp(ctx, organization, id); err != nil {
				return swept, err
			}
			last = id
		}
		if !deleted && !s.stray(rec, file) {
			continue
		}
		if err := s.Blobs.Delete(ctx, file.Name); err != nil {
			return swept, err
		}
		swept.Deleted++
	}
	return swept, nil
}

// lookUp is load with an empty record for an unknown report.
func (s *Sweeper) lookUp(ctx context.Context, organization, id uuid.UUID) (*recorded, error) {
	// Before its events: a job that ends in between has recorded what it made.
	signing, err := s.Queue.Signs(ctx, organization, id)
	if err != nil {
		return nil, err
	}
	rec, err := s.load(ctx, organization, id)
	if isUnknown(err) {
		return &recorded{}, nil
	}
	if err != nil {
		return nil, err
	}
	rec.signing = signing
	return rec, nil
}

func (s *Sweeper) stray(rec *recorded, file blobs.Object) bool {
	switch {
	case rec.Status() == "":
		return s.Now().Sub(file.ModTime) > strayAge
	case !rec.over():
		return false
	}
	if blobs.IsSigned(file.Name) && rec.signing {
		return false // its event may be on its way
	}
	return !rec.names(file.Name)
}

const day = 24 * time.Hour

// windows returns how long an organization's files are kept from now on.
func (p *Parts) windows(ctx context.Context, organization uuid.UUID) (reports, inputs time.Duration, err error) {
	o, ok, err := p.Accounts.Organization(ctx, organization)
	if err != nil {
		return 0, 0, fmt.Errorf("read the retention of organization %s: %w", organization, err)
	}
	if !ok {
		return 0, 0, fmt.Errorf("read the retention: no organization %s", organization)
	}
	reports = time.Duration(o.ReportRetentionDays) * day
	if p.Retention > 0 {
		reports = p.Retention
	}
	return reports, time.Duration(o.InputsRetentionDays) * day, nil
}
