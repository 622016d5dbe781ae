package commands_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/postgres/statement"
)

// TestTurningSessionDetailOff deletes the names of users, applications and clients in the
// transaction of the change, also those that a sender is about to store because it saw the earlier
// setting. Afterwards nothing stores any; the names of waits stay.
func TestTurningSessionDetailOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	newStore := func() *pgstore.Store {
		store := pgstore.New(h.db, slog.New(slog.DiscardHandler))
		store.KeepsPeople, store.HoldsPeople = h.Accounts.KeepsPeople, h.Accounts.HoldsPeople
		return store
	}
	store := newStore()
	h.Texts = store
	turn := func(to string) error {
		_, _, err := h.ChangeOrganization(context.WithoutCancel(t.Context()), h.actor, commands.ChangeOrganization{ChangeSettings: organization.ChangeSettings{SessionDetail: &to}})
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	send := func(s *pgstore.Store, user string) error {
		_, err := s.Write(context.WithoutCancel(t.Context()), measurements.Batch{Organization: h.org.ID, Sessions: []measurements.SessionSample{{
			Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.New(), At: start, Waits: map[string]int64{"Lock": 1},
			Doing: []measurements.Doing{{State: measurements.Waits, Wait: "Lock", Event: "relation", User: user, Application: "app", Client: "10.1.1.1", Sessions: 1}},
		}}})
		return err
	}
	hashes := func() (all []uint64) { // of users, applications and clients
		t.Helper()
		found, err := statement.All[int64](t.Context(), h.db, "list hashes", `SELECT hash FROM measured_names WHERE dimension <> 'waitEvent'`)
		must(err)
		for _, hash := range found {
			all = append(all, uint64(hash))
		}
		return all
	}
	kept := func(want ...string) {
		t.Helper()
		names, err := statement.All[string](t.Context(), h.db, "list names", `SELECT name FROM measured_names ORDER BY name`)
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%v are kept, want %v; %v", names, want, err)
		}
	}
	must(send(store, "bill"))
	kept("10.1.1.1", "app", "bill", "relation")
	before := hashes()
	users := func() []string { // whom the sample from before shows
		t.Helper()
		names, err := store.Names(t.Context(), h.org.ID, measurements.DimUser, before)
		must(err)
		return slices.Sorted(maps.Values(names))
	}
	if got := users(); !slices.Equal(got, []string{"bill"}) {
		t.Errorf("the first sample is of %v", got)
	}

	slow := newStore()
	h.turnsOff(t, &slow.HoldsPeople, h.Accounts.HoldsPeople, func() error { return send(slow, "late") }, func() error { return turn(organization.DetailOff) })
	kept("relation")
	must(send(store, "after"))
	must(send(newStore(), "elsewhere"))
	kept("relation")
	other := newStore() // it was told before the change that people are kept
	other.KeepsPeople = func(context.Context, uuid.UUID) (bool, error) { return true, nil }
	must(send(other, "stale"))
	kept("relation")
	must(turn(organization.DetailOn))
	must(send(newStore(), "bill")) // who comes back
	kept("10.1.1.1", "app", "bill", "relation")
	if got := users(); len(got) > 0 {
		t.Errorf("the sample from before is of %v again", got)
	}
	kept("10.1.1.1", "app", "bill", "relation")
	slow.HoldsPeople = h.Accounts.HoldsPeople
	must(send(slow, "eve")) // which has the key from before for half a minute, or until it would write a name
	kept("10.1.1.1", "app", "bill", "relation")
	must(send(slow, "eve"))
	kept("10.1.1.1", "app", "bill", "eve", "relation")
}
