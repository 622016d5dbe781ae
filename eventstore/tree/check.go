package tree

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// DifferentTileError reports a kept tile that is not that of the events.
type DifferentTileError struct {
	Log         eventstore.Log
	Level       int
	Index       int64
	First, Last int64 // positions of the events under it
}

func (e *DifferentTileError) Error() string {
	return fmt.Sprintf("tree of log %s: what is kept of the events %d to %d (tile %d of level %d) is not theirs", e.Log, e.First, e.Last, e.Index, e.Level)
}

// Check computes the tiles of a log from its events and holds what is kept against them.
// It returns the root over the first size events. Errors: *DifferentTileError, and
// *MissingError where events are gone.
func (t *Trees) Check(ctx context.Context, log eventstore.Log, size int64) (root tlog.Hash, err error) {
	err = t.unchanging(ctx, func(tx *sqlx.Tx) error {
		of := func(index int64) ([]byte, error) { return lowest(ctx, tx, log, index) }
		if err := check(ctx, tx, log, of); err != nil {
			return err
		}
		root, err = tlog.TreeHash(size, read(ctx, tx, log))
		return err
	})
	return root, err
}

// CheckLeaves is Check for the tiles of leaves that are whole behind one position, which is
// a multiple of 256, up to another.
func (t *Trees) CheckLeaves(ctx context.Context, log eventstore.Log, after, upTo int64) error {
	whole, err := statement.One[int64](ctx, t.q, "count the tiles of a tree", selectWhole, string(log))
	c := checker{q: t.q, log: log}
	for index := after / width; err == nil && index < min(whole, upTo/width); index++ {
		var tile []byte
		if tile, err = lowest(ctx, t.q, log, index); err == nil {
			err = c.same(ctx, 0, index, tile)
		}
	}
	return err
}

// CheckAbove is Check for the tiles above those of leaves, which it takes as they are kept.
func (t *Trees) CheckAbove(ctx context.Context, log eventstore.Log) error {
	return t.unchanging(ctx, func(tx *sqlx.Tx) error {
		return check(ctx, tx, log, func(index int64) ([]byte, error) {
			kept, _, err := statement.Find[[]byte](ctx, tx, "read a tile of leaves", selectTile, string(log), 0, index)
			if err == nil && len(kept) != width*tlog.HashSize {
				err = &DifferentTileError{Log: log, Index: index, First: index*width + 1, Last: (index + 1) * width}
			}
			return kept, err
		})
	})
}

// unchanging has one snapshot: a concurrent Fill must not be mistaken for a change.
func (t *Trees) unchanging(ctx context.Context, do func(*sqlx.Tx) error) error {
	return transact.Once(ctx, t.db, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, do)
}

// lowest is a whole tile of leaves, from the events.
func lowest(ctx context.Context, q sqlx.QueryerContext, log eventstore.Log, index int64) ([]byte, error) {
	of, err := leaves(ctx, q, log, index*width, (index+1)*width)
	return hashes(of), err
}

// check holds all tiles that are kept against the lowest ones.
func check(ctx context.Context, q sqlx.QueryerContext, log eventstore.Log, lowest func(index int64) ([]byte, error)) error {
	whole, err := statement.One[int64](ctx, q, "count the tiles of a tree", selectWhole, string(log))
	if err != nil {
		return err
	}
	c := checker{q: q, log: log}
	for index := range whole {
		tile, err := lowest(index)
		if err != nil {
			return err
		}
		if err := c.whole(ctx, 0, index, tile); err != nil {
			return err
		}
	}
	for i, level := range c.open {
		if err := c.same(ctx, i+1, c.done[i], level); len(level) > 0 && err != nil {
			return err
		}
	}
	return nil
}

// checker has the tiles above level 0 as far as it has come.
type checker struct {
	q    sqlx.QueryerContext
	log  eventstore.Log
	open [][]byte // by level - 1: of the tile that is not whole yet
	done []int64  // by level - 1: whole ones before it
}

// whole holds a tile that is whole against what is kept, and adds its root above it.
func (c *checker) whole(ctx context.Context, level int, index int64, tile []byte) error {
	if err := c.same(ctx, level, index, tile); err != nil {
		return err
	}
	if level == len(c.open) {
		c.open, c.done = append(c.open, nil), append(c.done, 0)
	}
	root := rootOf(tile)
	c.open[level] = append(c.open[level], root[:]...)
	above := c.open[level]
	if len(above) < width*tlog.HashSize {
		return nil
	}
	c.open[level] = nil
	c.done[level]++
	return c.whole(ctx, level+1, c.done[level]-1, above)
}

func (c *checker) same(ctx context.Context, level int, index int64, tile []byte) error {
	kept, _, err := statement.Find[[]byte](ctx, c.q, "read a tile", selectTile, string(c.log), level, index)
	if err != nil {
		return err
	}
	if bytes.Equal(kept, tile) {
		return nil
	}
	under := int64(1) << (Height * level)
	return &DifferentTileError{Log: c.log, Level: level, Index: index, First: index*width*under + 1, Last: (index*width + int64(len(tile)/tlog.HashSize)) * under}
}

// Unfit reports whether an error says that tree and events do not match, or that events have
// changed.
func Unfit(err error) bool {
	var different *DifferentTileError
	var missing *MissingError
	var digest *DigestError
	return errors.As(err, &different) || errors.As(err, &missing) || errors.As(err, &digest)
}
