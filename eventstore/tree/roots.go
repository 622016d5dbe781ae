package tree

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
)

// Roots are the hashes of the trees over the first so many events of a log, for sizes in
// ascending order. It reads the log once from its beginning, whole tiles by their roots, so
// ten thousand sizes cost little more than the last of them. Errors: *MissingError.
func (t *Trees) Roots(ctx context.Context, log eventstore.Log, sizes []int64) ([]tlog.Hash, error) {
	r := read(ctx, t.q, log)
	var f frontier
	roots := make([]tlog.Hash, len(sizes))
	for i, size := range sizes {
		if err := f.grow(r, size); err != nil {
			return nil, fmt.Errorf("hash the tree of %d events of log %s: %w", size, log, err)
		}
		roots[i] = f.root()
	}
	return roots, nil
}

// frontier is a tree that grows: the hashes of its complete subtrees, the largest first.
type frontier struct {
	size  int64
	trees []subtree
}

type subtree struct {
	level int // over 1 << level events
	hash  tlog.Hash
}

// grow adds events up to a size, which is no smaller than the last one.
func (f *frontier) grow(r *reader, size int64) error {
	for f.size < size {
		index, within := f.size/width, f.size%width
		upTo := min(size-index*width, width)
		if within == 0 && upTo == width {
			above, err := r.tile(1, index/width, int(index%width)+1)
			if err != nil {
				return err
			}
			f.add(Height, tlog.Hash(above[index%width*tlog.HashSize:][:tlog.HashSize]))
			f.size += width
			continue
		}
		leaves, err := r.tile(0, index, int(upTo))
		if err != nil {
			return err
		}
		for ; within < upTo; within++ {
			f.add(0, tlog.Hash(leaves[within*tlog.HashSize:][:tlog.HashSize]))
		}
		f.size = index*width + upTo
		if upTo == width {
			delete(r.seen, tlog.Tile{L: 0, N: index})
		}
	}
	return nil
}

// add puts a whole tree behind the others, and joins those of one size.
func (f *frontier) add(level int, hash tlog.Hash) {
	for n := len(f.trees); n > 0 && f.trees[n-1].level == level; n-- {
		hash, level = tlog.NodeHash(f.trees[n-1].hash, hash), level+1
		f.trees = f.trees[:n-1]
	}
	f.trees = append(f.trees, subtree{level, hash})
}

func (f *frontier) root() tlog.Hash {
	n := len(f.trees)
	if n == 0 {
		root, _ := tlog.TreeHash(0, nil) // of nothing, which reads nothing
		return root
	}
	hash := f.trees[n-1].hash
	for i := n - 2; i >= 0; i-- {
		hash = tlog.NodeHash(f.trees[i].hash, hash)
	}
	return hash
}
