package fleet_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections/fleet"
)

// TestAsOf: every count of every day is what the list showed on that day.
func TestAsOf(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	us, them := uuid.New(), uuid.New()
	orders, billing, foreign := uuid.New(), uuid.New(), uuid.New()
	sales, stock, ledger := uuid.New(), uuid.New(), uuid.New()
	database := func(on uuid.UUID, name string) domain.DatabaseRegistered {
		return domain.DatabaseRegistered{InstanceID: on, ExternalID: name, Name: name, CreatedAt: created}
	}
	type counts struct{ instances, databases int64 }
	days := []struct {
		organization, stream uuid.UUID
		fact                 domain.Event
		then                 counts
	}{
		{us, orders, instance("orders", domain.PostgreSQL), counts{1, 0}},
		{us, sales, database(orders, "sales"), counts{1, 1}},
		{them, foreign, instance("foreign", domain.MySQL), counts{1, 1}},
		{us, stock, database(orders, "stock"), counts{1, 2}},
		{us, billing, instance("billing", domain.Oracle), counts{2, 2}},
		{us, orders, domain.InstanceDeactivated{}, counts{2, 2}}, // counted, not assessed
		{us, ledger, database(billing, "ledger"), counts{2, 3}},
		{us, sales, domain.DatabaseRemoved{InstanceID: orders}, counts{2, 2}},
		{us, sales, domain.DatabaseChanged{Name: "late", CreatedAt: created}, counts{2, 2}},
		{us, orders, domain.InstanceRemoved{}, counts{1, 1}}, // and its database with it
	}
	pgtest.Unguard(t, s.db)
	first := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i, day := range days {
		s.happens(day.organization, day.stream, day.fact)
		s.db.MustExec(`UPDATE events SET recorded_at = $1 WHERE log = 'fleet' AND position = $2`, first.AddDate(0, 0, i), i+1)
	}
	at := func(organization uuid.UUID, when time.Time) (c counts) {
		t.Helper()
		var err error
		c.instances, c.databases, err = fleet.AsOf(t.Context(), eventstore.New(s.db), s.registry.Decode, organization, when)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if got := at(us, first); got != (counts{}) {
		t.Errorf("before the first event %+v", got)
	}
	for i, day := range days {
		if got := at(us, first.AddDate(0, 0, i).Add(time.Microsecond)); got != day.then {
			t.Errorf("after event %d %+v, want %+v", i+1, got, day.then)
		}
	}
	if got := at(them, first.AddDate(1, 0, 0)); got != (counts{instances: 1}) {
		t.Errorf("the other organization has %+v", got)
	}
}
