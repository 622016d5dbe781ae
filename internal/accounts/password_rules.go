package accounts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ccojocar/zxcvbn-go"
)

// Bounds of a password in characters. The upper one keeps a hash from being
// asked of a novel.
const (
	MinPassword = 12
	MaxPassword = 128
)

// minStrength is zxcvbn's score, 0 to 4, of what withstands guessing for years
// where guesses are throttled, and for long even where a hash was stolen.
const minStrength = 3

// judged is how much of a password is estimated, in characters: the estimate of
// 128 of them takes a tenth of a second, and what is strong after 48 stays so.
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
		return weak("the password is one that is soon guessed; add words that nobody expects")
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
