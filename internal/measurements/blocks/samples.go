package blocks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/pgstore/packing"
)

// EachSample hands the raw samples that ranges have in the blocks of a store to take, each with
// its time and the place of its range. The bytes are good until take returns. tx and the error
// are those of Store.Each.
func EachSample(ctx context.Context, store Store, tx *sqlx.Tx, ranges []Range, take func(place int, at time.Time, body []byte) error) error {
	whole := slices.Clone(ranges)
	for i := range whole {
		whole[i].From = whole[i].From.Truncate(RawWidth)
	}
	return store.Each(ctx, tx, Raw, whole, func(place int, start time.Time, body []byte) error {
		of := ranges[place]
		samples, err := packing.Unpack(start, body, of.From, of.To)
		if err != nil {
			return fmt.Errorf("series %d at %s: %w", of.Series.ID, start, err)
		}
		for _, one := range samples {
			if err := take(place, one.At, one.Body); err != nil {
				return err
			}
		}
		return nil
	})
}
