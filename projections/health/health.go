package health

import (
	"context"
	_ "embed" // the queries
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
)

var (
	//go:embed sql/last.sql
	lastQuery string
	//go:embed sql/changes.sql
	changesQuery string
	//go:embed sql/changed.sql
	changedQuery string
)

// Reader answers from the live generation of the health projection. Every query carries
// the organization.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Score is what the last assessment of a day came to.
type Score struct {
	Instance uuid.UUID `db:"instance_id"`
	Day      time.Time `db:"day"`
	At       time.Time `db:"at"`
	Score    *int      `db:"score"` // nil: no check had an answer
	Grade    string    `db:"grade"`
	Failed   int       `db:"failed"`
}

// Days returns the scores of those instances since a day, oldest first.
func (r *Reader) Days(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, since time.Time) ([]Score, error) {
	return statement.All[Score](ctx, r.db, fmt.Sprintf("read the daily scores of %d instances", len(instances)),
		`SELECT instance_id, day, at, score, grade, failed FROM health_v1.scores
		WHERE organization_id = $1 AND instance_id = ANY ($2) AND day >= $3 ORDER BY day`, organization, statement.IDs(instances), since)
}

// Last returns the last score of each of those instances at or before a time.
func (r *Reader) Last(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, at time.Time) (map[uuid.UUID]Score, error) {
	rows, err := statement.All[Score](ctx, r.db, "read last scores", lastQuery, organization, statement.IDs(instances), at)
	last := make(map[uuid.UUID]Score, len(rows))
	for _, row := range rows {
		last[row.Instance] = row
	}
	return last, err
}

// Domains returns the parts of an instance's score of a day.
func (r *Reader) Domains(ctx context.Context, organization, instance uuid.UUID, day time.Time) ([]domain.DomainScore, error) {
	text, _, err := statement.Find[[]byte](ctx, r.db, "read the domains of a score",
		`SELECT domains FROM health_v1.scores WHERE organization_id = $1 AND instance_id = $2 AND day = $3`, organization, instance, day)
	if err != nil || text == nil {
		return nil, err
	}
	var domains []domain.DomainScore
	if err := json.Unmarshal(text, &domains); err != nil {
		return nil, fmt.Errorf("decode the domains of a score: %w", err)
	}
	return domains, nil
}

// Changed is one thing that changed on a server.
type Changed struct {
	Instance   uuid.UUID         `db:"instance_id"`
	Assessment uuid.UUID         `db:"assessment_id"`
	Nth        int               `db:"nth"`
	At         time.Time         `db:"at"`
	Kind       domain.ChangeKind `db:"kind"`
	Key        string            `db:"key"`
	Added      bool              `db:"added"`
	Removed    bool              `db:"removed"`
}

// Changes returns the newest changes of an instance, at most limit.
func (r *Reader) Changes(ctx context.Context, organization, instance uuid.UUID, limit int) ([]Changed, error) {
	return statement.All[Changed](ctx, r.db, "read the changes of instance "+instance.String(), `SELECT instance_id, assessment_id, nth, at, kind, key,
		before_digest = '' AS added, after_digest = '' AS removed FROM health_v1.changes WHERE organization_id = $1 AND instance_id = $2 ORDER BY at DESC, assessment_id, nth LIMIT $3`, organization, instance, limit)
}

// ChangesIn returns the newest changes of some kinds on the instances in scope, of assessments from a time to another,
// at most limit.
func (r *Reader) ChangesIn(ctx context.Context, organization uuid.UUID, scope domain.Scope, kinds []domain.ChangeKind, from, to time.Time, limit int) ([]Changed, error) {
	return statement.All[Changed](ctx, r.db, "read what changed on instances", changesQuery,
		organization, scope.Filtered, statement.IDs(scope.Instances), kinds, from, to, limit)
}

// SettingsChanged returns when each setting of an instance changed last, by its name.
func (r *Reader) SettingsChanged(ctx context.Context, organization, instance uuid.UUID) (map[string]time.Time, error) {
	return statement.Map[string, time.Time](ctx, r.db, "read when settings changed", changedQuery, organization, instance, string(domain.ChangedSetting))
}

// AsOf returns the score of each instance of an organization as the log had recorded it before
// a time; an instance that was removed by then has none. Unlike Last it needs no projection: it
// reads the organization's part of the fleet's log, a page at a time.
func AsOf(ctx context.Context, store *eventstore.Store, decode projections.Decode, organization uuid.UUID, at time.Time) (map[uuid.UUID]domain.InstanceAssessed, error) {
	scores := map[uuid.UUID]domain.InstanceAssessed{}
	filter := eventstore.Filter{Organization: organization, RecordedTo: at, Types: []string{
		domain.Name(domain.InstanceAssessed{}), domain.Name(domain.InstanceRemoved{}),
	}}
	for e, err := range store.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return nil, err
		}
		fact, err := decode(e)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Position, err)
		}
		switch fact := fact.(type) {
		case domain.InstanceRemoved:
			delete(scores, e.Stream)
		case domain.InstanceAssessed:
			if last, known := scores[fact.InstanceID]; !known || !fact.At.Before(last.At) { // a feed's may come late
				scores[fact.InstanceID] = fact
			}
		}
	}
	return scores, nil
}
