package fleet

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// InstanceAssessed has the result of an assessment of an instance, if it differs from what the
// log has: in its score, in the state of the server, or in the day, because a day has a score
// only if the server was assessed on it.
//
// It stays forever, so it contains no words of a server: names of roles and databases, rules
// and values are in it as digests alone, salted per organization.
type InstanceAssessed struct {
	InstanceID   uuid.UUID     `json:"instanceId"`
	AssessmentID uuid.UUID     `json:"assessmentId"` // under which the values of its changes are kept
	At           time.Time     `json:"at"`
	Score        *int          `json:"score"` // 0-100; null: no check has an answer
	Grade        string        `json:"grade"` // A to F; empty: no score
	Domains      []DomainScore `json:"domains"`
	Changes      []Change      `json:"changes"`
	Omitted      int           `json:"omitted"` // changes beyond those listed
	// FactsSHA256 is the SHA-256 of the stored assessment, hex. It binds the assessment to the
	// log; empty: the event is older than this field.
	FactsSHA256 string `json:"factsSha256,omitempty"`
	// New are the findings that the previous assessment did not have, or had with a lower
	// severity, by check and severity. Empty: there are none, or the event is older than this
	// field.
	New []NewFindings `json:"newFindings,omitempty"`
	// The fields of AssessmentKept, whose place this event takes; empty: the event is older
	// than marks.
	AnswersSHA256 string `json:"answersSha256,omitempty"`
	Catalogue     string `json:"catalogueVersion,omitempty"`
	Buffered      bool   `json:"buffered,omitempty"`
	// ClassifiedSHA256 is as AssessmentKept has it.
	ClassifiedSHA256 string `json:"classifiedSha256,omitempty"`

	Mark string `json:"mark,omitempty"`
}

// Binding is the event with what binds its assessment to the log.
func (e InstanceAssessed) Binding(k AssessmentKept) InstanceAssessed {
	e.At, e.FactsSHA256, e.AnswersSHA256, e.Catalogue, e.Buffered, e.Mark = k.At, k.FactsSHA256, k.AnswersSHA256, k.Catalogue, k.Buffered, k.Mark
	e.ClassifiedSHA256 = k.ClassifiedSHA256
	return e
}

// Kept is what the event says of its assessment.
func (e InstanceAssessed) Kept() AssessmentKept {
	return AssessmentKept{
		InstanceID: e.InstanceID, AssessmentID: e.AssessmentID, At: e.At, FactsSHA256: e.FactsSHA256, AnswersSHA256: e.AnswersSHA256,
		Catalogue: e.Catalogue, Reached: true, Buffered: e.Buffered, Mark: e.Mark,
		ClassifiedSHA256: e.ClassifiedSHA256,
	}
}

// NewFindings are those of one check and severity. Id and title are the catalogue's.
type NewFindings struct {
	CheckID  string `json:"checkId"`
	Title    string `json:"title"`
	Severity string `json:"severity"`
	Findings int    `json:"findings"`
}

// DomainScore is the part of a score that one domain of checks has.
type DomainScore struct {
	Name        string   `json:"name"`
	Score       *float64 `json:"score"` // 0-100, in thousandths; null: no check has an answer
	Failed      int      `json:"failed"`
	Passed      int      `json:"passed"`
	NotAssessed int      `json:"notAssessed"` // (check, database) pairs
}

// ChangeKind is what of a server changed.
type ChangeKind string

// The kinds there are.
const (
	ChangedSetting   ChangeKind = "setting"
	ChangedRole      ChangeKind = "role"
	ChangedGrant     ChangeKind = "grant"
	ChangedHBA       ChangeKind = "hba" // a line of pg_hba.conf
	ChangedVersion   ChangeKind = "version"
	ChangedExtension ChangeKind = "extension"
	// ChangedReplication is the server's role in replication: primary or standby. A failover changes it.
	ChangedReplication ChangeKind = "replication"
	// ChangedStart is when the server's process started. A restart changes it.
	ChangedStart ChangeKind = "start"
)

// Change is one thing that differs from the assessment before.
type Change struct {
	Kind   ChangeKind `json:"kind"`
	Key    string     `json:"key"`    // the name of a setting that PostgreSQL comes with; a salted digest of any other name
	Before string     `json:"before"` // a salted digest; empty: it was not there
	After  string     `json:"after"`  // likewise; empty: it is gone
}

// Same says whether two assessments of one day say the same of a server that did not
// change between them.
func (e InstanceAssessed) Same(other InstanceAssessed) bool {
	return equal(e.Score, other.Score) && e.Grade == other.Grade &&
		slices.EqualFunc(e.Domains, other.Domains, func(a, b DomainScore) bool {
			return a.Name == b.Name && equal(a.Score, b.Score) && a.Failed == b.Failed && a.Passed == b.Passed && a.NotAssessed == b.NotAssessed
		})
}

func equal[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
