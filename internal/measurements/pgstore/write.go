package pgstore

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/postgres/transact"
)

var (
	//go:embed sql/sealed.sql
	sealedAmong string
	//go:embed sql/insert_raw.sql
	insertRaw string
	//go:embed sql/stored_raw.sql
	storedRaw string
	//go:embed sql/update_raw.sql
	updateRaw string
)

// unsealed is how young an hour is that cannot be sealed yet, with a day to spare for
// clocks that differ.
const unsealed = quiet - 24*time.Hour

// Write is documented at measurements.Store.
func (s *Store) Write(ctx context.Context, b measurements.Batch) (measurements.Receipt, error) {
	arrived, err := arrivals(b)
	if err != nil {
		return measurements.Receipt{}, fmt.Errorf("encode %d samples: %w", b.Len(), err)
	}
	var receipt measurements.Receipt
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if b.Guard != nil {
			if err := b.Guard(ctx, tx); err != nil {
				return err
			}
		}
		if len(arrived) == 0 {
			return nil
		}
		receipt, err = s.keep(ctx, tx, b, arrived)
		return err
	})
	if err != nil {
		return measurements.Receipt{}, err
	}
	return receipt, nil
}

func (s *Store) keep(ctx context.Context, tx *sqlx.Tx, b measurements.Batch, arrived []arrival) (measurements.Receipt, error) {
	h, err := s.hold(ctx, tx, b.Organization, arrived)
	if err != nil {
		return measurements.Receipt{}, err
	}
	accepted, receipt, err := inTime(ctx, tx, h, arrived)
	if err != nil {
		return measurements.Receipt{}, err
	}
	news, err := s.keepRaw(ctx, tx, accepted)
	if err != nil {
		return measurements.Receipt{}, err
	}
	if err := s.mark(ctx, tx, news); err != nil {
		return measurements.Receipt{}, err
	}
	if err := keepMappings(ctx, tx, h, b.Hosts); err != nil {
		return measurements.Receipt{}, err
	}
	return receipt, keepLatest(ctx, tx, h, b.Sessions)
}

// placed is an arrival with the series that it belongs to.
type placed struct {
	*arrival
	series
}

// hour is the hour that it falls into.
func (p *placed) hour() bucket { return bucket{p.id, timegrid.Hour.Floor(p.at)} }

// inTime leaves out what falls into an hour that is sealed.
func inTime(ctx context.Context, tx *sqlx.Tx, h held, arrived []arrival) (accepted []placed, receipt measurements.Receipt, err error) {
	all := make([]placed, len(arrived))
	old := make(map[bucket]bool) // hours that may be sealed; true: they are
	for i := range arrived {
		all[i] = placed{&arrived[i], h.series[seriesKey{arrived[i].kind, arrived[i].subject}]}
		if at := all[i].hour(); at.start.Before(h.now.Add(-unsealed)) {
			old[at] = false
		}
	}
	if err := sealed(ctx, tx, old); err != nil {
		return nil, receipt, err
	}
	accepted = all[:0]
	for _, p := range all {
		if old[p.hour()] {
			count(&receipt.TooLate, p.kind, p.count)
			continue
		}
		count(&receipt.Accepted, p.kind, p.count)
		accepted = append(accepted, p)
	}
	return accepted, receipt, nil
}

// sealed sets those of hours that are sealed.
func sealed(ctx context.Context, tx *sqlx.Tx, hours map[bucket]bool) error {
	if len(hours) == 0 {
		return nil
	}
	var asked []bucket
	var weeks buckets
	var numbers []int32
	for b := range hours {
		asked = append(asked, b)
		weeks.addBucket(b.floor(timegrid.Week))
		numbers = append(numbers, int32(b.within(timegrid.Week, timegrid.Hour)))
	}
	err := query(ctx, tx, func(row scanner) error {
		var place int
		if err := row.Scan(&place); err != nil {
			return err
		}
		hours[asked[place]] = true
		return nil
	}, sealedAmong, weeks.series, weeks.starts, numbers)
	if err != nil {
		return fmt.Errorf("look which of %d hours are sealed: %w", len(asked), err)
	}
	return nil
}

func count(c *measurements.SampleCounts, kind string, n int) {
	switch kind {
	case hosts:
		c.Hosts += n
	case sessions:
		c.Sessions += n
	case statements:
		c.Statements += n
	}
}

// keepRaw stores arrivals, and returns those that brought something new.
func (s *Store) keepRaw(ctx context.Context, tx *sqlx.Tx, accepted []placed) ([]placed, error) {
	if len(accepted) == 0 {
		return nil, nil
	}
	var rows bodies
	repeated := make(map[bucket]*placed, len(accepted)) // by their very time
	for i, p := range accepted {
		key := bucket{p.id, grid(p.at)}
		rows.addBody(key, p.body)
		repeated[key] = &accepted[i]
	}
	var news []placed
	err := query(ctx, tx, func(row scanner) error {
		var key bucket
		if err := row.Scan(&key.series, &key.start); err != nil {
			return err
		}
		key.start = grid(key.start)
		news = append(news, *repeated[key])
		delete(repeated, key)
		return nil
	}, insertRaw, rows.series, rows.starts, rows.bytes)
	if err != nil {
		return nil, fmt.Errorf("keep %d raw samples: %w", len(accepted), err)
	}
	changed, err := s.mergeRaw(ctx, tx, repeated)
	if err != nil {
		return nil, err
	}
	return append(news, changed...), nil
}

// mergeRaw joins what has come again with what is stored, and returns what was changed.
func (s *Store) mergeRaw(ctx context.Context, tx *sqlx.Tx, repeated map[bucket]*placed) ([]placed, error) {
	if len(repeated) == 0 {
		return nil, nil
	}
	var asked buckets
	for key := range repeated {
		asked.addBucket(key)
	}
	var changed []placed
	var rows bodies
	err := query(ctx, tx, func(row scanner) error {
		var key bucket
		var stored []byte
		if err := row.Scan(&key.series, &key.start, &stored); err != nil {
			return err
		}
		key.start = grid(key.start)
		again := repeated[key]
		merged, differs, err := s.kinds(again.kind).merge(stored, again.body)
		if err != nil {
			return fmt.Errorf("series %d at %s: %w", key.series, key.start, err)
		}
		if differs {
			rows.addBody(key, merged)
			changed = append(changed, *again)
		}
		return nil
	}, storedRaw, asked.series, asked.starts)
	if err != nil {
		return nil, fmt.Errorf("merge %d repeated samples: %w", len(repeated), err)
	}
	if len(changed) == 0 {
		return nil, nil
	}
	if _, err := tx.ExecContext(ctx, updateRaw, rows.series, rows.starts, rows.bytes); err != nil {
		return nil, fmt.Errorf("keep %d merged samples: %w", len(changed), err)
	}
	return changed, nil
}
