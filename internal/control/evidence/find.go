package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/attest"
	"muster/internal/pades"
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
	text := file
	if bytes.HasPrefix(file, []byte("%PDF-")) {
		revisions, err := pades.Split(file)
		if err != nil {
			return found, false, nil //nolint:nilerr // the file was changed
		}
		text = revisions.Proof
	}
	signed, d, err := Parse(text)
	var malformed *MalformedError
	switch {
	case errors.As(err, &malformed):
		return found, false, nil
	case err != nil:
		return found, false, err
	}
	if org == uuid.Nil {
		org = d.Organization.ID
	}
	e, ok, err := m.recorded(ctx, org, d.ID, signed.Digest())
	if err != nil || !ok {
		return found, false, err
	}
	keys, err := m.Signing.Keys(ctx)
	if err != nil {
		return found, false, err
	}
	a := checkFile(file, attest.Trust{Keys: keys}, e.RecordedAt)
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
