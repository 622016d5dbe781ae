package commands_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/alert"
)

// alertItem is an open alert that began an hour ago and was seen just now.
func alertItem(externalID string, set ...func(*commands.AlertItem)) commands.AlertItem {
	i := commands.AlertItem{
		ExternalID: externalID, Title: "Lock waits above 5", Severity: alert.Critical, State: alert.Open,
		CreatedAt: start.Add(-time.Hour), FirstTriggeredAt: start.Add(-time.Hour), LastTriggeredAt: start,
	}
	for _, s := range set {
		s(&i)
	}
	return i
}

func resolvedAt(at time.Time) func(*commands.AlertItem) {
	return func(i *commands.AlertItem) { i.State, i.ResolvedAt = alert.ResolvedState, &at }
}

func on(instance string) func(*commands.AlertItem) {
	return func(i *commands.AlertItem) { i.Instance = &instance }
}

func in(database string) func(*commands.AlertItem) {
	return func(i *commands.AlertItem) { i.Database = &database }
}

// alerts records items and returns their ids.
func (h *house) alerts(items ...commands.AlertItem) []uuid.UUID {
	h.Helper()
	got, _, err := h.RecordAlerts(h.Context(), h.actor, items)
	if err != nil {
		h.Fatal(err)
	}
	ids := make([]uuid.UUID, 0, len(got))
	for i, g := range got {
		if g.ExternalID != items[i].ExternalID || g.ID == uuid.Nil {
			h.Fatalf("item %d: %+v", i, g)
		}
		ids = append(ids, g.ID)
	}
	return ids
}

func (h *house) alertEvents() int {
	h.Helper()
	return h.count("events WHERE stream_type = 'alert'")
}

func TestTenThousandAlertsTwice(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	items := make([]commands.AlertItem, 10_000)
	for i := range items {
		items[i] = alertItem(fmt.Sprintf("a-%05d", i))
		if i%2 == 0 {
			resolvedAt(start)(&items[i])
		}
	}
	first := h.alerts(items...)
	if n := h.alertEvents(); n != 15_000 {
		t.Errorf("%d events of 5,000 open and 5,000 closed alerts", n)
	}
	slices.Reverse(items)
	second := h.alerts(items...)
	slices.Reverse(second)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("ids moved (-first +second):\n%.500s", diff)
	}
	if n := h.alertEvents(); n != 15_000 {
		t.Errorf("%d events after the second time", n)
	}
}
