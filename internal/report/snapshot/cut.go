package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode/utf8"

	"muster/domain/printable"
)

// Characters is how many of a name or of evidence are kept.
const Characters = 200

// Cut shortens a text.
func Cut(text string) string { return printable.Cut(text, Characters) }

// CutName shortens an object's name so that two which differ stay different:
// exceptions are about names.
func CutName(name string) string {
	runes := []rune(name)
	if len(runes) <= Characters {
		return name
	}
	digest := sha256.Sum256([]byte(name))
	end := "… #" + hex.EncodeToString(digest[:4])
	return string(runes[:Characters-utf8.RuneCountInString(end)]) + end
}

var cutName = regexp.MustCompile(`… #[0-9a-f]{8}$`)

// IsCut says whether CutName has shortened a name.
func IsCut(name string) bool { return cutName.MatchString(name) }

// IsWhole says whether a name is there, as it is and to its end: a statement about
// half of one would be about another object, or about none.
func IsWhole(name string) bool {
	return name != "" && !IsCut(name) && !strings.ContainsRune(name, utf8.RuneError)
}
