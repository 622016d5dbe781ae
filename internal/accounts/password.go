package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Bounds of a password in characters. The upper one keeps a hash from being
// asked of a novel.
const (
	MinPassword = 12
	MaxPassword = 128
)

// OWASP's argon2id parameters: 19 MiB, two passes, one lane.
const (
	argonMemory = 19 * 1024
	argonTime   = 2
	argonLanes  = 1
	argonSalt   = 16
	argonKey    = 32
)

// nobody is verified against where there is no account, so that it takes as long.
const nobody = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// commonPasswords are those of the well-known lists that are long enough to
// pass the length rule, one a line, lower case.
//
//go:embed common_passwords.txt
var commonPasswords string

// CheckPassword refuses a password that is too short, too long, well known, or
// the account's own address. Errors: *Refusal weak_password.
func CheckPassword(password, email string) error {
	weak := func(format string, args ...any) error {
		return &Refusal{Code: CodeWeakPassword, Detail: fmt.Sprintf(format, args...)}
	}
	n := utf8.RuneCountInString(password)
	switch lower := strings.ToLower(password); {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return weak("the password is not valid text")
	case n < MinPassword:
		return weak("the password needs at least %d characters", MinPassword)
	case n > MaxPassword:
		return weak("the password may have at most %d characters", MaxPassword)
	case email != "" && strings.Contains(lower, strings.ToLower(strings.TrimSpace(email))):
		return weak("the password must not contain the e-mail address")
	case distinct(lower) < 5 || strings.Contains("\n"+commonPasswords, "\n"+lower+"\n"):
		return weak("the password is one that everybody tries first")
	}
	return nil
}

func distinct(s string) int {
	seen := make(map[rune]bool)
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}

// HashPassword checks a new password and returns its PHC string. It waits for
// its turn, see maxHashing.
func (s *Store) HashPassword(ctx context.Context, password, email string) (string, error) {
	if err := CheckPassword(password, email); err != nil {
		return "", err
	}
	release, err := s.hashSlot(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonLanes, argonKey)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonLanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

func (s *Store) hashSlot(ctx context.Context) (release func(), err error) {
	select {
	case s.hashing <- struct{}{}:
		return func() { <-s.hashing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// verify reports whether password matches a PHC string; the parameters are the
// string's own, so that hashes made under older ones keep working.
func verify(phc, password string) (bool, error) {
	var version, memory, passes, lanes int
	parts := strings.Split(phc, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("password hash is no argon2id PHC string")
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &passes, &lanes); err != nil || version != argon2.Version {
		return false, fmt.Errorf("password hash has unknown parameters %s %s", parts[2], parts[3])
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("salt of a password hash: %w", err)
	}
	key, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false, fmt.Errorf("key of a password hash: %w", err)
	}
	if utf8.RuneCountInString(password) > MaxPassword {
		password = "" // cannot be right; costs what any other wrong one costs
	}
	got := argon2.IDKey([]byte(password), salt, uint32(passes), uint32(memory), uint8(lanes), uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1, nil
}
