package alerts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/projections/alerts"
)

func TestAlertAndItsTimeline(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, ana := uuid.New(), uuid.New()
	orders, database, id := uuid.New(), uuid.New(), uuid.New()
	threshold := 90.0
	details := domain.Details{
		Title: "Disk is full", Description: "at /var", Severity: domain.Warning, InstanceID: orders, DatabaseID: database,
		Rule:      &domain.Rule{ID: "volume", Name: "Volume", Threshold: &threshold, Unit: "%"},
		CreatedAt: minute(-5), FirstTriggeredAt: minute(0), LastTriggeredAt: minute(1),
	}
	worse := details
	worse.Severity, worse.LastTriggeredAt = domain.Critical, minute(3)
	s.happens(acme, orders, fleet.InstanceStream, fleet.InstanceRegistered{Name: "orders"})
	s.happens(acme, database, fleet.DatabaseStream, fleet.DatabaseRegistered{InstanceID: orders, Name: "sales"}, fleet.DatabaseRemoved{})
	s.happens(acme, id, domain.StreamType, domain.Raised{Key: "external/1", Details: details}, domain.Changed{Details: worse},
		domain.StillFiring{LastTriggeredAt: minute(4)}, domain.TriggeredAgain{FirstTriggeredAt: minute(8), LastTriggeredAt: minute(9)})
	byAna := s.batch(acme, id, domain.StreamType, domain.Acknowledged{}, domain.Noted{Note: "mine"}, domain.Muted{}, domain.Unmuted{},
		domain.MutedUntil{Until: minute(90)}, domain.Noted{Note: "until\nthe move"})
	for i := range byAna.Events {
		byAna.Events[i].OccurredAt = minute(20 + i)
	}
	byAna.Metadata.ActorID = ana.String()
	ended := s.batch(acme, id, domain.StreamType, domain.MuteEnded{Until: minute(90)}, domain.MutedUntil{Until: minute(120)})
	ended.Events[0].OccurredAt, ended.Events[1].OccurredAt = minute(91), minute(92)
	ended.Metadata.ActorID = "system:watch"
	over := s.batch(acme, id, domain.StreamType, domain.AutoResolved{ResolvedAt: minute(15), LastTriggeredAt: minute(14)})
	over.Metadata.ActorID = "system:ingest"
	s.stage.Append(eventstore.Fleet, byAna, over, ended)
	s.stage.Settle()
	s.nothingIsParked()

	resolved, until, longer := minute(15), minute(90), minute(120)
	want := alerts.Alert{
		ID: id, Title: "Disk is full", Description: "at /var", Severity: domain.Critical, State: domain.AutoResolvedState,
		Rule: details.Rule, CreatedAt: minute(-5), FirstTriggeredAt: minute(8), LastTriggeredAt: minute(14), ResolvedAt: &resolved, Muted: true, MutedUntil: &longer,
		Occurrences: 2, Instance: &alerts.NamedPlace{ID: orders, Name: "orders"}, Database: &alerts.NamedPlace{ID: database, Name: "sales"},
	}
	if got, ok, err := s.reader.Alert(t.Context(), acme, id); err != nil || !ok || !cmp.Equal(want, got) {
		t.Errorf("alert: %v %v\n%s", ok, err, cmp.Diff(want, got))
	}
	timeline := []alerts.Moment{
		{At: minute(0), Event: "triggered"},
		{At: minute(8), Event: "triggered"},
		{At: minute(15), Event: "resolved"}, // heard of later
		{At: minute(20), Event: "acknowledged", Member: ana, Note: "mine"},
		{At: minute(22), Event: "muted", Member: ana},
		{At: minute(23), Event: "unmuted", Member: ana},
		{At: minute(24), Event: "muted", Member: ana, Until: &until, Note: "until\nthe move"},
		{At: minute(90), Event: "unmuted", Until: &until}, // heard of later
		{At: minute(92), Event: "muted", Until: &longer},
	}
	if got, err := s.reader.Timeline(t.Context(), acme, id); err != nil || !cmp.Equal(timeline, got) {
		t.Errorf("timeline: %v\n%s", err, cmp.Diff(timeline, got))
	}
	for name, absent := range map[string][2]uuid.UUID{"foreign": {uuid.New(), id}, "unknown": {acme, uuid.New()}, "an instance": {acme, orders}} {
		if _, ok, err := s.reader.Alert(t.Context(), absent[0], absent[1]); ok || err != nil {
			t.Errorf("%s: %v %v", name, ok, err)
		}
		if got, err := s.reader.Timeline(t.Context(), absent[0], absent[1]); err != nil || len(got) != 0 {
			t.Errorf("timeline of %s: %v %v", name, got, err)
		}
	}
}

// TestTheLastSeenTimeBesideTheLog: the later of both times, until the alert is closed.
func TestTheLastSeenTimeBesideTheLog(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme := uuid.New()
	raised := domain.Raised{Details: domain.Details{CreatedAt: minute(0), FirstTriggeredAt: minute(0), LastTriggeredAt: minute(10)}}
	closed := domain.Resolved{ResolvedAt: minute(30), LastTriggeredAt: minute(12)}
	for name, test := range map[string]struct {
		facts []any
		seen  int
		want  int
	}{
		"later":                       {[]any{raised}, 20, 20},
		"earlier than the last event": {[]any{raised}, 5, 10},
		"left behind by a close":      {[]any{raised, closed}, 20, 12},
	} {
		id := uuid.New()
		s.happens(acme, id, domain.StreamType, test.facts...)
		s.seen(acme, id, minute(test.seen))
		s.stage.Settle()
		if got, ok, err := s.reader.Alert(t.Context(), acme, id); err != nil || !ok || !got.LastTriggeredAt.Equal(minute(test.want)) {
			t.Errorf("%s: %v %v %v, want %v", name, got.LastTriggeredAt, ok, err, minute(test.want))
		}
	}
}

// TestPlacesOfAnother: an event names an instance and a database of another
// organization, which no command lets in. Their names stay with their owner.
func TestPlacesOfAnother(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	us, them := uuid.New(), uuid.New()
	theirs, database, id := uuid.New(), uuid.New(), uuid.New()
	s.happens(them, theirs, fleet.InstanceStream, fleet.InstanceRegistered{Name: "secret"})
	s.happens(them, database, fleet.DatabaseStream, fleet.DatabaseRegistered{InstanceID: theirs, Name: "secret"})
	s.happens(us, id, domain.StreamType, domain.Raised{Details: domain.Details{
		InstanceID: theirs, DatabaseID: database, CreatedAt: noon, FirstTriggeredAt: noon, LastTriggeredAt: noon,
	}})
	s.stage.Settle()
	one, _, err := s.reader.Alert(t.Context(), us, id)
	if err != nil {
		t.Fatal(err)
	}
	listed, _, err := s.reader.Page(t.Context(), alerts.Query{Organization: us, Page: 1, Size: 10})
	if err != nil {
		t.Fatal(err)
	}
	touching, _, err := s.reader.Touching(t.Context(), alerts.Touched{Organization: us, Instance: theirs, From: noon, To: minute(1)}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for where, found := range map[string][]alerts.Alert{"one": {one}, "a page": listed, "of an instance": touching} {
		if len(found) != 1 {
			t.Fatalf("%s: %d alerts", where, len(found))
		}
		nameless := [2]alerts.NamedPlace{{ID: theirs}, {ID: database}}
		if got := [2]alerts.NamedPlace{*found[0].Instance, *found[0].Database}; got != nameless {
			t.Errorf("%s: %v, want %v", where, got, nameless)
		}
	}
}
