package attest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"muster/internal/text/uniquekeys"
)

// Use is what a key signs.
type Use string

// The uses.
const (
	UseLog    Use = "log"    // checkpoints of one log
	UseReport Use = "report" // attestations of reports
	UsePDF    Use = "pdf"    // the signature in a PDF
)

// Algorithms of keys.
const (
	Ed25519   = "Ed25519"
	ECDSAP256 = "ECDSA-P256"
)

// Key is a public key of an installation, as GET /.well-known/muster-keys.json has it.
type Key struct {
	ID          string     `json:"id"`
	Algorithm   string     `json:"algorithm"`
	Use         Use        `json:"use"`
	PublicKey   []byte     `json:"publicKey"`             // SubjectPublicKeyInfo, DER; base64 in JSON
	VerifierKey string     `json:"verifierKey,omitempty"` // of UseLog: as C2SP's signed notes write it
	Certificate string     `json:"certificate,omitempty"` // of UsePDF: PEM
	ValidFrom   time.Time  `json:"validFrom"`
	ValidTo     *time.Time `json:"validTo"` // null: it still signs
	// RevokedAt is the time from which another person may have had it; its later signatures are
	// worthless. Absent: it was not revoked.
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
	Reason    string     `json:"reason,omitempty"` // of the revocation
}

// Keys is the document that publishes an installation's keys. The verifier of a proof has to
// get it from another source than the proof itself.
type Keys struct {
	Keys []Key `json:"keys"`
	// Installation, Head (of the log from which the document is made) and Signature are absent
	// in earlier documents. The signature shows a person who kept an earlier document that this
	// one comes from the same installation (SignedBy). Nobody else needs it.
	Installation string         `json:"installation,omitempty"`
	Head         string         `json:"head,omitempty"`
	Signature    *KeysSignature `json:"signature,omitempty"`
}

// KeysSignature is by a key of use report.
type KeysSignature struct {
	KeyID     string `json:"keyId"`
	Signature []byte `json:"signature"` // base64 in JSON
}

// keysV1 keeps a signature over a document of keys from being one over anything else.
const keysV1 = "muster-keys-1"

// statement is the text that is signed of a document: a line of installation and head, and
// one for each key.
func (keys Keys) statement() []byte {
	out := fmt.Appendf(nil, "%s\ninstallation %s\nhead %s\n", keysV1, keys.Installation, keys.Head)
	return append(out, strings.Join(keys.lines(), "")...)
}

// Fingerprint names the keys of a document for people, who compare it with the one that
// reports, mails and evidence print. It is the SHA-256, in hex, of the lines about the keys in
// the signed text, in ascending order. So a trust file with the same keys has the same
// fingerprint, and each rotation, retirement and revocation has another one.
func (keys Keys) Fingerprint() string {
	lines := keys.lines()
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

// lines are those of the signed text that name a key each.
func (keys Keys) lines() (lines []string) {
	at := func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	for _, k := range keys.Keys {
		lines = append(lines, fmt.Sprintf("key %s %s %x %s %s %s %s\n", k.Use, k.ID, sha256.Sum256(k.PublicKey), at(&k.ValidFrom), at(k.ValidTo), at(k.RevokedAt), k.Reason))
	}
	return lines
}

// Sign signs a document.
func (keys Keys) Sign(key ed25519.PrivateKey) (Keys, error) {
	public, _ := key.Public().(ed25519.PublicKey)
	named, err := ReportKey(public, time.Time{})
	if err != nil {
		return keys, err
	}
	keys.Signature = &KeysSignature{named.ID, ed25519.Sign(key, keys.statement())}
	return keys, nil
}

// SignedBy says whether a key of an earlier document signed this one. After a rotation, the
// rotation's event in the log keys is what both keys signed.
func (keys Keys) SignedBy(kept Keys) bool {
	for _, k := range kept.Of(UseReport) {
		public, err := x509.ParsePKIXPublicKey(k.PublicKey)
		ed, ok := public.(ed25519.PublicKey)
		if err == nil && ok && keys.Signature != nil && ed25519.Verify(ed, keys.statement(), keys.Signature.Signature) {
			return true
		}
	}
	return false
}

// MalformedError reports a document that is not of the form it should have.
type MalformedError struct {
	What   string // "keys", "proof"
	Reason string
}

func (e *MalformedError) Error() string { return "this is no " + e.What + " document: " + e.Reason }

// maxKeys bounds what is read from a stranger.
const maxKeys = 1000

// ParseKeys reads a document of keys and holds every key against what it claims to be.
// Errors: *MalformedError, which names the first key that does not fit.
func ParseKeys(document []byte) (Keys, error) {
	var keys Keys
	if err := uniquekeys.Check(document); err != nil {
		return Keys{}, &MalformedError{"keys", err.Error()}
	}
	if err := json.Unmarshal(document, &keys); err != nil {
		return Keys{}, &MalformedError{"keys", err.Error()}
	}
	if len(keys.Keys) == 0 || len(keys.Keys) > maxKeys {
		return Keys{}, &MalformedError{"keys", fmt.Sprintf("it has %d keys", len(keys.Keys))}
	}
	for _, k := range keys.Keys {
		if err := k.fits(); err != nil {
			return Keys{}, &MalformedError{"keys", fmt.Sprintf("key %q: %v", k.ID, err)}
		}
	}
	return keys, nil
}

func (k Key) fits() error {
	public, err := x509.ParsePKIXPublicKey(k.PublicKey)
	if err != nil {
		return fmt.Errorf("publicKey: %w", err)
	}
	switch k.Use {
	case UseLog:
		if _, err := note.NewVerifier(k.VerifierKey); err != nil {
			return fmt.Errorf("verifierKey: %w", err)
		}
		ed, ok := public.(ed25519.PublicKey)
		if !ok {
			return fmt.Errorf("a log key is %s, not %T", Ed25519, public)
		}
		name, _, _ := strings.Cut(k.VerifierKey, "+")
		if want, err := note.NewEd25519VerifierKey(name, ed); err != nil || want != k.VerifierKey {
			return fmt.Errorf("verifierKey and publicKey are two keys")
		}
	case UseReport:
		if _, ok := public.(ed25519.PublicKey); !ok {
			return fmt.Errorf("a report key is %s, not %T", Ed25519, public)
		}
	case UsePDF:
		certificates, err := k.Chain()
		if err != nil {
			return err
		}
		if string(certificates[0].RawSubjectPublicKeyInfo) != string(k.PublicKey) {
			return fmt.Errorf("certificate and publicKey are two keys")
		}
	default:
		return fmt.Errorf("use %q is unknown", k.Use)
	}
	return nil
}

// Chain is the certificate of a key for PDFs, and what its PEM has behind it.
func (k Key) Chain() ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	rest := []byte(k.Certificate)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		chain = append(chain, c)
	}
	if len(chain) == 0 {
		return nil, fmt.Errorf("certificate: the text contains none in PEM")
	}
	return chain, nil
}

// Of returns the keys of a use.
func (keys Keys) Of(use Use) []Key {
	var of []Key
	for _, k := range keys.Keys {
		if k.Use == use {
			of = append(of, k)
		}
	}
	return of
}

// Origin is the name of a log of an installation, for all times.
func Origin(installation, log string) string { return "muster/" + installation + "/" + log }

// LogKey is the key that signs the checkpoints of a log.
func LogKey(origin string, public ed25519.PublicKey, from time.Time) (Key, error) {
	verifier, err := note.NewEd25519VerifierKey(origin, public)
	if err != nil {
		return Key{}, fmt.Errorf("name the key of %s: %w", origin, err)
	}
	parts := strings.SplitN(verifier, "+", 3)
	log := origin[strings.LastIndex(origin, "/")+1:]
	spki, err := x509.MarshalPKIXPublicKey(public)
	return Key{ID: parts[1] + "-" + log, Algorithm: Ed25519, Use: UseLog, PublicKey: spki, VerifierKey: verifier, ValidFrom: from}, err
}

// ReportKey is the key that signs attestations.
func ReportKey(public ed25519.PublicKey, from time.Time) (Key, error) {
	spki, err := x509.MarshalPKIXPublicKey(public)
	return Key{ID: keyID(spki), Algorithm: Ed25519, Use: UseReport, PublicKey: spki, ValidFrom: from}, err
}

// PDFKey is the key behind the signature in PDFs; the signer's certificate comes first.
func PDFKey(chain []*x509.Certificate, from time.Time) Key {
	var text strings.Builder
	for _, c := range chain {
		_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // a Builder takes all
	}
	algorithm := chain[0].PublicKeyAlgorithm.String()
	if ec, ok := chain[0].PublicKey.(*ecdsa.PublicKey); ok {
		algorithm = "ECDSA-" + strings.ReplaceAll(ec.Params().Name, "-", "")
	}
	spki := chain[0].RawSubjectPublicKeyInfo
	return Key{ID: keyID(spki), Algorithm: algorithm, Use: UsePDF, PublicKey: spki, Certificate: text.String(), ValidFrom: from}
}

func keyID(spki []byte) string {
	sum := sha256.Sum256(spki)
	return hex.EncodeToString(sum[:8])
}

// Origin is the log that a key of UseLog signs.
func (k Key) Origin() string {
	name, _, _ := strings.Cut(k.VerifierKey, "+")
	return name
}
