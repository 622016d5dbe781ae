package evidence

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/proof/attest"
)

// Recorded is evidence that the organization's log says was made.
type Recorded struct {
	Document Document
	Event    eventstore.Event // evidence.made
}

// Find returns what the log knows of a file of evidence, JSON or PDF. ok is false where the
// file is no evidence, or the organization made none with this content, or a signature of the
// file does not hold under the keys of the installation: a PDF's pages are proven by its
// signature alone. The log's own time shows that a key was in force. uuid.Nil is the
// organization that the evidence names.
func (m *Maker) Find(ctx context.Context, org uuid.UUID, file []byte) (found Recorded, ok bool, err error) {
	if !Is(file) {
		return found, false, nil
	}
	var c fileCheck
	if err := c.read(file); err != nil {
		return found, false, nil //nolint:nilerr // the log knows of no such file
	}
	if org == uuid.Nil {
		org = c.document.Organization.ID
	}
	e, ok, err := m.recorded(ctx, org, c.document.ID, c.signed.Digest())
	if err != nil || !ok {
		return found, false, err
	}
	keys, err := m.Signing.Keys(ctx)
	if err != nil {
		return found, false, err
	}
	a := c.judge(nil, attest.Trust{Keys: keys}, e.RecordedAt)
	return Recorded{Document: a.Document, Event: e}, a.Verdict == attest.Holds, nil
}

// recorded is the event by which evidence with that digest was made.
func (m *Maker) recorded(ctx context.Context, org, id uuid.UUID, digest string) (eventstore.Event, bool, error) {
	for e, err := range m.Controls.Log.Load(ctx, nil, org, id) {
		if err != nil {
			return e, false, fmt.Errorf("load evidence %s: %w", id, err)
		}
		if e.StreamType != organization.EvidenceStream {
			continue
		}
		var made organization.EvidenceMade
		if err := json.Unmarshal(e.Data, &made); err != nil {
			return e, false, fmt.Errorf("read event %s:%d: %w", e.Log, e.Position, err)
		}
		if made.SHA256 == digest {
			return e, true, nil
		}
	}
	return eventstore.Event{}, false, nil
}
