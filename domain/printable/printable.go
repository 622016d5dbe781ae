package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule completes "<field> …" where a text is no Name.
const Rule = "must not contain line breaks, control characters or characters that change the direction of text"

// Name reports whether a text can be a name: it is UTF-8 and holds nothing that ends a
// line, moves a cursor or turns the order of what follows it.
func Name(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, misleading)
}

// TextRule completes "<field> …" for a text of several lines that is not valid.
const TextRule = "must not contain control characters other than line feeds and tabs, or characters that change the direction of text"

// IsText reports whether a text of several lines can be kept as it is: it is as Text
// prints it.
func IsText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, misleadingInText)
}

// Clean is a name as it may be printed, in one line.
func Clean(s string) string {
	if Name(s) {
		return s
	}
	return strings.Map(func(r rune) rune { return shown(r, misleading(r)) }, s)
}

// Cut is a text of at most so many characters; the last of one that is cut is an ellipsis.
func Cut(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// Text is a text of several lines as it may be printed: line feeds and tabs are its own.
func Text(s string) string {
	return strings.Map(func(r rune) rune { return shown(r, misleadingInText(r)) }, s)
}

func misleadingInText(r rune) bool { return r != '\n' && r != '\t' && misleading(r) }

func shown(r rune, hide bool) rune {
	if hide {
		return utf8.RuneError
	}
	return r
}

// misleading runes are controls (C0, DEL, C1), those of writing in two directions, and
// the separators that some programs take for the end of a line.
func misleading(r rune) bool {
	if ' ' <= r && r <= '~' { // nearly all
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
