package proof

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/projections/history"
)

// Reports finds the report whose PDF has a digest; *history.Reader is one.
type Reports interface {
	FindPDF(ctx context.Context, organization uuid.UUID, sha256 string, at time.Time) (history.Row, bool, error)
}

// Prover holds PDFs against the log.
type Prover struct {
	Events  *eventstore.Store
	Reports Reports
	DB      sqlx.ExtContext
}

// Proof is what is known of a PDF.
type Proof struct {
	Row    history.Row
	Events []eventstore.Event // of the report, in order
	// Fault names the first thing that does not fit; empty: the chain is whole.
	Fault string
}

// Of returns what is known of the PDF with this SHA-256 (hex); ok is false
// where the organization has no report with it.
func (p *Prover) Of(ctx context.Context, organization uuid.UUID, sha256 string, at time.Time) (proof Proof, ok bool, err error) {
	row, ok, err := p.Reports.FindPDF(ctx, organization, sha256, at)
	if err != nil || !ok || row.File == nil {
		return Proof{}, false, err
	}
	proof = Proof{Row: row}
	for e, err := range p.Events.Load(ctx, p.DB, organization, row.ID) {
		if err != nil {
			return Proof{}, false, fmt.Errorf("load report %s: %w", row.ID, err)
		}
		proof.Events = append(proof.Events, e)
	}
	proof.Fault, err = p.fault(ctx, proof, sha256)
	return proof, true, err
}

// fault returns the first thing that does not fit.
func (p *Prover) fault(ctx context.Context, proof Proof, sha256 string) (string, error) {
	var ready *report.Ready
	for i, e := range proof.Events {
		if e.Version != int64(i+1) {
			return fmt.Sprintf("version %d of the report is missing from the log", i+1), nil
		}
		fault, err := p.link(ctx, e)
		if fault != "" || err != nil {
			return fault, err
		}
		if e.Type == readyType {
			ready = new(report.Ready)
			if err := json.Unmarshal(e.Data, ready); err != nil {
				return fmt.Sprintf("event %s:%d cannot be read", e.Log, e.Position), nil
			}
		}
	}
	if ready == nil || ready.PDFSHA256 != sha256 {
		return "the log does not say that this report has this PDF", nil
	}
	return p.witness(ctx, ready.Witness)
}

// readyType is the wire name of report.Ready.
const readyType = "report.ready"

// link hashes an event again and holds it against the event before it.
func (p *Prover) link(ctx context.Context, e eventstore.Event) (string, error) {
	digest := eventstore.Digest(e)
	if !bytes.Equal(digest[:], e.Digest) {
		return fmt.Sprintf("event %s:%d (%s) was changed", e.Log, e.Position, e.Type), nil
	}
	previous := make([]byte, 32)
	if e.Position > 1 {
		before, ok, err := p.at(ctx, e.Log, e.Position-1)
		if err != nil {
			return "", err
		}
		if !ok {
			return fmt.Sprintf("event %s:%d is missing from the log", e.Log, e.Position-1), nil
		}
		previous = before.Hash
	}
	link := eventstore.Link(previous, e.Digest, e.RecordedAt)
	if !bytes.Equal(link[:], e.Hash) {
		return fmt.Sprintf("event %s:%d (%s) does not follow from the event before it", e.Log, e.Position, e.Type), nil
	}
	return "", nil
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
