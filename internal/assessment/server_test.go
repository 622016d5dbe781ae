package assessment_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// C10. Registering a server that an instance already has is refused, and so is the second of
// two at once. Two that became one server only later are both known to be.
func TestAServerBelongsToOneInstance(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	store := assessment.NewStore(db, nil)
	ours, theirs := uuid.New(), uuid.New()
	is := servers.Identity{Engine: fleet.PostgreSQL, System: "7", Process: "1000", Role: servers.RolePrimary}
	register := func(organization, instance uuid.UUID, is servers.Identity, separate bool) error {
		t.Helper()
		tx := db.MustBegin()
		defer func() { _ = tx.Rollback() }()
		err := store.RegisterServer(t.Context(), tx, organization, instance, is, separate)
		if err == nil {
			err = tx.Commit()
		}
		return err
	}
	taken := func(err error, by uuid.UUID) {
		t.Helper()
		var known *assessment.KnownServerError
		if !errors.As(err, &known) || known.Instance != by {
			t.Errorf("got %v, want that %s has it", err, by)
		}
	}
	fits := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	one, two, three := uuid.New(), uuid.New(), uuid.New()
	fits(register(ours, one, is, false))
	taken(register(ours, two, is, false), one)
	fits(register(theirs, two, is, false))
	fits(register(ours, two, is, true))
	fits(register(ours, two, is, false)) // another password
	fits(register(ours, three, servers.Identity{}, false))
	if all, err := store.Servers(t.Context(), ours, []uuid.UUID{three}); err != nil || len(all) != 1 || all[three].Process != "" {
		t.Errorf("of a server that was not reached is known %v, %v", all, err)
	}
	if moved, err := store.SawServer(t.Context(), ours, three, is); err != nil || moved {
		t.Errorf("it is reached for the first time: moved %t, %v", moved, err)
	}
	all, err := store.Servers(t.Context(), ours, []uuid.UUID{three})
	if err != nil || len(all) != 3 || !all[three].Same(all[one].Identity) || !all[two].Separate || all[one].Separate {
		t.Errorf("near it are %v, %v", all, err)
	}
	away := is
	away.System = "8"
	if moved, err := store.SawServer(t.Context(), ours, three, away); err != nil || !moved {
		t.Errorf("another server answers: moved %t, %v", moved, err)
	}
	if moved, err := store.SawServer(t.Context(), ours, three, is); err != nil || moved { // told once an hour
		t.Errorf("and the first one again: moved %t, %v", moved, err)
	}

	turns := make(chan error)
	other := servers.Identity{Engine: fleet.PostgreSQL, System: "9", Process: "9"}
	for range 2 {
		go func() { turns <- register(ours, uuid.New(), other, false) }()
	}
	refused := 0
	for range 2 {
		if err := <-turns; err != nil {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d of two at once were refused", refused)
	}
}
