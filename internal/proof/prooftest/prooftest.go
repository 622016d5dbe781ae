package prooftest

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/checkpoint"
	"muster/internal/proof"
	"muster/internal/secrets"
	"muster/internal/signing"
	"muster/projections/history"
)

// New returns a maker of proofs on a database, with a secret key of its own.
func New(t testing.TB, db *sqlx.DB, events *eventstore.Store) *proof.Maker {
	t.Helper()
	ring, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	signs, err := signing.Open(t.Context(), db, ring, nil)
	if err == nil {
		err = signs.Publish(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	signed := checkpoint.New(db, signs)
	signed.Proofs = proof.Signed(db)
	return &proof.Maker{
		DB: db, Prover: &proof.Prover{Events: events, Reports: history.NewReader(db)},
		Checkpoints: signed, Signing: signs, Log: slog.New(slog.DiscardHandler),
	}
}
