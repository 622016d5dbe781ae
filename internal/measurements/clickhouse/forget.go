package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/concurrency/pause"
	"muster/internal/measurements/blocks"
)

const selectPartitions = `SELECT DISTINCT partition, partition_id FROM system.parts WHERE active AND database = '%s' AND table = '%s_local'`

// Forget is documented at blocks.Store. It drops the partitions that lie completely before a
// time, which frees their disk at once and rewrites nothing; those of days are never dropped.
func (s *Store) Forget(ctx context.Context, of blocks.Table, kind string, before time.Time) error {
	return firstOf(s.onAll(func(on *shard) error {
		for _, t := range tables {
			if t.of != of || t.partition == undivided || kind != blocks.AnyKind && kind != t.kind {
				continue
			}
			if err := on.any(ctx, func(n *node) error { return n.dropBefore(ctx, t, t.partition.of(before)) }); err != nil {
				return err
			}
		}
		return nil
	}))
}

// dropBefore drops the partitions before one, "" for all, on a server and so on those that
// replicate it. That one may have blocks that start later; names are in order.
func (n *node) dropBefore(ctx context.Context, t *table, first string) error {
	database := n.store.address.Database
	var over []string
	err := n.query(ctx, fmt.Sprintf(selectPartitions, database, t.name), func(scan scanner) error {
		var name, id string
		if err := scan(&name, &id); err != nil {
			return err
		}
		if first == "" || strings.Trim(name, "'") < first { // 18.16 quotes dates
			over = append(over, id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range over {
		if err := n.exec(ctx, n.store.limits.Change, fmt.Sprintf("ALTER TABLE %s DROP PARTITION ID '%s'", t.local(database), id)); err != nil {
			return err
		}
	}
	return nil
}

// DeleteOrganization is documented at blocks.Store: the rows are gone from the disk of every
// replica of every shard when it returns.
func (s *Store) DeleteOrganization(ctx context.Context, organization uuid.UUID) error {
	within, cancel := context.WithTimeout(ctx, s.limits.Change)
	defer cancel()
	return firstOf(s.onAll(func(on *shard) error {
		var mutations []mutation
		for _, t := range tables { // all are begun before one is waited for: a replica looks every 5 s
			begun, err := s.deleteFrom(within, on, t, organization)
			if err != nil {
				return err
			}
			mutations = append(mutations, begun...)
		}
		for _, one := range mutations {
			if err := s.await(within, on, one, organization); err != nil {
				return err
			}
		}
		return nil
	}))
}

const (
	// A replica may not have heard of a mutation yet.
	selectMutation  = `SELECT if(count() = 0, toUInt64(1), countIf(is_done = 0)) FROM system.mutations WHERE database = '%s' AND table = '%s_local' AND mutation_id = '%s'`
	selectMutations = `SELECT mutation_id FROM system.mutations WHERE database = '%s' AND table = '%s_local' AND command LIKE '%%%s%%' ORDER BY create_time, mutation_id`
)

const selectRows = `SELECT count() FROM %s WHERE organization = toUUID('%s')`

// mutation is what a table's rows are being deleted by.
type mutation struct {
	of *table
	id string
}

// deleteFrom has a shard's rows of a table deleted by a mutation, where there are any.
func (s *Store) deleteFrom(ctx context.Context, on *shard, t *table, organization uuid.UUID) ([]mutation, error) {
	has := false
	for _, replica := range on.replicas {
		if err := replica.ready(ctx); err != nil {
			return nil, err
		}
		n, err := replica.one(ctx, fmt.Sprintf(selectRows, t.local(s.address.Database), organization))
		if err != nil {
			return nil, err
		}
		has = has || n > 0
	}
	if !has {
		return nil, nil
	}
	begun := mutation{of: t}
	err := on.any(ctx, func(n *node) error {
		err := n.exec(ctx, s.limits.Put, fmt.Sprintf("ALTER TABLE %s DELETE WHERE organization = toUUID('%s')", t.local(s.address.Database), organization))
		if err != nil {
			return err
		}
		for begun.id == "" && err == nil { // a replica hears of its own mutation from ZooKeeper
			err = n.query(ctx, fmt.Sprintf(selectMutations, s.address.Database, t.name, organization), func(scan scanner) error {
				return scan(&begun.id) // the last one
			})
			if begun.id == "" && err == nil {
				err = pause.For(ctx, mutationInterval)
			}
		}
		return err
	})
	return []mutation{begun}, err
}

// await waits for a mutation on each replica, and until no row is left: mutations_sync,
// which would do that, is newer than 18.16.
func (s *Store) await(ctx context.Context, on *shard, is mutation, organization uuid.UUID) error {
	for _, replica := range on.replicas {
		err := replica.untilNone(ctx, fmt.Sprintf(selectMutation, s.address.Database, is.of.name, is.id))
		if err == nil {
			err = replica.untilNone(ctx, fmt.Sprintf(selectRows, is.of.local(s.address.Database), organization))
		}
		if errors.Is(err, context.DeadlineExceeded) && !unavailable(err) {
			err = &blocks.UnavailableError{Part: "ClickHouse on " + replica.host, Err: fmt.Errorf("%s is still being deleted from: %w", is.of.name, err)}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mutationInterval is how often a server is asked whether it is done.
const mutationInterval = 20 * time.Millisecond

// untilNone asks until the answer is 0.
func (n *node) untilNone(ctx context.Context, left string) error {
	for {
		switch count, err := n.one(ctx, left); {
		case err != nil:
			return err
		case count == 0:
			return nil
		}
		if err := pause.For(ctx, mutationInterval); err != nil {
			return err
		}
	}
}
