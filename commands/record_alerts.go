package commands

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/instant"
	"muster/domain/rule"
)

// RecordAlerts records a batch of alerts, all or nothing. Sending it again changes nothing and
// returns the same ids. A repeated message never undoes a person's action; an open state for a
// closed alert is a new alert under its key. Errors: *RuleError with a pointer to each bad
// member, or forbidden with one to each item beyond a token's instances. An external id is the
// key of an alert at one instance, or at none: a message about one instance says nothing about
// another's alert. Only an end may leave out the instance, if one instance has the alert open.
func (s *Service) RecordAlerts(ctx context.Context, actor Actor, items []AlertItem) ([]AlertID, Mark, error) {
	if err := tooMany("#/alerts", len(items)); err != nil {
		return nil, Mark{}, err
	}
	names := make([]PlaceName, len(items))
	for i, item := range items {
		names[i] = PlaceName{item.Instance, item.Database}
	}
	places, err := s.findPlaces(ctx, actor.OrganizationID, names, actor.Limit)
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
		w.sender = actor.Token
		ids, err = w.recordAlerts(ctx, items, places)
		return err
	})
	return ids, mark, err
}

func (w *alertWriter) recordAlerts(ctx context.Context, items []AlertItem, places []Place) ([]AlertID, error) {
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
	ids := make([]AlertID, 0, len(items))
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
		ids = append(ids, AlertID{ExternalID: item.ExternalID, ID: w.newest[key].id})
	}
	return ids, fieldErrors(broken)
}

// endsAnywhere reports whether an item closes an alert without naming its place.
func (i AlertItem) endsAnywhere(at Place) bool { return i.State.Closed() && at.Instance == uuid.Nil }

const maxTitleRunes = 500

// AlertItem is one alert of a batch, as its sender knows it.
type AlertItem struct {
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

// AlertID is the outcome for one AlertItem, in the same order.
type AlertID struct {
	ExternalID string
	ID         uuid.UUID
}

// externalKey is the key of an alert that a feed knows by an id of its own.
func externalKey(id string) string { return "external/" + id }

// notice is what the item says of an alert at a place.
func (i AlertItem) notice(at Place) alert.Notice {
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
func (i AlertItem) placePointer() string {
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
func checkAlerts(items []AlertItem, places []Place, now time.Time) error {
	c := fleetCheck{now: now}
	seen := make(map[uuid.UUID]map[string]bool) // by the instance
	for i, item := range items {
		at := fmt.Sprintf("#/alerts/%d", i)
		if seen[places[i].Instance] == nil {
			seen[places[i].Instance] = map[string]bool{}
		}
		c.externalID(at, item.ExternalID, seen[places[i].Instance])
		c.name(at+"/title", item.Title, 1, maxTitleRunes)
		if !slices.Contains(alert.Severities(), item.Severity) {
			c.refuse(at+"/severity", "invalid_parameter", "is no severity known here")
		}
		if !slices.Contains(alert.States(), item.State) {
			c.refuse(at+"/state", "invalid_parameter", "is no state known here")
		}
		c.firingWindow(at, item)
		switch {
		case item.Instance != nil && places[i].Instance == uuid.Nil:
			c.refuse(at+"/instance", "unknown_instance", "is no instance of this organization")
		case item.Database != nil && places[i].Database == uuid.Nil && item.Instance != nil:
			c.refuse(at+"/database", "unknown_database", "is no database of that instance")
		case item.Database != nil && places[i].Database == uuid.Nil:
			c.refuse(at+"/database", "unknown_database", "is not exactly one database of this organization; name its instance")
		}
	}
	return c.err()
}

func (c *fleetCheck) firingWindow(at string, item AlertItem) {
	c.pastTime(at+"/createdAt", item.CreatedAt)
	c.pastTime(at+"/firstTriggeredAt", item.FirstTriggeredAt)
	c.pastTime(at+"/lastTriggeredAt", item.LastTriggeredAt)
	if item.LastTriggeredAt.Before(item.FirstTriggeredAt) {
		c.refuse(at+"/lastTriggeredAt", "invalid_firing_window", "lies before firstTriggeredAt")
	}
	switch closed := item.State.Closed(); {
	case item.ResolvedAt == nil && closed:
		c.refuse(at+"/resolvedAt", "resolved_at_required", "is required where state is Resolved or AutoResolved")
	case item.ResolvedAt != nil && !closed:
		c.refuse(at+"/resolvedAt", "resolved_at_not_allowed", "is allowed where state is Resolved or AutoResolved only")
	case item.ResolvedAt != nil:
		c.pastTime(at+"/resolvedAt", *item.ResolvedAt)
	}
}

// pastTime is time, and no earlier than the year 1, which JSON cannot hold.
func (c *fleetCheck) pastTime(pointer string, at time.Time) {
	if at.UTC().Year() < 1 {
		c.refuse(pointer, "out_of_range", "lies before the year 1")
		return
	}
	c.time(pointer, at)
}
