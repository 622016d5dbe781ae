package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"muster/internal/statement"
)

// ending is an alert whose end may have passed.
type ending struct {
	Organization uuid.UUID `db:"organization_id"`
	Key          string    `db:"key"`
}

// EndFirings closes the alerts whose end has passed without another message, at
// most limit of them, and says how many there were. Two at once close each of
// them once. The transaction of an organization is its own: one that fails does
// not hold up the others.
func (s *Service) EndFirings(ctx context.Context, limit int) (ended int, mark Mark, err error) {
	due, err := statement.All[ending](ctx, s.DB, "find alerts whose end has passed", `SELECT organization_id, key FROM alert_last_seen
		WHERE ends_at <= $1 ORDER BY ends_at, alert_id LIMIT $2`, s.clock(), limit)
	if err != nil {
		return 0, Mark{}, err
	}
	keys := make(map[uuid.UUID][]string)
	for _, e := range due {
		keys[e.Organization] = append(keys[e.Organization], e.Key)
	}
	var errs []error
	for organization, keys := range keys {
		n, at, err := s.endFirings(ctx, Actor{OrganizationID: organization, Component: "ingest"}, keys)
		if err != nil {
			errs = append(errs, fmt.Errorf("close alerts of organization %s: %w", organization, err))
			continue
		}
		ended += n
		mark = Mark{Log: at.Log, Position: max(mark.Position, at.Position)}
	}
	return ended, mark, errors.Join(errs...)
}

func (s *Service) endFirings(ctx context.Context, actor Actor, keys []string) (ended int, mark Mark, err error) {
	mark, err = s.writeAlerts(ctx, actor, func(w *alertWriter) error {
		if err := w.lock(ctx, keys); err != nil {
			return err
		}
		ended = 0
		for _, t := range slices.SortedFunc(maps.Values(w.newest), func(a, b *trackedAlert) int { return cmp.Compare(a.key, b.key) }) {
			if w.lapse(t) {
				ended++
			}
		}
		return nil
	})
	return ended, mark, err
}
