package secrets

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"
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
)

func (k *Key) derive(purpose string) []byte {
	derived, err := hkdf.Expand(sha256.New, k.secret[:], purpose, 32)
	if err != nil {
		panic(err) // only for more than 255 hashes of output, and 32 bytes are one
	}
	return derived
}

// Fingerprint is 16 hex characters of SHA-256 over a derived value.
func (k *Key) Fingerprint() string {
	fingerprint := k.fingerprint()
	return hex.EncodeToString(fingerprint[:])
}

func (k *Key) fingerprint() [8]byte {
	sum := sha256.Sum256(k.derive(purposeFingerprint))
	return [8]byte(sum[:8])
}

// Signer returns the Ed25519 key that signs log heads.
func (k *Key) Signer() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(k.derive(purposeSigning))
}

// PublicKey checks what Signer signed.
func (k *Key) PublicKey() ed25519.PublicKey {
	public, _ := k.Signer().Public().(ed25519.PublicKey)
	return public
}

// What is sealed: a format byte, the key's fingerprint, a random nonce, and the
// ciphertext with its tag. Format and fingerprint are authenticated too.
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
	fingerprint := k.fingerprint()
	sealed := make([]byte, 0, headerSize+gcm.NonceSize()+len(plaintext)+gcm.Overhead())
	sealed = append(sealed, formatAESGCM)
	sealed = append(sealed, fingerprint[:]...)
	nonce := make([]byte, gcm.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("draw a nonce: %w", err)
	}
	additional := authenticated(sealed, context)
	sealed = append(sealed, nonce...)
	return gcm.Seal(sealed, nonce, plaintext, additional), nil
}

// Open reverses Seal. It returns *WrongKeyError or *DamagedError.
func (k *Key) Open(sealed, context []byte) ([]byte, error) {
	gcm, err := k.aead()
	if err != nil {
		return nil, err
	}
	if len(sealed) < headerSize+gcm.NonceSize()+gcm.Overhead() {
		return nil, &DamagedError{Reason: fmt.Sprintf("%d bytes are too few", len(sealed))}
	}
	header, rest := sealed[:headerSize], sealed[headerSize:]
	if header[0] != formatAESGCM {
		return nil, &DamagedError{Reason: fmt.Sprintf("unknown format %d", header[0])}
	}
	if fingerprint := k.fingerprint(); [8]byte(header[1:]) != fingerprint {
		return nil, &WrongKeyError{Sealed: hex.EncodeToString(header[1:]), Have: []string{k.Fingerprint()}}
	}
	nonce, ciphertext := rest[:gcm.NonceSize()], rest[gcm.NonceSize():]
	plaintext, err := gcm.Open(nil, nonce, ciphertext, authenticated(header, context))
	if err != nil {
		return nil, &DamagedError{Reason: "changed since, or sealed for something else"}
	}
	return plaintext, nil
}

func (k *Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.derive(purposeEncryption))
	if err != nil {
		return nil, fmt.Errorf("set up AES: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("set up GCM: %w", err)
	}
	return gcm, nil
}

// authenticated is a copy: the header is about to be appended to. Its fixed
// length keeps header and context apart.
func authenticated(header, context []byte) []byte {
	return append(append(make([]byte, 0, len(header)+len(context)), header...), context...)
}

// Format prints the fingerprint for every verb, %x and %#v included.
func (k *Key) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, "key "+k.Fingerprint())
}

// LogValue logs the fingerprint.
func (k *Key) LogValue() slog.Value { return slog.StringValue("key " + k.Fingerprint()) }
