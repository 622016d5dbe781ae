package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// Characters is how many of a name or of evidence are kept.
const Characters = 200

// Cut shortens a text.
func Cut(text string) string { return CutTo(text, Characters) }

// CutTo shortens a text to so many characters.
func CutTo(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

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
