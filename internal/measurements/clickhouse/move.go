package clickhouse

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"muster/domain/fleet"
	"muster/internal/measurements/blocks"
)

var _ blocks.Movable = (*Store)(nil)

// Series is documented at blocks.Movable. A ledger that was restored from a backup lacks those
// that came after it.
func (s *Store) Series(ctx context.Context, take func(blocks.Series) error) error {
	return s.seriesWhere(ctx, "present = 1", take)
}

// Mark is documented at blocks.Movable: every Put takes a revision after it began.
func (s *Store) Mark(ctx context.Context) (string, error) {
	revision, err := s.nextRevision(ctx)
	return strconv.FormatUint(revision, 10), err
}

// Changed is documented at blocks.Movable.
func (s *Store) Changed(ctx context.Context, since string, take func(blocks.Series) error) error {
	revision, err := strconv.ParseUint(since, 10, 64)
	if err != nil {
		return fmt.Errorf("read a mark: %w", err)
	}
	return s.seriesWhere(ctx, fmt.Sprintf("revision > %d", revision), take)
}

// seriesWhere passes the series with a row that matches a condition to take.
func (s *Store) seriesWhere(ctx context.Context, condition string, take func(blocks.Series) error) error {
	for _, on := range s.shards { // a series is on one
		var all []blocks.Series
		err := on.any(ctx, func(n *node) (err error) {
			all, err = n.series(ctx, condition)
			return err
		})
		if err != nil {
			return err
		}
		for _, one := range all {
			if err := take(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// series are those with a row that matches a condition on a server.
func (n *node) series(ctx context.Context, condition string) (all []blocks.Series, err error) {
	seen := make(map[known]bool)
	for _, t := range tables {
		kind, subject := "kind", "subject"
		if t.form != bodies {
			kind, subject = "'statements'", "toString(subject)"
		}
		statement := fmt.Sprintf("SELECT DISTINCT organization, %s, %s, engine FROM %s WHERE %s", kind, subject, t.local(n.store.address.Database), condition)
		err := n.queryWithin(ctx, n.store.limits.Change, statement, func(scan scanner) error {
			var one blocks.Series
			var engine string
			if err := scan(&one.Organization, &one.Kind, &one.Subject, &engine); err != nil {
				return err
			}
			one.Engine = fleet.Engine(engine)
			if key := keyOf(blocks.Range{Series: one}); !seen[key] {
				seen[key], all = true, append(all, one)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

const selectSize = `SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE active AND database = '%s' AND table IN (%s)`

// Size is documented at blocks.Movable.
func (s *Store) Size(ctx context.Context) (size int64, err error) {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = quote(t.name + "_local")
	}
	for _, on := range s.shards {
		for _, replica := range on.replicas {
			bytes, err := replica.one(ctx, fmt.Sprintf(selectSize, s.address.Database, strings.Join(names, ", ")))
			if err != nil {
				return 0, err
			}
			size += int64(bytes)
		}
	}
	return size, nil
}

// Drop is documented at blocks.Movable. The tables stay.
func (s *Store) Drop(ctx context.Context) error {
	for _, on := range s.shards {
		for _, t := range tables {
			if err := on.any(ctx, func(n *node) error { return n.dropBefore(ctx, t, "") }); err != nil {
				return err
			}
		}
	}
	return nil
}
