package tree

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/leaves.sql
	selectLeaves string
	//go:embed sql/tile.sql
	selectTile string
	//go:embed sql/whole.sql
	selectWhole string
	//go:embed sql/keep.sql
	keepTile string
)

const (
	// Height is how many levels a tile has: 256 hashes.
	Height = 8
	width  = 1 << Height
	// LeafSize is the length of a leaf.
	LeafSize = 40
	// tilesAtOnce is how many tiles of level 0 are filled in a transaction.
	tilesAtOnce = 64
)

// Leaf is what the tree has of an event: its digest, and its recorded time in
// microseconds since 1970, big-endian.
func Leaf(digest []byte, recorded time.Time) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, LeafSize), digest...), uint64(recorded.UnixMicro()))
}

// Trees are those of the logs in a database.
type Trees struct {
	db *sqlx.DB
	q  sqlx.QueryerContext // roots, proofs, tiles and leaves are read by it
}

// New returns the trees of a database's logs.
func New(db *sqlx.DB) *Trees { return &Trees{db: db, q: db} }

// Within returns the same trees, read by a transaction: a caller that holds one and took
// another connection could wait for callers that wait for it.
func (t *Trees) Within(tx *sqlx.Tx) *Trees { return &Trees{db: t.db, q: tx} }

// MissingError reports that a log does not have that many events.
type MissingError struct {
	Log       eventstore.Log
	Size, Has int64
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("log %s has %d events, so no tree of %d", e.Log, e.Has, e.Size)
}

// DigestError reports an event with an invalid digest: it has another length.
type DigestError struct {
	Log      eventstore.Log
	Position int64
}

func (e *DigestError) Error() string {
	return fmt.Sprintf("event %d of log %s has a digest of another length than SHA-256", e.Position, e.Log)
}

// Root is the hash of the tree over the first size events of a log. Errors:
// *MissingError.
func (t *Trees) Root(ctx context.Context, log eventstore.Log, size int64) (tlog.Hash, error) {
	root, err := tlog.TreeHash(size, read(ctx, t.q, log))
	if err != nil {
		return root, fmt.Errorf("hash the tree of %d events of log %s: %w", size, log, err)
	}
	return root, nil
}

// Inclusion proves that the event at a position is in the tree over the first size
// events of a log. Errors: *MissingError.
func (t *Trees) Inclusion(ctx context.Context, log eventstore.Log, position, size int64) (tlog.RecordProof, error) {
	proof, err := tlog.ProveRecord(size, position-1, read(ctx, t.q, log))
	if err != nil {
		return nil, fmt.Errorf("prove that event %d is in the tree of %d of log %s: %w", position, size, log, err)
	}
	return proof, nil
}

// Consistency proves that the tree over the first old events of a log is the beginning
// of that over the first size. Errors: *MissingError.
func (t *Trees) Consistency(ctx context.Context, log eventstore.Log, old, size int64) (tlog.TreeProof, error) {
	proof, err := tlog.ProveTree(size, old, read(ctx, t.q, log))
	if err != nil {
		return nil, fmt.Errorf("prove that the tree of %d events of log %s begins with that of %d: %w", size, log, old, err)
	}
	return proof, nil
}

// Tile returns the first n hashes of a tile, 32 bytes each. Errors: *MissingError.
func (t *Trees) Tile(ctx context.Context, log eventstore.Log, level int, index int64, n int) ([]byte, error) {
	return read(ctx, t.q, log).tile(level, index, n)
}

// Leaves returns the leaves of the events behind one position up to another, 40 bytes
// each. Errors: *MissingError.
func (t *Trees) Leaves(ctx context.Context, log eventstore.Log, after, upTo int64) ([]byte, error) {
	return leaves(ctx, t.q, log, after, upTo)
}

func leaves(ctx context.Context, q sqlx.QueryerContext, log eventstore.Log, after, upTo int64) ([]byte, error) {
	type event struct {
		Digest     []byte
		RecordedAt time.Time `db:"recorded_at"`
	}
	events, err := statement.All[event](ctx, q, "read what a tree has of events", selectLeaves, string(log), after, upTo)
	if err != nil {
		return nil, err
	}
	if n := int64(len(events)); n != upTo-after {
		return nil, &MissingError{Log: log, Size: upTo, Has: after + n}
	}
	out := make([]byte, 0, len(events)*LeafSize)
	for i, e := range events {
		if len(e.Digest) != sha256.Size {
			return nil, &DigestError{Log: log, Position: after + 1 + int64(i)}
		}
		out = append(out, Leaf(e.Digest, e.RecordedAt)...)
	}
	return out, nil
}

// Fill keeps the whole tiles of a log that are not kept yet, some at a time, and says
// how many events they have; 0: there is nothing left to keep.
func (t *Trees) Fill(ctx context.Context, log eventstore.Log) (events int64, err error) {
	err = transact.Once(ctx, t.db, nil, func(tx *sqlx.Tx) error {
		events, err = fill(ctx, tx, log)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("keep the tree of log %s: %w", log, err)
	}
	return events, nil
}

func fill(ctx context.Context, tx *sqlx.Tx, log eventstore.Log) (events int64, err error) {
	if err := statement.Exec(ctx, tx, "take turns at a tree", `SELECT pg_advisory_xact_lock(hashtext('log_tiles'), hashtext($1))`, string(log)); err != nil {
		return 0, err
	}
	whole, err := statement.One[int64](ctx, tx, "count the tiles of a tree", selectWhole, string(log))
	if err != nil {
		return 0, err
	}
	head, err := statement.One[int64](ctx, tx, "look at the head of a log", `SELECT position FROM log_head WHERE log = $1`, string(log))
	if err != nil {
		return 0, err
	}
	upTo := min(whole+tilesAtOnce, head/width)
	for ; whole < upTo; whole++ {
		tile, err := leaves(ctx, tx, log, whole*width, (whole+1)*width)
		if err != nil {
			return 0, err
		}
		if err := keep(ctx, tx, log, whole, hashes(tile)); err != nil {
			return 0, err
		}
		events += width
	}
	return events, nil
}

// keep stores a whole tile of level 0 and its root in the levels above.
func keep(ctx context.Context, tx *sqlx.Tx, log eventstore.Log, index int64, tile []byte) error {
	if err := statement.Exec(ctx, tx, "keep a tile", keepTile, string(log), 0, index, tile); err != nil {
		return err
	}
	for level := 1; ; level++ {
		root := rootOf(tile)
		if err := statement.Exec(ctx, tx, "keep the root of a tile", keepTile, string(log), level, index/width, root[:]); err != nil {
			return err
		}
		if (index+1)%width != 0 {
			return nil
		}
		index /= width
		above, err := statement.One[[]byte](ctx, tx, "read a whole tile", selectTile, string(log), level, index)
		if err != nil {
			return err
		}
		tile = above
	}
}

// hashes are those of leaves, one behind the other.
func hashes(of []byte) []byte {
	out := make([]byte, 0, len(of)/LeafSize*tlog.HashSize)
	for ; len(of) > 0; of = of[LeafSize:] {
		h := tlog.RecordHash(of[:LeafSize])
		out = append(out, h[:]...)
	}
	return out
}

// rootOf is the hash over the hashes of a whole tile.
func rootOf(tile []byte) tlog.Hash {
	if len(tile) == tlog.HashSize {
		return tlog.Hash(tile)
	}
	half := len(tile) / 2
	return tlog.NodeHash(rootOf(tile[:half]), rootOf(tile[half:]))
}

// reader reads hashes of a log's tree, from tiles and else from events.
type reader struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one call, and tlog hands none on
	q    sqlx.QueryerContext
	log  eventstore.Log
	seen map[tlog.Tile][]byte // by level and index
}

func read(ctx context.Context, q sqlx.QueryerContext, log eventstore.Log) *reader {
	return &reader{ctx, q, log, map[tlog.Tile][]byte{}}
}

// ReadHashes is what package tlog asks for.
func (r *reader) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		at := tlog.TileForIndex(Height, index)
		data, err := r.tile(at.L, at.N, at.W)
		if err != nil {
			return nil, err
		}
		if out[i], err = tlog.HashFromTile(at, data, index); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tile returns the first n hashes of a tile: those that are kept, and of the others each
// from the events, or from the tile, below it.
func (r *reader) tile(level int, index int64, n int) ([]byte, error) {
	at := tlog.Tile{L: level, N: index}
	data, seen := r.seen[at]
	if !seen {
		kept, _, err := statement.Find[[]byte](r.ctx, r.q, "read a tile", selectTile, string(r.log), level, index)
		if err != nil {
			return nil, err
		}
		data = kept
	}
	for len(data) < n*tlog.HashSize {
		have := int64(len(data) / tlog.HashSize)
		if level == 0 {
			more, err := leaves(r.ctx, r.q, r.log, index*width+have, index*width+int64(n))
			if err != nil {
				return nil, err
			}
			data = append(data, hashes(more)...)
			continue
		}
		below, err := r.tile(level-1, index*width+have, width)
		if err != nil {
			return nil, err
		}
		root := rootOf(below)
		data = append(data, root[:]...)
	}
	r.seen[at] = data
	return data[:n*tlog.HashSize], nil
}
