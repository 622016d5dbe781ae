package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/proof/attest"
	"muster/projections/history"
)

// Prover holds PDFs against the log.
type Prover struct {
	Events  *eventstore.Store
	Reports *history.Reader
}

// Proof is what is known of a file.
type Proof struct {
	Row  history.ReportRow
	File string // which of the report's it is: report.PDFFile, InputsFile or a companion
	// Fault names the first thing that does not fit; empty: chain and proof are whole.
	Fault  string
	Signed bool          // it is the PDF with its second revision
	Kept   *attest.Proof // nil: there is none
}

// Find returns what is known of the file with this SHA-256 (hex): a PDF, as it was built or
// signed, a table that goes with it, or its inputs document. ok is false where the organization
// has no report with it. The proof that is kept of the
// report has to fit what the log says, and the log what was signed of it, as far as this
// process has held it against that (checkpoint.Maker.Hold).
func (m *Maker) Find(ctx context.Context, organization uuid.UUID, digest string, at time.Time) (found Proof, ok bool, err error) {
	base := digest
	id, signed, err := FindSigned(ctx, m.DB, organization, digest)
	if err != nil {
		return Proof{}, false, err
	}
	if signed {
		row, ok, err := m.Prover.Reports.Get(ctx, organization, id, at)
		if err != nil || !ok || row.File == nil || row.File.Signed == nil || row.File.Signed.SHA256 != digest {
			return Proof{}, false, err
		}
		base = row.File.SHA256
	}
	found, ok, err = m.Prover.Of(ctx, organization, base, at)
	if err == nil && ok && found.Fault == "" {
		found.Signed = signed
		found.Kept, found.Fault, err = m.holds(ctx, organization, found, at)
	}
	if err == nil && ok && found.Fault == "" {
		found.Fault = m.Checkpoints.Misfit(eventstore.Reports)
	}
	return found, ok, err
}

// Misfit says what does not fit of what is recorded of a report, or of evidence: its own events,
// and its log as far as this process has held it; empty: nothing.
func (m *Maker) Misfit(ctx context.Context, organization, id uuid.UUID, log eventstore.Log) (fault string, err error) {
	if fault, err = m.Prover.Record(ctx, organization, id); fault == "" && err == nil {
		fault = m.Checkpoints.Misfit(log)
	}
	return fault, err
}

// holds checks the stored proof of a report; nil: there is none.
func (m *Maker) holds(ctx context.Context, organization uuid.UUID, found Proof, now time.Time) (*attest.Proof, string, error) {
	k, ok, err := m.kept(ctx, organization, found.Row.ID)
	if err != nil {
		return nil, "", err
	}
	if !ok {
		if found.Row.File.Signed != nil {
			return nil, "the log says that it was proven, and its proof is gone", nil
		}
		_, err := m.Vouch(ctx, organization, found.Row.ID) // a proof is made of a marked one alone
		var fault *FaultError
		if errors.As(err, &fault) {
			return nil, fault.Fault, nil
		}
		return nil, "", err
	}
	keys, err := m.Signing.Keys(ctx)
	if err != nil {
		return nil, "", err
	}
	base, err := hex.DecodeString(found.Row.File.SHA256)
	if err != nil || len(base) != sha256.Size {
		return &k.proof, "the log names no SHA-256 of this report", nil
	}
	if verdict, steps := attest.Check([sha256.Size]byte(base), k.proof, attest.Trust{Keys: keys, Now: now, Logged: true}); verdict != attest.Holds {
		return &k.proof, "its proof does not fit the log: " + attest.FirstOff(steps), nil
	}
	fault, err := m.fits(ctx, k.proof)
	return &k.proof, fault, err
}

// fits compares the tree of a proof with that of the log: the signed state has to be the
// beginning of the current one.
func (m *Maker) fits(ctx context.Context, p attest.Proof) (fault string, err error) {
	signed, err := p.Tree()
	if err != nil {
		return err.Error(), nil
	}
	log := eventstore.Log(p.Event.Log)
	root, err := tree.New(m.DB).Root(ctx, log, signed.Size)
	switch {
	case tree.Unfit(err):
		return err.Error(), nil
	case err != nil:
		return "", err
	case root != signed.Root:
		return fmt.Sprintf("the log was changed since: its first %d events have another root than its proof", signed.Size), nil
	}
	return "", nil
}

// Of returns what the log knows of the file that was built with this SHA-256.
func (p *Prover) Of(ctx context.Context, organization uuid.UUID, digest string, at time.Time) (proof Proof, ok bool, err error) {
	row, ok, err := p.Reports.FindPDF(ctx, organization, digest, at)
	if err == nil && !ok {
		row, ok, err = p.Reports.FindCompanion(ctx, organization, digest, at)
	}
	if err != nil || !ok || row.File == nil {
		return Proof{}, false, err
	}
	proof = Proof{Row: row}
	ready, fault, err := p.record(ctx, organization, row.ID)
	if err != nil {
		return Proof{}, false, err
	}
	if ready != nil {
		proof.File = ready.Named(digest)
	}
	if fault == "" && proof.File == "" {
		fault = "the log does not say that this report has this file"
	}
	proof.Fault = fault
	return proof, true, nil
}

// Record holds what the log says of a report against the chain, whatever file
// there is, and names the first thing that does not fit; empty: all of it fits.
func (p *Prover) Record(ctx context.Context, organization, id uuid.UUID) (fault string, err error) {
	_, fault, err = p.record(ctx, organization, id)
	return fault, err
}

// record returns the report's Ready, if it has one, and the first fault.
func (p *Prover) record(ctx context.Context, organization, id uuid.UUID) (ready *report.Ready, fault string, err error) {
	var next, last int64 = 1, 0
	for e, err := range p.Events.Load(ctx, nil, organization, id) {
		if err != nil {
			return nil, "", fmt.Errorf("load report %s: %w", id, err)
		}
		if e.Version != next {
			return nil, fmt.Sprintf("version %d of the report is missing from the log", next), nil
		}
		if e.Position <= last {
			return nil, fmt.Sprintf("version %d of the report stands in the log before the version it follows", e.Version), nil
		}
		next, last = next+1, e.Position
		fault, err := p.link(ctx, e)
		if fault != "" || err != nil {
			return nil, fault, err
		}
		if e.Type == readyType {
			ready = new(report.Ready)
			if err := json.Unmarshal(e.Data, ready); err != nil {
				return nil, fmt.Sprintf("event %s:%d cannot be read", e.Log, e.Position), nil
			}
		}
	}
	if ready != nil {
		fault, err = p.witness(ctx, ready.Witness)
	}
	return ready, fault, err
}

// readyType is the wire name of report.Ready.
const readyType = "report.ready"

// link hashes an event again and compares it with both its neighbors: with the one before it
// and, because an attacker who changes an event can hash it anew, with the one after it or the
// head of the log.
func (p *Prover) link(ctx context.Context, e eventstore.Event) (string, error) {
	digest := eventstore.Digest(e)
	if !bytes.Equal(digest[:], e.Digest) {
		return fmt.Sprintf("event %s:%d (%s) was changed", e.Log, e.Position, e.Type), nil
	}
	previous := make([]byte, sha256.Size)
	if e.Position > 1 {
		before, ok, err := p.at(ctx, e.Log, e.Position-1)
		if err != nil {
			return "", err
		}
		if !ok {
			return missing(e.Log, e.Position-1), nil
		}
		previous = before.Hash
		if e.RecordedAt.Before(before.RecordedAt) {
			return fmt.Sprintf("event %s:%d (%s) bears a time before that of the event before it", e.Log, e.Position, e.Type), nil
		}
	}
	if !follows(e, previous) {
		return unlinked(e), nil
	}
	return p.next(ctx, e)
}

// next holds what comes after an event against it. The head is read first:
// whatever it counts is there to be read then.
func (p *Prover) next(ctx context.Context, e eventstore.Event) (string, error) {
	head, err := p.Events.Head(ctx, nil, e.Log)
	if err != nil {
		return "", fmt.Errorf("read the head of %s: %w", e.Log, err)
	}
	if head.Position <= e.Position {
		if head.Position < e.Position || !bytes.Equal(head.Hash, e.Hash) {
			return fmt.Sprintf("the head of log %s does not follow from event %d (%s)", e.Log, e.Position, e.Type), nil
		}
		return "", nil
	}
	after, ok, err := p.at(ctx, e.Log, e.Position+1)
	if err != nil {
		return "", err
	}
	if !ok {
		return missing(e.Log, e.Position+1), nil
	}
	if !follows(after, e.Hash) {
		return unlinked(after), nil
	}
	return "", nil
}

func unlinked(e eventstore.Event) string {
	return fmt.Sprintf("event %s:%d (%s) does not follow from the event before it", e.Log, e.Position, e.Type)
}

func follows(e eventstore.Event, previous []byte) bool {
	link := eventstore.Link(previous, e.Digest, e.RecordedAt)
	return bytes.Equal(link[:], e.Hash)
}

func missing(log eventstore.Log, position int64) string {
	return fmt.Sprintf("event %s:%d is missing from the log", log, position)
}

// witness holds the head that the PDF carries against the log.
func (p *Prover) witness(ctx context.Context, w report.Witness) (string, error) {
	if w.Position == 0 { // the log was empty
		return "", nil
	}
	e, ok, err := p.at(ctx, eventstore.Log(w.Log), w.Position)
	if err != nil {
		return "", err
	}
	if !ok || hex.EncodeToString(e.Hash) != w.Hash {
		return fmt.Sprintf("the log no longer holds the head %s:%d that the PDF carries", w.Log, w.Position), nil
	}
	return "", nil
}

func (p *Prover) at(ctx context.Context, log eventstore.Log, position int64) (eventstore.Event, bool, error) {
	for e, err := range p.Events.Read(ctx, log, eventstore.Filter{After: position - 1, UpTo: position}) {
		if err != nil {
			return e, false, fmt.Errorf("read %s:%d: %w", log, position, err)
		}
		return e, true, nil
	}
	return eventstore.Event{}, false, nil
}
