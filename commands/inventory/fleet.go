package inventory

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
)

// Fleet runs the use cases of instances and their databases.
type Fleet struct {
	*usecase.Base
	connections Connections
}

// New returns the use cases of instances; connections may be nil: no instance has any then.
func New(base *usecase.Base, connections Connections) *Fleet {
	return &Fleet{Base: base, connections: connections}
}

// Connections knows which instances have a connection registered; *assessment.Store does.
type Connections interface {
	// Connected are those of the instances that have one, as q sees it.
	Connected(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) ([]uuid.UUID, error)
}
