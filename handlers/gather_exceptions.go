package handlers

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"muster/domain/exception"
	"muster/domain/instant"
	"muster/eventstore"
	"muster/internal/report/snapshot"
	"muster/projections"
	"muster/projections/exceptions"
)

// addExceptions adds the granted exceptions that have not lapsed at the document's instant. It
// sees every decision from before that instant. A decision during the build, or by a clock
// ahead of this worker's, moves the instant after it.
func (g *Inputs) addExceptions(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if err := g.pass(ctx, eventstore.Organization, exceptions.Name); err != nil {
		return err
	}
	found, err := g.Exceptions.InForce(ctx, in.OrganizationID, doc.AsOf)
	if err != nil {
		return err
	}
	if found, err = g.loggedExceptions(ctx, in.OrganizationID, found); err != nil {
		return err
	}
	var people []uuid.UUID
	for _, x := range found {
		taken, ok := concerning(doc, x)
		if !ok {
			continue
		}
		doc.Exceptions = append(doc.Exceptions, taken)
		people = append(people, taken.RequestedBy.ID, taken.GrantedBy.ID)
		if taken.GrantedAt.After(doc.AsOf) {
			doc.AsOf = taken.GrantedAt
		}
	}
	doc.Exceptions = slices.DeleteFunc(doc.Exceptions, func(x snapshot.Exception) bool { return !doc.AsOf.Before(x.Until) })
	names, err := g.Accounts.Names(ctx, in.OrganizationID, people)
	if err != nil {
		return err
	}
	for i := range doc.Exceptions {
		x := &doc.Exceptions[i]
		x.RequestedBy.Name, x.GrantedBy.Name = names[x.RequestedBy.ID], names[x.GrantedBy.ID]
	}
	return nil
}

// loggedExceptions are those that are also in force by the log of the organization: with SQL
// alone, an attacker can put one into the read model. An exception that was revoked meanwhile
// is left out. Error: *AlteredFactsError.
func (g *Inputs) loggedExceptions(ctx context.Context, organization uuid.UUID, found []exceptions.Exception) (out []exceptions.Exception, err error) {
	var ids []uuid.UUID
	for _, x := range found {
		ids = append(ids, x.ID)
	}
	says := map[uuid.UUID]*exceptions.Exception{}
	for e, err := range g.Events.LoadEach(ctx, organization, ids) {
		if err != nil {
			return nil, err
		}
		if e.Log != eventstore.Organization || e.StreamType != exception.StreamType {
			continue
		}
		fact, err := projections.Fact[exception.Event](g.Logged.Decode, e, "an exception")
		if err != nil {
			return nil, fmt.Errorf("event %d of the organization: %w", e.Position, err)
		}
		if asked, is := fact.(exception.Requested); is {
			says[e.Stream] = &exceptions.Exception{
				Status: exception.StatusRequested, CheckID: asked.CheckID, InstanceID: asked.InstanceID, DatabaseID: asked.DatabaseID,
				ObjectRef: asked.ObjectRef, Reason: asked.Reason, Until: asked.Until, RequestedBy: e.Actor(),
			}
		} else if x := says[e.Stream]; x != nil {
			who := e.Actor()
			x.DecidedBy = &who
			x.Status, _ = exception.Next(x.Status, fact)
		}
	}
	failed := &AlteredFactsError{}
	for _, x := range found {
		switch said := says[x.ID]; {
		case said == nil || said.Status == exception.StatusRequested || !sameExceptions(*said, x):
			failed.Altered = append(failed.Altered, AlteredFact{Exception: x.ID})
		case said.Status == exception.StatusGranted:
			out = append(out, x)
		}
	}
	if len(failed.Altered) > 0 {
		if g.Logged.Altered != nil {
			g.Logged.Altered(failed.Error())
		}
		return nil, failed
	}
	return out, nil
}

// sameExceptions reports whether two are about the same findings, for the same time, of the same
// requester and reason.
func sameExceptions(a, b exceptions.Exception) bool {
	same := func(a, b *uuid.UUID) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	return a.CheckID == b.CheckID && same(a.InstanceID, b.InstanceID) && same(a.DatabaseID, b.DatabaseID) && a.ObjectRef == b.ObjectRef &&
		a.Reason == b.Reason && instant.Cut(a.Until).Equal(instant.Cut(b.Until)) && a.RequestedBy == b.RequestedBy &&
		(a.Status != b.Status || same(a.DecidedBy, b.DecidedBy)) // revoked meanwhile, by another administrator
}

// concerning is an exception in the form of the document; ok is false if it is about a server
// or a database outside the scope.
func concerning(doc *snapshot.Document, x exceptions.Exception) (taken snapshot.Exception, ok bool) {
	taken = snapshot.Exception{
		ID: x.ID, CheckID: x.CheckID, InstanceID: x.InstanceID, Object: x.ObjectRef, Reason: x.Reason, Until: x.Until,
		RequestedBy: snapshot.Person{ID: x.RequestedBy},
	}
	if x.DecidedBy != nil && x.DecidedAt != nil {
		taken.GrantedBy.ID, taken.GrantedAt = *x.DecidedBy, *x.DecidedAt
	}
	if x.InstanceID == nil {
		return taken, true
	}
	for _, in := range doc.Instances {
		if in.ID != *x.InstanceID {
			continue
		}
		if x.DatabaseID == nil {
			return taken, true
		}
		for _, db := range in.Databases {
			if db.ID == *x.DatabaseID {
				taken.Database = &snapshot.DatabaseRef{ID: db.ID, Name: db.Name}
				return taken, doc.Database == nil || doc.Database.ID == db.ID
			}
		}
	}
	return snapshot.Exception{}, false
}
