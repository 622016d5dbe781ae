package inventory

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/rule"
	"muster/eventstore"
)

// foundItem is an item with the current state of its instance, under the lock of its key.
type foundItem struct {
	Item
	index int
	key   eventstore.StreamKey
	there bool // the instance is known and was not removed

	instance *fleet.Instance // nil: the item says nothing new about it
	at       usecase.Stream
}

// findItems loads the instances about which items say something new. What is beyond the
// actor's limit is not loaded.
func (w *writer) findItems(ctx context.Context, items []Item, known map[string]eventstore.StreamKey) ([]foundItem, error) {
	found := make([]foundItem, len(items))
	for i, item := range items {
		key := known[item.ExternalID]
		f := foundItem{Item: item, index: i, key: key, there: present(key.StateDigest)}
		if f.there && !item.Removed && w.actor.Limit.Allows(key.Stream) && !sameInstance(key.StateDigest, item, fleet.ByFeed(w.actor.Sender)) {
			var err error
			if f.instance, f.at, err = w.loadInstance(ctx, key.Stream); err != nil {
				return nil, err
			}
		}
		found[i] = f
	}
	return found, nil
}

// holdItems checks the items of a feed against what it may not change. A limited token gets
// only these errors, before any rule that reveals more about the instances.
func (w *writer) holdItems(ctx context.Context, items []foundItem) error {
	var outside []rule.Broken
	for _, item := range items {
		outside = append(outside, item.outside(w.actor.Limit)...)
	}
	if len(outside) > 0 {
		return usecase.OutsideFields(outside)
	}
	connected, err := w.connected(ctx, items)
	if err != nil {
		return err
	}
	var c usecase.Check
	for _, item := range items {
		if item.instance != nil {
			checkFixed(&c, item.pointer("engine"), item.instance.Details().Engine, item.Engine)
		}
		if connected[item.key.Stream] {
			for _, field := range item.managed() {
				c.Refuse(item.pointer(field), "managed_by_connection", "is for administrators to change: the instance was registered with a connection")
			}
		}
	}
	return c.Err()
}

// connected are the instances with a connection that items say something new about.
func (w *writer) connected(ctx context.Context, items []foundItem) (map[uuid.UUID]bool, error) {
	var asked []uuid.UUID
	for _, item := range items {
		if len(item.managed()) > 0 {
			asked = append(asked, item.key.Stream)
		}
	}
	if len(asked) == 0 || w.f.connections == nil {
		return nil, nil
	}
	ids, err := w.f.connections.Connected(ctx, w.tx, w.actor.OrganizationID, asked)
	connected := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		connected[id] = true
	}
	return connected, err
}

// changes are the fields of its instance that an item changes.
func (i foundItem) changes() []string {
	if i.instance == nil {
		return nil
	}
	is := i.instance.Details()
	return is.Differs(i.details(is))
}

func (i foundItem) pointer(field string) string {
	return fmt.Sprintf("#/instances/%d/%s", i.index, field)
}

// outside are the fields by which an item is beyond a limit: the key, if the instance is not
// the token's; otherwise the fields that a limited token does not change. Each has its current
// value, so the sender can send the rest of the item.
func (i foundItem) outside(limit fleet.Limit) (fields []rule.Broken) {
	switch {
	case limit == nil:
		return nil
	case !i.there || !limit.Allows(i.key.Stream):
		return []rule.Broken{usecase.OutsideField(i.pointer("externalId"))}
	case i.Removed:
		return []rule.Broken{usecase.OutsideField(i.pointer("removed"))}
	}
	for _, field := range i.changes() {
		if fleet.Limited(field) {
			one := usecase.OutsideField(i.pointer(field))
			one.Params = map[string]any{"is": i.instance.Details().Field(field)}
			fields = append(fields, one)
		}
	}
	return fields
}

// managed are the fields by which an item changes what belongs to administrators where the
// instance has a connection.
func (i foundItem) managed() (fields []string) {
	if i.there && i.Removed {
		return []string{"removed"}
	}
	for _, field := range i.changes() {
		if fleet.Managed(field) {
			fields = append(fields, field)
		}
	}
	if i.there {
		for n, d := range i.Databases {
			if d.Removed {
				fields = append(fields, fmt.Sprintf("databases/%d/removed", n))
			}
		}
	}
	return fields
}

// fixed refuses another engine than an instance has.
func checkFixed(c *usecase.Check, pointer string, is, want fleet.Engine) {
	if want != is {
		c.Refuse(pointer, "engine_fixed", fmt.Sprintf("of this instance is %s and never changes; a server of another engine is another instance", is))
	}
}
