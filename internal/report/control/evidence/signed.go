package evidence

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"muster/domain/printable"
	"muster/internal/proof/attest"
	"muster/internal/text/uniquekeys"
)

// Signed is a document with its signature, as it is handed on.
type Signed struct {
	Evidence  json.RawMessage `json:"evidence"`
	KeyID     string          `json:"keyId"`
	Signature []byte          `json:"signature"` // base64 in JSON
	Timestamp []byte          `json:"timestamp"` // RFC 3161 token over the SHA-256 of Signature; null: there is none
}

// Imprint is what a time stamp of the evidence is made over.
func (s Signed) Imprint() [sha256.Size]byte { return sha256.Sum256(s.Signature) }

// Digest is the SHA-256 of the evidence, in hex: of its JSON without white space.
func (s Signed) Digest() string {
	var compact bytes.Buffer
	if json.Compact(&compact, s.Evidence) != nil {
		return ""
	}
	sum := sha256.Sum256(compact.Bytes())
	return hex.EncodeToString(sum[:])
}

// statement is the text that the report key signs.
func (s Signed) statement() []byte { return []byte(formatV1 + "\n" + s.Digest() + "\n") }

// Sign signs a document with an installation's report key.
func Sign(d Document, key ed25519.PrivateKey) (Signed, error) {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	if err := to.Encode(d); err != nil {
		return Signed{}, fmt.Errorf("encode evidence: %w", err)
	}
	public, _ := key.Public().(ed25519.PublicKey)
	named, err := attest.ReportKey(public, time.Time{})
	if err != nil {
		return Signed{}, err
	}
	s := Signed{Evidence: json.RawMessage(plain(strings.TrimSpace(text.String()))), KeyID: named.ID}
	s.Signature = ed25519.Sign(key, s.statement())
	return s, nil
}

// plain is JSON with the same content that moves nothing on a terminal: characters that JSON
// allows in a text, such as C1 controls, are written by their number.
func plain(text string) string {
	if printable.IsText(text) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if printable.IsText(string(r)) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// Encode writes what Sign made, indented for people.
func (s Signed) Encode() ([]byte, error) {
	var compact, out bytes.Buffer
	to := json.NewEncoder(&compact)
	to.SetEscapeHTML(false)
	if err := to.Encode(s); err != nil {
		return nil, fmt.Errorf("encode evidence: %w", err)
	}
	if err := json.Indent(&out, compact.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("indent evidence: %w", err)
	}
	return out.Bytes(), nil
}

// MaxSigned bounds the evidence that is read from a stranger, in bytes.
const MaxSigned = 256 << 20

// MalformedError reports a file that is no signed evidence.
type MalformedError struct{ Reason string }

func (e *MalformedError) Error() string { return "this is no signed evidence: " + e.Reason }

// Parse reads signed evidence without checking its signature. Error: *MalformedError.
func Parse(file []byte) (Signed, Document, error) {
	var s Signed
	var d Document
	if err := uniquekeys.Check(file); err != nil {
		return s, d, &MalformedError{err.Error()}
	}
	if err := json.Unmarshal(file, &s); err != nil {
		return s, d, &MalformedError{err.Error()}
	}
	if err := json.Unmarshal(s.Evidence, &d); err != nil {
		return s, d, &MalformedError{"evidence: " + err.Error()}
	}
	if d.Format != formatV1 {
		return s, d, &MalformedError{fmt.Sprintf("format %q is not %q", d.Format, formatV1)}
	}
	return s, d, nil
}

// Check says whether one of the keys signed the evidence; key is its id. It contradicts if a
// key with the named id did not sign it, and cannot tell if there is no key with that id.
func Check(s Signed, keys attest.Keys) (verdict attest.Verdict, key string) {
	named := false
	for _, k := range keys.Of(attest.UseReport) {
		public, err := x509.ParsePKIXPublicKey(k.PublicKey)
		ed, ok := public.(ed25519.PublicKey)
		if err == nil && ok && ed25519.Verify(ed, s.statement(), s.Signature) {
			return attest.Holds, k.ID
		}
		named = named || k.ID == s.KeyID
	}
	if named {
		return attest.Contradicted, s.KeyID
	}
	return attest.CannotTell, s.KeyID
}

// Lived judges evidence by the lifetime of the key that signed it, as reports are judged
// (attest.Key.Lived). AsOf is by a process's clock. seen is the latest time at which it existed
// by a trusted clock; zero: no trusted clock says so. If the state is not attest.Held, the
// sentence says why.
func Lived(d Document, seen time.Time, keys attest.Keys, key string) (attest.State, string) {
	for _, k := range keys.Of(attest.UseReport) {
		if k.ID != key {
			continue
		}
		state, why := k.Lived(d.AsOf, seen, attest.Skew)
		return state, why
	}
	return attest.Untold, "Key " + key + " is not among the given keys."
}
