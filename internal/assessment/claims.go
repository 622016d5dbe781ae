package assessment

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment/findings"
	"muster/internal/assessment/risks"
	"muster/internal/concurrency/fairslots"
	"muster/internal/concurrency/lease"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
)

// Claim is the right to assess one instance and record the outcome. It is a
// lease: past its end anyone may claim the instance again, and the token of the
// late claimant no longer records anything.
type Claim struct {
	Organization uuid.UUID `db:"organization_id"`
	Instance     uuid.UUID `db:"instance_id"`
	Token        uuid.UUID `db:"lease_token"`
	// Due is when the instance was due as it was claimed: a later request asks for another
	// assessment.
	Due time.Time `db:"next_assessment_at"`
}

//go:embed sql/claim_due.sql
var claimDueSQL string

// ClaimDue claims the instance that is due longest, of the organization whose turn it is; ok
// is false where none is. Two processes never hold the same one.
func (s *Store) ClaimDue(ctx context.Context, term time.Duration, order fairslots.Order) (c Claim, ok bool, err error) {
	return statement.Find[Claim](ctx, s.db, "claim a due instance", claimDueSQL, uuid.New(), term.Seconds(), order.Full, order.Later)
}

//go:embed sql/claim_one.sql
var claimOneSQL string

// Attempt says how far the attempts at an instance have come.
type Attempt struct {
	Known    bool  // this organization has a connection for that id
	Finished int64 `db:"attempts"` // attempts finished so far
}

// ClaimSince claims one instance whether it is due or not; ok is false if another claim on it
// is alive, if no connection is registered, or if an attempt has finished since the caller
// looked.
func (s *Store) ClaimSince(ctx context.Context, organization, instance uuid.UUID, since Attempt, term time.Duration) (c Claim, ok bool, err error) {
	return statement.Find[Claim](ctx, s.db, "claim instance "+instance.String(), claimOneSQL,
		organization, instance, uuid.New(), term.Seconds(), since.Finished)
}

// Attempt reads how far the attempts at an instance have come.
func (s *Store) Attempt(ctx context.Context, organization, instance uuid.UUID) (Attempt, error) {
	a, known, err := statement.Find[Attempt](ctx, s.db, "read the attempts at instance "+instance.String(),
		`SELECT attempts FROM assessment_targets WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
	a.Known = known
	return a, err
}

// Extend prolongs a claim; a *lease.LostError says that it has ended.
func (s *Store) Extend(ctx context.Context, c Claim, term time.Duration) error {
	result, err := s.db.ExecContext(ctx, `UPDATE assessment_targets SET leased_until = now() + make_interval(secs => $4)
		WHERE organization_id = $1 AND instance_id = $2 AND lease_token = $3`,
		c.Organization, c.Instance, c.Token, term.Seconds())
	return held(c, result, err)
}

//go:embed sql/release.sql
var releaseSQL string

// Release gives a claim back unused; the instance is due again after that time, or at once if
// it was requested meanwhile.
func (s *Store) Release(ctx context.Context, c Claim, after time.Duration) error {
	return statement.Exec(ctx, s.db, "release instance "+c.Instance.String(), releaseSQL,
		c.Organization, c.Instance, c.Token, after.Seconds(), c.Due)
}

// Erase is Forget for the holder of a claim who found that the instance is gone.
func (s *Store) Erase(ctx context.Context, c Claim) error {
	return transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error { return s.Forget(ctx, tx, c.Organization, c.Instance) })
}

// Due makes an instance due now; ok is false where no connection is registered.
func (s *Store) Due(ctx context.Context, organization, instance uuid.UUID) (ok bool, err error) {
	n, err := statement.Affected(ctx, s.db, "make instance "+instance.String()+" due",
		`UPDATE assessment_targets SET next_assessment_at = now() WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
	return n > 0, err
}

// DueAgain makes an instance due whose last assessment failed, and no other.
func (s *Store) DueAgain(ctx context.Context, organization, instance uuid.UUID) error {
	return statement.Exec(ctx, s.db, "make a failed assessment due", `UPDATE assessment_targets SET next_assessment_at = now()
WHERE organization_id = $1 AND instance_id = $2 AND last_error IS NOT NULL AND next_assessment_at > now()`, organization, instance)
}

//go:embed sql/record.sql
var recordSQL string

//go:embed sql/record_classification.sql
var recordClassificationSQL string

// Record stores the result of a claim, ends the claim and sets when the instance is due next,
// all or nothing. A *lease.LostError says that the claim had ended: nothing is stored then.
// also does the rest, in the same transaction and last in it, with the event for the log.
func (s *Store) Record(
	ctx context.Context, c Claim, a snapshot.Assessment, classified []DatabaseClassification, next time.Duration,
	also ...func(tx *sqlx.Tx, kept fleet.AssessmentKept) error,
) error {
	facts, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode the assessment of instance %s: %w", c.Instance, err)
	}
	answers, err := encodeAnswers(a)
	if err != nil {
		return err
	}
	missing, err := json.Marshal(append([]snapshot.MissingGrant{}, a.MissingGrants...))
	if err != nil {
		return fmt.Errorf("encode the missing grants of instance %s: %w", c.Instance, err)
	}
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if err := secrets.HoldKeys(ctx, tx); err != nil { // first: a change of keys locks all connections behind it
			return err
		}
		reached := a.Outcome != snapshot.OutcomeUnreachable
		result, err := tx.ExecContext(ctx, recordSQL, c.Organization, c.Instance, c.Token,
			next.Seconds(), reached, completedAny(classified), a.ErrorClass, a.Error, string(missing), c.Due, a.InRecovery, a.Upstream)
		if err := held(c, result, err); err != nil {
			return err
		}
		in, err := statement.One[inserted](ctx, tx, "insert the assessment", insertSQL, c.Token, c.Organization, c.Instance, a.Outcome, string(facts), answers, nil)
		if err != nil {
			return err
		}
		if err := keepFindings(ctx, tx, c, a, in.At); err != nil {
			return err
		}
		if err := s.keepClassifications(ctx, tx, c, classified, in.At); err != nil {
			return err
		}
		if reached {
			if err := dropVanished(ctx, tx, c, a.Databases, in.At); err != nil {
				return err
			}
		}
		now, err := classifiedNow(ctx, tx, c.Organization, c.Instance)
		if err != nil {
			return err
		}
		kept := s.event(c.Organization, c.Instance, c.Token, a, facts, in, false, now)
		for _, do := range also {
			if err := do(tx, kept); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record the assessment of instance %s: %w", c.Instance, err)
	}
	return nil
}

// keepFindings takes an assessment that was recorded at that time into account; the
// first one with all that were recorded before there were findings.
func keepFindings(ctx context.Context, tx *sqlx.Tx, c Claim, a snapshot.Assessment, at time.Time) error {
	made, err := statement.One[bool](ctx, tx, "read whether there are findings of instance "+c.Instance.String(),
		`SELECT findings_kept FROM assessment_targets WHERE organization_id = $1 AND instance_id = $2`, c.Organization, c.Instance)
	switch {
	case err != nil:
		return err
	case made:
		return findings.Keep(ctx, tx, c.Organization, c.Instance, a, at)
	default:
		return makeFindings(ctx, tx, c.Organization, c.Instance)
	}
}

// makeFindings makes them from what is stored; the transaction has locked the target.
func makeFindings(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID) error {
	if err := findings.Replay(ctx, tx, organization, instance); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "note that there are findings of instance "+instance.String(),
		`UPDATE assessment_targets SET findings_kept = true WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
}

// MakeFindings makes the findings of every instance that was assessed before there
// were any, one transaction each. It waits for an instance that another transaction holds,
// such as a light look: if it passed over the instance, its findings would wait for the next
// assessment.
func (s *Store) MakeFindings(ctx context.Context) error {
	for more := true; more; {
		err := transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
			next, ok, err := statement.Find[struct {
				Organization uuid.UUID `db:"organization_id"`
				Instance     uuid.UUID `db:"instance_id"`
			}](ctx, tx, "find an instance without findings", `SELECT organization_id, instance_id FROM assessment_targets
				WHERE NOT findings_kept AND last_assessed_at IS NOT NULL LIMIT 1 FOR UPDATE`)
			if more = ok; err != nil || !ok {
				return err
			}
			return makeFindings(ctx, tx, next.Organization, next.Instance)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) keepClassifications(ctx context.Context, tx *sqlx.Tx, c Claim, classified []DatabaseClassification, at time.Time) error {
	for _, one := range classified {
		if err := s.keepKnown(ctx, tx, c, &one); err != nil {
			return err
		}
		facts, err := json.Marshal(one.Classification)
		if err != nil {
			return fmt.Errorf("encode the classification of database %q: %w", one.Database, err)
		}
		if err := statement.Exec(ctx, tx, fmt.Sprintf("classification of database %q", one.Database), recordClassificationSQL,
			c.Organization, c.Instance, one.Database, one.Classification.Status, string(facts)); err != nil {
			return err
		}
		if err := risks.Keep(ctx, tx, c.Organization, c.Instance, one.Database, one.Classification, at); err != nil {
			return err
		}
	}
	return nil
}

// keepKnown replaces a look that found nothing with the earlier knowledge of the database, with
// that failure beside it. Earlier knowledge that cannot be decoded is reported, and counts as
// unknown.
func (s *Store) keepKnown(ctx context.Context, tx *sqlx.Tx, c Claim, one *DatabaseClassification) error {
	failed := one.Classification
	if failed.Status != snapshot.ClassificationFailed {
		return nil
	}
	rows, err := statement.All[[]byte](ctx, tx, fmt.Sprintf("what is known of database %q", one.Database), `SELECT facts FROM assessment_classifications
		WHERE organization_id = $1 AND instance_id = $2 AND database_name = $3 AND status IN ('completed', 'partial')`, c.Organization, c.Instance, one.Database)
	if err != nil || len(rows) == 0 {
		return err
	}
	var known snapshot.Classification
	if err := json.Unmarshal(rows[0], &known); err != nil {
		if s.Altered != nil {
			s.Altered(fmt.Sprintf("what is kept of instance %s of the classification of a database cannot be decoded: %v", c.Instance, err))
		}
		return nil
	}
	known.Failure = &snapshot.ClassificationFailure{At: failed.FinishedAt, Reason: failed.Reason}
	one.Classification = known
	return nil
}

// dropVanished deletes the classifications of databases that are gone, so that
// an inventory never lists a table that no longer exists.
func dropVanished(ctx context.Context, tx *sqlx.Tx, c Claim, found []snapshot.DatabaseFact, at time.Time) error {
	names := make([]string, len(found))
	for i, d := range found {
		names[i] = d.Name
	}
	if err := risks.KeepDatabases(ctx, tx, c.Organization, c.Instance, names, at); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "drop the classifications of vanished databases", `DELETE FROM assessment_classifications
		WHERE organization_id = $1 AND instance_id = $2 AND database_name <> ALL($3::text[])`, c.Organization, c.Instance, names)
}

func completedAny(classified []DatabaseClassification) bool {
	return slices.ContainsFunc(classified, func(c DatabaseClassification) bool {
		return c.Classification.Status == snapshot.ClassificationCompleted
	})
}

// held turns an update that met no row into a *lease.LostError: the claim ran out, or
// the connection was replaced or forgotten meanwhile.
func held(c Claim, result sql.Result, err error) error {
	return lease.Guard(result, err, fmt.Sprintf("hold the claim on instance %s", c.Instance), c.Lost())
}

// Lost is the sentence of the claim's *lease.LostError.
func (c Claim) Lost() string { return fmt.Sprintf("the claim on instance %s was lost", c.Instance) }
