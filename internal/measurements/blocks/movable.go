package blocks

import "context"

// Movable is a Store that blocks can be moved to, and away from.
type Movable interface {
	Store

	// Series hands every series of which there may be a block to take, none twice. ID is
	// none's but in the ledger's own database.
	Series(ctx context.Context, take func(Series) error) error

	// Mark is a moment. Nobody may be within Put.
	Mark(ctx context.Context) (string, error)

	// Changed hands series to take of which a block was put, or taken away by Put, since a
	// mark; it may hand out more. Forget and DeleteOrganization are no changes.
	Changed(ctx context.Context, since string, take func(Series) error) error

	// Size is how many bytes of disk all blocks take, on all servers.
	Size(ctx context.Context) (int64, error)

	// Drop drops all blocks, and frees their disk.
	Drop(ctx context.Context) error
}
