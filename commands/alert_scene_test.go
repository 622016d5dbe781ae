package commands_test

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/eventstore"
)

// alertItem is an open alert that began an hour ago and was seen just now.
func alertItem(externalID string, set ...func(*alerting.Item)) alerting.Item {
	i := alerting.Item{
		ExternalID: externalID, Title: "Lock waits above 5", Severity: alert.Critical, State: alert.Open,
		CreatedAt: start.Add(-time.Hour), FirstTriggeredAt: start.Add(-time.Hour), LastTriggeredAt: start,
	}
	for _, s := range set {
		s(&i)
	}
	return i
}

func resolvedAt(at time.Time) func(*alerting.Item) {
	return func(i *alerting.Item) { i.State, i.ResolvedAt = alert.ResolvedState, &at }
}

func on(instance string) func(*alerting.Item) {
	return func(i *alerting.Item) { i.Instance = &instance }
}

func in(database string) func(*alerting.Item) {
	return func(i *alerting.Item) { i.Database = &database }
}

// alerts records items and returns their ids.
func (h *house) alerts(items ...alerting.Item) []uuid.UUID {
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

// folded is an alert as its events say.
func (h *house) folded(id uuid.UUID) (a alert.Alert) {
	h.Helper()
	registry := usecase.Registry()
	_, err := eventstore.Fold(registry, h.Events.Load(h.Context(), h.db, h.org.ID, id), func(e alert.Event, _ eventstore.Event) { a.Apply(e) })
	if err != nil {
		h.Fatal(err)
	}
	return a
}

// wantTypes holds the wire names of an alert's events, without their prefix.
func (h *house) wantTypes(when string, id uuid.UUID, want ...string) {
	h.Helper()
	got := h.types(id)
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], "alert.")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// wantKeysTold holds that what stands beside each key is what the events of the
// alert that it leads to say.
func (h *house) wantKeysTold() {
	h.Helper()
	rows := []struct {
		Key    string
		Stream uuid.UUID `db:"stream_id"`
		Digest []byte    `db:"state_digest"`
	}{}
	err := h.db.SelectContext(h.Context(), &rows, `SELECT key, stream_id, state_digest FROM stream_keys
		WHERE stream_type = 'alert' AND stream_id IS NOT NULL AND organization_id = $1`, h.org.ID)
	if err != nil {
		h.Fatal(err)
	}
	for _, r := range rows {
		a := h.folded(r.Stream)
		if a.Key() != r.Key || !slices.Equal(a.Memento(), r.Digest) {
			h.Errorf("beside %s stands something else than what the events say", r.Key)
		}
	}
}

// refused are the codes of a batch that is refused.
func (h *house) refused(actor usecase.Actor, items ...alerting.Item) []string {
	h.Helper()
	_, _, err := h.RecordAlerts(h.Context(), actor, items)
	var rule *usecase.RuleError
	if !errors.As(err, &rule) {
		h.Fatalf("error %v", err)
	}
	return codes(rule)
}
