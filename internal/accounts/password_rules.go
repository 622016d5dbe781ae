package accounts

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Bounds of a password in characters. The upper one keeps a hash from being
// asked of a novel.
const (
	MinPassword = 12
	MaxPassword = 128
)

// What has to be guessed of a password: a character that is part of nothing is
// one, a well-known word two, a word that anybody who knows the account would
// try is one. What costs less than eight is tried first by everybody.
const (
	characterCost = 1
	wordCost      = 2
	contextCost   = 1
	minCost       = 8

	shortestWord = 3
	longestWord  = 32
)

// commonWords are passwords and the words they are made of, one a line, lower
// case: what stands on top of every published list, which are long lists of few
// words with digits behind them.
//
//go:embed common_passwords.txt
var commonWords string

// contextWords are tried on any installation of ours (docs/security.md lists
// them). The account's own address and name and its organization's name join them.
var contextWords = []string{"muster", "report", "scorecard", "inventory", "database", "instance", "monitoring", "dba", "auditor"}

// walks are read off keyboards and alphabets, in both directions.
var walks = []string{
	"1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm", "wxcvbn",
	"abcdefghijklmnopqrstuvwxyz", "йцукенгшщзхъ", "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p", "qazwsxedcrfvtgbyhnujmikolp",
	"1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "a1b2c3d4e5f6g7h8i9j0", "1a2b3c4d5e6f7g8h9i0j",
}

// disguises are the letters that people write differently and call it a secret.
var disguises = map[rune]rune{'0': 'o', '1': 'i', '!': 'i', '3': 'e', '4': 'a', '@': 'a', '5': 's', '$': 's', '7': 't'}

var dictionary = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.Lines(commonWords) {
		words[strings.TrimSuffix(word, "\n")] = true
	}
	return words
})

// CheckPassword refuses a password that is too short, too long, or made of what
// everybody tries first. There is no rule about kinds of characters. about is
// what anybody who knows the account would try: its address and name, the name of
// its organization. Errors: *Refusal weak_password.
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
	case distinct(lower) < 5 || guesses(lower, about) < minCost:
		return weak("the password is one that everybody tries first; add words that nobody expects")
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

// guesses is what the cheapest way to put the password together costs.
func guesses(lower string, about []string) int {
	letters := []rune(lower)
	if once, repeated := repetition(letters); repeated {
		return guesses(string(once), about) + characterCost
	}
	context := contextOf(about)
	cost := make([]int, len(letters)+1) // of the first so many letters
	for end := 1; end <= len(letters); end++ {
		cost[end] = cost[end-1] + characterCost
		for start := max(0, end-longestWord); start <= end-shortestWord; start++ {
			if part := pieceCost(letters[start:end], context); part > 0 {
				cost[end] = min(cost[end], cost[start]+part)
			}
		}
	}
	return cost[len(letters)]
}

// pieceCost is what a word, a year or a walk costs, and 0 of anything else.
func pieceCost(letters []rune, context map[string]bool) int {
	piece, undisguised := string(letters), undisguise(letters)
	words := dictionary()
	switch {
	case context[piece] || context[undisguised]:
		return contextCost
	case words[piece] || words[undisguised], isWalk(piece), isYear(piece), distinct(piece) == 1:
		return wordCost
	}
	return 0
}

func isWalk(piece string) bool {
	letters := []rune(piece)
	slices.Reverse(letters)
	backwards := string(letters)
	return slices.ContainsFunc(walks, func(w string) bool { return strings.Contains(w, piece) || strings.Contains(w, backwards) })
}

func isYear(piece string) bool {
	return len(piece) == 4 && piece >= "1900" && piece <= "2099" && !strings.ContainsFunc(piece, func(r rune) bool { return r < '0' || r > '9' })
}

func undisguise(letters []rune) string {
	plain := slices.Clone(letters)
	for i, r := range plain {
		if p, ok := disguises[r]; ok {
			plain[i] = p
		}
	}
	return string(plain)
}

// repetition returns what letters repeat from beginning to end.
func repetition(letters []rune) (once []rune, ok bool) {
	for size := 1; size <= len(letters)/2; size++ {
		if len(letters)%size == 0 && slices.Equal(letters[size:], letters[:len(letters)-size]) {
			return letters[:size], true
		}
	}
	return nil, false
}

// contextOf takes the words out of what is known of the account.
func contextOf(about []string) map[string]bool {
	words := map[string]bool{}
	for _, word := range contextWords {
		words[word] = true
	}
	for _, text := range about {
		for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if utf8.RuneCountInString(word) >= shortestWord {
				words[word] = true
			}
		}
	}
	return words
}
