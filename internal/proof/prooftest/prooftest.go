package prooftest

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/proof"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
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

// Marked is a Ready with the mark that a build puts on it, for the transaction that appends it.
func Marked(ctx context.Context, m *proof.Maker, tx *sqlx.Tx, organization, id uuid.UUID, ready report.Ready) (report.Ready, error) {
	var queued report.Queued
	for e, err := range m.Prover.Events.Load(ctx, tx, organization, id) {
		if err == nil && e.Type == "report.queued" {
			err = json.Unmarshal(e.Data, &queued)
		}
		if err != nil {
			return ready, err
		}
	}
	return m.Mark(ctx, tx, organization, id, queued, ready)
}
