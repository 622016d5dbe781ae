package channel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unmentioned parts @ from its neighbors by spaces that nobody sees: a chat notifies everybody
// of @channel, @all, @here and @everyone, wherever they stand, and links mail addresses.
func Unmentioned(text string) string { return ats.Replace(text) }

var ats = strings.NewReplacer("@", "\u200b@\u200b", "＠", "\u200b＠\u200b")

// Unlinked keeps a chat from making a link of an address by its looks. It puts a space that
// nobody sees into "//", and behind a dot before a letter, as in a host's name or "www.". An
// alert's title is the label of a link to Muster, so that few copy names from it.
func Unlinked(text string) string {
	var out strings.Builder
	var before rune
	for i, r := range text {
		out.WriteRune(r)
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		if r == '/' && next == '/' || r == '.' && before > ' ' && unicode.IsLetter(next) {
			out.WriteRune('\u200b')
		}
		before = r
	}
	return out.String()
}
