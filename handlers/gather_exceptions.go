package handlers

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/snapshot"
	"muster/projections/exceptions"
)

// addExceptions takes in what is granted and has not lapsed at the document's
// instant. Whatever was decided before that instant is seen. One that was decided
// meanwhile, or by a clock ahead of this worker's, moves the instant behind it.
func (g *Inputs) addExceptions(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if err := g.pass(ctx, eventstore.Organization, exceptions.Name); err != nil {
		return err
	}
	found, err := g.Exceptions.InForce(ctx, in.OrganizationID, doc.AsOf)
	if err != nil {
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

// concerning is an exception as the document carries it; ok is false where it
// is about a server or a database outside the scope.
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
