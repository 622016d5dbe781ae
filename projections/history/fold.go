package history

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/domain/report"
	"muster/eventstore"
	"muster/projections"
)

// Delivery of a recipient's mail.
const (
	DeliveryPending = "pending"
	DeliverySent    = "sent"
	DeliveryFailed  = "failed"
)

// folded is a report as its events make it; Row.Status is by the events alone.
type folded struct {
	ReportRow
	recipients    []Recipient // receivers in order, then those who only asked
	readyPosition int64
	stored        bool // its row is there already
}

// apply folds one event in. The projection and AsOf share it, so that what was
// listed then and what is listed now are made by one rule.
func (f *folded) apply(e eventstore.Event, fact report.Event) error {
	queued, isRequest := fact.(report.Queued)
	if f.ID == uuid.Nil && !isRequest {
		return projections.UnknownStream(e)
	}
	status, _ := report.Next(f.Status, fact)
	at := instant.Cut(e.OccurredAt)
	switch fact := fact.(type) {
	case report.Queued:
		f.request(e, queued)
	case report.Reused:
		f.receive(fact.Added)
		f.ask(fact.RequesterID)
	case report.BuildStarted:
		f.StartedAt = &at
	case report.Ready:
		f.ready(e, fact)
	case report.Signed:
		if f.File != nil {
			f.File.Signed = &SignedFile{Key: fact.Key, SizeBytes: fact.SizeBytes, SHA256: fact.SHA256}
		}
	case report.Failed:
		f.FinishedAt, f.ErrorCode, f.ErrorMessage = &at, fact.Code, fact.Message
	case report.EmailSent:
		f.deliver(fact.MemberID, Recipient{Delivery: DeliverySent, SMTPCode: fact.SMTPCode, MessageID: fact.MessageID, At: &at})
	case report.EmailFailed:
		f.deliver(fact.MemberID, Recipient{Delivery: DeliveryFailed, SMTPCode: fact.SMTPCode, MessageID: fact.MessageID, At: &at})
	case report.InputsErased:
		f.InputsErasedAt, f.InputsRule = &at, fact.Rule
	}
	f.Status, f.Version = status, e.Version
	return nil
}

func (f *folded) request(e eventstore.Event, queued report.Queued) {
	f.ReportRow = ReportRow{
		ID: e.Stream, OrganizationID: e.OrganizationID, Kind: queued.Kind,
		Scope: queued.Scope, ScopeLabel: queued.ScopeLabel, RequesterID: queued.RequesterID,
		CreatedAt: instant.Cut(e.OccurredAt),
	}
	f.receive(queued.RecipientIDs)
	f.ask(queued.RequesterID)
}

func (f *folded) ready(e eventstore.Event, ready report.Ready) {
	finished, expires := instant.Cut(e.OccurredAt), instant.Cut(ready.ExpiresAt)
	f.FinishedAt, f.ExpiresAt, f.readyPosition = &finished, &expires, e.Position
	f.File = &ReportFile{
		Name: ready.FileName, Key: ready.PDFKey, SizeBytes: ready.SizeBytes, SHA256: ready.PDFSHA256, Pages: ready.Pages,
		InputsSHA256: ready.InputsSHA256, InputsKey: ready.InputsKey, Renderer: ready.Renderer, Witness: ready.Witness,
		Companions: ready.Files, InputsSizeBytes: ready.InputsSizeBytes,
	}
	if !ready.InputsErasedOn.IsZero() {
		due := instant.Cut(ready.InputsErasedOn)
		f.File.InputsErasedOn = &due
	}
	f.receive(ready.RecipientIDs)
}

// receive adds recipients behind the ones there are.
func (f *folded) receive(members []uuid.UUID) {
	for _, id := range members {
		if r := f.recipient(id); r != nil {
			if !r.receives {
				r.receives = true
				f.RecipientIDs = append(f.RecipientIDs, id)
			}
			continue
		}
		f.recipients = append(f.recipients, Recipient{MemberID: id, Delivery: DeliveryPending, receives: true})
		f.RecipientIDs = append(f.RecipientIDs, id)
	}
}

// ask notes who asked: their tray shows the report even where they do not receive it.
func (f *folded) ask(member uuid.UUID) {
	if f.recipient(member) == nil {
		f.recipients = append(f.recipients, Recipient{MemberID: member, Delivery: DeliveryPending})
	}
}

func (f *folded) deliver(member uuid.UUID, outcome Recipient) {
	if r := f.recipient(member); r != nil {
		outcome.MemberID, outcome.receives = member, r.receives
		*r = outcome
	}
}

func (f *folded) recipient(member uuid.UUID) *Recipient {
	for i := range f.recipients {
		if f.recipients[i].MemberID == member {
			return &f.recipients[i]
		}
	}
	return nil
}

// as is the row as of a time: a Ready one ends with its window, whether or not
// Expired has been recorded.
func (r ReportRow) as(at time.Time) ReportRow {
	if r.Status == report.StatusReady && r.ExpiresAt != nil && !r.ExpiresAt.After(at) {
		r.Status = report.StatusExpired
	}
	return r
}

func fact(decode projections.Decode, e eventstore.Event) (report.Event, error) {
	return projections.Fact[report.Event](decode, e, "a report")
}
