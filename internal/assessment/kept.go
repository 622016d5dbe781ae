package assessment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
)

// Stored is the table's record of an assessment, for the comparison with the log.
type Stored struct {
	ID       uuid.UUID `db:"id"`
	Instance uuid.UUID `db:"instance_id"`
	At       time.Time `db:"recorded_at"` // when it was recorded; of a feed, what the feed says
	SHA256   string    `db:"sha256"`      // of the facts as they are stored, hex
}

// Kept is an assessment as it is stored. The log has an event of it (fleet.AssessmentKept),
// against which package logged holds it.
type Kept struct {
	Stored
	*snapshot.Assessment
}

// UnreadableError reports stored facts that cannot be decoded: the program wrote others.
type UnreadableError struct {
	Stored
	Err error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("decode assessment %s of instance %s: %v", e.ID, e.Instance, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// Facts is what was found; nil of no assessment.
func (k *Kept) Facts() *snapshot.Assessment {
	if k == nil {
		return nil
	}
	return k.Assessment
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// insertSQL stores an assessment. The digest is of the answers as PostgreSQL stores them.
const insertSQL = `INSERT INTO assessments (id, organization_id, instance_id, outcome, facts, answers, recorded_at)
	VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, now())) ON CONFLICT (id) DO NOTHING
	RETURNING recorded_at, encode(sha256(convert_to(answers::text, 'UTF8')), 'hex') AS answers`

// inserted is what insertSQL returns.
type inserted struct {
	At      time.Time `db:"recorded_at"`
	Answers string    `db:"answers"`
}

// event is what binds an assessment that was inserted to the log. classified is the digest of
// what is known of the databases behind it.
func (s *Store) event(organization, instance, id uuid.UUID, a snapshot.Assessment, facts []byte, in inserted, buffered bool, classified string) fleet.AssessmentKept {
	e := fleet.AssessmentKept{
		InstanceID: instance, AssessmentID: id, At: instant.Cut(in.At), FactsSHA256: digest(facts), AnswersSHA256: in.Answers,
		Catalogue: a.CatalogueVersion, Reached: a.Outcome != snapshot.OutcomeUnreachable, Buffered: buffered, ClassifiedSHA256: classified,
	}
	e.Mark = s.seal.Mark(secrets.MarkAssessment, MarkedText(organization, e))
	return e
}

// classifiedNow is the digest of all classifications of an instance, as the transaction sees them.
func classifiedNow(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID) (string, error) {
	kept, err := statement.All[classification](ctx, tx, "digest the classifications", `SELECT instance_id, database_name, status,
		encode(sha256(convert_to(facts::text, 'UTF8')), 'hex') AS sha256 FROM assessment_classifications
		WHERE organization_id = $1 AND instance_id = $2 ORDER BY database_name COLLATE "C"`, organization, instance)
	return digestOf(kept), err
}

// classification is what is stored of a database's.
type classification struct {
	Instance uuid.UUID `db:"instance_id"`
	Database string    `db:"database_name"`
	Status   string    `db:"status"`
	SHA256   string    `db:"sha256"` // of the facts as they are stored, hex
}

// digestOf is the digest of all classifications of an instance, by name in bytes.
func digestOf(all []classification) string {
	var fields []string
	for _, c := range all {
		fields = append(fields, c.Database, c.Status, c.SHA256)
	}
	return digest(secrets.MarkText(fields...))
}

// Marks checks the marks of events.
func (s *Store) Marks(ctx context.Context) (*secrets.Marks, error) { return s.seal.Marks(ctx, s.db) }

// MarkedText is what the mark of an event vouches for: all that it says, and the organization.
func MarkedText(organization uuid.UUID, e fleet.AssessmentKept) []byte {
	fields := []string{
		organization.String(), e.InstanceID.String(), e.AssessmentID.String(), e.At.UTC().Format(time.RFC3339Nano),
		e.FactsSHA256, e.AnswersSHA256, e.Catalogue, strconv.FormatBool(e.Reached), strconv.FormatBool(e.Buffered),
	}
	if e.ClassifiedSHA256 != "" { // none in an event of a program from before
		fields = append(fields, e.ClassifiedSHA256)
	}
	return secrets.MarkText(fields...)
}

// Better says whether a check fails in the other assessment, or could not be looked at, and in
// the one not.
func Better(one, than snapshot.Assessment) bool {
	answers := answersOf(one)
	for check, other := range answersOf(than) {
		if gravity(answers[check]) < gravity(other) {
			return true
		}
	}
	return false
}

// gravity ranks answers: failed, not assessed, all others.
func gravity(answers []Answer) (most int) {
	for _, a := range answers {
		switch a.Status {
		case snapshot.StatusFail:
			return 2
		case snapshot.StatusPass, snapshot.StatusNotApplicable:
		default:
			most = 1
		}
	}
	return most
}

// Row is an assessment as the table has it, with the column by which queries choose.
type Row struct {
	Stored
	Reached bool `db:"reached"` // the column outcome says so, which no digest covers
}

// Rows reads what the table says of some assessments, by id.
func (s *Store) Rows(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]Row, error) {
	rows, err := statement.All[Row](ctx, s.db, "digest assessments", `SELECT id, instance_id, recorded_at, encode(sha256(convert_to(facts::text, 'UTF8')), 'hex') AS sha256,
		outcome <> 'unreachable' AS reached FROM assessments WHERE organization_id = $1 AND id = ANY ($2)`, organization, statement.IDs(ids))
	out := make(map[uuid.UUID]Row, len(rows))
	for _, row := range rows {
		out[row.ID] = row
	}
	return out, err
}
