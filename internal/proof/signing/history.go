package signing

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"muster/eventstore"
	"muster/internal/proof/attest"
	"muster/internal/secrets"
)

// The types of the events of the log keys.
const (
	keysMade    = "keys.made"    // the first keys of the installation
	keysFound   = "keys.found"   // those that were there when the log began, or began anew: what was before has no signature
	keysRotated = "keys.rotated" // a new secret key, current from then on
	keysAdded   = "keys.added"   // a further key of the current secret key, or the operator's certificate
	keysRetired = "keys.retired"
	keysRevoked = "keys.revoked"
)

// streamType of the one stream of the log keys, whose id is the installation's.
const streamType = "keys"

// change is what an event of the log keys says.
type change struct {
	Installation string      `json:"installation"`
	Previous     string      `json:"previous"` // SHA-256 of the data of the event before, hex; empty: it is the first
	Keys         []entry     `json:"keys,omitempty"`
	Ended        []reference `json:"ended,omitempty"`
	At           *time.Time  `json:"at,omitempty"`     // retired: until when they signed; revoked: since when others may have them
	Reason       string      `json:"reason,omitempty"` // revoked
}

// entry is a key with the fingerprint of the secret key that it comes from; empty: the
// operator's.
type entry struct {
	attest.Key
	Secret string `json:"secretKey,omitempty"`
}

// reference names a key.
type reference struct {
	Use attest.Use `json:"use"`
	ID  string     `json:"id"`
}

func (e entry) reference() reference     { return reference{e.Use, e.ID} }
func (p published) reference() reference { return reference{p.Use, p.ID} }

// signedChange is the data of an event: a change, byte for byte, and who signed it.
type signedChange struct {
	Change     json.RawMessage   `json:"change"`
	Signatures []changeSignature `json:"signatures"`
}

type changeSignature struct {
	KeyID     string `json:"keyId"`     // of a key of use report
	Signature []byte `json:"signature"` // base64 in JSON
}

// changeV1 keeps a signature over a change from being one over anything else.
const changeV1 = "muster-key-change-1"

// changeText is what is signed of a change.
func changeText(eventType string, change []byte) []byte {
	return fmt.Appendf(nil, "%s\n%s\n%s\n", changeV1, eventType, change)
}

// signChange makes the data of an event.
func signChange(eventType string, c change, keys ...*secrets.Key) ([]byte, error) {
	text, err := encode(c)
	if err != nil {
		return nil, err
	}
	s := signedChange{Change: text}
	for _, k := range keys {
		named, err := reportKey(k)
		if err != nil {
			return nil, err
		}
		s.Signatures = append(s.Signatures, changeSignature{named.ID, ed25519.Sign(k.ReportSigner(), changeText(eventType, text))})
	}
	return encode(s)
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false) // a signature is over these very bytes
	if err := to.Encode(v); err != nil {
		return nil, fmt.Errorf("write what became of the keys: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// history is what the log keys says.
type history struct {
	version  int64           // events
	last     []byte          // data of the last one
	believed eventstore.Head // the last event that one of our secret keys signed
	keys     []entry         // up to that
	wrong    string          // of an event behind that, or of the log; empty: it is whole
}

// read folds the log. Each event has to be signed by a key that was there before it, or
// that it begins with; a rotation by both keys. What one of the keys in the key file signed
// vouches for all that is before it, and nothing behind the last of these is believed.
func (s *Signing) read(ctx context.Context) (h history, err error) {
	var ours []string
	for _, secret := range s.ring.Keys() {
		k, err := reportKey(secret)
		if err != nil {
			return h, err
		}
		ours = append(ours, k.ID)
	}
	var f fold
	for e, err := range eventstore.New(s.db).Read(ctx, eventstore.Keys, eventstore.Filter{}) {
		if err != nil {
			return h, fmt.Errorf("read the log of the keys: %w", err)
		}
		if wrong := f.apply(e, s.installation); wrong != "" {
			f.wrong = fmt.Sprintf("event %s:%d %s", e.Log, e.Position, wrong)
		}
		switch {
		case f.wrong != "":
			h.wrong = f.wrong
		case slices.ContainsFunc(f.signers, func(id string) bool { return slices.Contains(ours, id) }):
			h.keys, h.wrong = slices.Clone(f.keys), ""
			h.believed = eventstore.Head{Log: e.Log, Position: e.Position, Hash: e.Hash}
		default:
			h.wrong = fmt.Sprintf("event %s:%d is signed by none of the keys in the key file", e.Log, e.Position)
		}
		h.version, h.last = h.version+1, e.Data
		f.last = e.Data
	}
	return h, nil
}

// fold is the result of the events, whoever signed them.
type fold struct {
	keys    []entry
	last    []byte   // data of the event before
	signers []string // ids of the keys that signed the last event
	wrong   string   // empty: all of it fits
}

// apply folds an event, and says what is wrong with it.
func (f *fold) apply(e eventstore.Event, installation string) (wrong string) {
	var signed signedChange
	var c change
	if json.Unmarshal(e.Data, &signed) != nil || json.Unmarshal(signed.Change, &c) != nil {
		return "cannot be read"
	}
	begins := e.Type == keysMade || e.Type == keysFound
	if begins { // what was before is not vouched for
		f.keys, f.wrong = nil, ""
	}
	before := slices.Clone(f.keys)
	for _, k := range c.Keys {
		if !slices.ContainsFunc(f.keys, func(had entry) bool { return had.reference() == k.reference() }) {
			f.keys = append(f.keys, k)
		}
	}
	text := changeText(e.Type, signed.Change)
	byOld, byNew := signersOf(before, text, signed.Signatures), signersOf(c.Keys, text, signed.Signatures)
	f.signers = slices.Concat(byOld, byNew)
	switch {
	case c.Installation != installation:
		return "is of another installation"
	case !begins && c.Previous != digestOf(f.last):
		return "does not follow on the one before it"
	case begins && len(byNew) == 0, !begins && len(byOld) == 0, e.Type == keysRotated && len(byNew) == 0:
		return "is signed by no key that could"
	}
	for i := range f.keys {
		if !slices.Contains(c.Ended, f.keys[i].reference()) || c.At == nil {
			continue
		}
		at := c.At.UTC()
		if e.Type == keysRevoked {
			f.keys[i].RevokedAt, f.keys[i].Reason = &at, c.Reason
		} else if f.keys[i].ValidTo == nil {
			f.keys[i].ValidTo = &at
		}
	}
	return ""
}

// signersOf are the ids of those keys that signed a text.
func signersOf(keys []entry, text []byte, signatures []changeSignature) (ids []string) {
	for _, k := range keys {
		public, err := x509.ParsePKIXPublicKey(k.PublicKey)
		ed, ok := public.(ed25519.PublicKey)
		if err != nil || !ok || k.Use != attest.UseReport {
			continue
		}
		for _, s := range signatures {
			if s.KeyID == k.ID && ed25519.Verify(ed, text, s.Signature) {
				ids = append(ids, k.ID)
			}
		}
	}
	return ids
}

func digestOf(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// of is the key of that use and id.
func (h *history) of(r reference) (entry, bool) {
	i := slices.IndexFunc(h.keys, func(k entry) bool { return k.reference() == r })
	if i < 0 {
		return entry{}, false
	}
	return h.keys[i], true
}

// whole says what is wrong with the log. Errors: *HistoryError.
func (h *history) whole() error {
	if h.wrong != "" {
		return &HistoryError{h.wrong}
	}
	return nil
}

// HistoryError says why the log of the keys is not to be believed.
type HistoryError struct{ Reason string }

func (e *HistoryError) Error() string {
	return "the log of the keys is not what this installation wrote: " + e.Reason
}
