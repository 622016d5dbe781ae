package blocks

import "context"

// Movable is a Store that blocks can be moved to, and away from.
type Movable interface {
	Store

	// Series passes every series that may have a block to take, none twice. Its ID is set only
	// in the ledger's own database.
	Series(ctx context.Context, take func(Series) error) error

	// Mark is a moment. No Put may be running.
	Mark(ctx context.Context) (string, error)

	// Changed passes the series to take for which Put stored or removed a block since a mark;
	// it may pass more. Forget and DeleteOrganization are no changes.
	Changed(ctx context.Context, since string, take func(Series) error) error

	// Size is how many bytes of disk all blocks take, on all servers.
	Size(ctx context.Context) (int64, error)

	// Drop drops all blocks, and frees their disk.
	Drop(ctx context.Context) error
}
