package assessment

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/findings"
	"muster/internal/assessment/risks"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
)

// Sent is an assessment of an instance that a feed sent. Its time is what the feed says,
// and with the instance its identity.
type Sent struct {
	Instance   uuid.UUID
	Engine     fleet.Engine
	At         time.Time
	Assessment snapshot.Assessment
	Classified []DatabaseClassification // each as of its FinishedAt
	State      changes.State
	Accepted   []snapshot.Exception // those in force
	standing   changes.Standing
	Buffered   bool // the sender says that it waited in its buffer
}

// CollectedError says that instances are assessed over their own connections, so that
// what a feed sends of them is not taken.
type CollectedError struct{ Instances []uuid.UUID }

func (e *CollectedError) Error() string {
	return fmt.Sprintf("%d instances are assessed by the collector", len(e.Instances))
}

var (
	//go:embed sql/lock_feeds.sql
	lockFeedsSQL string
	//go:embed sql/record_sent_classification.sql
	recordSentClassificationSQL string
)

// RecordSent stores a feed's assessments, all or nothing. The one with the latest time is the
// current state of an instance, in whatever order they arrive. A late one is inserted into the
// history of findings and of scores, and no change is reported. If two have the same time, the
// first stays. Last in the transaction, tell appends one event for each stored assessment: its
// result if that is news, otherwise fleet.AssessmentKept. Error: *CollectedError.
func (s *Store) RecordSent(
	ctx context.Context, organization uuid.UUID, all []Sent, tell func(tx *sqlx.Tx, told []fleet.Assessed) error,
) error {
	if len(all) == 0 {
		return nil
	}
	byInstance := map[uuid.UUID][]Sent{}
	assessed := make([]changes.Assessed, len(all))
	for i := range all {
		assessed[i] = changes.Assessed{Instance: all[i].Instance, Engine: all[i].Engine, At: all[i].At, Facts: &all[i].Assessment}
	}
	standings := s.StandingOf(ctx, organization, assessed)
	for i, one := range all {
		one.standing = standings[i]
		byInstance[one.Instance] = append(byInstance[one.Instance], one)
	}
	instances := make([]uuid.UUID, 0, len(byInstance))
	for id := range byInstance {
		instances = append(instances, id)
	}
	slices.SortFunc(instances, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) // so that two calls never wait for each other
	return transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if err := s.RefuseCollected(ctx, tx, organization, instances); err != nil {
			return err
		}
		if err := secrets.HoldKeys(ctx, tx); err != nil {
			return err
		}
		last, err := statement.Map[uuid.UUID, *time.Time](ctx, tx, "take turns about what feeds assess", lockFeedsSQL, organization, statement.IDs(instances))
		if err != nil {
			return err
		}
		var told []fleet.Assessed
		for _, id := range instances {
			r := recorder{store: s, tx: tx, organization: organization, instance: id, last: last[id]}
			if err := r.record(ctx, byInstance[id]); err != nil {
				return fmt.Errorf("record what a feed sent of instance %s: %w", id, err)
			}
			told = append(told, r.told...)
		}
		return tell(tx, told)
	})
}

// RefuseCollected checks that no connection is registered. If one is registered at this very
// moment, the instance is the collector's from its first look on. Error: *CollectedError.
func (s *Store) RefuseCollected(ctx context.Context, tx sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) error {
	collected, err := s.Connected(ctx, tx, organization, instances)
	if err == nil && len(collected) > 0 {
		err = &CollectedError{Instances: collected}
	}
	return err
}

// recorder keeps what was sent of one instance; its transaction holds the row that
// others wait for.
type recorder struct {
	store                  *Store
	tx                     *sqlx.Tx
	organization, instance uuid.UUID
	last                   *time.Time // of what was there; nil: nothing
	late                   bool       // something came that is older than what was there
	told                   []fleet.Assessed
	classified             string // the digest of what is known of the databases; "": not read yet
}

func (r *recorder) record(ctx context.Context, all []Sent) error {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Sent) int { return a.At.Compare(b.At) })
	for _, one := range all {
		id := sentID(r.organization, r.instance, one.At)
		facts, in, fresh, err := r.insert(ctx, id, one)
		switch {
		case err != nil:
			return err
		case !fresh:
			continue
		}
		assessed, news, err := r.take(ctx, id, one)
		if err != nil {
			return err
		}
		if err := r.classify(ctx, one.Classified); err != nil {
			return err
		}
		kept := r.store.event(r.organization, r.instance, id, one.Assessment, facts, in, one.Buffered, r.classified)
		if news {
			r.told = append(r.told, assessed.Binding(kept))
		} else {
			r.told = append(r.told, kept)
		}
	}
	if r.late { // each is where it belongs now, and all later ones follow from it
		return findings.Replay(ctx, r.tx, r.organization, r.instance)
	}
	return nil
}

// insert keeps the facts; fresh is false where there are some of that time.
func (r *recorder) insert(ctx context.Context, id uuid.UUID, one Sent) (facts []byte, in inserted, fresh bool, err error) {
	if facts, err = json.Marshal(one.Assessment); err != nil {
		return nil, in, false, fmt.Errorf("encode an assessment: %w", err)
	}
	answers, err := encodeAnswers(one.Assessment)
	if err != nil {
		return nil, in, false, err
	}
	in, fresh, err = statement.Find[inserted](ctx, r.tx, "insert an assessment", insertSQL,
		id, r.organization, r.instance, one.Assessment.Outcome, string(facts), answers, one.At)
	return facts, in, fresh, err
}

// take adds one more assessment, depending on whether it is the newest. Its result goes to the
// log if it is news.
func (r *recorder) take(ctx context.Context, id uuid.UUID, one Sent) (e fleet.InstanceAssessed, news bool, err error) {
	look := changes.Look{
		Organization: r.organization, Instance: r.instance, Engine: one.Engine, ID: id, At: one.At, Assessment: one.Assessment, State: one.State,
		Accepted: one.Accepted, Standing: one.standing,
		Altered: r.store.Altered,
	}
	if r.last != nil && one.At.Before(*r.last) {
		r.late = true
		superseded, err := statement.One[bool](ctx, r.tx, "look for a later assessment of the day", `SELECT EXISTS (SELECT FROM assessments
			WHERE organization_id = $1 AND instance_id = $2 AND outcome <> 'unreachable' AND recorded_at > $3
			  AND recorded_at < date_trunc('day', $3::timestamptz, 'UTC') + interval '1 day')`, r.organization, r.instance, one.At)
		if err != nil || superseded {
			return e, false, err
		}
		e, err = changes.Late(look)
		return e, true, err
	}
	if !r.late { // else all are made anew
		if err := findings.Keep(ctx, r.tx, r.organization, r.instance, one.Assessment, one.At); err != nil {
			return e, false, err
		}
	}
	if e, news, err = changes.Keep(ctx, r.tx, look); err != nil {
		return e, false, err
	}
	r.last = &one.At
	return e, news, statement.Exec(ctx, r.tx, "note when an instance was assessed", `UPDATE assessment_feeds SET last_assessed_at = $3
		WHERE organization_id = $1 AND instance_id = $2`, r.organization, r.instance, one.At)
}

// classify keeps classifications, and the digest of all that is known then.
func (r *recorder) classify(ctx context.Context, all []DatabaseClassification) (err error) {
	for _, c := range all {
		if err := r.classifyOne(ctx, c); err != nil {
			return err
		}
	}
	if len(all) > 0 || r.classified == "" {
		r.classified, err = classifiedNow(ctx, r.tx, r.organization, r.instance)
	}
	return err
}

// classifyOne keeps a classification unless there is a later one of that database.
func (r *recorder) classifyOne(ctx context.Context, c DatabaseClassification) error {
	facts, err := json.Marshal(c.Classification)
	if err != nil {
		return fmt.Errorf("encode the classification of database %q: %w", c.Database, err)
	}
	written, err := statement.Affected(ctx, r.tx, fmt.Sprintf("classification of database %q", c.Database), recordSentClassificationSQL,
		r.organization, r.instance, c.Database, c.Classification.Status, string(facts), c.Classification.FinishedAt)
	if err != nil {
		return err
	}
	if written > 0 { // else a later one has said which tables there are
		if err := risks.Keep(ctx, r.tx, r.organization, r.instance, c.Database, c.Classification, c.Classification.FinishedAt); err != nil {
			return err
		}
	}
	return statement.Exec(ctx, r.tx, "note when an instance was classified", `UPDATE assessment_feeds SET last_classified_at = greatest(last_classified_at, $3)
		WHERE organization_id = $1 AND instance_id = $2`, r.organization, r.instance, c.Classification.FinishedAt)
}

// sentID is the id of what was sent of an instance at a time: sent again, it is the same.
func sentID(organization, instance uuid.UUID, at time.Time) (id uuid.UUID) {
	about := sha256.Sum256(fmt.Appendf(nil, "assessment %s %s %s", organization, instance, at.UTC().Format(time.RFC3339Nano)))
	copy(id[:], about[:])
	id[6] = id[6]&0x0f | 0x80 // version 8: made by whoever made it
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Fed are the instances of the whole installation that feeds assess, whose servers agents met, or
// of which there is anything else that Forget erases, for the code that deletes data of removed ones.
func (s *Store) Fed(ctx context.Context) ([]Registered, error) {
	return statement.All[Registered](ctx, s.db, "list what feeds assess", `SELECT organization_id, instance_id FROM assessment_feeds
		UNION SELECT organization_id, instance_id FROM (
			SELECT organization_id, instance_id FROM server_identities
			UNION SELECT organization_id, instance_id FROM replication_states
			UNION SELECT organization_id, instance_id FROM backup_newest
			UNION SELECT organization_id, instance_id FROM backup_looks
			UNION SELECT organization_id, instance_id FROM room_states
		) i WHERE NOT EXISTS (SELECT FROM assessment_targets t
			WHERE t.organization_id = i.organization_id AND t.instance_id = i.instance_id)
		ORDER BY organization_id, instance_id`)
}

// ForgetFed is Forget for an instance that feeds assess and that was removed.
func (s *Store) ForgetFed(ctx context.Context, organization, instance uuid.UUID) error {
	return transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error { return s.Forget(ctx, tx, organization, instance) })
}

// Collected are those of the instances that have a connection registered.
func (s *Store) Collected(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]bool, error) {
	ids, err := s.Connected(ctx, s.db, organization, instances)
	collected := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		collected[id] = true
	}
	return collected, err
}

// Connected is Collected, as q sees the connections.
func (s *Store) Connected(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) ([]uuid.UUID, error) {
	return statement.All[uuid.UUID](ctx, q, "look for connections", `SELECT instance_id FROM assessment_targets
		WHERE organization_id = $1 AND instance_id = ANY ($2)`, organization, statement.IDs(instances))
}
