package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/blocks"
)

const (
	// mostRows and mostBytes are what goes to a server in one insert: it holds all of
	// one in memory, eight times as large as packed statements.
	mostRows  = 4096
	mostBytes = 4 << 20
	// mostPartitions is how many partitions an insert may be in: newer servers refuse
	// more than 100.
	mostPartitions = 90
)

// from and until are the times that ClickHouse's DateTime has.
var (
	from  = time.Unix(0, 0)
	until = time.Unix(1<<32, 0)
)

// Put is documented at blocks.Store. It has kept the blocks when it returns, whatever
// becomes of tx. Those of a shard, or of a table, may be kept where others are not.
func (s *Store) Put(ctx context.Context, _ *sqlx.Tx, of blocks.Table, put []blocks.Block) error {
	if len(put) == 0 {
		return nil
	}
	parts, err := s.partsOf(of, put)
	if err != nil {
		return err
	}
	// A shard that is looked at for the first time may have greater revisions than the
	// ledger, which is raised before the next one is taken.
	for at := range parts {
		if err := at.on.any(ctx, func(*node) error { return nil }); err != nil {
			return err
		}
	}
	revision, err := s.nextRevision(ctx)
	if err != nil {
		return err
	}
	return s.send(ctx, of, parts, revision)
}

// destination is where blocks are put.
type destination struct {
	on *shard
	in *table
}

func (s *Store) partsOf(of blocks.Table, put []blocks.Block) (map[destination][]*blocks.Block, error) {
	parts := make(map[destination][]*blocks.Block)
	for i := range put {
		b := &put[i]
		if b.Start.Before(from) || !b.Start.Before(until) || b.Start.Nanosecond() != 0 {
			return nil, &BlockError{*b, of, errors.New("it starts at no second from 1970 to 2106")}
		}
		in, err := tableOf(of, b.Series.Kind, b.Series.Subject)
		if err != nil {
			return nil, err
		}
		at := destination{s.shardOf(b.Series.Organization, b.Series.Kind, b.Series.Subject), in}
		parts[at] = append(parts[at], b)
	}
	return parts, nil
}

func (s *Store) send(ctx context.Context, of blocks.Table, parts map[destination][]*blocks.Block, revision uint64) error {
	return firstOf(s.onAll(func(on *shard) error {
		for at, list := range parts {
			if at.on != on {
				continue
			}
			for piece := range pieces(at.in, list) {
				err := on.any(ctx, func(n *node) error { return on.insert(ctx, n, at.in, of, piece, revision) })
				if err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// pieces are the inserts that blocks go to a server in.
func pieces(in *table, list []*blocks.Block) func(func([]*blocks.Block) bool) {
	return func(yield func([]*blocks.Block) bool) {
		first, size, partitions := 0, 0, make(map[string]bool)
		for i, b := range list {
			partition := in.partition.of(b.Start)
			full := i-first >= mostRows || size > 0 && size+len(b.Body) > mostBytes || len(partitions) >= mostPartitions && !partitions[partition]
			if full {
				if !yield(list[first:i]) {
					return
				}
				first, size = i, 0
				clear(partitions)
			}
			partitions[partition], size = true, size+len(b.Body)
		}
		yield(list[first:])
	}
}

// insert stores blocks on a replica and waits until all others have them, so that any of them
// may be asked afterwards. While one is away, nothing is acknowledged: the blocks stay in the
// head. insert_quorum would say the same, but 18.16 neither merges nor mutates the last part
// for which it was requested.
func (s *shard) insert(ctx context.Context, n *node, in *table, of blocks.Table, list []*blocks.Block, revision uint64) error {
	err := n.insert(ctx, in, of, list, revision)
	for _, replica := range s.replicas {
		if err == nil && replica != n {
			err = replica.exec(ctx, n.store.limits.Put, "SYSTEM SYNC REPLICA "+in.local(n.store.address.Database))
		}
	}
	return err
}

func (n *node) insert(ctx context.Context, in *table, of blocks.Table, list []*blocks.Block, revision uint64) error {
	if err := n.answers(); err != nil {
		return err
	}
	// The context of a batch is left to end by itself: the driver watches it until some time
	// after Send, and then closes the connection of its next user (clickhouse-go's pull request
	// 2032).
	within, cancel := context.WithTimeout(ctx, n.store.limits.Put)
	context.AfterFunc(within, cancel)
	names := make([]string, 0, 16)
	for _, c := range in.columns() {
		names = append(names, c.name)
	}
	// The columns are written out: servers before 20 do not tell the client which there are.
	batch, err := n.conn.PrepareBatch(within, fmt.Sprintf("INSERT INTO %s (%s)", in.local(n.store.address.Database), strings.Join(names, ", ")))
	if err != nil {
		return n.judge(ctx, err)
	}
	for _, b := range list {
		if err := appendBlock(batch, in, b, revision); err != nil {
			_ = batch.Abort()
			return &BlockError{*b, of, err}
		}
	}
	return n.judge(ctx, batch.Send())
}

func appendBlock(batch driver.Batch, in *table, b *blocks.Block, revision uint64) error {
	content, err := in.values(b.Start, b.Body)
	if err != nil {
		return err
	}
	present := uint8(1)
	if b.Body == nil {
		present = 0
	}
	series := b.Series
	row := slices.Concat(in.key(series.Organization, series.Kind, series.Subject),
		[]any{string(series.Engine), b.Start.UTC(), revision, placeOf(series.Organization, series.Kind, series.Subject), present}, content)
	return batch.Append(row...)
}
