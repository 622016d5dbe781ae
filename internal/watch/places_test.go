package watch_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/watch"
)

func TestRemovedServersAlertsAreClosed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.hear(s.orders)
	s.after(6 * time.Minute)
	s.sample(watch.Volume, "/data", 93)
	s.judge()
	raised := []string{"raised silent/orders critical 5m0s", "raised volume/orders/data warning 6m0s"}
	s.wantStory(raised...)
	s.remove(s.orders)
	s.after(time.Minute)
	closed := slices.Concat(raised, []string{"auto_resolved silent/orders 7m0s", "auto_resolved volume/orders/data 7m0s"})
	s.wantStory(closed...)
	// An agent that goes on for a while changes nothing, and the server registered
	// again is another one: not heard from yet.
	s.hear(s.orders)
	s.sample(watch.Volume, "/data", 93)
	again := s.register(s.org, "again")
	s.after(time.Hour)
	s.wantStory(closed...)
	s.hear(again)
	s.after(5 * time.Minute)
	s.wantStory(append(closed, "raised silent/again critical 1h12m0s")...)
}

func TestServerIsSwitchedOff(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.active(s.billing, false)
	s.hear(s.billing)
	s.record(watch.Sign{OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.billing, Mount: "/data", Value: 99, At: noon})
	s.sample(watch.Volume, "/data", 93)
	s.after(10 * time.Second)
	raised := "raised volume/orders/data warning 0s"
	s.wantStory(raised)
	s.active(s.orders, false)
	s.after(10 * time.Second)
	off := []string{raised, "auto_resolved volume/orders/data 20s"}
	s.wantStory(off...)
	// Switched on again: neither the old figure, sent twice, nor the silence
	// meanwhile is news; the first figure from now on is.
	s.after(time.Hour)
	s.active(s.orders, true)
	s.active(s.billing, true)
	s.record(watch.Sign{OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.orders, Mount: "/data", Value: 93, At: noon})
	s.after(10 * time.Second)
	s.wantStory(off...)
	s.sample(watch.Volume, "/data", 93)
	s.after(10 * time.Second)
	s.wantStory(append(off, "raised volume/orders/data warning 1h0m30s")...)
}

// TestOffAndOnWithinAMinute: the figure that was judged before comes again. It does not count
// as a new one, whose alert could not be told from the closed one.
func TestOffAndOnWithinAMinute(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.sample(watch.Volume, "/data", 93)
	s.after(10 * time.Second)
	s.active(s.orders, false)
	s.after(10 * time.Second)
	s.active(s.orders, true)
	s.record(watch.Sign{OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.orders, Mount: "/data", Value: 93, At: noon})
	s.after(10 * time.Second)
	off := []string{"raised volume/orders/data warning 0s", "auto_resolved volume/orders/data 20s"}
	s.wantStory(off...)
	s.sample(watch.Volume, "/data", 93)
	s.judge()
	s.wantStory(append(off, "raised volume/orders/data warning 30s")...)
}

func TestUnknownServerRaisesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.orders = uuid.New()
	s.sample(watch.Volume, "/data", 99)
	s.judge()
	s.sample(watch.Volume, "/data", 99)
	s.after(time.Minute)
	s.wantStory()
}

// TestForeignServerRaisesNothing: a sign of another organization's server.
func TestForeignServerRaisesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	other, _, _, err := s.commands.CreateOrganization(t.Context(), "Other", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.record(watch.Sign{OrganizationID: other.ID, Rule: watch.Volume, InstanceID: s.orders, Mount: "/data", Value: 99, At: noon})
	s.judge()
	s.wantStory()
}

// behind is a read model that does not get to the head of the log.
type behind struct{}

func (behind) Wait(context.Context, eventstore.Log, int64, ...string) bool { return false }

// TestALaggingReadModelRemovesNoServer: a new version of Muster fills its tables
// while its watch judges already.
func TestALaggingReadModelRemovesNoServer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.sample(watch.Volume, "/data", 93)
	s.judge()
	raised := "raised volume/orders/data warning 0s"
	s.wantStory(raised)
	s.exec(`DELETE FROM fleet_v3.instances`)
	s.watch = s.another(behind{})
	s.clock.Advance(time.Minute)
	s.sample(watch.Volume, "/data", 93)
	s.sample(watch.Volume, "/wal", 93)
	s.judge()
	s.wantStory(raised)
	s.watch = s.another(s.stage)
	s.judge()
	s.wantStory(raised, "auto_resolved volume/orders/data 1m0s")
}
