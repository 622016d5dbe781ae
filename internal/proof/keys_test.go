package proof_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/internal/proof"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
)

// TestKeysChangeWhileAReportIsMade: rotated, retired and revoked between Ready and its
// signature, the proof holds by the document of keys of then.
func TestKeysChangeWhileAReportIsMade(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	file := filepath.Join(t.TempDir(), "secret.key")
	ring, err := secrets.LoadOrCreate(file)
	must(t, err)
	must(t, secrets.CheckKeys(t.Context(), s.db, ring))
	signs, err := signing.Open(t.Context(), s.db, ring, nil)
	must(t, err)
	must(t, signs.Publish(t.Context()))
	first := ring.Fingerprint()
	s.maker.Signing, s.maker.Checkpoints = signs, checkpoint.New(s.db, signs)
	s.maker.Checkpoints.Proofs = proof.Signed(s.db)
	none := func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }
	rotate := func() {
		t.Helper()
		_, err := secrets.Rotate(t.Context(), s.db, file, none, func(secrets.Rotation) error { return nil })
		must(t, err)
	}
	retire := func() {
		t.Helper()
		_, err := secrets.Retire(t.Context(), s.db, file, func(ctx context.Context, tx *sqlx.Tx) (int, error) { return 0, signs.Retire(ctx, tx) }, func([]string) error { return nil })
		must(t, err)
	}
	holds := func(what string, id uuid.UUID, content string) {
		t.Helper()
		p, err := s.maker.Make(t.Context(), s.org, id)
		must(t, err)
		keys, err := signs.Keys(t.Context())
		must(t, err)
		if verdict, steps := attest.Check(sha256.Sum256([]byte(content)), p, attest.Trust{Keys: keys, Now: time.Now()}); verdict != attest.Holds {
			t.Errorf("%s it %s: %+v", what, verdict, steps)
		}
	}

	rotated, _ := s.ready(report.Security, "rotated")
	rotate()
	holds("rotated meanwhile,", rotated, "rotated")
	during, _ := s.ready(report.Security, "during")
	holds("with two keys,", during, "during")

	gone, _ := s.ready(report.Security, "gone")
	must(t, signs.Publish(t.Context()))
	rotate()
	must(t, signs.Publish(t.Context()))
	retire()
	_, err = signs.Revoke(t.Context(), signing.Revocation{ID: first, Since: time.Now().Add(-time.Hour)}, func([]attest.Key) error { return nil })
	must(t, err)
	holds("rotated, retired and revoked meanwhile,", gone, "gone")
}

// TestAProcessWithAnOldKeyFile cannot judge a mark under the key that came since: that is no fault
// of the report, and another process signs it.
func TestAProcessWithAnOldKeyFile(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	dir := t.TempDir()
	file, before := filepath.Join(dir, "secret.key"), filepath.Join(dir, "before.key")
	open := func(path string) *signing.Signing {
		t.Helper()
		ring, err := secrets.LoadOrCreate(path)
		must(t, err)
		signs, err := signing.Open(t.Context(), s.db, ring, nil)
		must(t, err)
		return signs
	}
	first := open(file)
	must(t, secrets.CheckKeys(t.Context(), s.db, first.Ring()))
	must(t, first.Publish(t.Context()))
	key, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(before, key, 0o600))
	old := open(before)
	_, err = secrets.Rotate(t.Context(), s.db, file, func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }, func(secrets.Rotation) error { return nil })
	must(t, err)
	s.maker.Signing = open(file)
	must(t, s.maker.Signing.Publish(t.Context()))
	id, _ := s.ready(report.Security, "of after")
	if _, err := s.maker.Vouch(t.Context(), s.org, id); err != nil {
		t.Fatal(err)
	}
	s.maker.Signing = old
	var rotated *secrets.RotatedError
	var fault *proof.FaultError
	if _, err := s.maker.Vouch(t.Context(), s.org, id); !errors.As(err, &rotated) || errors.As(err, &fault) {
		t.Errorf("with the key file of before: %v", err)
	}
}

// TestNoTimeStampAfterADay: it would contradict the report's own time.
func TestNoTimeStampAfterADay(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, content := range []string{"old", "new"} {
		id, _ := s.ready(report.Security, content)
		_, err := s.maker.Make(t.Context(), s.org, id)
		must(t, err)
		if content == "old" {
			s.db.MustExec(`UPDATE report_proofs SET made_at = made_at - interval '1 day' WHERE report_id = $1`, id)
		}
	}
	s.maker.Stamp = func(context.Context, []byte) ([]byte, error) { return []byte("token"), nil }
	if stamped, err := s.maker.StampAll(t.Context()); err != nil || stamped != 1 {
		t.Errorf("%d are time-stamped, want the new one: %v", stamped, err)
	}
}
