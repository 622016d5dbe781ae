package evidence_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"muster/eventstore"
	"muster/internal/proof/prooftest"
	"muster/internal/report/control/evidence"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestNoKeySignsBeforeItWasMade: each verifier would call that evidence broken.
func TestNoKeySignsBeforeItWasMade(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	maker := &evidence.Maker{Signing: prooftest.New(t, db, eventstore.New(db)).Signing}
	if _, err := evidence.Signer(maker, t.Context(), time.Now()); err != nil {
		t.Error(err)
	}
	var early *evidence.ClockError
	if _, err := evidence.Signer(maker, t.Context(), time.Now().AddDate(0, 0, -2)); !errors.As(err, &early) {
		t.Errorf("two days before the key was made it signs: %v", err)
	}
}
