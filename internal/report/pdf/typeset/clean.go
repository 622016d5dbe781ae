package typeset

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns s as it can be printed on one line: every rune has a glyph, and
// what has none, or would hide or reorder its neighbours, is shown by its
// number.
func (f *Fonts) Clean(s string) string { return f.clean(s, false) }

// CleanLines is Clean for prose and statements: line breaks stay, a tab becomes
// two spaces.
func (f *Fonts) CleanLines(s string) string { return f.clean(s, true) }

func (f *Fonts) clean(s string, lines bool) string {
	if isPlain(s) {
		return s
	}
	if strings.ContainsFunc(s, isArabic) && utf8.ValidString(s) {
		s = string(f.join([]rune(s)))
	}
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, "‹0x%02X›", s[0])
		case lines && r == '\r' && strings.HasPrefix(s[1:], "\n"):
			// The line feed after it does the work.
		case lines && (r == '\n' || r == '\r'):
			out.WriteByte('\n')
		case lines && r == '\t':
			out.WriteString("  ")
		case hidden(r) || !f.printable(r):
			fmt.Fprintf(&out, "‹U+%04X›", r)
		default:
			out.WriteRune(r)
		}
		s = s[size:]
	}
	return out.String()
}

func isArabic(r rune) bool { return r >= 0x0600 && unicode.Is(unicode.Arabic, r) }

// isPlain says whether s is printable ASCII, which nearly every string is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden runes print nothing or change how others print. Two names that differ
// only in one of them must not look alike in a report.
func hidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Co, unicode.Cs):
		return true
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
		return true
	default:
		// U+034F, U+115F, U+1160, U+3164, U+FFA0: blank without being spaces.
		return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	}
}

// visual puts runs of right-to-left letters in the order in which they are
// seen, since gofpdf prints runes from left to right as they come. A run
// includes the spaces and marks between two such letters; digits and Latin
// letters end it.
func visual(s string) string {
	if isPlain(s) || !strings.ContainsFunc(s, rightToLeft) {
		return s
	}
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		if !rightToLeft(runes[i]) {
			continue
		}
		end := i + 1
		for j := i + 1; j < len(runes); j++ {
			if rightToLeft(runes[j]) || unicode.Is(unicode.Mn, runes[j]) && end == j {
				end = j + 1
			} else if runes[j] != ' ' && !unicode.IsPunct(runes[j]) {
				break
			}
		}
		reverse(runes[i:end])
		i = end - 1
	}
	return string(runes)
}

// reverse turns a run around, keeping marks behind the letter they belong to.
func reverse(run []rune) {
	out := make([]rune, 0, len(run))
	for end := len(run); end > 0; {
		start := end - 1
		for start > 0 && unicode.Is(unicode.Mn, run[start]) {
			start--
		}
		out = append(out, run[start:end]...)
		end = start
	}
	copy(run, out)
}

func rightToLeft(r rune) bool {
	return r >= 0x0590 && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) && unicode.IsLetter(r)
}
