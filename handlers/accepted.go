package handlers

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
	"muster/projections/exceptions"
	"muster/projections/fleet"
)

// Accepted tells the code that scores an assessment which findings do not count.
type Accepted struct {
	Exceptions *exceptions.Reader
	Fleet      *fleet.Reader
	Now        func() time.Time
}

// On returns the exceptions in force that are about an instance. One about a database
// that has gone covers nothing.
func (a Accepted) On(ctx context.Context, organization, instance uuid.UUID) ([]snapshot.Exception, error) {
	all, err := a.Exceptions.InForce(ctx, organization, a.Now())
	if err != nil {
		return nil, err
	}
	var databases []uuid.UUID
	for _, x := range all {
		if x.DatabaseID != nil {
			databases = append(databases, *x.DatabaseID)
		}
	}
	names, err := a.Fleet.DatabaseNames(ctx, organization, databases)
	if err != nil {
		return nil, err
	}
	scope := &snapshot.Document{Instances: []snapshot.Instance{{ID: instance}}}
	for id, name := range names {
		scope.Instances[0].Databases = append(scope.Instances[0].Databases, snapshot.Database{ID: id, Name: name})
	}
	var out []snapshot.Exception
	for _, x := range all {
		if taken, ok := concerning(scope, x); ok {
			out = append(out, taken)
		}
	}
	return out, nil
}
