package records

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jedisct1/go-minisign"
)

// ErrForged says that a file does not match its digest or signature.
var ErrForged = errors.New("the file is not what it is said to be")

var digestForm = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

// Digest is the SHA-256 of a file in lower-case hex.
func Digest(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// CheckDigest holds a file against a digest in hex. errors.Is target: ErrForged.
func CheckDigest(file []byte, want string) error {
	if !digestForm.MatchString(want) {
		return fmt.Errorf("%q is no SHA-256 digest: it has 64 hexadecimal digits", want)
	}
	if got := Digest(file); !strings.EqualFold(got, want) {
		return fmt.Errorf("%w: its SHA-256 is %s, and %s was expected", ErrForged, got, strings.ToLower(want))
	}
	return nil
}

// DigestIn finds the digest of a file in what sha256sum has written: "HEX  NAME" a line,
// or a digest alone.
func DigestIn(text, name string) (string, error) {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		digest, of, _ := strings.Cut(line, " ")
		of = strings.TrimPrefix(strings.TrimSpace(of), "*")
		if digestForm.MatchString(digest) && (of == "" && len(lines) == 1 || filepath.Base(of) == filepath.Base(name)) {
			return digest, nil
		}
	}
	return "", fmt.Errorf("it has no digest of %s in the form of sha256sum", filepath.Base(name))
}

// ParseKey reads a public key of minisign: its line in base64.
func ParseKey(text string) (minisign.PublicKey, error) {
	key, err := minisign.NewPublicKey(strings.TrimSpace(text))
	if err != nil || key.SignatureAlgorithm != [2]byte{'E', 'd'} {
		return key, errors.New("it is no public key of minisign, the line that begins with RW")
	}
	return key, nil
}

// CheckSignature holds a file against a signature of minisign, and returns the comment
// that was signed with it. errors.Is target: ErrForged.
func CheckSignature(file []byte, signature string, key minisign.PublicKey) (comment string, err error) {
	s, err := minisign.DecodeSignature(strings.TrimSpace(signature) + "\n")
	if err != nil {
		return "", fmt.Errorf("the signature cannot be read: %w", err)
	}
	if s.KeyId != key.KeyId {
		return "", fmt.Errorf("%w: it was signed with the key %X, and the key that is set is %X", ErrForged, reversed(s.KeyId), reversed(key.KeyId))
	}
	if ok, err := key.Verify(file, s); err != nil || !ok {
		return "", fmt.Errorf("%w: its signature does not fit", ErrForged)
	}
	return strings.TrimPrefix(s.TrustedComment, "trusted comment: "), nil
}

// reversed is a key's id as minisign prints it.
func reversed(id [8]byte) []byte {
	out := make([]byte, len(id))
	for i, b := range id {
		out[len(id)-1-i] = b
	}
	return out
}
