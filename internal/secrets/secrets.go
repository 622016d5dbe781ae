package secrets

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
)

// Key is one secret key: it encrypts connection strings and signs log heads. Its
// fingerprint identifies it without giving it away.
// However it is printed, only the fingerprint shows.
type Key struct {
	secret [32]byte
}

// Purposes of derived keys. Changing one makes everything done under it unreadable.
const (
	purposeEncryption  = "muster encryption v1"
	purposeSigning     = "muster signing v1"
	purposeFingerprint = "muster fingerprint v1"
	purposeReport      = "muster report v1"
	purposePDF         = "muster pdf v1"
	purposeMarks       = "muster marks v1"
)

func (k *Key) derive(purpose string) []byte {
	derived, err := hkdf.Expand(sha256.New, k.secret[:], purpose, 32)
	if err != nil {
		panic(err) // only for more than 255 hashes of output, and 32 bytes are one
	}
	return derived
}

// Fingerprint is 16 hex characters of SHA-256 over a derived value.
func (k *Key) Fingerprint() string { return hex.EncodeToString(k.fingerprint()) }

func (k *Key) fingerprint() []byte {
	sum := sha256.Sum256(k.derive(purposeFingerprint))
	return sum[:8]
}

// Signer returns the Ed25519 key that signs log heads and checkpoints.
func (k *Key) Signer() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(k.derive(purposeSigning))
}

// PublicKey checks what Signer signed.
func (k *Key) PublicKey() ed25519.PublicKey {
	public, _ := k.Signer().Public().(ed25519.PublicKey)
	return public
}

// ReportSigner returns the Ed25519 key that signs what a report says.
func (k *Key) ReportSigner() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(k.derive(purposeReport))
}

// What is sealed: a format byte, the key's fingerprint, a random nonce, and the
// ciphertext with its tag. Format and fingerprint are authenticated too; their fixed
// length keeps them and the context apart.
const (
	formatAESGCM = 1
	headerSize   = 1 + 8
)

// WrongKeyError says that something was sealed under a key that is not there.
type WrongKeyError struct {
	Sealed string   // fingerprint
	Have   []string // fingerprints
	Path   string   // the key file; empty for a lone Key
}

func (e *WrongKeyError) Error() string {
	return fmt.Sprintf("sealed under key %s, and %s holds %s: where the keys were rotated, copy the installation's key file here "+
		"(docs/runbooks/rotate-keys.md); else use the one this was sealed with",
		e.Sealed, cmp.Or(e.Path, "the key file"), strings.Join(e.Have, ", "))
}

// DamagedError says that something was not sealed by this key as it is now, or
// not for this context.
type DamagedError struct {
	Reason string
}

func (e *DamagedError) Error() string { return "cannot be unsealed: " + e.Reason }

// Seal encrypts plaintext with AES-256-GCM; context is authenticated with it, so
// that what was sealed for one row cannot be read as another's. The ciphertext
// names its key.
//
// Nonces are random: up to 2³² seals under one key are safe (NIST SP 800-38D, 8.3).
func (k *Key) Seal(plaintext, context []byte) ([]byte, error) {
	gcm, err := k.aead()
	if err != nil {
		return nil, err
	}
	header := append([]byte{formatAESGCM}, k.fingerprint()...)
	return gcm.Seal(header, nil, plaintext, slices.Concat(header, context)), nil
}

// Open reverses Seal. It returns *WrongKeyError or *DamagedError.
func (k *Key) Open(sealed, context []byte) ([]byte, error) {
	gcm, err := k.aead()
	if err != nil {
		return nil, err
	}
	if len(sealed) < headerSize+gcm.Overhead() {
		return nil, &DamagedError{Reason: fmt.Sprintf("%d bytes are too few", len(sealed))}
	}
	header, ciphertext := sealed[:headerSize], sealed[headerSize:]
	if header[0] != formatAESGCM {
		return nil, &DamagedError{Reason: fmt.Sprintf("unknown format %d", header[0])}
	}
	if !bytes.Equal(header[1:], k.fingerprint()) {
		return nil, &WrongKeyError{Sealed: hex.EncodeToString(header[1:]), Have: []string{k.Fingerprint()}}
	}
	plaintext, err := gcm.Open(nil, nil, ciphertext, slices.Concat(header, context))
	if err != nil {
		return nil, &DamagedError{Reason: "changed since, or sealed for something else"}
	}
	return plaintext, nil
}

// aead puts a random nonce in front of the ciphertext.
func (k *Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.derive(purposeEncryption))
	if err != nil {
		return nil, fmt.Errorf("set up AES: %w", err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("set up GCM: %w", err)
	}
	return gcm, nil
}

// Format prints the fingerprint for every verb, %x and %#v included.
func (k *Key) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, "key "+k.Fingerprint())
}

// LogValue logs the fingerprint.
func (k *Key) LogValue() slog.Value { return slog.StringValue("key " + k.Fingerprint()) }

// Ring is the secret keys of one file, the current one first. The file is read again when it
// has changed; if it cannot be used at that moment, the ring stays as it was.
type Ring struct {
	path string

	mu   sync.Mutex
	seen fs.FileInfo // of the file that keys were read from
	keys []*Key

	begun begun // the latest note of where marks began that this process has read
}

// Path is the file of the ring.
func (r *Ring) Path() string { return r.path }

// Keys returns all keys, the current one first.
func (r *Ring) Keys() []*Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	if info, err := os.Stat(r.path); err == nil && !unchanged(info, r.seen) {
		if read, err := Load(r.path); err == nil {
			r.seen, r.keys = read.seen, read.keys
		}
	}
	return r.keys
}

// unchanged trusts the inode first: a rotation renames a new file into place.
func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Current is the key that seals and signs from now on.
func (r *Ring) Current() *Key { return r.Keys()[0] }

// Fingerprint is that of the current key.
func (r *Ring) Fingerprint() string { return r.Current().Fingerprint() }

// Signer signs log heads with the current key.
func (r *Ring) Signer() ed25519.PrivateKey { return r.Current().Signer() }

// Signers are those of all keys, the current one first: data that is kept for long is signed by
// each, so a person who trusts only an old key can continue from it.
func (r *Ring) Signers() []ed25519.PrivateKey {
	var all []ed25519.PrivateKey
	for _, k := range r.Keys() {
		all = append(all, k.Signer())
	}
	return all
}

// ReportSigner signs what reports say with the current key.
func (r *Ring) ReportSigner() ed25519.PrivateKey { return r.Current().ReportSigner() }

// Seal encrypts under the current key; see Key.Seal.
func (r *Ring) Seal(plaintext, context []byte) ([]byte, error) {
	return r.Current().Seal(plaintext, context)
}

// Open decrypts under the key that the ciphertext names. It returns
// *WrongKeyError or *DamagedError.
func (r *Ring) Open(sealed, context []byte) ([]byte, error) {
	keys := r.Keys()
	for _, k := range keys {
		if k.Fingerprint() == r.SealedUnder(sealed) {
			return k.Open(sealed, context)
		}
	}
	opened, err := keys[0].Open(sealed, context)
	if wrong, ok := err.(*WrongKeyError); ok { //nolint:errorlint // Key.Open's own, not wrapped
		wrong.Have, wrong.Path = fingerprints(keys), r.path
	}
	return opened, err
}

// SealedUnder is the fingerprint of the key under which data says it was sealed; empty if it
// says none.
func (*Ring) SealedUnder(sealed []byte) string {
	if len(sealed) < headerSize || sealed[0] != formatAESGCM {
		return ""
	}
	return hex.EncodeToString(sealed[1:headerSize])
}

// String lists the fingerprints, the current one first.
func (r *Ring) String() string { return strings.Join(fingerprints(r.Keys()), ", ") }

func fingerprints(keys []*Key) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.Fingerprint()
	}
	return list
}

// Format prints the fingerprints for every verb, %x and %#v included.
func (r *Ring) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, "keys "+r.String())
}

// LogValue logs the fingerprints.
func (r *Ring) LogValue() slog.Value { return slog.StringValue("keys " + r.String()) }
