package watch_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/testing/pgtest"
	"muster/internal/watch"
	"muster/projections/alerts"
	"muster/projections/projectionstest"
)

// TestAlertsOfRemovedServersAreClosed, whoever raised them, with words that say why. Those of a
// server that is switched off stay. What still fires afterwards is an alert of the organization.
func TestAlertsOfRemovedServersAreClosed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	reader := alerts.NewReader(s.db, s.commands.Events, usecase.Registry().Decode)
	listed := projectionstest.Run(t, pgtest.DB(t), pgtest.URL(t), alerts.Projection(usecase.Registry().Decode))
	fire := func(key string, instance uuid.UUID) {
		t.Helper()
		_, mark, err := s.commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: s.org, Component: "ingest"}, []alert.Firing{{
			Key: key, Title: "CPU", Severity: alert.Warning, InstanceID: instance, StartsAt: noon, SeenAt: s.clock.Now(),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if mark.Position > 0 {
			listed.Follow(mark.Log, mark.Position)
		}
	}
	sweep := func() {
		t.Helper()
		if err := s.watch.CloseVanished(t.Context(), reader); err != nil {
			t.Fatal(err)
		}
	}
	fire("alertmanager/1", s.orders)
	s.sample(watch.Volume, "/data", 93)
	s.judge()
	fire("alertmanager/2", s.billing)
	raised := []string{"raised alertmanager/1 warning 0s", "raised volume/orders/data warning 0s", "raised alertmanager/2 warning 0s"}
	s.clock.Advance(time.Minute)
	sweep()
	s.wantStory(raised...)
	s.active(s.billing, false)
	s.remove(s.orders)
	behindIt := s.another(behind{})
	if err := behindIt.CloseVanished(t.Context(), reader); err != nil { // its read model may lack the server that is there
		t.Fatal(err)
	}
	s.wantStory(raised...)
	sweep()
	sweep()
	closed := slices.Concat(raised, []string{"auto_resolved alertmanager/1 1m0s", "noted alertmanager/1"})
	s.wantStory(closed...)
	timeline, err := reader.Timeline(t.Context(), s.org, s.events()[0].Stream)
	if err != nil || len(timeline) != 2 || timeline[1].Event != "resolved" || timeline[1].Note != alerting.ServerRemoved {
		t.Errorf("its timeline is %+v, %v", timeline, err)
	}
	s.judge()
	closed = append(closed, "auto_resolved volume/orders/data 1m0s")
	s.wantStory(closed...)
	s.clock.Advance(time.Minute)
	fire("alertmanager/1", uuid.Nil)
	s.wantStory(append(closed, "raised alertmanager/1 warning 1m0s")...)
	if last := s.events()[len(s.events())-1]; last.Instance != uuid.Nil {
		t.Errorf("it is about %s", last.Instance)
	}
}
