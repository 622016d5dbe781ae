package proof

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/attest"
	"muster/internal/secrets"
)

// Mark is the program's own mark on a Ready, made in the transaction that appends it: a
// rotation of the key waits for that.
func (m *Maker) Mark(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, queued report.Queued, ready report.Ready) (string, error) {
	if err := secrets.HoldKeys(ctx, tx); err != nil {
		return "", err
	}
	return m.Signing.Ring().Mark(secrets.MarkReport, markText(organization, id, queued, ready)), nil
}

func markText(organization, id uuid.UUID, queued report.Queued, ready report.Ready) []byte {
	return secrets.MarkText(ready.Vouched(organization, id, queued.Kind, queued.Fingerprint)...)
}

// Marked returns a *FaultError for a report that was not built by this installation's
// program: its Ready has no mark, though it is from after marks began, or a false one.
func (m *Maker) Marked(ctx context.Context, organization, id uuid.UUID) error {
	says, err := m.recorded(ctx, organization, id)
	if err != nil {
		return err
	}
	return m.marked(ctx, says)
}

func (m *Maker) marked(ctx context.Context, says recorded) error {
	marks, err := m.Signing.Ring().Marks(ctx, m.DB)
	if err != nil {
		return err
	}
	at := secrets.Place{Log: string(says.event.Log), Position: says.event.Position}
	if says.ready.Mark == "" && marks.Before(at) {
		return nil
	}
	err = marks.Marked(secrets.MarkReport, markText(says.report.Organization, says.report.ID, says.queued, says.ready), says.ready.Mark, at)
	var untrue *secrets.MarkError
	if errors.As(err, &untrue) {
		return &FaultError{says.report.ID, untrue.Error()}
	}
	return err
}

// fits holds a proof that was kept before against the log: who has the database can put
// another one into its place.
func (k kept) fits(says recorded) error {
	base, err := hex.DecodeString(says.report.PDFSHA256)
	if err != nil || len(base) != 32 {
		return &FaultError{says.report.ID, "the log names no SHA-256 of it"}
	}
	if e := k.proof.Event; k.proof.Report != says.report || e.Log != string(says.event.Log) || e.Position != says.event.Position || e.Hash != hex.EncodeToString(says.event.Hash) {
		return &FaultError{says.report.ID, "the proof that is kept of it is about something else"}
	}
	if verdict, steps := attest.Check([32]byte(base), k.proof, attest.Trust{Keys: attest.Keys{Keys: k.proof.Keys}, Logged: true}); verdict == attest.Contradicted {
		return &FaultError{says.report.ID, "the proof that is kept of it does not hold: " + attest.FirstOff(steps)}
	}
	return nil
}

// recorded is what the log says of a report that is ready.
type recorded struct {
	event  eventstore.Event // Ready
	queued report.Queued
	ready  report.Ready
	report attest.Report
}
