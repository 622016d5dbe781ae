package clickhouse

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/supervise"
	"muster/internal/measurements/blocks"
)

// together is how many ranges are asked for in one statement, whose answer is in memory
// while the next ones' comes.
func (t *table) together() int {
	if t.form != bodies || t.of == blocks.Raw {
		return 32
	}
	return 256
}

// known is how a series is known here.
type known struct {
	organization  uuid.UUID
	kind, subject string
	front         bool // only what rows show was read
}

func keyOf(r blocks.Range) known {
	return known{r.Series.Organization, r.Series.Kind, r.Series.Subject, r.Front}
}

// found is a block as it was read.
type found struct {
	start    time.Time
	revision uint64
	present  bool
	content  *reader
}

// answer is what was read of some ranges.
type answer struct {
	first, end int // the ranges
	of         map[known][]found
	err        error
}

// Each is documented at blocks.Store. If a shard cannot be reached, the data of the others is
// passed to take before the error is returned.
func (s *Store) Each(ctx context.Context, _ *sqlx.Tx, of blocks.Table, ranges []blocks.Range, take func(place int, start time.Time, body []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer)
	var reading supervise.Group
	reading.Go(func() error {
		defer close(answers)
		s.readAhead(ctx, of, ranges, answers)
		return nil
	})
	defer reading.Join()
	defer cancel() // before the wait
	var away error
	for a := range answers {
		if a.err != nil && !unavailable(a.err) {
			return a.err
		}
		away = cmp.Or(away, a.err)
		for place := a.first; place < a.end; place++ {
			if err := handOut(of, ranges[place], a.of, place, take); err != nil {
				return err
			}
		}
	}
	return cmp.Or(away, ctx.Err())
}

func handOut(of blocks.Table, asked blocks.Range, all map[known][]found, place int, take func(place int, start time.Time, body []byte) error) error {
	in, err := tableOf(of, asked.Series.Kind, asked.Series.Subject)
	if err != nil {
		return err
	}
	for _, one := range all[keyOf(asked)] {
		if one.start.Before(asked.From) || !one.start.Before(asked.To) {
			continue
		}
		body, err := in.block(one.start, one.content)
		if asked.Front && in.form != bodies {
			body = blocks.Front(body)
		}
		if err == nil {
			err = take(place, one.start, body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readAhead reads ranges, some at a time, while those before are handed out.
func (s *Store) readAhead(ctx context.Context, of blocks.Table, ranges []blocks.Range, answers chan<- answer) {
	away := make(map[*shard]error)
	for first := 0; first < len(ranges); {
		a := answer{first: first}
		in, err := tableOf(of, ranges[first].Series.Kind, ranges[first].Series.Subject)
		if err == nil {
			a.end = min(first+in.together(), len(ranges))
			a.of, a.err = s.readSome(ctx, of, ranges[a.first:a.end], away)
		} else {
			a.err = err
		}
		select {
		case answers <- a:
		case <-ctx.Done():
			return
		}
		if a.err != nil && !unavailable(a.err) {
			return
		}
		first = a.end
	}
}

// share is what one statement asks a shard for: ranges of one kind of series.
type share struct {
	on           *shard
	in           *table
	organization uuid.UUID
	kind         string
	front        bool
}

// readSome reads ranges from all shards at once that are not away.
func (s *Store) readSome(ctx context.Context, of blocks.Table, ranges []blocks.Range, away map[*shard]error) (map[known][]found, error) {
	shares := make(map[share][]blocks.Range)
	for _, r := range ranges {
		in, err := tableOf(of, r.Series.Kind, r.Series.Subject)
		if err != nil {
			return nil, err
		}
		which := share{s.shardOf(r.Series.Organization, r.Series.Kind, r.Series.Subject), in, r.Series.Organization, r.Series.Kind, r.Front}
		shares[which] = append(shares[which], r)
	}
	all := make(map[known][]found, len(ranges))
	var mu sync.Mutex
	err := s.onAll(func(on *shard) error {
		mu.Lock()
		err := away[on]
		mu.Unlock()
		if err != nil {
			for which := range shares {
				if which.on == on {
					return err
				}
			}
			return nil
		}
		for which, asked := range shares {
			if which.on != on {
				continue
			}
			read, err := s.readShare(ctx, which, asked)
			if err != nil {
				if unavailable(err) {
					mu.Lock()
					away[on] = err
					mu.Unlock()
				}
				return err
			}
			mu.Lock()
			for series, rows := range read {
				all[series] = rows
			}
			mu.Unlock()
		}
		return nil
	})
	return all, firstOf(err)
}

// firstOf is the first of joined errors that is no shard's being away, or else the first.
func firstOf(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	list := joined.Unwrap()
	for _, one := range list {
		if !unavailable(one) {
			return one
		}
	}
	return list[0]
}

// frontOfBody is blocks.Front, where the body is.
const frontOfBody = "substring(body, 3, 256 * reinterpretAsUInt8(substring(body, 1, 1)) + reinterpretAsUInt8(substring(body, 2, 1)))"

// selectBlocks asks for all revisions of blocks.
func (s *Store) selectBlocks(which share, asked []blocks.Range) string {
	columns := append([]string{"subject", "start", "revision", "present"}, which.in.content()...)
	if which.front && which.in.form == bodies {
		columns[len(columns)-1] = frontOfBody
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + which.in.local(s.address.Database) + " WHERE " + s.where(which, asked)
}

// readShare reads all revisions of blocks and keeps the greatest ones. Servers could do
// that, too, which takes 18.16 two to three times as long (FINAL, LIMIT 1 BY: they sort
// bodies), and there seldom are two.
func (s *Store) readShare(ctx context.Context, which share, asked []blocks.Range) (all map[known][]found, err error) {
	statement := s.selectBlocks(which, asked)
	err = which.on.any(ctx, func(n *node) error {
		all = make(map[known][]found, len(asked))
		return n.query(ctx, statement, func(scan scanner) error {
			one, present := found{content: &reader{}}, uint8(0)
			subject, id := "", uuid.UUID{}
			into := []any{&subject, &one.start, &one.revision, &present}
			if which.in.form != bodies {
				into[0] = &id
			}
			if err := scan(append(into, which.in.into(one.content)...)...); err != nil {
				return err
			}
			if which.in.form != bodies {
				subject = id.String()
			}
			one.start, one.present = one.start.UTC(), present != 0
			series := known{which.organization, which.kind, subject, which.front}
			all[series] = append(all[series], one)
			return nil
		})
	})
	for series, rows := range all {
		all[series] = newest(rows)
	}
	return all, err
}

// newest are the blocks that count, in order.
func newest(rows []found) []found {
	slices.SortFunc(rows, func(a, b found) int {
		return cmp.Or(a.start.Compare(b.start), -cmp.Compare(a.revision, b.revision))
	})
	rows = slices.CompactFunc(rows, func(a, b found) bool { return a.start.Equal(b.start) })
	return slices.DeleteFunc(rows, func(one found) bool { return !one.present })
}
