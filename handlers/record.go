package handlers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
)

// recorded is what the log says about a report.
type recorded struct {
	organization uuid.UUID
	report.Report
	queued      report.Queued
	requestedAt time.Time
	ready       *report.Ready
	signed      *report.Signed
	signing     bool                 // for the sweeper: it is to be signed
	asked       map[uuid.UUID]asking // the recipients
	sent        map[uuid.UUID]bool   // members who got their mail
	erased      *report.InputsErased
	erasedAt    time.Time
}

// UnknownReportError reports that the log has no such report.
type UnknownReportError struct{ ID uuid.UUID }

func (e *UnknownReportError) Error() string { return fmt.Sprintf("no report %s", e.ID) }

// load folds one report. Errors: *UnknownReportError.
func (p *Parts) load(ctx context.Context, organization, id uuid.UUID) (*recorded, error) {
	return p.loadFrom(ctx, p.DB, organization, id)
}

func (p *Parts) loadFrom(ctx context.Context, q sqlx.ExtContext, organization, id uuid.UUID) (*recorded, error) {
	rec := &recorded{organization: organization, asked: map[uuid.UUID]asking{}, sent: map[uuid.UUID]bool{}}
	version, err := eventstore.Fold(p.Registry, p.Events.Load(ctx, q, organization, id), rec.apply)
	if err != nil {
		return nil, fmt.Errorf("load report %s: %w", id, err)
	}
	if version == 0 {
		return nil, &UnknownReportError{ID: id}
	}
	return rec, nil
}

func (rec *recorded) apply(event report.Event, e eventstore.Event) {
	rec.Apply(event, e.OccurredAt)
	switch event := event.(type) {
	case report.Queued:
		rec.queued, rec.requestedAt = event, e.OccurredAt
		rec.ask(asking{event.RequesterID, event.Schedule}, event.RecipientIDs)
	case report.Reused:
		rec.ask(asking{event.RequesterID, event.Schedule}, event.Added)
	case report.Ready:
		rec.ready = &event
	case report.Signed:
		rec.signed = &event
	case report.EmailSent:
		rec.sent[event.MemberID] = true
	case report.InputsErased:
		rec.erased, rec.erasedAt = &event, e.OccurredAt
	}
}

// asking is the reason why a person is a recipient of a report.
type asking struct {
	requester uuid.UUID         // the requester
	schedule  *report.Scheduled // that asked in the requester's name
}

// ask adds the recipients for whom a member asks; others asked for the rest before. A recipient
// is told about the member who added them, and not about others.
func (rec *recorded) ask(by asking, added []uuid.UUID) {
	for _, member := range added {
		rec.asked[member] = by
	}
	if own := rec.asked[by.requester]; own.requester != by.requester || own.schedule == nil {
		rec.asked[by.requester] = by
	}
}

// names says whether the log says that a file is one of the report's.
func (rec *recorded) names(file string) bool {
	return rec.ready != nil && (rec.ready.InputsKey == file || slices.Contains(rec.files(), file))
}

// files are the names of what ends with a report: the PDF, signed and as it was built, and
// its companions.
func (rec *recorded) files() []string {
	names := []string{rec.ready.PDFKey}
	if rec.signed != nil {
		names = append(names, rec.signed.Key)
	}
	for _, f := range rec.ready.Files {
		names = append(names, f.Key)
	}
	return names
}

// over says whether no file can be named any more: the report has its file, or
// will never have one.
func (rec *recorded) over() bool {
	return rec.Status() != report.StatusQueued && rec.Status() != report.StatusBuilding
}

// owner is the organization of a report that is known by its id alone, for the
// command line. Errors: *UnknownReportError.
func (p *Parts) owner(ctx context.Context, id uuid.UUID) (uuid.UUID, error) {
	for e, err := range p.Events.Read(ctx, eventstore.Reports, eventstore.Filter{Stream: id}) {
		if err != nil {
			return uuid.Nil, fmt.Errorf("look for report %s: %w", id, err)
		}
		return e.OrganizationID, nil
	}
	return uuid.Nil, &UnknownReportError{ID: id}
}

// end commits what record appends together with the end of a job; doing is for the error.
func (p *Parts) end(ctx context.Context, job jobs.Claimed, doing string, record func(tx *sqlx.Tx) (usecase.Mark, error)) error {
	err := eventstore.Transact(ctx, p.DB, func(tx *sqlx.Tx) error {
		if err := p.Queue.Finish(ctx, tx, job); err != nil {
			return err
		}
		_, err := record(tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func isUnknown(err error) bool {
	var unknown *UnknownReportError
	return errors.As(err, &unknown)
}
