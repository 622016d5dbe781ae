package fleet

import (
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
)

// AssessmentKept binds an assessment to the log: the program appends one in the transaction
// that keeps the assessment, unless it appends InstanceAssessed, which says the same of it. A
// report or a control uses an assessment only if instance, time and digests are those of its
// event.
type AssessmentKept struct {
	InstanceID   uuid.UUID `json:"instanceId"`
	AssessmentID uuid.UUID `json:"assessmentId"`
	At           time.Time `json:"at"` // when the server was assessed; for a feed, the time that the feed states
	// FactsSHA256 and AnswersSHA256 are those of the facts and of the answers as they are
	// stored, hex.
	FactsSHA256   string `json:"factsSha256"`
	AnswersSHA256 string `json:"answersSha256"`
	Catalogue     string `json:"catalogueVersion"` // the feed by which it was judged
	Reached       bool   `json:"reached"`          // false: an attempt that did not reach the server
	Buffered      bool   `json:"buffered,omitempty"`
	// ClassifiedSHA256 is the SHA-256 of the stored classification of the server's databases
	// after the assessment, hex; "" from an earlier program.
	ClassifiedSHA256 string `json:"classifiedSha256,omitempty"`
	// Mark is the program's own (package secrets), over everything above and the organization.
	Mark string `json:"mark,omitempty"`
}

// KeptStream is the type of the stream with the assessments of one instance that found nothing
// new; KeptOf is its id. It is not the stream of InstanceAssessed, so programs from before
// AssessmentKept can still read that one.
const KeptStream = "kept_assessment"

func (AssessmentKept) name() string { return "assessment.kept" }

// Grace is how long after its time an assessment may be recorded and still count for that
// time. BufferedGrace holds where the sender says that the assessment waited in its buffer.
const (
	Grace         = 24 * time.Hour
	BufferedGrace = 72 * time.Hour
)

// Late says whether the event was recorded so long after the assessment that the
// assessment does not count for its own time.
func (e AssessmentKept) Late(recordedAt time.Time) bool {
	if e.Buffered {
		return recordedAt.Sub(e.At) > BufferedGrace
	}
	return recordedAt.Sub(e.At) > Grace
}

// Assessed is a fact about an assessment of an instance.
type Assessed interface {
	Event
	// Stream is where the fact goes.
	Stream() (streamType string, id uuid.UUID)
}

// Stream is the stream of what assessments came to.
func (e InstanceAssessed) Stream() (streamType string, id uuid.UUID) {
	return AssessmentStream, AssessmentsOf(e.InstanceID)
}

// Stream is the stream of what was kept.
func (e AssessmentKept) Stream() (streamType string, id uuid.UUID) {
	return KeptStream, KeptOf(e.InstanceID)
}

// AssessmentsOf is the id of the stream that says what assessments of an instance came
// to. It is not the instance's own, which is loaded whole for every change to it.
func AssessmentsOf(instance uuid.UUID) uuid.UUID { return streamOf("assessments", instance) }

// KeptOf is the id of the stream of AssessmentKept of an instance.
func KeptOf(instance uuid.UUID) uuid.UUID { return streamOf("kept assessments", instance) }

func streamOf(what string, instance uuid.UUID) (id uuid.UUID) {
	about := sha256.Sum256([]byte(what + " of instance " + instance.String()))
	copy(id[:], about[:])
	id[6] = id[6]&0x0f | 0x80 // version 8: custom (RFC 9562)
	id[8] = id[8]&0x3f | 0x80
	return id
}
