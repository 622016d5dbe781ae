package history

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/eventstore"
	"muster/projections"
)

// AsOf returns the history listing as the log had recorded it before at: every
// report of the kind (empty: of all kinds), newest first, folded from the
// events as the projection folds them. Unlike Page it needs no projection and
// reads the whole log of the organization.
func AsOf(ctx context.Context, store *eventstore.Store, decode projections.Decode, organization uuid.UUID, kind report.Kind, at time.Time) ([]ReportRow, error) {
	reports := make(map[uuid.UUID]*folded)
	filter := eventstore.Filter{Organization: organization, RecordedTo: at}
	for e, err := range store.Read(ctx, eventstore.Reports, filter) {
		if err != nil {
			return nil, err
		}
		f, err := fact(decode, e)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Position, err)
		}
		r := reports[e.Stream]
		if r == nil {
			r = &folded{}
			reports[e.Stream] = r
		}
		if err := r.apply(e, f); err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Position, err)
		}
	}
	rows := []ReportRow{}
	for _, r := range reports {
		if kind == "" || r.Kind == kind {
			rows = append(rows, r.as(at))
		}
	}
	slices.SortFunc(rows, func(a, b ReportRow) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), bytes.Compare(b.ID[:], a.ID[:]))
	})
	return rows, nil
}
