package commands

import (
	"context"
	"slices"

	"github.com/google/uuid"
)

// RecordAlerts takes in a batch of alerts, all or nothing. Sent again it changes
// nothing and returns the same ids: what an alert's next decision depends on
// stands beside its external key, so that a batch costs a few look-ups and no
// stream. What only was seen again moves beside the log, which follows once an
// hour. A resend never undoes what a person did; an open state for an alert that
// is closed is a new alert under its key. Errors: *RuleError with a pointer to
// each bad member, or forbidden where an ingest token reaches beyond its instances.
func (s *Service) RecordAlerts(ctx context.Context, actor Actor, items []AlertItem) ([]AlertID, Mark, error) {
	if err := tooManyAlerts(items); err != nil {
		return nil, Mark{}, err
	}
	places, err := s.findPlaces(ctx, actor.OrganizationID, items)
	if err != nil {
		return nil, Mark{}, err
	}
	for i, item := range items {
		if !actor.mayTouch(places[i].instance) {
			return nil, Mark{}, alertForbidden(item)
		}
	}
	if err := checkAlerts(items, places, s.clock()); err != nil {
		return nil, Mark{}, err
	}
	var ids []AlertID
	mark, err := s.writeAlerts(ctx, actor, func(w *alertWriter) (err error) {
		ids, err = w.recordAlerts(ctx, items, places)
		return err
	})
	if err != nil {
		return nil, Mark{}, err
	}
	return ids, mark, nil
}

// recordAlerts decides about every item.
func (w *alertWriter) recordAlerts(ctx context.Context, items []AlertItem, places []alertPlace) ([]AlertID, error) {
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, externalKey(item.ExternalID))
	}
	if err := w.lock(ctx, keys); err != nil {
		return nil, err
	}
	ids := make([]AlertID, 0, len(items))
	for i, item := range items {
		t := w.newest[keys[i]]
		if t == nil {
			t = new(trackedAlert)
		} else if !w.mayTouch(t) {
			return nil, alertForbidden(item)
		}
		if err := w.take(keys[i], t.alert.Update(keys[i], item.notice(places[i]), t.seen)); err != nil {
			return nil, err
		}
		ids = append(ids, AlertID{ExternalID: item.ExternalID, ID: w.newest[keys[i]].id})
	}
	return ids, nil
}

// mayTouch reports whether an actor may write about an instance; uuid.Nil is
// the organization.
func (a Actor) mayTouch(instance uuid.UUID) bool {
	return a.InstanceIDs == nil || slices.Contains(a.InstanceIDs, instance)
}

// mayTouch reports whether the actor may go on under the key of an alert. Under
// that of a closed one, which stays as it is, he may only raise another; or an
// instance that is registered again could not.
func (w *alertWriter) mayTouch(t *trackedAlert) bool {
	return t.alert.State().Closed() || w.actor.mayTouch(t.alert.InstanceID())
}

func alertForbidden(item AlertItem) *RuleError {
	return &RuleError{
		Code: "forbidden", Title: titles()["forbidden"],
		Detail: "This token may not write alert " + item.ExternalID + ": it keeps to its instances.",
	}
}
