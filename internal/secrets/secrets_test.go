package secrets_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// aKey is a fixed key, so that a change in derivation or format breaks a test
// before it breaks an installation.
func aKey(t *testing.T, digits string) *secrets.Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret.key")
	if err := os.WriteFile(path, []byte(strings.Repeat(digits, 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ring, err := secrets.LoadOrCreate(path)
	if err != nil {
		t.Fatal(err)
	}
	return ring.Current()
}

func TestSealedTextOpensOnlyWithItsKeyAndRow(t *testing.T) {
	t.Parallel()
	key := aKey(t, "a7")
	plaintext, row := []byte("postgres://watch:secret@db/"), []byte("instance 1")
	sealed, err := key.Seal(plaintext, row)
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := key.Open(sealed, row); err != nil || !bytes.Equal(opened, plaintext) {
		t.Fatalf("opened as %q, %v", opened, err)
	}
	if again, _ := key.Seal(plaintext, row); bytes.Equal(again, sealed) {
		t.Error("sealing twice gave the same bytes: the nonce is not random")
	}
	if bytes.Contains(sealed, []byte("secret")) {
		t.Error("the plaintext shows")
	}

	var damaged *secrets.DamagedError
	if _, err := key.Open(sealed, []byte("instance 2")); !errors.As(err, &damaged) {
		t.Errorf("opened for another row: %v", err)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := key.Open(changed, row); err == nil {
			t.Errorf("opened with byte %d changed", i)
		}
		if _, err := key.Open(sealed[:i], row); !errors.As(err, &damaged) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestAnotherKeyIsNamed(t *testing.T) {
	t.Parallel()
	ours, theirs := aKey(t, "01"), aKey(t, "02")
	sealed, err := theirs.Seal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ours.Open(sealed, nil)
	var wrong *secrets.WrongKeyError
	if !errors.As(err, &wrong) {
		t.Fatalf("got %v", err)
	}
	if wrong.Sealed != theirs.Fingerprint() || !slices.Equal(wrong.Have, []string{ours.Fingerprint()}) {
		t.Errorf("named %+v", wrong)
	}
}

// TestDerivationIsForEver holds values that installations have stored.
func TestDerivationIsForEver(t *testing.T) {
	t.Parallel()
	key := aKey(t, "a7")
	if got, want := key.Fingerprint(), wantFingerprint; got != want {
		t.Errorf("fingerprint %s, was %s", got, want)
	}
	public := fmt.Sprintf("%x", key.Signer().Public().(ed25519.PublicKey))
	if public != wantPublic {
		t.Errorf("public key %s, was %s", public, wantPublic)
	}
	opened, err := key.Open(unhex(t, wantSealed), []byte("row"))
	if err != nil || string(opened) != "stored in 2026" {
		t.Errorf("a stored ciphertext opens as %q, %v", opened, err)
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	var b []byte
	if _, err := fmt.Sscanf(text, "%x", &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSignature(t *testing.T) {
	t.Parallel()
	signer := aKey(t, "03").Signer()
	signature := ed25519.Sign(signer, []byte("reports 7 cafe"))
	if !ed25519.Verify(signer.Public().(ed25519.PublicKey), []byte("reports 7 cafe"), signature) {
		t.Error("does not verify")
	}
}

func TestAKeyNeverPrints(t *testing.T) {
	t.Parallel()
	key := aKey(t, "a7")
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("start", "key", key)
	printed := logged.String() + fmt.Sprintf("%v %+v %#v %s %x %d %q", key, key, key, key, key, key, key)
	for _, secret := range []string{"a7a7", "167 167"} {
		if strings.Contains(printed, secret) {
			t.Errorf("%q shows in %s", secret, printed)
		}
	}
	if !strings.Contains(logged.String(), key.Fingerprint()) {
		t.Errorf("the fingerprint does not show in %s", logged.String())
	}
}

func TestProcessesThatStartTogetherShareOneKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "not", "there", "secret.key")
	var all sync.WaitGroup
	prints := make([]string, 16)
	for i := range prints {
		all.Go(func() {
			key, err := secrets.LoadOrCreate(path)
			if err != nil {
				t.Error(err)
				return
			}
			prints[i] = key.Fingerprint()
		})
	}
	all.Wait()
	for _, print := range prints {
		if print != prints[0] {
			t.Fatalf("keys differ: %v", prints)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left over: %v", left)
	}
}

func TestFilesThatAreNotUsed(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("5c", 32)
	for name, test := range map[string]struct {
		content string
		mode    fs.FileMode
		refused bool
	}{
		"private":              {whole, 0o600, false},
		"read-only":            {whole, 0o400, false},
		"handed over by group": {whole, 0o440, false},
		"no line end":          {whole, 0o600, false},
		"readable by all":      {whole, 0o644, true},
		"writable by group":    {whole, 0o620, true},
		"empty":                {"", 0o600, true},
		"cut short":            {whole[:40], 0o600, true},
		"not hexadecimal":      {strings.Repeat("zz", 32), 0o600, true},
		"several keys":         {whole + "\n" + strings.Repeat("5d", 32) + "\n\n", 0o600, false},
		"one of them cut":      {whole + "\n" + whole[:40] + "\n", 0o600, true},
		"without a line end":   {whole + whole, 0o600, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "secret.key")
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, test.mode); err != nil {
				t.Fatal(err)
			}
			_, err := secrets.LoadOrCreate(path)
			var open *secrets.PermissionsError
			var malformed *secrets.MalformedError
			refused := errors.As(err, &open) || errors.As(err, &malformed)
			if refused != test.refused || (err != nil && !refused) {
				t.Errorf("got %v", err)
			}
			if content, _ := os.ReadFile(path); string(content) != test.content {
				t.Error("the file was written over")
			}
		})
	}
}

func TestFirstFingerprintHoldsForAll(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	ctx := context.Background()
	var all sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		all.Go(func() {
			results[i] = secrets.CheckFingerprint(ctx, db, secrets.SecretKey, fmt.Sprintf("print %d", i%2))
		})
	}
	all.Wait()
	var first string
	if err := db.Get(&first, `SELECT fingerprint FROM installation WHERE name = $1`, secrets.SecretKey); err != nil {
		t.Fatal(err)
	}
	for i, err := range results {
		ours := fmt.Sprintf("print %d", i%2)
		var mismatch *secrets.MismatchError
		switch {
		case ours == first && err != nil:
			t.Errorf("%s, the first: %v", ours, err)
		case ours != first && !errors.As(err, &mismatch):
			t.Errorf("%s, not the first: %v", ours, err)
		case ours != first && (mismatch.Database != first || mismatch.Ours != ours || mismatch.Since.IsZero()):
			t.Errorf("named %+v", mismatch)
		}
	}
	if err := secrets.CheckFingerprint(ctx, db, secrets.BlobStore, "another thing"); err != nil {
		t.Errorf("names are not kept apart: %v", err)
	}
}

const (
	wantFingerprint = "9d894b699eeac5e9"
	wantPublic      = "05417fd1a9814ee74ccef1ad0056a9159010291a09aa5ca04a3cb1ee82e7c2a3"
	wantSealed      = "019d894b699eeac5e9cfce2f8cab15e1fa7c6c829dbe8ceb02682b5ba20f87aad5a10a865d7737399226c4d82c1b4bd9f5f03e"
)

// TestAMissingKeyIsNotReplaced: a database that knows a key requires it, and if it is
// missing, none is created.
func TestAMissingKeyIsNotReplaced(t *testing.T) {
	t.Parallel()
	db, dir := pgtest.DB(t), t.TempDir()
	path, absent := filepath.Join(dir, "secret.key"), filepath.Join(dir, "none", "secret.key")
	if err := secrets.RequireKeys(t.Context(), db, absent); err != nil {
		t.Errorf("a database that knows none wants one: %v", err)
	}
	ring, err := secrets.LoadOrCreate(path)
	if err == nil {
		err = secrets.CheckKeys(t.Context(), db, ring)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := secrets.RequireKeys(t.Context(), db, path); err != nil {
		t.Errorf("its own key: %v", err)
	}
	var missing *secrets.MissingError
	err = secrets.RequireKeys(t.Context(), db, absent)
	if !errors.As(err, &missing) || missing.Path != absent || missing.Database != ring.Fingerprint() || missing.Since.IsZero() ||
		!strings.Contains(err.Error(), "--secret-key-file") {
		t.Errorf("no key: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(absent)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made there: %v", err)
	}
	other := filepath.Join(dir, "other.key")
	if _, err := secrets.LoadOrCreate(other); err != nil {
		t.Fatal(err)
	}
	var mismatch *secrets.MismatchError
	if err := secrets.RequireKeys(t.Context(), db, other); !errors.As(err, &mismatch) || mismatch.Database != ring.Fingerprint() || !strings.Contains(err.Error(), "--secret-key-file") {
		t.Errorf("another key: %v", err)
	}
	if err := secrets.RequireKeys(t.Context(), db, dir); err == nil {
		t.Error("a directory is a key")
	}
}
