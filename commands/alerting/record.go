package alerting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/instant"
	"muster/domain/rule"
)

// RecordAlerts records a batch of alerts, all or nothing. Sending it again changes nothing and
// returns the same ids. A repeated message never undoes a person's action; an open state for a
// closed alert is a new alert under its key. Errors: *usecase.RuleError with a pointer to each bad
// member, or forbidden with one to each item beyond a token's instances. An external id is the
// key of an alert at one instance, or at none: a message about one instance says nothing about
// another's alert. Only an end may leave out the instance, if one instance has the alert open.
func (s *Alerts) RecordAlerts(ctx context.Context, actor usecase.Actor, items []Item) ([]ID, usecase.Mark, error) {
	if err := usecase.TooMany("#/alerts", len(items)); err != nil {
		return nil, usecase.Mark{}, err
	}
	names := make([]inventory.PlaceName, len(items))
	for i, item := range items {
		names[i] = inventory.PlaceName{Instance: item.Instance, Database: item.Database}
	}
	places, err := s.fleet.FindPlacesWithin(ctx, actor.OrganizationID, names, actor.Limit)
	if err != nil {
		return nil, usecase.Mark{}, err
	}
	// Before the other rules: which instances there are is not this token's to know.
	var outside []string
	for i, item := range items {
		if !actor.Limit.Allows(places[i].Instance) {
			outside = append(outside, fmt.Sprintf("#/alerts/%d%s", i, item.placePointer()))
		}
	}
	if len(outside) > 0 {
		return nil, usecase.Mark{}, usecase.OutsideLimit(outside)
	}
	if err := checkAlerts(items, places, s.Clock()); err != nil {
		return nil, usecase.Mark{}, err
	}
	var ids []ID
	mark, err := s.writeAlerts(ctx, actor, func(w *writer) (err error) {
		w.sender = actor.Token
		ids, err = w.recordAlerts(ctx, items, places)
		return err
	})
	return ids, mark, err
}

func (w *writer) recordAlerts(ctx context.Context, items []Item, places []inventory.Place) ([]ID, error) {
	names, notices := make([]alertName, 0, len(items)), make([]alert.Notice, 0, len(items))
	for i, item := range items {
		names = append(names, alertName{key: externalKey(item.ExternalID), instance: places[i].Instance})
		says := item.notice(places[i])
		says.Limited = w.actor.Limit != nil
		notices = append(notices, says)
	}
	if err := w.lockNames(ctx, names); err != nil {
		return nil, err
	}
	var anywhere []string // the keys of ends that are not of the organization's own alerts
	for i, item := range items {
		if item.endsAnywhere(places[i]) && !w.takes(w.keyOf(names[i]), notices[i]) {
			anywhere = append(anywhere, names[i].key)
		}
	}
	if err := w.lockAllOf(ctx, anywhere); err != nil {
		return nil, err
	}
	var broken []rule.Broken
	ids := make([]ID, 0, len(items))
	for i, item := range items {
		key := w.keyOf(names[i])
		if item.endsAnywhere(places[i]) {
			var several bool
			if key, several = w.keyOfEnd(names[i], notices[i]); several {
				broken = append(broken, rule.Broken{
					Pointer: fmt.Sprintf("#/alerts/%d/instance", i), Code: "instance_required", Detail: "must say which alert ends: several instances have it open",
				})
				continue
			}
		}
		t := w.newest[key]
		if t == nil {
			t = new(trackedAlert)
		}
		w.take(key, t.alert.Update(key, notices[i], t.seen))
		ids = append(ids, ID{ExternalID: item.ExternalID, ID: w.newest[key].id})
	}
	return ids, usecase.FieldErrors(broken)
}

// endsAnywhere reports whether an item closes an alert without naming its place.
func (i Item) endsAnywhere(at inventory.Place) bool {
	return i.State.Closed() && at.Instance == uuid.Nil
}

const maxTitleRunes = 500

// Item is one alert of a batch, as its sender knows it.
type Item struct {
	ExternalID       string
	Title            string
	Description      string
	Rule             *alert.Rule // its source, if known
	Severity         alert.Severity
	State            alert.State
	Muted            *bool // nil leaves what is
	CreatedAt        time.Time
	FirstTriggeredAt time.Time
	LastTriggeredAt  time.Time
	ResolvedAt       *time.Time // exactly where State is closed
	Instance         *string    // external ids
	Database         *string
}

// ID is the outcome for one Item, in the same order.
type ID struct {
	ExternalID string
	ID         uuid.UUID
}

// externalKey is the key of an alert that a feed knows by an id of its own.
func externalKey(id string) string { return "external/" + id }

// notice is what the item says of an alert at a place.
func (i Item) notice(at inventory.Place) alert.Notice {
	n := alert.Notice{State: i.State, Muted: i.Muted, Details: alert.Details{
		Title: i.Title, Description: i.Description, Rule: i.Rule, Severity: i.Severity, InstanceID: at.Instance, DatabaseID: at.Database,
		CreatedAt: instant.Cut(i.CreatedAt), FirstTriggeredAt: instant.Cut(i.FirstTriggeredAt), LastTriggeredAt: instant.Cut(i.LastTriggeredAt),
	}}
	if i.ResolvedAt != nil {
		n.ResolvedAt = instant.Cut(*i.ResolvedAt)
	}
	return n
}

// placePointer is to the member that says where the item is; to itself where none does.
func (i Item) placePointer() string {
	switch {
	case i.Instance != nil:
		return "/instance"
	case i.Database != nil:
		return "/database"
	}
	return ""
}

// checkAlerts holds a batch against every rule at once; places are where the
// items say that they are.
func checkAlerts(items []Item, places []inventory.Place, now time.Time) error {
	c := usecase.Check{Now: now}
	seen := make(map[uuid.UUID]map[string]bool) // by the instance
	for i, item := range items {
		at := fmt.Sprintf("#/alerts/%d", i)
		if seen[places[i].Instance] == nil {
			seen[places[i].Instance] = map[string]bool{}
		}
		c.ExternalID(at, item.ExternalID, seen[places[i].Instance])
		c.Name(at+"/title", item.Title, 1, maxTitleRunes)
		if !slices.Contains(alert.Severities(), item.Severity) {
			c.Refuse(at+"/severity", "invalid_parameter", "is no severity known here")
		}
		if !slices.Contains(alert.States(), item.State) {
			c.Refuse(at+"/state", "invalid_parameter", "is no state known here")
		}
		checkFiringWindow(&c, at, item)
		switch {
		case item.Instance != nil && places[i].Instance == uuid.Nil:
			c.Refuse(at+"/instance", "unknown_instance", "is no instance of this organization")
		case item.Database != nil && places[i].Database == uuid.Nil && item.Instance != nil:
			c.Refuse(at+"/database", "unknown_database", "is no database of that instance")
		case item.Database != nil && places[i].Database == uuid.Nil:
			c.Refuse(at+"/database", "unknown_database", "is not exactly one database of this organization; name its instance")
		}
	}
	return c.Err()
}

func checkFiringWindow(c *usecase.Check, at string, item Item) {
	checkPastTime(c, at+"/createdAt", item.CreatedAt)
	checkPastTime(c, at+"/firstTriggeredAt", item.FirstTriggeredAt)
	checkPastTime(c, at+"/lastTriggeredAt", item.LastTriggeredAt)
	if item.LastTriggeredAt.Before(item.FirstTriggeredAt) {
		c.Refuse(at+"/lastTriggeredAt", "invalid_firing_window", "lies before firstTriggeredAt")
	}
	switch closed := item.State.Closed(); {
	case item.ResolvedAt == nil && closed:
		c.Refuse(at+"/resolvedAt", "resolved_at_required", "is required where state is Resolved or AutoResolved")
	case item.ResolvedAt != nil && !closed:
		c.Refuse(at+"/resolvedAt", "resolved_at_not_allowed", "is allowed where state is Resolved or AutoResolved only")
	case item.ResolvedAt != nil:
		checkPastTime(c, at+"/resolvedAt", *item.ResolvedAt)
	}
}

// pastTime is time, and no earlier than the year 1, which JSON cannot hold.
func checkPastTime(c *usecase.Check, pointer string, at time.Time) {
	if at.UTC().Year() < 1 {
		c.Refuse(pointer, "out_of_range", "lies before the year 1")
		return
	}
	c.Time(pointer, at)
}
