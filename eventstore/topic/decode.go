package topic

import (
	"muster/eventstore"
	"muster/internal/concurrency/supervise"
)

// Event is an event as a group applies it.
type Event struct {
	eventstore.Event
	Fact any   // what Group.Decode makes of it
	err  error // why nothing can be made of it: the event's own fault, once it is applied
}

// decodedAtOnce is the least for which another goroutine pays.
const decodedAtOnce = 100

// decode decodes a page in as many parts as there are processors: while a log is
// caught up with it is a third of what is done outside the database.
func (g Group) decode(page []eventstore.Event) []Event {
	events := make([]Event, len(page))
	part := max(decodedAtOnce, (len(page)+supervise.Processors()-1)/supervise.Processors())
	var parts supervise.Group
	for from := 0; from < len(page); from += part {
		parts.Go(func() error {
			for i := from; i < min(from+part, len(page)); i++ {
				events[i] = g.decodeOne(page[i])
			}
			return nil
		})
	}
	parts.Join()
	return events
}

func (g Group) decodeOne(e eventstore.Event) (event Event) {
	event.Event = e
	if g.Decode != nil {
		defer supervise.Recover(&event.err) // it is the event's own fault
		event.Fact, event.err = g.Decode(e)
	}
	return event
}
