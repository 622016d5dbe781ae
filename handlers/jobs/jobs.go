package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Kind is the kind of a job; each is a Watermill topic of the Subscriber.
type Kind string

// The kinds.
const (
	Build  Kind = "build"  // build a report's PDF
	Mail   Kind = "mail"   // mail one recipient (Key: member id)
	Expire Kind = "expire" // append Expired when the retention window has elapsed
	Erase  Kind = "erase"  // delete a file (Key: what and why)
)

// Keys of an Erase job. Each reason to erase the inputs has a key of its own, so
// that a job of today does not meet the one that waits for the end of the
// retention: whichever runs first erases them and says why.
const (
	ErasePDF    = "pdf"
	EraseInputs = "inputs" // they have been kept for as long as they may be
	ErasePeople = "people" // somebody whom they name was erased
)

// Statuses of a Row.
const (
	StatusQueued  = "queued"
	StatusRunning = "running"
	StatusDead    = "dead"
)

// Outcome is how an attempt at a job ended.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"
	Retried  Outcome = "retried"  // it failed, and is tried again
	Dead     Outcome = "dead"     // it failed, and the job was set aside
	Returned Outcome = "returned" // it was cut off by a stop, and does not count
)

// Job is one piece of work for one subject. (Subject, Kind, Key) is unique.
type Job struct {
	ID             uuid.UUID
	OrganizationID uuid.UUID
	Kind           Kind
	Subject        uuid.UUID
	Key            string
	Payload        []byte            // the message's payload; most kinds need none
	Metadata       map[string]string // joins the message's metadata
	RunAt          time.Time         // zero: now
}

// Row is a job as the operations page shows it.
type Row struct {
	Job
	Status      string // queued, running, dead
	Attempts    int
	WorkerID    string
	LeasedUntil *time.Time
	DeadAt      *time.Time
	LastError   string
	Step        int
	TotalSteps  int
	Label       string
}

// Claimed is a job that this worker holds until its lease lapses.
type Claimed struct {
	Job
	Attempt   int    // from 1
	Fence     int64  // names this claim; unique over all jobs and all time
	WorkerID  string // who holds it
	LastError string // of the attempt before

	// At is the database's clock at the claim. Judge a due date by it: the
	// worker's own clock may be off.
	At time.Time
	// Age is how long the job has been due for, at the claim.
	Age time.Duration
}

// FenceLostError reports that the job was taken over or finished by somebody
// else: the transaction it comes from must be rolled back.
type FenceLostError struct {
	Job   uuid.UUID
	Fence int64
}

func (e *FenceLostError) Error() string {
	return fmt.Sprintf("job %s is no longer held under fence %d", e.Job, e.Fence)
}

// AbandonedError is the cause of death of a job whose workers died, time and
// again, before they could say why.
type AbandonedError struct {
	Attempts  int
	LastError string // of the last attempt that ended with one, may be empty
}

func (e *AbandonedError) Error() string {
	text := fmt.Sprintf("the worker died in each of the last attempts, %d in all", e.Attempts)
	if e.LastError != "" {
		text += "; the last error before that: " + e.LastError
	}
	return text
}

// FinalError says that trying again is of no use.
type FinalError struct{ Err error }

func (e *FinalError) Error() string { return e.Err.Error() }

func (e *FinalError) Unwrap() error { return e.Err }

// NotDeadError reports that no job of that id was set aside here.
type NotDeadError struct{ Job uuid.UUID }

func (e *NotDeadError) Error() string {
	return fmt.Sprintf("no job %s was set aside", e.Job)
}

// ErrStopping is the cause of a cancelled message context when the worker is
// shutting down and its time to finish is up; the job goes back uncounted.
var ErrStopping = errors.New("the worker is stopping")

// errClosed answers Subscribe on a closed Subscriber.
var errClosed = errors.New("the subscriber is closed")

// IsLost reports whether err, or the cause of ctx's end, is a lost fence.
func IsLost(ctx context.Context, err error) bool {
	var lost *FenceLostError
	return errors.As(err, &lost) || errors.As(context.Cause(ctx), &lost)
}
