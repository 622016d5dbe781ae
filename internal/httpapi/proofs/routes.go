package proofs

import (
	"context"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
)

// ProofRoutes are the operations on keys, checkpoints and tiles.
type ProofRoutes struct {
	Keys        Keys
	Checkpoints Checkpoints
	Trees       *tree.Trees
	Public      bool // anyone may read the trees
}

// Keys publishes keys: signing.Signing.
type Keys interface {
	Published(ctx context.Context) (attest.Keys, error)
}

// Checkpoints has the last one of a log: checkpoint.Maker.
type Checkpoints interface {
	Latest(ctx context.Context, log eventstore.Log) (c checkpoint.Checkpoint, ok bool, err error)
}
