package secrets

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
)

// Ring is the secret keys of one file. The first is the current one: it seals
// and signs. The others only open what was sealed under them.
//
// The file is looked at before each use and read again when it has changed, so
// that a process goes on working while another rotates the keys. A file that
// cannot be used at that moment leaves the ring as it was.
type Ring struct {
	path string

	mu   sync.Mutex
	seen fs.FileInfo // of the file that keys were read from
	keys []*Key
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

// SealedUnder is the fingerprint of the key that something says it was sealed
// under; empty where it says none.
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
