package proof

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/proof/attest"
	"muster/internal/secrets"
)

// Mark is a Ready with the program's own mark on it and on what was asked for, made in the
// transaction that appends it: a rotation of the key waits for that.
func (m *Maker) Mark(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, queued report.Queued, ready report.Ready) (report.Ready, error) {
	if err := secrets.HoldKeys(ctx, tx); err != nil {
		return ready, err
	}
	ready.Kind, ready.ScopeSHA256 = queued.Kind, queued.Fingerprint
	ready.Mark = m.Signing.Ring().Mark(secrets.MarkReport, markText(organization, id, queued, ready))
	return ready, nil
}

func markText(organization, id uuid.UUID, queued report.Queued, ready report.Ready) []byte {
	return secrets.MarkText(ready.Vouched(organization, id, queued.Kind, queued.Fingerprint)...)
}

// Vouch returns the log's record of a report that is Ready, from one read of it: the program's
// own mark covers this, and it is in the chain. A caller that signs uses nothing else about the
// report, because SQL can change the answer to the next read. Errors: *FaultError, also if
// Ready has no mark although it is later than marks, or a false one.
func (m *Maker) Vouch(ctx context.Context, organization, id uuid.UUID) (Vouched, error) {
	says, err := m.recorded(ctx, organization, id)
	if err != nil {
		return Vouched{}, err
	}
	if err := m.marked(ctx, says); err != nil {
		return Vouched{}, err
	}
	fault, err := m.Prover.link(ctx, says.Event)
	if err == nil && fault != "" {
		err = &FaultError{id, fault}
	}
	return says, err
}

func (m *Maker) marked(ctx context.Context, says Vouched) error {
	marks, err := m.Signing.Ring().Marks(ctx, m.DB)
	if err != nil {
		return err
	}
	at := secrets.Place{Log: string(says.Event.Log), Position: says.Event.Position}
	if says.Ready.Mark == "" && marks.Before(at) {
		return nil
	}
	err = marks.Marked(secrets.MarkReport, markText(says.Report.Organization, says.Report.ID, says.Queued, says.Ready), says.Ready.Mark, at)
	var untrue *secrets.MarkError
	if errors.As(err, &untrue) {
		return &FaultError{says.Report.ID, untrue.Error()}
	}
	return err
}

// fits compares a stored proof with the log: an attacker with the database can replace it.
func (k kept) fits(says Vouched) error {
	base, err := hex.DecodeString(says.Report.PDFSHA256)
	if err != nil || len(base) != 32 {
		return &FaultError{says.Report.ID, "the log names no SHA-256 of it"}
	}
	if e := k.proof.Event; k.proof.Report != says.Report || e.Log != string(says.Event.Log) || e.Position != says.Event.Position || e.Hash != hex.EncodeToString(says.Event.Hash) {
		return &FaultError{says.Report.ID, "the proof that is kept of it is about something else"}
	}
	if verdict, steps := attest.Check([32]byte(base), k.proof, attest.Trust{Keys: attest.Keys{Keys: k.proof.Keys}, Logged: true}); verdict == attest.Contradicted {
		return &FaultError{says.Report.ID, "the proof that is kept of it does not hold: " + attest.FirstOff(steps)}
	}
	return nil
}

// Vouched is what the log says of a report that is ready (Maker.Vouch).
type Vouched struct {
	Event  eventstore.Event // Ready
	Queued report.Queued
	Ready  report.Ready
	Report attest.Report
}

// Head is the log's head at Ready.
func (says Vouched) Head() eventstore.Head {
	return eventstore.Head{Log: says.Event.Log, Position: says.Event.Position, Hash: says.Event.Hash}
}
