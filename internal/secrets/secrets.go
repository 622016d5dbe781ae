package secrets

import "crypto/ed25519"

// Key is the installation's secret key: it encrypts connection strings and
// signs log heads. Its fingerprint identifies it without giving it away.
type Key struct {
	// unexported: 32 bytes
	secret [32]byte
}

// LoadOrCreate reads the key file, or makes one (0600) where none exists.
func LoadOrCreate(path string) (*Key, error) { panic("not yet") }

// Fingerprint is 16 hex characters of SHA-256 over a derived value.
func (k *Key) Fingerprint() string { panic("not yet") }

// Seal encrypts plaintext with AES-256-GCM; context is authenticated with it. The ciphertext names its key.
func (k *Key) Seal(plaintext, context []byte) ([]byte, error) { panic("not yet") }

// Open reverses Seal.
func (k *Key) Open(sealed, context []byte) ([]byte, error) { panic("not yet") }

// Signer returns the Ed25519 key that signs log heads.
func (k *Key) Signer() ed25519.PrivateKey { panic("not yet") }
