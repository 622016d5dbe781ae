package report

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// downloadEvery is how often one member's download is recorded.
const downloadEvery = time.Hour

// Report is one report request, folded from its events. The zero value has not been requested
// yet.
type Report struct {
	status      Status
	kind        Kind
	scope       Scope
	fingerprint string
	recipients  []uuid.UUID

	worker  string
	attempt int
	step    int // the last one of this attempt

	ready     Ready
	signed    Signed
	failed    Failed
	mails     map[uuid.UUID]Event // the last outcome of each recipient's mail
	downloads map[Downloaded]time.Time
	erased    bool
}

// NotDueError reports that a report has not expired yet.
type NotDueError struct{ Due time.Time }

func (e *NotDueError) Error() string {
	return "the report is kept until " + e.Due.Format(time.RFC3339)
}

// NotRecipientError reports a mail outcome for a member who is no recipient.
type NotRecipientError struct{ MemberID uuid.UUID }

func (e *NotRecipientError) Error() string {
	return "member " + e.MemberID.String() + " is no recipient"
}

// Status is where the request stands by its events. See StatusAt.
func (r *Report) Status() Status { return r.status }

// StatusAt is where the request stands at a time: Ready ends with its window,
// whether or not Expired has been recorded.
func (r *Report) StatusAt(at time.Time) Status {
	if r.status == StatusReady && !at.Before(r.ready.ExpiresAt) {
		return StatusExpired
	}
	return r.status
}

// Kind is what the report is about.
func (r *Report) Kind() Kind { return r.kind }

// Scope is what the report covers.
func (r *Report) Scope() Scope { return r.scope }

// Fingerprint is the identity of the request.
func (r *Report) Fingerprint() string { return r.fingerprint }

// Recipients are the recipients in the order in which they were added, the
// requester first.
func (r *Report) Recipients() []uuid.UUID { return slices.Clone(r.recipients) }

// Apply folds one recorded event into the report; at is the time at which it happened. It
// checks no rules: a recorded event has happened.
func (r *Report) Apply(event Event, at time.Time) {
	r.status, _ = Next(r.status, event)
	switch e := event.(type) {
	case Queued:
		r.kind, r.scope, r.fingerprint = e.Kind, e.Scope, e.Fingerprint
		r.recipients = slices.Clone(e.RecipientIDs)
	case Reused:
		r.recipients = append(r.recipients, e.Added...)
	case BuildStarted:
		r.worker, r.attempt = e.Worker, e.Attempt
	case BuildResumed:
		r.worker, r.attempt, r.step = e.Worker, e.Attempt, 0
	case StepCompleted:
		r.step = e.Step
	case Ready:
		r.ready = e
	case Signed:
		r.signed = e
	case Failed:
		r.failed = e
	case EmailSent:
		r.recordMail(e.MemberID, e)
	case EmailFailed:
		r.recordMail(e.MemberID, e)
	case Downloaded:
		if r.downloads == nil {
			r.downloads = make(map[Downloaded]time.Time)
		}
		r.downloads[e] = at
	case InputsErased:
		r.erased = true
	}
}

func (r *Report) recordMail(member uuid.UUID, outcome Event) {
	if r.mails == nil {
		r.mails = make(map[uuid.UUID]Event)
	}
	r.mails[member] = outcome
}

// decide returns the event if it may happen in the status.
func decide(status Status, e Event) ([]Event, error) {
	if _, ok := Next(status, e); !ok {
		return nil, &TransitionError{From: status, Event: Name(e)}
	}
	return []Event{e}, nil
}

// Request makes the request. queued must hold a canonical scope (Validate) and
// the recipients with the requester first (Recipients). The report of a team that a schedule
// requests goes to the team's members alone.
func (r *Report) Request(queued Queued) ([]Event, error) {
	ofTeam := queued.Scope.TeamID != nil && queued.Schedule != nil
	if n := len(queued.RecipientIDs); n == 0 || n > MaxRecipients || !ofTeam && queued.RecipientIDs[0] != queued.RequesterID {
		return nil, fmt.Errorf("a request has its requester and at most %d further recipients", MaxRecipients-1)
	}
	return decide(r.status, queued)
}

// Reuse adds the member who requests the same report, and then their extra recipients, while
// they fit into MaxRecipients. by is the schedule that requests for them. It is also recorded
// if nobody is new: a repeated request is part of the trail.
func (r *Report) Reuse(requester uuid.UUID, extras []uuid.UUID, by *Scheduled) (reused Reused, events []Event, err error) {
	reused = Reused{RequesterID: requester, Added: []uuid.UUID{}, NotAdded: []uuid.UUID{}, Schedule: by}
	for _, id := range append([]uuid.UUID{requester}, extras...) {
		switch {
		case slices.Contains(r.recipients, id) || slices.Contains(reused.Added, id) || slices.Contains(reused.NotAdded, id):
		case len(r.recipients)+len(reused.Added) < MaxRecipients:
			reused.Added = append(reused.Added, id)
		default:
			reused.NotAdded = append(reused.NotAdded, id)
		}
	}
	events, err = decide(r.status, reused)
	return reused, events, err
}

// Start moves the request to Building. If it is Building already, it records who continues and
// why.
func (r *Report) Start(worker string, attempt int, reason string) ([]Event, error) {
	if r.status != StatusBuilding {
		return decide(r.status, BuildStarted{Worker: worker, Attempt: attempt})
	}
	if worker == r.worker && attempt == r.attempt {
		return nil, nil
	}
	return decide(r.status, BuildResumed{Worker: worker, Attempt: attempt, Reason: reason})
}

// CompleteStep records a finished step; a step at or before the last one of
// this attempt is known already.
func (r *Report) CompleteStep(step StepCompleted) ([]Event, error) {
	if r.status == StatusBuilding && step.Step <= r.step {
		return nil, nil
	}
	return decide(r.status, step)
}

// Ready ends the build with a file. RecipientIDs and ExpiresAt of the event are
// set here: the recipients as they are now, and at plus the retention window.
func (r *Report) Ready(ready Ready, at time.Time) ([]Event, error) {
	if r.ready.PDFSHA256 != "" && ready.PDFSHA256 == r.ready.PDFSHA256 {
		return nil, nil
	}
	if err := ready.complete(); err != nil {
		return nil, err
	}
	ready.RecipientIDs = r.Recipients()
	ready.ExpiresAt = at.UTC().Add(time.Duration(ready.RetentionSeconds) * time.Second)
	return decide(r.status, ready)
}

// complete checks that a Ready names all that a download and a proof need.
func (e Ready) complete() error {
	var missing []error
	for name, digest := range map[string]string{"inputsSha256": e.InputsSHA256, "pdfSha256": e.PDFSHA256} {
		if b, err := hex.DecodeString(digest); err != nil || len(b) != 32 {
			missing = append(missing, fmt.Errorf("%s is no SHA-256", name))
		}
	}
	for _, f := range e.Files {
		if b, err := hex.DecodeString(f.SHA256); err != nil || len(b) != 32 || f.Name == "" || f.Key == "" || f.SizeBytes <= 0 {
			missing = append(missing, fmt.Errorf("a companion (%q) lacks name, key, size or SHA-256", f.Name))
		}
	}
	if e.InputsKey == "" || e.PDFKey == "" || e.FileName == "" || e.SizeBytes <= 0 || e.Pages <= 0 || e.RetentionSeconds <= 0 {
		missing = append(missing, errors.New("keys, file name, size, pages and retention must be set"))
	}
	if len(missing) > 0 {
		return fmt.Errorf("incomplete Ready: %w", errors.Join(missing...))
	}
	return nil
}

// Sign records the second revision of the PDF. A recorded one is not replaced, unless its file
// was lost.
func (r *Report) Sign(signed Signed, lost bool) ([]Event, error) {
	if r.signed.Key != "" && (!lost || r.signed.Key == signed.Key) {
		return nil, nil
	}
	if b, err := hex.DecodeString(signed.SHA256); err != nil || len(b) != 32 || signed.Key == "" || signed.KeyID == "" || signed.SizeBytes <= r.ready.SizeBytes {
		return nil, errors.New("incomplete Signed: SHA-256, key, a size greater than that of Ready, and the id of the key must be set")
	}
	return decide(r.status, signed)
}

// Fail ends the request with a code and a sentence. A request that no worker has started goes
// through Building.
func (r *Report) Fail(failed Failed) ([]Event, error) {
	switch {
	case r.status == StatusFailed && r.failed.Code == failed.Code:
		return nil, nil
	case failed.Code == "" || failed.Message == "":
		return nil, errors.New("a failure needs a code and a sentence")
	case r.status == StatusQueued:
		return []Event{BuildStarted{}, failed}, nil
	}
	return decide(r.status, failed)
}

// Expire ends the window. Errors: *NotDueError before it has elapsed.
func (r *Report) Expire(now time.Time) ([]Event, error) {
	switch {
	case r.status == StatusExpired:
		return nil, nil
	case r.status == StatusReady && r.StatusAt(now) != StatusExpired:
		return nil, &NotDueError{Due: r.ready.ExpiresAt}
	}
	return decide(r.status, Expired{ExpiredAt: r.ready.ExpiresAt})
}

// RecordMail records an EmailSent or EmailFailed. A sent mail stays sent; a failed one may
// still be sent at a retry.
func (r *Report) RecordMail(outcome Event) ([]Event, error) {
	var member uuid.UUID
	switch e := outcome.(type) {
	case EmailSent:
		member = e.MemberID
	case EmailFailed:
		member = e.MemberID
	default:
		return nil, fmt.Errorf("%s is no outcome of a mail", Name(outcome))
	}
	events, err := decide(r.status, outcome)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(r.recipients, member) {
		return nil, &NotRecipientError{MemberID: member}
	}
	if _, sent := r.mails[member].(EmailSent); sent || r.mails[member] == outcome {
		return nil, nil
	}
	return events, nil
}

// RecordDownload records that a member downloaded a file, unless their last recorded download
// of it is less than an hour old. Expiry is judged by at: only the inputs outlive the report.
func (r *Report) RecordDownload(member uuid.UUID, file string, at time.Time) ([]Event, error) {
	fetched := Downloaded{MemberID: member, File: file}
	if file == PDFFile {
		fetched.File = ""
	}
	status := r.StatusAt(at)
	if status == StatusExpired && file != InputsFile {
		return nil, &TransitionError{From: status, Event: Name(fetched)}
	}
	events, err := decide(status, fetched)
	if err != nil {
		return nil, err
	}
	if last, ok := r.downloads[fetched]; ok && at.Sub(last) < downloadEvery {
		return nil, nil
	}
	return events, nil
}

// EraseInputs records that the inputs document was deleted.
func (r *Report) EraseInputs(rule string) ([]Event, error) {
	if r.erased {
		return nil, nil
	}
	return decide(r.status, InputsErased{Rule: rule})
}
