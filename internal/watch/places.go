package watch

import (
	"context"

	"github.com/google/uuid"

	"muster/projections/fleet"
)

// standing is how an instance stands with the watch.
type standing int

const (
	unknown   standing = iota // perhaps too new for the read model
	unwatched                 // removed, or switched off by somebody
	watched
)

// watchedPlace is where a sign comes from.
type watchedPlace struct {
	standing
	name string
}

// places looks up the instances of signs.
func (r *round) places(ctx context.Context, organization uuid.UUID, signs []judged) (map[uuid.UUID]watchedPlace, error) {
	places := make(map[uuid.UUID]watchedPlace)
	for _, s := range signs {
		places[s.InstanceID] = watchedPlace{name: "instance " + s.InstanceID.String()}
	}
	if err := r.addPlaces(ctx, organization, places); err != nil {
		return nil, err
	}
	if len(unknowns(places)) == 0 {
		return places, nil
	}
	if current, err := r.settled(); err != nil || !current {
		return places, err
	}
	if err := r.addPlaces(ctx, organization, places); err != nil {
		return nil, err
	}
	for _, id := range unknowns(places) {
		places[id] = watchedPlace{standing: unwatched, name: places[id].name}
	}
	return places, nil
}

func (r *round) addPlaces(ctx context.Context, organization uuid.UUID, places map[uuid.UUID]watchedPlace) error {
	ids := unknowns(places)
	found, _, err := r.Fleet.Instances(ctx, fleet.Query{Organization: organization, IDs: ids, Page: 1, Size: len(ids)})
	if err != nil {
		return err
	}
	for _, i := range found {
		places[i.ID] = watchedPlace{standing: unwatched, name: i.Name}
		if i.Active {
			places[i.ID] = watchedPlace{standing: watched, name: i.Name}
		}
	}
	return nil
}

func unknowns(places map[uuid.UUID]watchedPlace) (ids []uuid.UUID) {
	for id, p := range places {
		if p.standing == unknown {
			ids = append(ids, id)
		}
	}
	return ids
}
