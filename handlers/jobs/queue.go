package jobs

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/concurrency/fairslots"
	"muster/internal/concurrency/lease"
	"muster/internal/postgres/statement"
	"muster/internal/process/telemetry"
)

// Channel is the PostgreSQL notification channel that wakes idle workers; the
// payload is the kind.
const Channel = "muster_jobs"

var (
	//go:embed sql/insert.sql
	insertSQL string
	//go:embed sql/hasten.sql
	hastenSQL string
	//go:embed sql/hasten_report.sql
	hastenReportSQL string
	//go:embed sql/claim.sql
	claimSQL string
	//go:embed sql/look_ahead.sql
	lookAheadSQL string
	//go:embed sql/present.sql
	presentSQL string
	//go:embed sql/heartbeat.sql
	heartbeatSQL string
	//go:embed sql/retry_later.sql
	retryLaterSQL string
	//go:embed sql/hand_back.sql
	handBackSQL string
	//go:embed sql/postpone.sql
	postponeSQL string
	//go:embed sql/set_aside.sql
	setAsideSQL string
)

// Queue is the job table.
type Queue struct{ db *sqlx.DB }

// NewQueue returns the queue on db.
func NewQueue(db *sqlx.DB) *Queue { return &Queue{db: db} }

// Insert queues a job in the caller's transaction. A job with the same subject, kind and key
// that waits already is at most moved forward, one that was set aside starts afresh, and one
// that is being worked on stays as it is. Workers wake when the transaction commits. The job
// carries ctx's request and place in a trace (telemetry.Carry).
func (q *Queue) Insert(ctx context.Context, tx *sqlx.Tx, j Job) error {
	if j.ID == uuid.Nil {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("name a %s job: %w", j.Kind, err)
		}
		j.ID = id
	}
	metadata := []byte("{}")
	if carried := telemetry.Carry(ctx, j.Metadata); len(carried) > 0 {
		var err error
		if metadata, err = json.Marshal(carried); err != nil {
			return fmt.Errorf("queue a %s job: %w", j.Kind, err)
		}
	}
	payload := j.Payload
	if payload == nil {
		payload = []byte{}
	}
	var runAt *time.Time
	if !j.RunAt.IsZero() {
		runAt = &j.RunAt
	}
	err := statement.Exec(ctx, tx, fmt.Sprintf("queue a %s job", j.Kind), insertSQL, j.ID, j.OrganizationID, string(j.Kind), j.Subject, j.Key,
		payload, string(metadata), runAt, j.Wait.Seconds())
	if err != nil {
		return err
	}
	return statement.Exec(ctx, tx, fmt.Sprintf("wake the %s workers", j.Kind), `SELECT pg_notify($1, $2)`, Channel, string(j.Kind))
}

// InsertBuild queues the build job of a report.
func (q *Queue) InsertBuild(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID) error {
	return q.Insert(ctx, tx, Job{OrganizationID: organization, Kind: Build, Subject: report})
}

// InsertRun has a schedule looked at now.
func (q *Queue) InsertRun(ctx context.Context, tx *sqlx.Tx, organization, schedule uuid.UUID) error {
	return q.Insert(ctx, tx, Job{OrganizationID: organization, Kind: Run, Subject: schedule})
}

// SignAgain queues, by itself, the signature of a report whose signed PDF was lost.
func (q *Queue) SignAgain(ctx context.Context, organization, report uuid.UUID) error {
	return eventstore.Transact(ctx, q.db, func(tx *sqlx.Tx) error {
		return q.Insert(ctx, tx, Job{OrganizationID: organization, Kind: Sign, Subject: report})
	})
}

// Signs says whether a report is still to be proven and signed.
func (q *Queue) Signs(ctx context.Context, organization, report uuid.UUID) (bool, error) {
	return statement.One[bool](ctx, q.db, fmt.Sprintf("look whether report %s is to be signed", report),
		`SELECT EXISTS (SELECT FROM jobs WHERE organization_id = $1 AND subject = $2 AND kind = $3)`, organization, report, string(Sign))
}

// InsertErasure queues the erasure of a report's inputs that name an erased person.
func (q *Queue) InsertErasure(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID) error {
	return q.Insert(ctx, tx, Job{OrganizationID: organization, Kind: Erase, Subject: report, Key: ErasePeople})
}

// HastenMails makes the mails that wait for a member due now. A mail that is being sent, or was
// set aside, stays as it is.
func (q *Queue) HastenMails(ctx context.Context, tx *sqlx.Tx, organization, member uuid.UUID) error {
	return statement.Exec(ctx, tx, fmt.Sprintf("hasten the mails to member %s", member), hastenSQL,
		organization, string(Mail), member.String(), Channel)
}

// HastenReport makes the mails about a report that wait due now.
func (q *Queue) HastenReport(ctx context.Context, tx *sqlx.Tx, organization, report uuid.UUID) error {
	return statement.Exec(ctx, tx, fmt.Sprintf("hasten the mails about report %s", report), hastenReportSQL,
		organization, string(Mail), report, Channel)
}

// Hold makes sure, until the caller's transaction ends, that no other worker can take the job.
// It returns a *lease.LostError if one already has.
func (q *Queue) Hold(ctx context.Context, tx *sqlx.Tx, c Claimed) error {
	res, err := tx.ExecContext(ctx, `SELECT 1 FROM jobs WHERE id = $1 AND fence = $2 FOR NO KEY UPDATE`, c.ID, c.Fence)
	return guarded(c, res, err, "hold")
}

// Finish ends the job in the transaction that records its outcome. It returns
// a *lease.LostError where the job was taken over: roll back.
func (q *Queue) Finish(ctx context.Context, tx sqlx.ExecerContext, c Claimed) error {
	res, err := tx.ExecContext(ctx, `DELETE FROM jobs WHERE id = $1 AND fence = $2`, c.ID, c.Fence)
	return guarded(c, res, err, "finish")
}

// Postpone gives the job up until the given time, as if it had never run.
func (q *Queue) Postpone(ctx context.Context, tx *sqlx.Tx, c Claimed, until time.Time) error {
	res, err := tx.ExecContext(ctx, postponeSQL, c.ID, c.Fence, until)
	return guarded(c, res, err, "postpone")
}

// SetProgress shows on the job's row how far it is, and holds the job as Hold does.
func (q *Queue) SetProgress(ctx context.Context, tx *sqlx.Tx, c Claimed, step, total int, label string) error {
	res, err := tx.ExecContext(ctx, `UPDATE jobs SET step = $3, total_steps = $4, label = $5 WHERE id = $1 AND fence = $2`,
		c.ID, c.Fence, step, total, label)
	return guarded(c, res, err, "show the progress of")
}

// guarded turns a statement that matched no row under the fence into a *lease.LostError.
func guarded(c Claimed, res sql.Result, err error, doing string) error {
	return lease.Guard(res, err, fmt.Sprintf("%s %s job %s", doing, c.Kind, c.ID), c.lost())
}

// claim takes one job that is due; ok is false where none is. A claim behind the
// last of maxAttempts (0: no bound) is one to bury the job.
func (q *Queue) claim(
	ctx context.Context, kind JobKind, worker string, term time.Duration, maxAttempts int, lostWait time.Duration, order fairslots.Order,
) (c Claimed, ok bool, err error) {
	return statement.Find[Claimed](ctx, q.db, fmt.Sprintf("claim a %s job", kind), claimSQL,
		string(kind), worker, term.Seconds(), maxAttempts, presence, lostWait.Seconds(), order.Full, order.Later)
}

// outlook says what there is to do for a kind of job.
type outlook struct {
	Due    bool   // a job is due, or the lease of one has ended
	Micros *int64 // until the next one is; nil: none waits for its time
}

// lookAhead costs a tenth of a claim that finds nothing.
func (q *Queue) lookAhead(ctx context.Context, kind JobKind) (outlook, error) {
	return statement.One[outlook](ctx, q.db, fmt.Sprintf("look whether a %s job is due", kind), lookAheadSQL, string(kind))
}

// rest is how long there is no need to look again, and most at most.
func (o outlook) rest(most time.Duration) time.Duration {
	if o.Micros == nil {
		return most
	}
	return min(most, time.Duration(*o.Micros)*time.Microsecond+time.Millisecond)
}

// presence is the seed under which workers lock their names: "muster", as in the locks of
// migrations, and "wk".
const presence = 0x6d7573746572776b

// present says that a worker is there, for as long as the session is.
func present(ctx context.Context, conn *pgx.Conn, worker string) error {
	if _, err := conn.Exec(ctx, presentSQL, worker, int64(presence)); err != nil {
		return fmt.Errorf("say that worker %s is there: %w", worker, err)
	}
	return nil
}

func (q *Queue) heartbeat(ctx context.Context, c Claimed, term time.Duration) error {
	res, err := q.db.ExecContext(ctx, heartbeatSQL, c.ID, c.Fence, term.Seconds())
	return guarded(c, res, err, "keep")
}

// failure is why a claim did not end its job.
type failure struct {
	cause   error
	class   string // Policy.Class of cause
	attempt bool   // the claim was an attempt, and not one to bury the job
	cutOff  bool   // by the database: the attempt does not count
}

func (q *Queue) retryLater(ctx context.Context, c Claimed, after time.Duration, f failure) error {
	res, err := q.db.ExecContext(ctx, retryLaterSQL, c.ID, c.Fence, after.Seconds(), brief(f.cause), f.class, c.Attempt, f.attempt, f.cutOff)
	return guarded(c, res, err, "put back")
}

// handBack gives up a claim that does not count; begun says whether a handler got it.
func (q *Queue) handBack(ctx context.Context, c Claimed, begun bool) error {
	res, err := q.db.ExecContext(ctx, handBackSQL, c.ID, c.Fence, begun)
	return guarded(c, res, err, "hand back")
}

// setAside ends the trying: the row stays for a person to look at, and dead
// records the consequences in the same transaction.
func (q *Queue) setAside(ctx context.Context, c Claimed, f failure, dead DeadFunc) error {
	var committed func()
	err := eventstore.Transact(ctx, q.db, func(tx *sqlx.Tx) (err error) {
		res, err := tx.ExecContext(ctx, setAsideSQL, c.ID, c.Fence, brief(f.cause), f.class, c.Attempt, f.attempt)
		if err := guarded(c, res, err, "set aside"); err != nil || dead == nil {
			return err
		}
		committed, err = dead(ctx, tx, c, f.cause)
		return err
	})
	if err != nil {
		return fmt.Errorf("record the end of %s job %s: %w", c.Kind, c.ID, err)
	}
	if committed != nil {
		committed()
	}
	return nil
}
