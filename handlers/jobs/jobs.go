package jobs

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/postgres/statement"
)

// JobKind is the kind of a job; each is a Watermill topic of the Subscriber.
type JobKind string

// The kinds.
const (
	Build  JobKind = "build"  // build a report's PDF
	Mail   JobKind = "mail"   // mail one recipient (Key: member id)
	Expire JobKind = "expire" // append Expired when the retention window has elapsed
	Erase  JobKind = "erase"  // delete a file (Key: the file and the reason)
	Sign   JobKind = "sign"   // prove a report and sign its PDF
	Run    JobKind = "run"    // request the report of a schedule (Subject) that is due
	Notify JobKind = "notify" // see a delivery (the subject) through to its receiver
)

// Kinds lists every kind.
func Kinds() []JobKind { return []JobKind{Build, Mail, Expire, Erase, Sign, Run, Notify} }

// Keys of an Erase job. Each reason to erase the inputs has a key of its own, so that today's
// job does not meet the one that waits for the end of the retention: the first to run erases
// them and records the reason.
const (
	ErasePDF    = "pdf"
	EraseInputs = "inputs" // they have been kept for as long as they may be
	ErasePeople = "people" // a person whom they name was erased
)

// Statuses of a Row.
const (
	StatusQueued  = "queued"
	StatusRunning = "running"
	StatusDead    = "dead"
)

// RunOutcome is how an attempt at a job ended.
type RunOutcome string

// The outcomes.
const (
	Done     RunOutcome = "done"
	Retried  RunOutcome = "retried"  // it failed, and the job comes again
	Dead     RunOutcome = "dead"     // it failed, and the job was set aside
	Returned RunOutcome = "returned" // it was cut off by a stop, and does not count
)

// Job is one piece of work for one subject. (Subject, Kind, Key) is unique.
type Job struct {
	ID             uuid.UUID   `db:"id"`
	OrganizationID uuid.UUID   `db:"organization_id"`
	Kind           JobKind     `db:"kind"`
	Subject        uuid.UUID   `db:"subject"`
	Key            string      `db:"key"`
	Payload        []byte      `db:"payload"`  // the message's payload; most kinds need none
	Metadata       JobMetadata `db:"metadata"` // joins the message's metadata
	RunAt          time.Time   `db:"run_at"`   // zero: now
	// Wait is how much later the job is due, by the database's clock, unless it is hastened.
	Wait time.Duration `db:"-"`
}

// JobMetadata is kept as JSON.
type JobMetadata map[string]string

// Scan implements sql.Scanner.
func (m *JobMetadata) Scan(src any) error { return statement.ScanJSON(src, m) }

// How an attempt ended.
const (
	EndedFailed   = "failed"   // with an error
	EndedLost     = "lost"     // its lease lapsed without a recorded outcome
	EndedReturned = "returned" // its worker was stopped in good order; it does not count
	// EndedInterrupted: the database was away or did not commit; it does not count.
	EndedInterrupted = "interrupted"
)

// Ending is how one attempt at a job ended that is not finished yet.
type Ending struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"` // of a lost one: the end of its lease
	Worker  string    `json:"worker"`
	How     string    `json:"how"`
	Class   string    `json:"class"` // Policy.Class of the error
	Error   string    `json:"error"` // empty unless there was one
}

// counts says whether the attempt is one of those after which a job is set aside.
func (e Ending) counts() bool { return e.How != EndedReturned && e.How != EndedInterrupted }

// Endings are kept as JSON, the oldest first.
type Endings []Ending

// Scan implements sql.Scanner.
func (e *Endings) Scan(src any) error { return statement.ScanJSON(src, e) }

// Row is a job as the operations page shows it.
type Row struct {
	Job
	Status      string     `db:"status"` // queued, running, dead
	Attempts    int        `db:"attempts"`
	WorkerID    string     `db:"worker_id"`
	LeasedUntil *time.Time `db:"leased_until"`
	DeadAt      *time.Time `db:"dead_at"`
	LastError   string     `db:"last_error"`
	Endings     Endings    `db:"endings"` // the latest 50
	Step        int        `db:"step"`
	TotalSteps  int        `db:"total_steps"`
	Label       string     `db:"label"`
}

// Claimed is a job that this worker holds until its lease lapses.
type Claimed struct {
	Job
	Attempt  int     `db:"attempts"`  // from 1
	Fence    int64   `db:"fence"`     // names this claim; unique over all jobs and all time
	WorkerID string  `db:"worker_id"` // its holder
	Endings  Endings `db:"endings"`   // of the attempts before

	// At is the database's clock at the claim. Judge a due date by it: the
	// worker's own clock may be off.
	At time.Time `db:"claimed_at"`
	// Age is how long the job has been due for, at the claim.
	Age time.Duration `db:"age"`
}

// lost is the sentence of a *lease.LostError: another worker took over or finished the job, and
// the transaction from which the error comes must be rolled back.
func (c Claimed) lost() string {
	return fmt.Sprintf("job %s is no longer held under fence %d", c.ID, c.Fence)
}

// AbandonedError is the cause of death of a job whose last attempt has no known outcome: the
// worker died, or could not reach the database until its lease had lapsed.
type AbandonedError struct {
	Attempts  int
	Lost      int    // how many in a row, the last among them, ended so
	LastError string // of the last attempt that ended with one, may be empty
}

func (e *AbandonedError) Error() string {
	text := fmt.Sprintf("the last %d of %d attempts ended without a word from the worker, which died or lost the database", e.Lost, e.Attempts)
	if e.LastError != "" {
		text += "; the last error before that: " + e.LastError
	}
	return text
}

// EarlierError is the cause of death of a job whose last attempt failed, and which could not be
// set aside then: the error that its row has.
type EarlierError struct {
	Class string // Policy.Class of it
	Text  string
}

func (e *EarlierError) Error() string { return e.Text }

// round are the endings since the job was inserted, or since a person retried it, which starts
// the attempts afresh; of the latest 50.
func (c Claimed) round() Endings {
	begin, later := len(c.Endings), c.Attempt
	for i, e := range slices.Backward(c.Endings) {
		if e.Attempt > later || e.Attempt == later && e.counts() {
			break
		}
		begin, later = i, e.Attempt
	}
	return c.Endings[begin:]
}

// failures is how many attempts of the round ended with an error.
func (c Claimed) failures() (n int) {
	for _, e := range c.round() {
		if e.How == EndedFailed {
			n++
		}
	}
	return n
}

// lostLast is how many attempts of the round in a row, the last among them, were lost;
// before is what the one before them ended with, if it failed.
func (c Claimed) lostLast() (n int, before *Ending) {
	for _, e := range slices.Backward(c.round()) {
		switch e.How {
		case EndedFailed:
			return n, &e
		case EndedLost:
			n++
		}
	}
	return n, nil
}

// interruptions is how many attempts in a row, the last among them, the database cut off.
func (c Claimed) interruptions() (n int) {
	for _, e := range slices.Backward(c.Endings) {
		if e.How != EndedInterrupted {
			break
		}
		n++
	}
	return n
}

// lastWords is the cause of death of a job that a claim finds to be out of attempts. The claim
// itself is no attempt.
func (c Claimed) lastWords() error {
	lost, before := c.lostLast()
	if lost == 0 && before != nil {
		return &EarlierError{Class: before.Class, Text: before.Error}
	}
	abandoned := &AbandonedError{Attempts: c.Attempt - 1, Lost: max(1, lost)} // none: from before there were endings
	if before != nil {
		abandoned.LastError = before.Error
	}
	return abandoned
}

// FinalError says that another attempt cannot help.
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

var errClosed = errors.New("the subscriber is closed")
