package clickhouse

import (
	"context"

	"muster/internal/measurements/blocks"
)

// Begin is the first half of a Put: it returns the second half, which may come late.
func (s *Store) Begin(ctx context.Context, of blocks.Table, put []blocks.Block) (arrive func() error, err error) {
	parts, err := s.partsOf(of, put)
	if err != nil {
		return nil, err
	}
	revision, err := s.nextRevision(ctx)
	return func() error { return s.send(ctx, of, parts, revision) }, err
}

// Unavailable says whether a part of the store could not be reached.
func Unavailable(err error) bool { return unavailable(err) }
