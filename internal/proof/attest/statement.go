package attest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"muster/eventstore"
)

// Report is what an attestation is about.
type Report struct {
	ID           uuid.UUID `json:"id"`
	Kind         string    `json:"kind"`
	Organization uuid.UUID `json:"organizationId"`
	ScopeSHA256  string    `json:"scopeSha256"`  // hex: Queued.Fingerprint
	PDFSHA256    string    `json:"pdfSha256"`    // hex: of the base revision
	InputsSHA256 string    `json:"inputsSha256"` // hex: of the uncompressed inputs document
}

// statementV1 keeps a signature over a statement from being one over anything else.
const statementV1 = "muster-report-1"

// Statement is the text that an attestation signs: the report, its digests, and the head
// of the log with Ready in it.
func Statement(r Report, ready eventstore.Head) []byte {
	return fmt.Appendf(nil, "%s\nreport %s\nkind %s\norganization %s\nscope %s\npdf %s\ninputs %s\nhead %s\n",
		statementV1, r.ID, r.Kind, r.Organization, r.ScopeSHA256, r.PDFSHA256, r.InputsSHA256, ready)
}

// Attestation is the signature over a Statement.
type Attestation struct {
	KeyID     string `json:"keyId"`
	Signature []byte `json:"signature"` // base64 in JSON
	Timestamp []byte `json:"timestamp"` // RFC 3161 token over the SHA-256 of Signature; null: there is none
}

// Attest signs a statement. The same key gives the same signature each time, so code that
// prints it computes it.
func Attest(key ed25519.PrivateKey, r Report, ready eventstore.Head) (Attestation, error) {
	public, _ := key.Public().(ed25519.PublicKey)
	spki, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return Attestation{}, fmt.Errorf("name the key of an attestation: %w", err)
	}
	return Attestation{KeyID: keyID(spki), Signature: ed25519.Sign(key, Statement(r, ready))}, nil
}

// Imprint is what a time stamp of the attestation is made over.
func (a Attestation) Imprint() [32]byte { return sha256.Sum256(a.Signature) }

// CheckStatement checks who signed a statement that stands alone: nothing says when, so a key
// that ended leaves it open. The sentence is for a person.
func CheckStatement(statement []byte, a Attestation, keys Keys) (State, string) {
	named := false
	for _, k := range keys.Of(UseReport) {
		switch {
		case !a.signedBy(k, statement):
			named = named || k.ID == a.KeyID
		case k.Ended() != nil:
			return Untold, fmt.Sprintf("Key %s was %s. Nothing here shows that it signed this before then.", k.ID, k.Lifetime())
		default:
			return Held, fmt.Sprintf("Report, organization, scope, PDF, inputs and head are signed by key %s.", k.ID)
		}
	}
	if named {
		return Broken, fmt.Sprintf("Key %s signed a different statement about the report.", a.KeyID)
	}
	return Untold, fmt.Sprintf("Key %s is named as the signer of the report, but is not among the given keys.", a.KeyID)
}

// signedBy says whether a key has signed a statement.
func (a Attestation) signedBy(k Key, statement []byte) bool {
	public, err := x509.ParsePKIXPublicKey(k.PublicKey)
	key, ok := public.(ed25519.PublicKey)
	return err == nil && ok && ed25519.Verify(key, statement, a.Signature)
}

// sum reads a SHA-256 in hex.
func sum(text string) ([]byte, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != sha256.Size {
		return nil, fmt.Errorf("%q is no SHA-256 in hexadecimal digits", text)
	}
	return b, nil
}
