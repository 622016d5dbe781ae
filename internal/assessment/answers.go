package assessment

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
	"muster/internal/report/snapshot"
)

// Answer is what an assessment found of one check, on the instance or on one of its
// databases. Its names in JSON are short: each assessment has one for each check.
type Answer struct {
	Database string `json:"d,omitempty"` // empty: instance-wide
	Status   string `json:"s"`           // one of snapshot's statuses
	Reason   string `json:"r,omitempty"` // why it was not assessed, or does not apply
	Failing  int    `json:"n,omitempty"` // how many objects fail; 0: the check names none
	// Threshold is, of the first answer of a check, the beginning of the SHA-256 of when the
	// check passes, hex: another one is another check. Empty: not known.
	Threshold string `json:"t,omitempty"`
}

// Answered is one assessment and what it says of one check.
type Answered struct {
	ID       uuid.UUID
	Instance uuid.UUID
	At       time.Time
	Answers  []Answer // none: it did not ask
	// SHA256 is that of the facts as they are stored, AnswersSHA256 that of the answers; hex.
	// Of answers that were read from facts the second is empty.
	SHA256, AnswersSHA256 string
	// Catalogue and Threshold are the rules that were applied, and Unreached says that it is an
	// attempt; empty if the facts were not read.
	Catalogue, Threshold string
	Unreached            bool
	Objects              map[string][]string // as FailingObjects; nil where the facts were not read
}

// unanswered is the key under which an assessment says why it has no answers.
const unanswered = ""

// answersOf are the answers of an assessment by check, as PostgreSQL can keep them.
func answersOf(a snapshot.Assessment) map[string][]Answer {
	clean := func(s string) string {
		return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	}
	answers := map[string][]Answer{}
	if a.Outcome == snapshot.OutcomeUnreachable {
		answers[unanswered] = []Answer{{Status: snapshot.StatusNotAssessed, Reason: clean(a.Error)}}
		return answers
	}
	for _, r := range a.Results {
		one := Answer{Database: clean(r.Database), Status: r.Status, Failing: max(r.Total, len(r.Violations))}
		if r.Status == snapshot.StatusNotAssessed || r.Status == snapshot.StatusNotApplicable {
			one.Reason = clean(r.Reason)
		}
		check := clean(r.CheckID)
		if answers[check] == nil && r.Threshold != "" {
			one.Threshold = digest([]byte(r.Threshold))[:8]
		}
		answers[check] = append(answers[check], one)
	}
	return answers
}

func encodeAnswers(a snapshot.Assessment) (string, error) {
	text, err := json.Marshal(answersOf(a))
	if err != nil {
		return "", fmt.Errorf("encode the answers of an assessment: %w", err)
	}
	return string(text), nil
}

var (
	//go:embed sql/answers.sql
	answersSQL string
	//go:embed sql/write_answers.sql
	writeAnswersSQL string
)

// AnswerQuery is whose answers about which check are read.
type AnswerQuery struct {
	Organization  uuid.UUID
	Instances     []uuid.UUID // nil: all of the organization
	Check         string
	After, Before time.Time // recorded after one and before the other
	FromFacts     bool      // read whole assessments, and not what was taken out of them
	FactsUntil    time.Time // likewise of those up to a time
}

// EachAnswer calls each with what assessments say of a check, instance by instance, the
// oldest first. It holds one at a time, so that the history of a large fleet does not have
// to fit into memory. Answers and facts that cannot be read say nothing: they are not those
// that the log names.
func (s *Store) EachAnswer(ctx context.Context, q AnswerQuery, each func(Answered) error) error {
	var ids any
	if q.Instances != nil {
		ids = statement.IDs(q.Instances)
	}
	rows, err := s.db.QueryxContext(ctx, answersSQL, q.Organization, ids, q.After, q.Before, q.Check, q.FromFacts, q.FactsUntil)
	if err != nil {
		return fmt.Errorf("read the answers of check %s: %w", q.Check, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one Answered
		var answer, facts []byte
		if err := rows.Scan(&one.ID, &one.Instance, &one.At, &answer, &facts, &one.SHA256, &one.AnswersSHA256); err != nil {
			return fmt.Errorf("read an answer of check %s: %w", q.Check, err)
		}
		one.At = one.At.UTC()
		switch {
		case facts != nil:
			one.read(facts, q.Check)
		case answer != nil && json.Unmarshal(answer, &one.Answers) != nil:
			one.Answers = nil // of what was read before the fault
		}
		if err := each(one); err != nil {
			return err
		}
	}
	return rows.Err()
}

// read takes what it says from the facts.
func (one *Answered) read(facts []byte, check string) {
	one.SHA256 = digest(facts)
	var a snapshot.Assessment
	if json.Unmarshal(facts, &a) != nil {
		return
	}
	one.Catalogue, one.Unreached = a.CatalogueVersion, a.Outcome == snapshot.OutcomeUnreachable
	if i := slices.IndexFunc(a.Results, func(r snapshot.CheckResult) bool { return r.CheckID == check }); i >= 0 {
		one.Threshold = a.Results[i].Threshold
	}
	one.Objects = failingObjects(a, check)
	answers := answersOf(a)
	all, none := answers[unanswered]
	if !none {
		all = answers[check]
	}
	one.Answers = all
}

// FailingObjects are the listed objects that break a check in one assessment, by database, and
// the SHA-256 of the facts that say so. It reads the assessment whole.
func (s *Store) FailingObjects(ctx context.Context, organization, id uuid.UUID, check string) (objects map[string][]string, sha256 string, err error) {
	a, err := s.Assessment(ctx, organization, id)
	if err != nil || a == nil {
		return nil, "", err
	}
	return failingObjects(*a.Assessment, check), a.SHA256, nil
}

func failingObjects(a snapshot.Assessment, check string) map[string][]string {
	objects := map[string][]string{} // an empty one says that none is listed
	for _, r := range a.Results {
		if r.CheckID != check || r.Status != snapshot.StatusFail {
			continue
		}
		for _, v := range r.Violations {
			objects[r.Database] = append(objects[r.Database], v.Object)
		}
	}
	return objects
}

// answersAtOnce is how many assessments from before answers are read in one transaction.
const answersAtOnce = 50

// MakeAnswers takes the answers out of the assessments that were recorded before they were
// kept. Processes that do so at once share the work.
func (s *Store) MakeAnswers(ctx context.Context) error {
	for more := true; more; {
		err := transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
			rows, err := statement.All[struct {
				ID    uuid.UUID `db:"id"`
				Facts []byte    `db:"facts"`
			}](ctx, tx, "find assessments without answers", `SELECT id, facts FROM assessments WHERE answers IS NULL LIMIT $1 FOR UPDATE SKIP LOCKED`, answersAtOnce)
			if more = len(rows) > 0; err != nil || !more {
				return err
			}
			ids, texts := make([]uuid.UUID, len(rows)), make([]string, len(rows))
			for i, row := range rows {
				var a snapshot.Assessment
				ids[i], texts[i] = row.ID, `{}`
				if json.Unmarshal(row.Facts, &a) != nil {
					continue // it says nothing, and is not asked again
				}
				if texts[i], err = encodeAnswers(a); err != nil {
					return err
				}
			}
			return statement.Exec(ctx, tx, "keep the answers of assessments", writeAnswersSQL, statement.IDs(ids), texts)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
