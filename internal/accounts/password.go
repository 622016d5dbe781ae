package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ccojocar/zxcvbn-go"
	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"muster/internal/concurrency/supervise"
)

// OWASP's argon2id parameters: 19 MiB, two passes, one lane.
const (
	argonMemory = 19 * 1024
	argonTime   = 2
	argonLanes  = 1
	argonSalt   = 16
	argonKey    = 32
)

// nobody is the hash that is verified if there is no account, so that it takes as long.
const nobody = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// HashPassword checks a new password and returns its PHC string; about is what
// CheckPassword wants to know. It waits for its turn, see hashSlot.
func (s *Store) HashPassword(ctx context.Context, password string, about ...string) (string, error) {
	if err := CheckPassword(password, about...); err != nil {
		return "", err
	}
	release, err := s.hashSlot(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	return hash(password), nil
}

// parameters is the part of a PHC string that says how it was made.
var parameters = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, argonMemory, argonTime, argonLanes)

func hash(password string) string {
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	key := argon2.IDKey(canonical(password), salt, argonTime, argonMemory, argonLanes, argonKey)
	return parameters + base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(key)
}

// outdated says that a hash was made under parameters that are no longer ours.
func outdated(phc string) bool { return !strings.HasPrefix(phc, parameters) }

// canonical is a password as it is hashed: one keyboard sends é as one code
// point, another as two. Nothing else is changed, and nothing is cut off.
func canonical(password string) []byte { return norm.NFC.Bytes([]byte(password)) }

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
	got := argon2.IDKey(canonical(password), salt, uint32(passes), uint32(memory), uint8(lanes), uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1, nil
}

const (
	// maxHashing limits the memory for hashing, 19 MiB each, and the number of guesses in
	// progress when the one that is too many is counted.
	maxHashing = 8
	// maxQueued is how many wait for their turn: some seconds' worth on one core.
	// Who comes later is better told than kept.
	maxQueued  = 256
	queueRetry = 5 * time.Second
)

// hashing lets a few hashes run at once and a bounded number of callers wait.
type hashing struct {
	slots chan struct{}
	queue chan struct{} // those that run and those that wait
}

// newHashing leaves one of several processors to other work: a flood of sign-ins must not slow
// down signed-in members. With both of two processors, it tripled the median of their requests
// (scripts/load.sh).
func newHashing() hashing {
	slots := min(max(1, supervise.Processors()-1), maxHashing)
	return hashing{slots: make(chan struct{}, slots), queue: make(chan struct{}, slots+maxQueued)}
}

// hashSlot waits for the caller's turn to hash. Errors: *Refusal login_throttled
// where too many wait already.
func (s *Store) hashSlot(ctx context.Context) (release func(), err error) {
	select {
	case s.hashing.queue <- struct{}{}:
	default:
		return nil, &Refusal{Code: CodeLoginThrottled, Detail: "too many people are signing in right now; try again", RetryAfter: queueRetry}
	}
	select {
	case s.hashing.slots <- struct{}{}:
		return func() { <-s.hashing.slots; <-s.hashing.queue }, nil
	case <-ctx.Done():
		<-s.hashing.queue
		return nil, ctx.Err()
	}
}

// Bounds of a password in characters. The upper one keeps a hash from being
// asked of a novel.
const (
	MinPassword = 12
	MaxPassword = 128
)

// minStrength is zxcvbn's score, 0 to 4, of what withstands guessing for years
// where guesses are throttled, and for long even where a hash was stolen.
const minStrength = 3

// judged is how much of a password is estimated, in characters: the estimate of 128 of them
// takes a tenth of a second, and a password that is strong after 48 stays strong.
const judged = 48

// contextWords are tried on any installation of ours (docs/security.md lists
// them); behind them is what the estimate's lists of English words and keyboards
// do not have. The account's own address and name and its organization's name
// join them.
var contextWords = []string{
	"muster", "report", "scorecard", "inventory", "database", "instance", "monitoring", "postgres", "dba", "auditor",
	"correct", "horse", "battery", "staple", "passwort",
}

// CheckPassword refuses a password that is too short, too long, or soon guessed:
// by lists of common passwords, names and words, walks over keyboards, years,
// repetitions and disguises (zxcvbn). There is no rule about kinds of characters.
// about is what anybody who knows the account would try: its address and name,
// the name of its organization. Errors: *Refusal weak_password.
func CheckPassword(password string, about ...string) error {
	weak := func(format string, args ...any) error {
		return &Refusal{Code: CodeWeakPassword, Detail: fmt.Sprintf(format, args...)}
	}
	n, lower := utf8.RuneCountInString(password), strings.ToLower(password)
	switch {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return weak("the password is not valid text")
	case n < MinPassword:
		return weak("the password needs at least %d characters", MinPassword)
	case n > MaxPassword:
		return weak("the password may have at most %d characters", MaxPassword)
	case slices.ContainsFunc(about, func(a string) bool {
		return strings.Contains(a, "@") && strings.Contains(lower, strings.ToLower(strings.TrimSpace(a)))
	}):
		return weak("the password must not contain the e-mail address")
	case strength(password, about) < minStrength:
		return weak("the password is easy to guess; add unusual words")
	}
	return nil
}

// strength is zxcvbn's estimate, 0 to 4.
func strength(password string, about []string) int {
	runes := []rune(password)
	return zxcvbn.PasswordStrength(string(runes[:min(len(runes), judged)]), contextOf(about)).Score
}

// contextOf takes the words out of what is known of the account.
func contextOf(about []string) []string {
	words := slices.Clone(contextWords)
	for _, text := range about {
		words = append(words, strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	}
	return words
}
