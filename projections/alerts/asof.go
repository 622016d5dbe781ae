package alerts

import (
	"context"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/eventstore"
)

// OpenAsOf counts the alerts of an organization that were open and not muted, as
// the log had recorded it before at. Unlike Open it needs no projection: an alert
// that was imported later with times of then is not in it, and one that was muted
// since is. It reads the organization's part of the fleet's log, a page at a time,
// decodes nothing, and holds the alerts that are open.
func OpenAsOf(ctx context.Context, store *eventstore.Store, organization uuid.UUID, at time.Time) (open int64, err error) {
	raised, muted, unmuted := domain.Name(domain.Raised{}), domain.Name(domain.Muted{}), domain.Name(domain.Unmuted{})
	resolved, autoResolved := domain.Name(domain.Resolved{}), domain.Name(domain.AutoResolved{})
	loud := map[uuid.UUID]bool{} // of those that are open, whether it is not muted
	filter := eventstore.Filter{
		Organization: organization, RecordedTo: at, StreamType: domain.StreamType,
		Types: []string{raised, muted, unmuted, resolved, autoResolved},
	}
	for e, err := range store.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return 0, err
		}
		_, isOpen := loud[e.Stream]
		switch {
		case e.Type == raised:
			loud[e.Stream] = true
		case e.Type == resolved, e.Type == autoResolved:
			delete(loud, e.Stream)
		case isOpen: // one that is closed may be muted, too
			loud[e.Stream] = e.Type == unmuted
		}
	}
	for _, counts := range loud {
		if counts {
			open++
		}
	}
	return open, nil
}
