package secrets_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

// vault is an installation with a key file and rows that are sealed under it.
type vault struct {
	*testing.T
	db   *sqlx.DB
	path string
}

func newVault(t *testing.T) vault {
	t.Helper()
	v := vault{T: t, db: pgtest.DB(t), path: filepath.Join(t.TempDir(), "secret.key")}
	v.db.MustExec(`CREATE TABLE sealed_rows (id int PRIMARY KEY, sealed bytea NOT NULL)`)
	v.check()
	return v
}

// check is what every process does at its start.
func (v vault) check() *secrets.Ring {
	v.Helper()
	ring, err := secrets.LoadOrCreate(v.path)
	if err == nil {
		err = secrets.CheckKeys(v.Context(), v.db, ring)
	}
	if err != nil {
		v.Fatal(err)
	}
	return ring
}

func (v vault) seal(ring *secrets.Ring, id int) {
	v.Helper()
	sealed, err := ring.Seal([]byte("secret"), []byte("row"))
	if err != nil {
		v.Fatal(err)
	}
	v.db.MustExec(`INSERT INTO sealed_rows VALUES ($1, $2)`, id, sealed)
}

// opens opens every row.
func (v vault) opens(ring *secrets.Ring) {
	v.Helper()
	var rows [][]byte
	if err := v.db.Select(&rows, `SELECT sealed FROM sealed_rows`); err != nil {
		v.Fatal(err)
	}
	for _, sealed := range rows {
		if opened, err := ring.Open(sealed, []byte("row")); err != nil || string(opened) != "secret" {
			v.Errorf("a row opens as %q, %v", opened, err)
		}
	}
}

// reseal is what the owner of sealed rows does.
func (v vault) reseal(ctx context.Context, tx *sqlx.Tx) (int, error) {
	ring, err := secrets.Load(v.path)
	if err != nil {
		return 0, err
	}
	var rows []struct {
		ID     int
		Sealed []byte
	}
	if err := tx.SelectContext(ctx, &rows, `SELECT id, sealed FROM sealed_rows FOR UPDATE`); err != nil {
		return 0, err
	}
	for _, row := range rows {
		opened, err := ring.Open(row.Sealed, []byte("row"))
		if err != nil {
			return 0, err
		}
		if row.Sealed, err = ring.Seal(opened, []byte("row")); err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE sealed_rows SET sealed = $2 WHERE id = $1`, row.ID, row.Sealed); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

func (v vault) rotate() (secrets.Rotation, error) {
	return secrets.Rotate(v.Context(), v.db, v.path, v.reseal, v.rotated)
}

// rotated and retired are where a program would keep what was done.
func (vault) rotated(secrets.Rotation) error { return nil }
func (vault) retired([]string) error         { return nil }

func (v vault) mustRotate() secrets.Rotation {
	v.Helper()
	done, err := v.rotate()
	if err != nil {
		v.Fatal(err)
	}
	return done
}

func (v vault) content() string {
	v.Helper()
	content, err := os.ReadFile(v.path)
	if err != nil {
		v.Fatal(err)
	}
	return string(content)
}

// copied is the key file as another machine has it.
func (v vault) copied() *secrets.Ring {
	v.Helper()
	path := filepath.Join(v.TempDir(), "copy.key")
	if err := os.WriteFile(path, []byte(v.content()), 0o600); err != nil {
		v.Fatal(err)
	}
	ring, err := secrets.Load(path)
	if err != nil {
		v.Fatal(err)
	}
	return ring
}

func TestRunningProcessesGoOnThroughARotation(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	running, first := v.check(), v.check().Fingerprint()
	v.seal(running, 1)
	if err := os.Chmod(v.path, 0o440); err != nil {
		t.Fatal(err)
	}

	done := v.mustRotate()
	if done.Previous != first || done.Current == first || done.Resealed != 1 || done.Finished {
		t.Errorf("the rotation says %+v", done)
	}
	v.opens(running)
	if running.Fingerprint() != done.Current || !strings.Contains(running.String(), first) {
		t.Errorf("the running process has %s", running)
	}
	v.seal(running, 2)
	var sealed []byte
	if err := v.db.Get(&sealed, `SELECT sealed FROM sealed_rows WHERE id = 2`); err != nil || running.SealedUnder(sealed) != done.Current {
		t.Errorf("it seals under %s, %v", running.SealedUnder(sealed), err)
	}
	if info, err := os.Stat(v.path); err != nil || info.Mode().Perm() != 0o440 {
		t.Errorf("the file's permissions became %v, %v", info.Mode(), err)
	}
	v.opens(v.check())
}

func TestAnOutdatedCopyOfTheKeyIsNamed(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.seal(v.check(), 1)
	elsewhere := v.copied()
	done := v.mustRotate()

	var sealed []byte
	if err := v.db.Get(&sealed, `SELECT sealed FROM sealed_rows`); err != nil {
		t.Fatal(err)
	}
	var wrong *secrets.WrongKeyError
	if _, err := elsewhere.Open(sealed, []byte("row")); !errors.As(err, &wrong) || wrong.Sealed != done.Current || wrong.Path != elsewhere.Path() {
		t.Errorf("opening says %v", err)
	}
	var rotated *secrets.RotatedError
	if err := secrets.CheckKeys(t.Context(), v.db, elsewhere); !errors.As(err, &rotated) || rotated.Current != done.Current || rotated.Replaced.IsZero() {
		t.Errorf("the start says %v", err)
	}
	stranger, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "new.key"))
	if err != nil {
		t.Fatal(err)
	}
	var mismatch *secrets.MismatchError
	if err := secrets.CheckKeys(t.Context(), v.db, stranger); !errors.As(err, &mismatch) || mismatch.Database != done.Current {
		t.Errorf("a key that never was current: %v", err)
	}
}

// TestARotationThatWasCutOff replaced the file and did not commit.
func TestARotationThatWasCutOff(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	running, first := v.check(), v.check().Fingerprint()
	v.seal(running, 1)
	broken := errors.New("the process dies here")
	_, err := secrets.Rotate(t.Context(), v.db, v.path, func(context.Context, *sqlx.Tx) (int, error) { return 0, broken }, v.rotated)
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	after := v.content()
	if strings.Count(after, "\n") != 2 {
		t.Fatalf("the file has %d lines", strings.Count(after, "\n"))
	}
	v.seal(running, 2) // under the new key already
	v.opens(v.check())
	var unfinished *secrets.UnfinishedError
	if _, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired); !errors.As(err, &unfinished) {
		t.Errorf("retiring says %v", err)
	}
	if v.content() != after {
		t.Error("a refused retirement changed the file")
	}

	done := v.mustRotate()
	if !done.Finished || done.Previous != first || done.Current != running.Fingerprint() || v.content() != after {
		t.Errorf("it did not finish what was begun: %+v", done)
	}
	v.opens(v.check())
}

func TestTwoRotationsAtOnceLoseNoKey(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.seal(v.check(), 1)
	const rotations = 4
	var all sync.WaitGroup
	results := make([]error, rotations)
	for i := range results {
		all.Go(func() { _, results[i] = v.rotate() })
	}
	all.Wait()
	for _, err := range results {
		if err != nil {
			t.Error(err)
		}
	}
	ring := v.check()
	known, err := secrets.History(t.Context(), v.db)
	if err != nil || len(known) != 1+rotations || len(ring.Keys()) != 1+rotations {
		t.Fatalf("%d keys are known, %d in the file, %v", len(known), len(ring.Keys()), err)
	}
	for _, k := range known {
		if !strings.Contains(ring.String(), k.Fingerprint) {
			t.Errorf("key %s is lost", k.Fingerprint)
		}
		if k.Current != (k.Fingerprint == ring.Fingerprint()) {
			t.Errorf("key %s is current: %t", k.Fingerprint, k.Current)
		}
	}
	v.opens(ring)
}

func TestRetiredKeysGoAndTheirSignaturesStay(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	running, elsewhere := v.check(), v.copied()
	signature := ed25519.Sign(running.Signer(), []byte("head"))
	first := running.Fingerprint()
	v.mustRotate()
	v.seal(elsewhere, 1) // by a machine with an old copy, after the rotation

	retired, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired)
	if err != nil || !slices.Equal(retired, []string{first}) {
		t.Fatalf("retired %v, %v", retired, err)
	}
	if strings.Count(v.content(), "\n") != 1 || strings.Contains(running.String(), first) {
		t.Error("the old key is still there")
	}
	v.opens(running)
	known, err := secrets.History(t.Context(), v.db)
	if err != nil || len(known) != 2 || known[0].Fingerprint != first || known[0].RetiredAt == nil || known[1].RetiredAt != nil {
		t.Fatalf("the history is %+v, %v", known, err)
	}
	if !ed25519.Verify(known[0].PublicKey, []byte("head"), signature) {
		t.Error("what the retired key signed cannot be checked any more")
	}
	if again, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired); err != nil || len(again) > 0 {
		t.Errorf("a second time: %v, %v", again, err)
	}
}

func TestAnOldKeyInFrontIsRefused(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.mustRotate()
	lines := strings.Fields(v.content())
	slices.Reverse(lines)
	if err := os.WriteFile(v.path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	ring, err := secrets.Load(v.path)
	if err != nil {
		t.Fatal(err)
	}
	var order *secrets.OrderError
	if err := secrets.CheckKeys(t.Context(), v.db, ring); !errors.As(err, &order) {
		t.Errorf("the start says %v", err)
	}
	if _, err := v.rotate(); !errors.As(err, &order) {
		t.Errorf("the rotation says %v", err)
	}
}

// TestAFileThatCannotBeUsedLeavesTheRing: a person edits the file of a running process.
func TestAFileThatCannotBeUsedLeavesTheRing(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	running := v.check()
	v.seal(running, 1)
	whole := v.content()
	for _, content := range []string{"", whole[:20], "hello"} {
		if err := os.WriteFile(v.path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		v.opens(running)
		if _, err := v.rotate(); err == nil {
			t.Errorf("the keys of a file that holds %q were rotated", content)
		}
	}
	if err := os.Remove(v.path); err != nil {
		t.Fatal(err)
	}
	v.opens(running)
}

func TestALinkToTheKeyFileStaysALink(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	link := filepath.Join(t.TempDir(), "link.key")
	if err := os.Symlink(v.path, link); err != nil {
		t.Fatal(err)
	}
	before := v.content()
	if _, err := secrets.Rotate(t.Context(), v.db, link, v.reseal, v.rotated); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if after := v.content(); !bytes.HasSuffix([]byte(after), []byte(before)) || after == before {
		t.Error("the file behind the link was not rotated")
	}
}
