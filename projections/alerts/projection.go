package alerts

import (
	"context"
	_ "embed" // the schema

	"muster/eventstore"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, alerts_v1.
const (
	Name    = "alerts"
	Version = 1
)

//go:embed schema.sql
var schema string

// Projection returns the projection that Reader reads.
func Projection(decode projections.Decode) projections.Projection {
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Fleet}, Schema: schema,
		Apply: func(context.Context, projections.Tx, []eventstore.Event) error { return nil },
	}
}
