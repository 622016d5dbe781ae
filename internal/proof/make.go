package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/postgres/statement"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
)

// Maker makes the proofs of reports and keeps them.
type Maker struct {
	DB          *sqlx.DB
	Prover      *Prover
	Checkpoints *checkpoint.Maker
	Signing     *signing.Signing
	// Stamp has a digest time-stamped (RFC 3161); nil: no service is set.
	Stamp func(ctx context.Context, digest []byte) (token []byte, err error)
	Log   *slog.Logger
}

// FaultError reports a report whose events do not fit the log: nothing is signed for it.
type FaultError struct {
	Report uuid.UUID
	Fault  string
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("nothing is signed for report %s: %s", e.Report, e.Fault)
}

// Make returns the proof of a report that is Ready, and makes it if there is none. If two calls
// make it at once, both return the one that was stored first. Nothing is signed for a report
// without the program's own mark. Errors: *FaultError.
func (m *Maker) Make(ctx context.Context, organization, id uuid.UUID) (attest.Proof, error) {
	says, err := m.Vouch(ctx, organization, id)
	if err != nil {
		return attest.Proof{}, err
	}
	kept, ok, err := m.proven(ctx, says)
	if err != nil || ok {
		return kept.proof, err
	}
	made, size, err := m.make(ctx, organization, says)
	if err != nil {
		return attest.Proof{}, err
	}
	document, err := made.Encode()
	if err != nil {
		return attest.Proof{}, err
	}
	err = statement.Exec(ctx, m.DB, fmt.Sprintf("keep the proof of report %s", id), `INSERT INTO report_proofs (report_id, organization_id, proof, size)
		VALUES ($1, $2, $3, $4) ON CONFLICT (report_id) DO NOTHING`, id, organization, document, size)
	if err != nil {
		return attest.Proof{}, err
	}
	kept, _, err = m.proven(ctx, says)
	return kept.proof, err
}

// Proven is Kept for callers that hand the proof out in our name, checked against the result of
// Vouch. Errors: *FaultError.
func (m *Maker) Proven(ctx context.Context, says Vouched) (p attest.Proof, ok bool, err error) {
	k, ok, err := m.proven(ctx, says)
	return k.proof, ok, err
}

// proven is kept for callers that hand the proof out in our name: it matches the log.
func (m *Maker) proven(ctx context.Context, says Vouched) (k kept, ok bool, err error) {
	if k, ok, err = m.kept(ctx, says.Report.Organization, says.Report.ID); err == nil && ok {
		err = k.fits(says)
	}
	return k, ok, err
}

func (m *Maker) make(ctx context.Context, organization uuid.UUID, says Vouched) (p attest.Proof, size int64, err error) {
	ready, r, id := says.Event, says.Report, says.Report.ID
	if fault, err := m.Prover.Record(ctx, organization, id); err != nil || fault != "" {
		if err == nil {
			err = &FaultError{id, fault}
		}
		return p, 0, err
	}
	previous := make([]byte, 32)
	if ready.Position > 1 {
		before, ok, err := m.Prover.at(ctx, ready.Log, ready.Position-1)
		if err != nil || !ok {
			return p, 0, fmt.Errorf("read the event before %s:%d: %w", ready.Log, ready.Position, err)
		}
		previous = before.Hash
	}
	signed, err := m.Checkpoints.Makes(ctx, ready.Log, ready.Position)
	if err != nil {
		return p, 0, err
	}
	p.Checkpoint, p.CheckpointTimestamp, size = signed.Note, signed.Timestamp, signed.Size
	of, err := p.Tree()
	if err != nil {
		return p, 0, err
	}
	inclusion, err := tree.New(m.DB).Inclusion(ctx, ready.Log, ready.Position, size)
	if err != nil {
		return p, 0, err
	}
	p.Inclusion = [][]byte{} // of one event, there is nothing beside it
	for _, hash := range inclusion {
		p.Inclusion = append(p.Inclusion, hash[:])
	}
	if p.Consistency, err = m.goesOnFrom(ctx, organization, ready.Log, size); err != nil {
		return p, 0, err
	}
	if p.Event, err = attest.NewEvent(ready, previous); err != nil {
		return p, 0, err
	}
	p.Origin, p.Report = of.Origin, r
	key, ok, err := m.Signing.ReportSigner(ctx, ready.RecordedAt)
	if err == nil && !ok {
		err = &FaultError{id, "it was recorded on " + ready.RecordedAt.UTC().Format(time.RFC3339) + ", before any of the keys that are left was made, and nobody would believe them"}
	}
	if err != nil {
		return p, 0, err
	}
	if p.Attestation, err = attest.Attest(key, r, says.Head()); err != nil {
		return p, 0, err
	}
	p.Keys, err = m.needed(ctx, p)
	return p, size, err
}

// goesOnFrom proves that the tree of a proof begins with those that a person may have kept: of
// the organization's previous proof, so that its reports form a chain, and of the log's
// previous checkpoint. From any other one, GET /proof/{log}/consistency leads to it.
func (m *Maker) goesOnFrom(ctx context.Context, organization uuid.UUID, log eventstore.Log, size int64) (links []attest.Link, err error) {
	sizes, err := statement.All[int64](ctx, m.DB, "look for what was signed before", selectBefore, organization, string(log), size)
	if err != nil {
		return nil, err
	}
	for _, from := range sizes {
		proof, err := tree.New(m.DB).Consistency(ctx, log, from, size)
		if err != nil {
			return nil, err
		}
		links = append(links, attest.NewLink(from, proof))
	}
	return links, nil
}

// recorded is the log's record of a report. Errors: *FaultError if it is not ready.
func (m *Maker) recorded(ctx context.Context, organization, id uuid.UUID) (says Vouched, err error) {
	says.Report = attest.Report{ID: id, Organization: organization}
	for e, err := range m.Prover.Events.Load(ctx, nil, organization, id) {
		if err != nil {
			return says, fmt.Errorf("load report %s: %w", id, err)
		}
		switch e.Type {
		case queuedType:
			err = json.Unmarshal(e.Data, &says.Queued)
			says.Report.Kind, says.Report.ScopeSHA256 = string(says.Queued.Kind), says.Queued.Fingerprint
		case readyType:
			says.Event, says.Ready = e, report.Ready{}
			err = json.Unmarshal(e.Data, &says.Ready)
			says.Report.PDFSHA256, says.Report.InputsSHA256 = says.Ready.PDFSHA256, says.Ready.InputsSHA256
		}
		if err != nil {
			return says, fmt.Errorf("read event %s:%d: %w", e.Log, e.Position, err)
		}
	}
	if says.Event.Position == 0 {
		return says, &FaultError{id, "it is not ready"}
	}
	return says, nil
}

// queuedType is the wire name of report.Queued.
const queuedType = "report.queued"

// needed are the published keys that a check of the proof takes: those that sign now.
func (m *Maker) needed(ctx context.Context, p attest.Proof) ([]attest.Key, error) {
	keys, err := m.Signing.Keys(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(keys.Keys, func(k attest.Key) bool {
		return k.ValidTo != nil || k.Use == attest.UseLog && k.Origin() != p.Origin
	}), nil
}
