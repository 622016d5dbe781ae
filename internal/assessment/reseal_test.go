package assessment_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

// TestConnectionsAreSealedAgain and none is lost to a process elsewhere that
// still has the old key file.
func TestConnectionsAreSealedAgain(t *testing.T) {
	t.Parallel()
	ctx, db := context.Background(), pgtest.DB(t)
	path := filepath.Join(t.TempDir(), "secret.key")
	ring := must[*secrets.Ring](t)(secrets.LoadOrCreate(path))
	if err := secrets.CheckKeys(ctx, db, ring); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "old.key")
	if err := os.WriteFile(copied, must[[]byte](t)(os.ReadFile(path)), 0o600); err != nil {
		t.Fatal(err)
	}
	here := assessment.NewStore(db, ring)
	elsewhere := assessment.NewStore(db, must[*secrets.Ring](t)(secrets.Load(copied)))
	first := ring.Fingerprint()
	org, one := register(t, here, db)

	done := must[secrets.Rotation](t)(secrets.Rotate(ctx, db, path, here.Reseal, func(secrets.Rotation) error { return nil }))
	if done.Resealed != 1 {
		t.Errorf("%d connections were sealed again", done.Resealed)
	}
	register(t, elsewhere, db) // under the old key, which can be opened here
	if count := must[map[string]int](t)(here.Sealed(ctx, db)); count[first] != 1 || count[done.Current] != 1 {
		t.Errorf("sealed are %v", count)
	}
	var wrong *secrets.WrongKeyError
	if _, _, err := elsewhere.Credentials(ctx, org, one); !errors.As(err, &wrong) {
		t.Errorf("the old copy opens what was sealed again: %v", err)
	}

	if _, err := secrets.Retire(ctx, db, path, here.Reseal, func([]string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if count := must[map[string]int](t)(here.Sealed(ctx, db)); len(count) != 1 || count[done.Current] != 2 {
		t.Errorf("after the retirement sealed are %v", count)
	}
	var retired *assessment.RetiredKeyError
	err := elsewhere.SaveCredentials(ctx, db, assessment.Credentials{
		Organization: org, Instance: uuid.New(), Engine: fleet.PostgreSQL, DSN: dsn,
	})
	if !errors.As(err, &retired) || retired.Fingerprint != first {
		t.Errorf("what is sealed under a retired key is saved: %v", err)
	}
	if c, ok, err := here.Credentials(ctx, org, one); err != nil || !ok || c.DSN != dsn {
		t.Errorf("the connection opens as %+v, %v", c, err)
	}
}

// TestADamagedConnectionStopsTheRotation before anything was sealed again.
func TestADamagedConnectionStopsTheRotation(t *testing.T) {
	t.Parallel()
	store, db := storeOf(t)
	ctx := context.Background()
	register(t, store, db)
	_, broken := register(t, store, db)
	db.MustExec(`UPDATE assessment_targets SET sealed_dsn = set_byte(sealed_dsn, 30, get_byte(sealed_dsn, 30) # 1) WHERE instance_id = $1`, broken)
	tx := db.MustBegin()
	defer func() { _ = tx.Rollback() }()
	var damaged *secrets.DamagedError
	if _, err := store.Reseal(ctx, tx); !errors.As(err, &damaged) {
		t.Errorf("it says %v", err)
	}
}
