package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"muster/projections/alerts"
)

// VanishedEvery is how often it is looked for alerts whose servers are gone.
const VanishedEvery = 30 * time.Second

// OpenAlerts answers what alerts are open about; *alerts.Reader does.
type OpenAlerts interface {
	OpenPlaces(ctx context.Context) ([]alerts.OpenPlace, error)
	OpenAbout(ctx context.Context, organization, instance uuid.UUID, limit int) ([]uuid.UUID, error)
}

// CloseVanished closes the alerts of other senders whose servers were removed. Nobody may ever
// say of those that they are over. Those of a server that is switched off stay: their sender
// goes on to look.
func (w *Watch) CloseVanished(ctx context.Context, open OpenAlerts) error {
	places, err := open.OpenPlaces(ctx)
	if err != nil {
		return err
	}
	r := &round{Watch: w, settled: sync.OnceValues(func() (bool, error) { return w.fleetIsCurrent(ctx) })}
	var errs []error
	for n := 0; n < len(places); {
		organization, there := places[n].Organization, map[uuid.UUID]watchedPlace{}
		for ; n < len(places) && places[n].Organization == organization; n++ {
			there[places[n].Instance] = watchedPlace{}
		}
		if err := r.closeVanished(ctx, organization, there, open); err != nil {
			errs = append(errs, fmt.Errorf("close alerts of removed servers of organization %s: %w", organization, err))
		}
	}
	return errors.Join(errs...)
}

// closeVanished is CloseVanished for one organization. What the read model lacks may be new,
// unless it has all that is in the log.
func (r *round) closeVanished(ctx context.Context, organization uuid.UUID, places map[uuid.UUID]watchedPlace, open OpenAlerts) error {
	if err := r.addPlaces(ctx, organization, places); err != nil || len(unknowns(places)) == 0 {
		return err
	}
	if current, err := r.settled(); err != nil || !current {
		return err
	}
	if err := r.addPlaces(ctx, organization, places); err != nil {
		return err
	}
	for _, gone := range unknowns(places) {
		ids, err := open.OpenAbout(ctx, organization, gone, batch)
		if err != nil {
			return err
		}
		_, mark, err := r.Alerts.CloseVanished(ctx, organization, ids)
		r.recorded(ctx, mark)
		if err != nil {
			return err
		}
	}
	return nil
}
