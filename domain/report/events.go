package report

import (
	"time"

	"github.com/google/uuid"
)

// Event is a fact in the life of a report request. Its wire name is its Name.
type Event interface{ name() string }

// Queued says that a member asked and no identical request was being built.
type Queued struct {
	Kind         Kind        `json:"kind"`
	Scope        Scope       `json:"scope"`
	ScopeLabel   string      `json:"scopeLabel"`
	Fingerprint  string      `json:"fingerprint"` // hex
	RequesterID  uuid.UUID   `json:"requesterId"`
	RecipientIDs []uuid.UUID `json:"recipientIds"` // the requester first
	Schedule     *Scheduled  `json:"schedule,omitempty"`
}

// Scheduled is the schedule that requests a report in its owner's name; nil if a member
// requests it. Earlier events do not have it.
type Scheduled struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"` // as it was called then
}

// Reused says that an identical request came while this one was being built.
type Reused struct {
	RequesterID uuid.UUID   `json:"requesterId"`
	Added       []uuid.UUID `json:"added"`
	NotAdded    []uuid.UUID `json:"notAdded"`
	Schedule    *Scheduled  `json:"schedule,omitempty"`
}

// BuildStarted says that a worker took the request; the request is Building. Without a
// worker, and as attempt 0, it stands before a Failed that came before any
// worker had started.
type BuildStarted struct {
	Worker  string `json:"worker"`
	Attempt int    `json:"attempt"`
}

// BuildResumed says that another worker took over, or the same one tries again. No transition.
type BuildResumed struct {
	Worker  string `json:"worker"`
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"`
}

// StepCompleted says that a step of the build is done. No transition.
type StepCompleted struct {
	Step       int    `json:"step"`
	TotalSteps int    `json:"totalSteps"`
	Label      string `json:"label"`
}

// Renderer identifies the program that rendered a PDF.
type Renderer struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	GoVersion string `json:"goVersion"`
	Assets    string `json:"assets"` // SHA-256 over the fonts and the program text that renders, hex
}

// Ready says that the PDF exists, its digests are known, the mail jobs are queued.
type Ready struct {
	AsOf             time.Time   `json:"asOf"`
	InputsSHA256     string      `json:"inputsSha256"` // hex, of the uncompressed canonical document
	InputsKey        string      `json:"inputsKey"`    // name in the blob store
	PDFSHA256        string      `json:"pdfSha256"`
	PDFKey           string      `json:"pdfKey"`
	FileName         string      `json:"fileName"`
	SizeBytes        int64       `json:"sizeBytes"`
	Pages            int         `json:"pages"`
	Renderer         Renderer    `json:"renderer"`
	Witness          Witness     `json:"witness"` // as printed in the footer
	RecipientIDs     []uuid.UUID `json:"recipientIds"`
	RetentionSeconds int64       `json:"retentionSeconds"` // the window in force now
	ExpiresAt        time.Time   `json:"expiresAt"`
	InputsErasedOn   time.Time   `json:"inputsErasedOn"` // when the inputs document is due to be deleted
	// Of before there were companions, a Ready has neither of these.
	InputsSizeBytes int64  `json:"inputsSizeBytes,omitempty"` // uncompressed
	Files           []File `json:"files,omitempty"`           // Companions
	// Findings counts the findings of the report. Nil for an inventory, and in earlier events.
	Findings *Findings `json:"findings,omitempty"`
	// Mark is the builder's own mark (internal/secrets) on the text of Vouched. Empty in events
	// from before marks.
	Mark string `json:"mark,omitempty"`
	// Kind and ScopeSHA256 are those of Queued, so the log's tree covers everything that is
	// attested about a report. Empty in earlier events.
	Kind        Kind   `json:"kind,omitempty"`
	ScopeSHA256 string `json:"scopeSha256,omitempty"`
}

// Vouched is the text that a builder's mark covers: the report, the request, and the digests of
// all files. kind and scope are those of Queued.
func (e Ready) Vouched(organization, id uuid.UUID, kind Kind, scope string) []string {
	fields := []string{
		"report 1", organization.String(), id.String(), string(kind), scope,
		e.AsOf.UTC().Format(time.RFC3339Nano), e.PDFSHA256, e.InputsSHA256,
	}
	for _, f := range e.Files {
		fields = append(fields, f.Name, f.SHA256)
	}
	return fields
}

// Findings are a report's, as two reports of the same kind and scope are compared.
type Findings struct {
	SHA256 string     `json:"sha256"` // hex, over what is found: equal where nothing changed
	Open   int        `json:"open"`
	Since  *time.Time `json:"since"`  // as of the report before; nil: there is none, and so nothing of the following
	New    int        `json:"new"`    // open, and not open in that one
	Closed int        `json:"closed"` // open in that one, looked at again, and not there any more
	// Accepted were open in that one, and an exception covers them now; 0 also in what was recorded before this was.
	Accepted int `json:"accepted,omitempty"`
	// Unknown were open in that one, and could not be looked at this time.
	Unknown int `json:"unknown"`
	// Looked says how far the report sees; nil in what was recorded before this was.
	Looked *Looked `json:"looked,omitempty"`
}

// Looked is on how much a report stands, and what is urgent in it.
type Looked struct {
	Instances int     `json:"instances"` // in scope
	Assessed  int     `json:"assessed"`  // of those
	Critical  int     `json:"critical"`  // open findings
	High      int     `json:"high"`
	Overdue   int     `json:"overdue"`  // of both
	OpenCVEs  int     `json:"openCves"` // of instances that were not assessed, too
	WorstCVSS float64 `json:"worstCvss"`
}

// Witness is a log head.
type Witness struct {
	Log      string `json:"log"`
	Position int64  `json:"position"`
	Hash     string `json:"hash"` // hex
}

// Failed says that the request cannot be built.
type Failed struct {
	Code    string `json:"code"`
	Message string `json:"message"` // a sentence that a person can act on
}

// Expired says that the retention window has elapsed.
type Expired struct {
	ExpiredAt time.Time `json:"expiredAt"`
}

// EmailSent says that the mail server took one recipient's mail.
type EmailSent struct {
	MemberID  uuid.UUID `json:"memberId"`
	MessageID string    `json:"messageId"`
	SMTPCode  int       `json:"smtpCode"` // 0 where the mail went to the outbox
}

// EmailFailed says that one recipient's mail cannot be delivered.
type EmailFailed struct {
	MemberID  uuid.UUID `json:"memberId"`
	MessageID string    `json:"messageId"`
	SMTPCode  int       `json:"smtpCode"`
	Reason    string    `json:"reason"` // never an address
}

// Downloaded says that a member fetched a file; one event per member, file and hour.
type Downloaded struct {
	MemberID uuid.UUID `json:"memberId"`
	File     string    `json:"file,omitempty"` // empty: the PDF
}

// InputsErased says that the inputs document was deleted by the named rule.
type InputsErased struct {
	Rule string `json:"rule"` // retention, member_erased
}

// Signed says that the PDF got its second revision: the proof as it was then, and the
// installation's signature. What Ready names is its beginning, byte for byte.
type Signed struct {
	SHA256    string `json:"sha256"` // hex
	Key       string `json:"key"`    // name in the blob store
	SizeBytes int64  `json:"sizeBytes"`
	KeyID     string `json:"keyId"` // of the key that signed
}

func (Queued) name() string        { return "report.queued" }
func (Reused) name() string        { return "report.reused" }
func (BuildStarted) name() string  { return "report.build_started" }
func (BuildResumed) name() string  { return "report.build_resumed" }
func (StepCompleted) name() string { return "report.step_completed" }
func (Ready) name() string         { return "report.ready" }
func (Failed) name() string        { return "report.failed" }
func (Expired) name() string       { return "report.expired" }
func (EmailSent) name() string     { return "report.email_sent" }
func (EmailFailed) name() string   { return "report.email_failed" }
func (Downloaded) name() string    { return "report.downloaded" }
func (InputsErased) name() string  { return "report.inputs_erased" }
func (Signed) name() string        { return "report.signed" }

// Events returns an empty value of every event of a report. All are at schema version 1. A
// name that was ever written stays.
func Events() []Event {
	return []Event{
		Queued{}, Reused{}, BuildStarted{}, BuildResumed{}, StepCompleted{}, Ready{}, Failed{}, Expired{},
		EmailSent{}, EmailFailed{}, Downloaded{}, InputsErased{}, Signed{},
	}
}

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
