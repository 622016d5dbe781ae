package commands

import (
	"context"
	"fmt"
)

// RecordAlerts takes in a batch of alerts, all or nothing. Sent again it changes
// nothing and returns the same ids: what an alert's next decision depends on
// stands beside its external key, so that a batch costs a few look-ups and no
// stream. What only was seen again moves beside the log, which follows once an
// hour. A resend never undoes what a person did; an open state for an alert that
// is closed is a new alert under its key. Errors: *RuleError with a pointer to
// each bad member, or forbidden with one to each
// item by which a token reaches beyond its instances: by where it is, or by whose key it has.
func (s *Service) RecordAlerts(ctx context.Context, actor Actor, items []AlertItem) ([]AlertID, Mark, error) {
	if err := tooManyAlerts(items); err != nil {
		return nil, Mark{}, err
	}
	names := make([]PlaceName, len(items))
	for i, item := range items {
		names[i] = PlaceName{item.Instance, item.Database}
	}
	places, err := s.FindPlaces(ctx, actor.OrganizationID, names)
	if err != nil {
		return nil, Mark{}, err
	}
	// Before the other rules: which instances there are is not this token's to know.
	var outside []string
	for i, item := range items {
		if !actor.Limit.Allows(places[i].Instance) {
			outside = append(outside, fmt.Sprintf("#/alerts/%d%s", i, item.placePointer()))
		}
	}
	if len(outside) > 0 {
		return nil, Mark{}, OutsideLimit(outside)
	}
	if err := checkAlerts(items, places, s.clock()); err != nil {
		return nil, Mark{}, err
	}
	var ids []AlertID
	mark, err := s.writeAlerts(ctx, actor, func(w *alertWriter) (err error) {
		ids, err = w.recordAlerts(ctx, items, places)
		return err
	})
	return ids, mark, err
}

// recordAlerts decides about every item.
func (w *alertWriter) recordAlerts(ctx context.Context, items []AlertItem, places []Place) ([]AlertID, error) {
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, externalKey(item.ExternalID))
	}
	if err := w.lock(ctx, keys); err != nil {
		return nil, err
	}
	var outside []string
	for i, key := range keys {
		if t := w.newest[key]; t != nil && !w.mayTouch(t) {
			outside = append(outside, fmt.Sprintf("#/alerts/%d/externalId", i))
		}
	}
	if len(outside) > 0 {
		return nil, OutsideLimit(outside)
	}
	ids := make([]AlertID, 0, len(items))
	for i, item := range items {
		t := w.newest[keys[i]]
		if t == nil {
			t = new(trackedAlert)
		}
		w.take(keys[i], t.alert.Update(keys[i], item.notice(places[i]), t.seen))
		ids = append(ids, AlertID{ExternalID: item.ExternalID, ID: w.newest[keys[i]].id})
	}
	return ids, nil
}

// mayTouch reports whether the actor may go on under the key of an alert. Under
// that of a closed one, which stays as it is, he may only raise another; or an
// instance that is registered again could not.
func (w *alertWriter) mayTouch(t *trackedAlert) bool {
	return t.alert.State().Closed() || w.actor.Limit.Allows(t.alert.InstanceID())
}
