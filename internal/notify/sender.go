package notify

import (
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/instant"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/select_delivery.sql
	selectDelivery string
	//go:embed sql/blocked.sql
	blockedQuery string
	//go:embed sql/drop_muted.sql
	dropMutedSQL string
	//go:embed sql/drop_not_raised.sql
	dropNotRaised string
	//go:embed sql/settle_delivery.sql
	settleDelivery string
	//go:embed sql/told_through.sql
	toldThrough string
)

var dropMuted = ofAlerts(dropMutedSQL)

const (
	// giveUpAfter is how long a delivery is tried.
	giveUpAfter = 24 * time.Hour
	// attemptTimeout is the end of one attempt: fifty mails to a server that is slow.
	attemptTimeout = 5 * time.Minute
	// alertsWait is how long a delivery waits where the read model of alerts has not caught up.
	alertsWait = time.Second
	// noteTimeout is what there is for noting how an attempt ended that had no time left.
	noteTimeout = 10 * time.Second
)

// Sender sees deliveries through to their receivers. Any number of processes may send.
type Sender struct {
	DB        *sqlx.DB
	Queue     *jobs.Queue
	Accounts  *accounts.Store
	Seal      notifying.Sealer
	Poster    *channel.Poster
	Composer  *mail.Composer
	Transport mail.Transport
	PublicURL string
	Registry  *eventstore.Registry
	Now       func() time.Time // the database's
	Log       *slog.Logger

	// Alerts is Dispatcher's.
	Alerts func(context.Context) error
	// Passed is called when a receiver has accepted a delivery and that is not recorded yet; an
	// error ends the attempt there. For tests; nil: it is not called.
	Passed func(ctx context.Context) error
	// Fed is called when an Alertmanager was sent what is open, before it is sent what is
	// over; an error ends the round there. For tests, likewise.
	Fed func(ctx context.Context) error
}

// Policy is how jobs of deliveries are tried again.
func (s *Sender) Policy(concurrency int) jobs.Policy {
	return jobs.Policy{Concurrency: concurrency, GiveUpAfter: giveUpAfter, Dead: s.dead}
}

// AttemptTimeout is the end of one attempt.
func (*Sender) AttemptTimeout() time.Duration { return attemptTimeout }

// deliveryRow is a delivery as its sender needs it.
type deliveryRow struct {
	ID             uuid.UUID  `db:"id"`
	OrganizationID uuid.UUID  `db:"organization_id"`
	Rule           uuid.UUID  `db:"rule_id"`
	Channel        uuid.UUID  `db:"channel_id"`
	Status         string     `db:"status"`
	DueAt          time.Time  `db:"due_at"`
	ClosedAt       *time.Time `db:"closed_at"`
}

// through is by which rule and channel a delivery goes.
type through struct {
	notifying.ChannelRow
	ChannelRemoved bool   `db:"channel_removed"`
	RuleName       string `db:"rule_name"`
	RuleRemoved    bool   `db:"rule_removed"`
	Enabled        bool   `db:"rule_enabled"`
}

// Handle makes one attempt at a delivery. What is temporary is an error, and the job is
// tried again.
func (s *Sender) Handle(ctx context.Context, job jobs.Claimed) error {
	d, by, ok, err := s.prepare(ctx, job)
	if err != nil || !ok {
		return err
	}
	code, err := s.tell(ctx, d, by)
	switch refused := refusal(err); {
	case errors.Is(err, channel.ErrNobody):
		return s.end(ctx, job, d, "suppressed", reasonNobody, 0)
	case refused != nil:
		noted := s.note(ctx, job, d, refused)
		if noted == nil && refused.Final {
			return &jobs.FinalError{Err: refused}
		}
		return errors.Join(refused, noted)
	case err != nil:
		return err
	}
	if s.Passed != nil {
		if err := s.Passed(ctx); err != nil {
			return err
		}
	}
	return s.end(ctx, job, d, "sent", "", code)
}

// note records why an attempt failed, unless another worker has the job meanwhile, whose
// attempt may have ended differently.
func (s *Sender) note(ctx context.Context, job jobs.Claimed, d deliveryRow, refused *channel.Error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) { // of the attempt, which is what there is to note
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
		defer done()
	}
	return eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) error {
		if err := s.Queue.Hold(ctx, tx, job); err != nil {
			return err
		}
		return statement.Exec(ctx, tx, "note an attempt", `UPDATE deliveries SET attempts = attempts + 1, last_code = $2, last_error = $3 WHERE id = $1`,
			d.ID, refused.Code, refused.Sentence)
	})
}

// prepare closes the delivery, if it is open, and says whether to send it now. If not, its job
// has ended: it has been sent, it is suppressed, or another of its rule and channel comes first
// and queues it again at its end.
func (s *Sender) prepare(ctx context.Context, job jobs.Claimed) (d deliveryRow, by through, ok bool, err error) {
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) (err error) {
		d, ok, err = statement.Find[deliveryRow](ctx, tx, "read a delivery", selectDelivery, job.OrganizationID, job.Subject)
		if err != nil || !ok {
			return errors.Join(err, s.Queue.Finish(ctx, tx, job))
		}
		if err := lockGroup(ctx, tx, d.Rule, d.Channel); err != nil {
			return err
		}
		if d, err = statement.One[deliveryRow](ctx, tx, "read a delivery", selectDelivery, job.OrganizationID, job.Subject); err != nil {
			return err
		}
		if by, err = statement.One[through](ctx, tx, "read who is told", toldThrough, d.Rule, d.Channel, d.OrganizationID); err != nil {
			return err
		}
		if d.ClosedAt == nil && caughtUp(ctx, s.Alerts) != nil { // who is muted is not known yet
			ok = false
			return s.Queue.Postpone(ctx, tx, job, s.Now().Add(alertsWait))
		}
		ok, err = s.open(ctx, tx, &d, by)
		if err == nil && !ok {
			err = s.Queue.Finish(ctx, tx, job)
		}
		return err
	})
	return d, by, ok && err == nil, err
}

// open says whether to send a delivery, under the lock of its group.
func (s *Sender) open(ctx context.Context, tx *sqlx.Tx, d *deliveryRow, by through) (bool, error) {
	now := instant.Cut(s.Now()) // the message says it, at this attempt and at later ones
	switch {
	case d.Status == "sent" || d.Status == "suppressed":
		return false, nil
	case d.ClosedAt == nil:
		blocked, err := statement.One[bool](ctx, tx, "look whether another delivery comes first", blockedQuery, d.Rule, d.Channel, d.ID, d.DueAt, now)
		if err != nil || blocked {
			return false, err
		}
		if err := s.closeDelivery(ctx, tx, d, by, now); err != nil {
			return false, err
		}
	}
	reason := by.reason()
	if reason == "" {
		left, err := statement.One[string](ctx, tx, "look what is left of a delivery", `SELECT CASE WHEN bool_or(dropped = '') THEN '' ELSE coalesce(max(dropped), '') END
			FROM delivery_events WHERE delivery_id = $1`, d.ID)
		if err != nil {
			return false, err
		}
		reason = left
	}
	if reason != "" {
		return false, s.settle(ctx, tx, *d, settlement{status: "suppressed", reason: reason})
	}
	return true, statement.Exec(ctx, tx, "begin a delivery", `UPDATE deliveries SET status = 'pending', reason = '' WHERE id = $1`, d.ID)
}

// closeDelivery decides which events of a delivery are sent.
func (s *Sender) closeDelivery(ctx context.Context, tx *sqlx.Tx, d *deliveryRow, by through, now time.Time) error {
	if err := statement.Exec(ctx, tx, "leave out what is muted", dropMuted, d.ID); err != nil {
		return err
	}
	kind, err := kinds.Find(by.Kind)
	if err != nil {
		return err
	}
	if len(kind.Follows) == 0 { // the others get ends whatever a rule told before
		if err := statement.Exec(ctx, tx, "leave out the ends of what was not told", dropNotRaised, d.ID, d.Rule, d.Channel); err != nil {
			return err
		}
	}
	if err := s.noteOwners(ctx, tx, d.ID, by, kind); err != nil {
		return err
	}
	d.ClosedAt = &now
	return statement.Exec(ctx, tx, "close a delivery", `UPDATE deliveries SET closed_at = $2 WHERE id = $1`, d.ID, now)
}

// reason is why no recipient is left; empty if there are recipients.
func (t through) reason() string {
	switch {
	case t.RuleRemoved:
		return reasonRuleRemoved
	case !t.Enabled:
		return reasonRuleOff
	case t.ChannelRemoved:
		return reasonChannel
	}
	return ""
}

// failedOurs is why a delivery failed that no receiver has refused.
const failedOurs = "Muster itself failed at it each time; its own log says why."

// settlement is how a delivery ends.
type settlement struct {
	status, reason string
	tried          bool // it was sent: an attempt more
	code           int
}

// settle ends a delivery and queues the jobs of those that wait behind it.
func (s *Sender) settle(ctx context.Context, tx *sqlx.Tx, d deliveryRow, end settlement) error {
	err := statement.Exec(ctx, tx, "end a delivery", settleDelivery, d.ID, end.status, end.reason, s.Now(), map[bool]int{true: 1}[end.tried], end.code, failedOurs)
	if err != nil {
		return err
	}
	waiting, err := statement.All[deliveryRow](ctx, tx, "look what waits behind a delivery", `SELECT id, organization_id, rule_id, channel_id, status, due_at, closed_at
		FROM deliveries WHERE rule_id = $1 AND channel_id = $2 AND status = 'pending' AND closed_at IS NULL ORDER BY due_at, id`, d.Rule, d.Channel)
	if err != nil {
		return err
	}
	for _, w := range waiting {
		if err := s.Queue.Insert(ctx, tx, jobs.Job{OrganizationID: w.OrganizationID, Kind: jobs.Notify, Subject: w.ID, RunAt: w.DueAt}); err != nil {
			return err
		}
	}
	return nil
}

// end ends a delivery together with its job.
func (s *Sender) end(ctx context.Context, job jobs.Claimed, d deliveryRow, status, reason string, code int) error {
	err := eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) error {
		if err := lockGroup(ctx, tx, d.Rule, d.Channel); err != nil {
			return err
		}
		if err := s.Queue.Finish(ctx, tx, job); err != nil {
			return err
		}
		return s.settle(ctx, tx, d, settlement{status: status, reason: reason, tried: status == "sent", code: code})
	})
	if err != nil {
		return fmt.Errorf("record the end of delivery %s: %w", d.ID, err)
	}
	return nil
}

// dead records that a delivery was tried for a day, or refused for good.
func (s *Sender) dead(ctx context.Context, tx *sqlx.Tx, job jobs.Claimed, _ error) (committed func(), err error) {
	d, ok, err := statement.Find[deliveryRow](ctx, tx, "read a delivery", selectDelivery, job.OrganizationID, job.Subject)
	if err != nil || !ok {
		return nil, err
	}
	if err := lockGroup(ctx, tx, d.Rule, d.Channel); err != nil {
		return nil, err
	}
	return nil, s.settle(ctx, tx, d, settlement{status: "failed"})
}

// Retry queues a failed delivery again, in a transaction that records who wants it.
// Errors: *usecase.NotFoundError, *usecase.RuleError with invalid_state.
func (s *Sender) Retry(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID) error {
	d, ok, err := statement.Find[deliveryRow](ctx, tx, "read a delivery", selectDelivery, organization, id)
	switch {
	case err != nil:
		return err
	case !ok:
		return &usecase.NotFoundError{What: "delivery"}
	}
	if err := lockGroup(ctx, tx, d.Rule, d.Channel); err != nil {
		return err
	}
	by, err := statement.One[through](ctx, tx, "read who is told", toldThrough, d.Rule, d.Channel, d.OrganizationID)
	if err != nil {
		return err
	}
	n, err := statement.Affected(ctx, tx, "begin a delivery again", `UPDATE deliveries SET status = 'pending', status_at = $2 WHERE id = $1 AND status = 'failed'`, id, s.Now())
	if err != nil {
		return err
	}
	if n == 0 || by.RuleRemoved || by.ChannelRemoved {
		return &usecase.RuleError{Code: "invalid_state", Detail: "Only a failed delivery can be tried again, whose rule and channel are there."}
	}
	return s.Queue.Insert(ctx, tx, jobs.Job{OrganizationID: organization, Kind: jobs.Notify, Subject: id})
}

// refusal is what a receiver, or the way to it, has against a delivery; nil: it is another error.
func refusal(err error) *channel.Error {
	refused, _ := errors.AsType[*channel.Error](err)
	return refused
}
