package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Kind is the kind of a job; each is a Watermill topic of the Subscriber.
type Kind string

// The kinds.
const (
	Build  Kind = "build"  // build a report's PDF
	Mail   Kind = "mail"   // mail one recipient (Key: member id)
	Expire Kind = "expire" // append Expired when the retention window has elapsed
	Erase  Kind = "erase"  // delete a file (Key: pdf or inputs)
	Assess Kind = "assess" // assess one instance (Subject: instance id)
)

// Job is one piece of work for one subject. (Subject, Kind, Key) is unique.
type Job struct {
	ID             uuid.UUID
	OrganizationID uuid.UUID
	Kind           Kind
	Subject        uuid.UUID
	Key            string
	RunAt          time.Time // zero: now
}

// Row is a job as the operations page shows it.
type Row struct {
	Job
	Status      string // queued, running, dead
	Attempts    int
	WorkerID    string
	LeasedUntil *time.Time
	LastError   string
	Step        int
	TotalSteps  int
	Label       string
}

// Queue is the job table.
type Queue struct{ db *sqlx.DB }

// NewQueue returns the queue on db.
func NewQueue(db *sqlx.DB) *Queue { return &Queue{db: db} }

// Insert queues a job in the caller's transaction; one that exists already is left as it is.
func (q *Queue) Insert(ctx context.Context, tx *sqlx.Tx, j Job) error { panic("not yet") }

// InsertBuild queues the build job of a report.
func (q *Queue) InsertBuild(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID) error {
	return q.Insert(ctx, tx, Job{OrganizationID: organization, Kind: Build, Subject: report})
}

// List returns the unfinished jobs of one organization (uuid.Nil: of all) of the given kinds, oldest first.
func (q *Queue) List(ctx context.Context, organization uuid.UUID, limit int, kinds ...Kind) ([]Row, error) {
	panic("not yet")
}

// Progress returns the rows of the build jobs of these reports.
func (q *Queue) Progress(ctx context.Context, organization uuid.UUID, reports []uuid.UUID) (map[uuid.UUID]Row, error) {
	panic("not yet")
}
