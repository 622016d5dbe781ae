package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
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
	name     string
	instance uuid.UUID   // to which the alert belongs
	others   []uuid.UUID // that it concerns as well
	servers  string      // of a host with several servers, the first few by name
	all      string      // all of them
	tags     domain.Tags // of the instance to which the alert belongs
}

// named is how many servers of a host are named in a title.
const named = 3

// place is where a sign is. A sign of a host belongs to the watched servers on it, and its
// alert to the one that was registered first.
func (s judged) place(servers map[uuid.UUID]watchedPlace) watchedPlace {
	if len(s.Details.Instances) == 0 {
		at := servers[s.InstanceID]
		at.instance = s.InstanceID
		return at
	}
	ids := slices.Clone(s.Details.Instances)
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	at := watchedPlace{standing: unwatched, instance: ids[0], name: "host " + s.Details.Host}
	var watching []uuid.UUID
	var names []string
	for _, id := range slices.Compact(ids) {
		switch server := servers[id]; server.standing {
		case watched:
			watching, names = append(watching, id), append(names, server.name)
		case unknown:
			at.standing = unknown
		}
	}
	if len(watching) == 0 {
		return at
	}
	at.standing, at.instance, at.others, at.tags = watched, watching[0], watching[1:], servers[watching[0]].tags
	if len(names) == 1 {
		at.name = names[0]
		return at
	}
	slices.Sort(names)
	at.all = strings.Join(names, ", ")
	at.servers = at.all
	if more := len(names) - named; more > 0 {
		at.servers = fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), more)
	}
	return at
}

// places looks up the instances of signs.
func (r *round) places(ctx context.Context, organization uuid.UUID, signs []judged) (map[uuid.UUID]watchedPlace, error) {
	places := make(map[uuid.UUID]watchedPlace)
	for _, s := range signs {
		ids := s.Details.Instances
		if len(ids) == 0 {
			ids = []uuid.UUID{s.InstanceID}
		}
		for _, id := range ids {
			places[id] = watchedPlace{name: "instance " + id.String()}
			if id == manyServers {
				places[id] = watchedPlace{standing: watched}
			}
		}
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
		at := watchedPlace{standing: unwatched, name: i.Name, tags: domain.Tags(i.Tags)}
		if i.Active {
			at.standing = watched
		}
		places[i.ID] = at
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
