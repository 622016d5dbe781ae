package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/projections"
)

// AsOf counts the instances and databases of an organization as the log had
// recorded them before at. Unlike Counts it needs no projection, and a time that
// somebody wrote into a registration later moves nothing: what it reads is what
// was known then. It reads the organization's part of the fleet's log, a page at a
// time, and holds a number for each instance.
func AsOf(ctx context.Context, store *eventstore.Store, decode projections.Decode, organization uuid.UUID, at time.Time) (instances, databases int64, err error) {
	r := roll{live: map[uuid.UUID]bool{}, databases: map[uuid.UUID]int64{}}
	filter := eventstore.Filter{Organization: organization, RecordedTo: at, Types: []string{
		domain.Name(domain.InstanceRegistered{}), domain.Name(domain.InstanceRemoved{}),
		domain.Name(domain.DatabaseRegistered{}), domain.Name(domain.DatabaseRemoved{}),
	}}
	for e, err := range store.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return 0, 0, err
		}
		fact, err := decode(e)
		if err != nil {
			return 0, 0, fmt.Errorf("event %d: %w", e.Position, err)
		}
		r.take(e.Stream, fact)
	}
	for id := range r.live {
		databases += r.databases[id]
	}
	return int64(len(r.live)), databases, nil
}

// roll counts databases by their instance, because they go with it.
type roll struct {
	live      map[uuid.UUID]bool
	databases map[uuid.UUID]int64
}

func (r roll) take(stream uuid.UUID, fact any) {
	switch fact := fact.(type) {
	case domain.InstanceRegistered:
		r.live[stream] = true
	case domain.InstanceRemoved:
		delete(r.live, stream)
		delete(r.databases, stream)
	case domain.DatabaseRegistered:
		r.databases[fact.InstanceID]++
	case domain.DatabaseRemoved:
		r.databases[fact.InstanceID]--
	}
}
