package handlers

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/report/snapshot"
	"muster/projections/alerts"
	"muster/projections/exceptions"
	"muster/projections/history"
	"muster/projections/schedules"
)

// addDay adds the figures of a digest, as of the end of its window.
func (g *Inputs) addDay(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if doc.Window == nil {
		return errors.New("the request of a digest has no window")
	}
	for model, log := range map[string]eventstore.Log{
		alerts.Name: eventstore.Fleet, exceptions.Name: eventstore.Organization, schedules.Name: eventstore.Organization, history.Name: eventstore.Reports,
	} {
		if err := g.pass(ctx, log, model); err != nil {
			return err
		}
	}
	texts, err := g.readersSeeAll(ctx, in)
	if err != nil {
		return err
	}
	ask, err := g.Days.Ask(ctx, g.Fleet, in.Queued.Scope, doc)
	if err != nil {
		return err
	}
	ask.Texts, ask.Now = texts, g.Now()
	digest, err := g.Days.Digest(ctx, ask)
	doc.Day = &digest
	return err
}

// readersSeeAll says whether nobody gets the document from whom the pages hide people and statements.
func (g *Inputs) readersSeeAll(ctx context.Context, in Gathering) (bool, error) {
	readers, err := g.Accounts.Addresses(ctx, in.OrganizationID, append([]uuid.UUID{in.Queued.RequesterID}, in.Queued.RecipientIDs...))
	for _, reader := range readers {
		if reader.Role == organization.Viewer || reader.Role == organization.Team {
			return false, err
		}
	}
	return err == nil, err
}
