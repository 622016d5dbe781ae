package clickhouse

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
)

var (
	//go:embed sql/sum_statements.sql
	sumStatements string
	//go:embed sql/sampled_databases.sql
	sampledDatabases string
)

// summedTogether is how many series are asked for in one statement.
const summedTogether = 250

// SumStatements is documented at blocks.Summer.
func (s *Store) SumStatements(ctx context.Context, ranges []blocks.StatementRange, take func(of blocks.Series, sum codec.Detail) error) error {
	var series []blocks.Series
	of := make(map[known][]blocks.StatementRange)
	for _, r := range ranges {
		key := keyOf(blocks.Range{Series: r.Series})
		if of[key] == nil {
			series = append(series, r.Series)
		}
		of[key] = append(of[key], r)
	}
	var away error
	for some := range slices.Chunk(series, summedTogether) {
		var asked []blocks.StatementRange
		for _, one := range some {
			asked = append(asked, of[keyOf(blocks.Range{Series: one})]...)
		}
		sums, err := s.sumSome(ctx, asked)
		if err != nil && !unavailable(err) {
			return err
		}
		away = cmp.Or(away, err)
		for _, one := range some {
			if sum := sums[keyOf(blocks.Range{Series: one})]; sum != nil {
				if err := take(one, codec.AddUpDetails([]codec.Detail{sum})); err != nil {
					return err
				}
			}
		}
	}
	return away
}

// sumSome adds up ranges, of each shard and table at once: a database has an entry from each.
func (s *Store) sumSome(ctx context.Context, asked []blocks.StatementRange) (map[known]codec.Detail, error) {
	shares := make(map[share][]blocks.Range)
	for _, r := range asked {
		in, err := tableOf(r.Table, r.Series.Kind, r.Series.Subject)
		if err != nil {
			return nil, err
		}
		if in.form == bodies {
			return nil, fmt.Errorf("%s of %s %q is nothing to add statements up of", r.Table, r.Series.Kind, r.Series.Subject)
		}
		which := share{on: s.shardOf(r.Series.Organization, r.Series.Kind, r.Series.Subject), in: in, organization: r.Series.Organization, kind: r.Series.Kind}
		shares[which] = append(shares[which], r.Range)
	}
	all := make(map[known]codec.Detail, len(asked))
	var mu sync.Mutex
	err := s.onAll(func(on *shard) error {
		for which, ranges := range shares {
			if which.on != on {
				continue
			}
			read, err := s.sumShare(ctx, which, ranges)
			if err != nil {
				mu.Lock() // a shard that has half of a sum has none
				for other, ranges := range shares {
					if other.on != on {
						continue
					}
					for _, r := range ranges {
						delete(all, keyOf(blocks.Range{Series: r.Series}))
					}
				}
				mu.Unlock()
				return err
			}
			mu.Lock()
			for series, part := range read {
				all[series] = append(all[series], part...)
			}
			mu.Unlock()
		}
		return nil
	})
	return all, firstOf(err)
}

// sumShare adds up what one table of a shard has.
func (s *Store) sumShare(ctx context.Context, which share, ranges []blocks.Range) (all map[known]codec.Detail, err error) {
	fill := s.sumOf(which, ranges)
	err = which.on.any(ctx, func(n *node) error {
		all = make(map[known]codec.Detail, len(ranges))
		add := func(subject, database uuid.UUID, list codec.Deltas) {
			key := known{organization: which.organization, kind: which.kind, subject: subject.String()}
			all[key] = append(all[key], codec.DatabaseStatements{Database: database, Statements: list})
		}
		if err := n.query(ctx, fill.Replace(sampledDatabases), func(scan scanner) error {
			var subject, database uuid.UUID
			err := scan(&subject, &database)
			add(subject, database, nil)
			return err
		}); err != nil {
			return err
		}
		return n.query(ctx, fill.Replace(sumStatements), func(scan scanner) error {
			subject, database, list, err := scanSums(scan)
			add(subject, database, list)
			return err
		})
	})
	return all, err
}

func scanSums(scan scanner) (subject, database uuid.UUID, list codec.Deltas, err error) {
	var hash, calls, samples []uint64
	var total, most []float64
	err = scan(&subject, &database, &hash, &calls, &total, &most, &samples)
	list = make(codec.Deltas, len(hash))
	for i := range list {
		list[i] = codec.Delta{Hash: hash[i], Calls: calls[i], Total: total[i], Max: most[i], Samples: samples[i]}
		if math.IsInf(most[i], -1) {
			list[i].Max = math.NaN()
		}
	}
	slices.SortFunc(list, func(a, b codec.Delta) int { return cmp.Compare(a.Hash, b.Hash) })
	return subject, database, list, err
}

// sumOf fills the statements in. Of samples, a block at the end of a range has some that
// are not asked for.
func (s *Store) sumOf(which share, ranges []blocks.Range) *strings.Replacer {
	count, column, sampledAt, only := "sum(toUInt64(each_samples))", "samples AS each_samples", "", ""
	if which.in.form == samples {
		count, column, sampledAt = "count()", "at AS each_at", ",\n    sampled_at AS each_at"
		only = " AND (" + samplesIn(ranges) + ")"
		wider := slices.Clone(ranges)
		for i := range wider {
			wider[i].From = wider[i].From.Truncate(blocks.RawWidth)
		}
		ranges = wider
	}
	return strings.NewReplacer("{{table}}", which.in.local(s.address.Database), "{{where}}", s.where(which, ranges), "{{within}}", only,
		"{{count}}", count, "{{column}}", column, "{{sampled_at}}", sampledAt)
}

// samplesIn is the condition of the samples in ranges, whose series where has.
func samplesIn(ranges []blocks.Range) string {
	const microsecond = "toUInt64(toUInt32(start)) * 1000000 + each_at"
	return anyWindow(ranges, func(w window) string {
		return fmt.Sprintf("%s >= %d AND %s < %d", microsecond, max(0, w.from.UnixMicro()), microsecond, max(0, w.to.UnixMicro()))
	})
}
