package commands

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/instant"
)

// Bounds of what a feed may say about its alerts.
const (
	maxAlertItems = 10_000
	maxTitleRunes = 500
)

// AlertItem is one alert of a batch, as its sender knows it.
type AlertItem struct {
	ExternalID       string
	Title            string
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
		Title: i.Title, Severity: i.Severity, InstanceID: at.Instance, DatabaseID: at.Database,
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

// tooManyAlerts refuses a batch by its size alone.
func tooManyAlerts(items []AlertItem) error {
	if len(items) <= maxAlertItems {
		return nil
	}
	e := fieldError("#/alerts", "too_many_items", fmt.Sprintf("has %d items; at most %d are allowed in one call", len(items), maxAlertItems))
	e.Fields[0].Params = map[string]any{"max": maxAlertItems}
	return e
}

// checkAlerts holds a batch against every rule at once; places are where the
// items say that they are.
func checkAlerts(items []AlertItem, places []Place, now time.Time) error {
	c := fleetCheck{now: now}
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		at := fmt.Sprintf("#/alerts/%d", i)
		c.externalID(at, item.ExternalID, seen)
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
