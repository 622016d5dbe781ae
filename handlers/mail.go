package handlers

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/handlers/jobs"
	"muster/internal/mail"
	"muster/internal/mail/sent"
	"muster/internal/proof"
	"muster/internal/proof/attest"
	"muster/internal/report/brief"
	"muster/internal/report/letter"
)

// mailFor is how long a mail is tried.
const mailFor = 24 * time.Hour

// mailTimeout is the end of one attempt.
const mailTimeout = 2 * time.Minute

// Mailer tells one recipient that a report is ready.
type Mailer struct{ Parts }

// The point of a mail after which it may be sent twice.
const pointSent point = "sent"

// Task is how mail jobs are worked on.
func (m *Mailer) Task(concurrency int) Task {
	return Task{
		Kind: jobs.Mail, Timeout: mailTimeout, Handle: m.Handle,
		Policy: jobs.Policy{Concurrency: concurrency, GiveUpAfter: mailFor, Dead: m.dead},
	}
}

// Handle sends one mail and records what became of it. A temporary failure is
// an error, and the job is tried again for 24 hours.
func (m *Mailer) Handle(ctx context.Context, job jobs.Claimed) error {
	member, err := uuid.Parse(job.Key)
	if err != nil {
		return &jobs.FinalError{Err: fmt.Errorf("mail job for %q: %w", job.Key, err)}
	}
	rec, err := m.load(ctx, job.OrganizationID, job.Subject)
	if err != nil {
		return err
	}
	if rec.ready == nil {
		return &jobs.FinalError{Err: fmt.Errorf("mail job for report %s, which is %s", job.Subject, rec.Status())}
	}
	if rec.sent[member] {
		return nil
	}
	says, err := m.Proofs.Vouch(ctx, job.OrganizationID, job.Subject) // a mail carries a signature
	if err != nil {
		return fault(err)
	}
	proven, err := m.proof(ctx, says)
	if err != nil {
		return fault(err)
	}
	kept, receipt, err := m.send(ctx, job, rec.asked[member], says, proven, member)
	var refused *mail.DeliveryError
	switch {
	case errors.As(err, &refused) && !refused.Temporary:
		return m.record(ctx, job, failedMail(job.Subject, member, refused), sent.Mail{})
	case err != nil:
		return fmt.Errorf("mail report %s to member %s: %w", job.Subject, member, err)
	}
	if err := m.pass(ctx, pointSent); err != nil {
		return err
	}
	return m.record(ctx, job, report.EmailSent{
		MemberID: member, MessageID: mail.MessageID(job.Subject, member), SMTPCode: receipt.Code,
	}, kept)
}

// proof is the report's proof as it is now; nil: it was not made within MailWait, or never will be.
func (m *Mailer) proof(ctx context.Context, says proof.Vouched) ([]byte, error) {
	p, ok, err := m.Proofs.Proven(ctx, says)
	if err != nil || !ok {
		return nil, err
	}
	return p.Encode()
}

// send hands a mail over, and returns it as it was.
func (m *Mailer) send(ctx context.Context, job jobs.Claimed, asked asking, says proof.Vouched, proven []byte, member uuid.UUID) (sent.Mail, mail.Handover, error) {
	organization, ok, err := m.Accounts.Organization(ctx, job.OrganizationID)
	if err != nil {
		return sent.Mail{}, mail.Handover{}, err
	}
	if !ok {
		return sent.Mail{}, mail.Handover{}, fmt.Errorf("no organization %s", job.OrganizationID)
	}
	addresses, err := m.Accounts.Addresses(ctx, job.OrganizationID, []uuid.UUID{member})
	if err != nil {
		return sent.Mail{}, mail.Handover{}, err
	}
	to, ok := addresses[member]
	if !ok {
		return sent.Mail{}, mail.Handover{}, &mail.DeliveryError{Stage: mail.Addressing, Text: "the recipient is no longer a member"}
	}
	if world, err := m.Reports.WorldOf(ctx, job.OrganizationID, member); err != nil {
		return sent.Mail{}, mail.Handover{}, err
	} else if !world.Holds(says.Queued.Scope.InstanceIDs) { // which may have changed since the request
		return sent.Mail{}, mail.Handover{}, &mail.DeliveryError{Stage: mail.Seeing}
	}
	notice, err := m.notice(ctx, job, asked, says, member)
	if err != nil {
		return sent.Mail{}, mail.Handover{}, err
	}
	notice.Organization, notice.Demo, notice.Proof = organization.Name, organization.Demo, proven
	message, err := m.Composer.Compose(notice, mail.Address{Name: to.Name, Email: to.Email})
	if err != nil {
		return sent.Mail{}, mail.Handover{}, err
	}
	whole, err := message.Bytes()
	if err != nil {
		return sent.Mail{}, mail.Handover{}, err
	}
	receipt, err := m.Transport.Send(ctx, message)
	return sent.Mail{
		OrganizationID: job.OrganizationID, ReportID: job.Subject, MemberID: member, RequesterID: asked.requester,
		To: to.Email, Subject: message.Subject, Message: whole,
	}, receipt, err
}

// notice is what the mail says of the report.
func (m *Mailer) notice(ctx context.Context, job jobs.Claimed, asked asking, says proof.Vouched, member uuid.UUID) (mail.ReadyNotice, error) {
	names, err := m.Accounts.Names(ctx, job.OrganizationID, []uuid.UUID{asked.requester})
	if err != nil {
		return mail.ReadyNotice{}, err
	}
	ready, head := says.Ready, says.Head()
	// Where all keys are younger than the report, the current one: a mail has no date that is signed.
	key, _, err := m.Proofs.Signing.ReportSigner(ctx, says.Event.RecordedAt)
	if err != nil {
		return mail.ReadyNotice{}, err
	}
	keys, err := m.Proofs.Signing.Keys(ctx)
	if err != nil {
		return mail.ReadyNotice{}, err
	}
	signed, err := attest.Attest(key, says.Report, head)
	if err != nil {
		return mail.ReadyNotice{}, err
	}
	notice := mail.ReadyNotice{
		OrganizationID: job.OrganizationID, ReportID: job.Subject, MemberID: member, PublicURL: m.PublicURL,
		Kind: says.Queued.Kind.Title(), ScopeLabel: says.Queued.ScopeLabel,
		Requester: names[asked.requester], Requested: member == asked.requester,
		At: says.Event.OccurredAt, AsOf: ready.AsOf, ExpiresAt: ready.ExpiresAt, FileName: ready.FileName,
		SizeBytes: ready.SizeBytes, Pages: ready.Pages, SHA256: ready.PDFSHA256,
		Witness: head.String(), KeyID: signed.KeyID, Signature: base64.StdEncoding.EncodeToString(signed.Signature),
		Statement: string(attest.Statement(says.Report, head)), KeysFingerprint: keys.Fingerprint(),
	}
	if by := asked.schedule; by != nil {
		notice.Schedule = &mail.Schedule{ID: by.ID, Name: by.Name}
	}
	if f := ready.Findings; f != nil {
		notice.Findings = &mail.Findings{Open: f.Open, Since: f.Since, New: f.New, Closed: f.Closed, Accepted: f.Accepted, Unknown: f.Unknown, Looked: (*mail.Looked)(f.Looked)}
	}
	if notice.Digest, err = letter.Kept(ctx, m.Blobs, ready.Files, m.PublicURL); err != nil {
		return mail.ReadyNotice{}, err
	}
	if notice.Digest != nil {
		return notice, nil
	}
	briefs, err := brief.Read(ctx, m.DB, job.OrganizationID, job.Subject)
	if b, ok := briefs[job.Subject]; ok {
		notice.Brief = &mail.Brief{State: b.StateWords(), Verdict: b.Verdict, Rest: b.Rest, Color: mail.StateColor(b.State, b.Green)}
		for _, f := range b.Facts() {
			notice.Brief.Facts = append(notice.Brief.Facts, mail.Fact(f))
		}
	}
	return notice, err
}

func failedMail(id, member uuid.UUID, e *mail.DeliveryError) report.EmailFailed {
	return report.EmailFailed{MemberID: member, MessageID: mail.MessageID(id, member), SMTPCode: e.Code, Reason: e.Reason()}
}

// record records the outcome of a mail, and stores a sent one with its report.
func (m *Mailer) record(ctx context.Context, job jobs.Claimed, outcome report.Event, kept sent.Mail) error {
	return m.end(ctx, job, fmt.Sprintf("record the mail of report %s", job.Subject), func(tx *sqlx.Tx) (usecase.Mark, error) {
		return m.Reports.RecordMail(ctx, tx, job.OrganizationID, job.Subject, outcome, []uuid.UUID{kept.MemberID, kept.RequesterID}, func() error {
			return sent.Keep(ctx, tx, kept)
		})
	})
}

// dead records a mail that was tried for a day. The job stays for an operator, who may retry it
// when the mail server is repaired.
func (m *Mailer) dead(ctx context.Context, tx *sqlx.Tx, job jobs.Claimed, cause error) (committed func(), err error) {
	member, err := uuid.Parse(job.Key)
	if err != nil {
		return nil, nil //nolint:nilerr // a job that no program of ours made: there is no recipient to record it for
	}
	failed := report.EmailFailed{
		MemberID: member, MessageID: mail.MessageID(job.Subject, member), Reason: "The mail could not be sent within a day.",
	}
	var refused *mail.DeliveryError
	if errors.As(cause, &refused) {
		failed = failedMail(job.Subject, member, refused)
	}
	_, err = m.Reports.RecordMail(ctx, tx, job.OrganizationID, job.Subject, failed, nil, nil)
	return nil, unlessOver(err)
}
