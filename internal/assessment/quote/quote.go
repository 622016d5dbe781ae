package quote

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Literal quotes a string for use in a statement, also in one that people read and copy:
// invisible characters are written by their code point. It needs standard_conforming_strings,
// which is the default and set on every session.
func Literal(s string) string { return quoted(s, '\'') }

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// Identifier quotes a name if needed, as quote_ident does, and writes invisible characters by
// their code point, as Literal does.
func Identifier(s string) string {
	if plainName.MatchString(s) && !keywords[s] {
		return s
	}
	return quoted(s, '"')
}

// hidden says whether the letter of s at a place is written by its number. A space at
// an end or beside another is lost where a line is broken, and what is no Latin letter
// may look like one.
func hidden(s string, at int, r rune) bool {
	switch {
	case r == ' ':
		return at == 0 || at == len(s)-1 || s[at-1] == ' '
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7F
	default:
		return !unicode.In(r, unicode.Latin) || !unicode.IsLetter(r)
	}
}

// quoted puts s between quotes.
func quoted(s string, quote rune) string {
	escaped := false
	for at, r := range s {
		escaped = escaped || hidden(s, at, r)
	}
	var out strings.Builder
	if escaped {
		out.WriteString("U&")
	}
	out.WriteRune(quote)
	for at, r := range s {
		switch {
		case hidden(s, at, r) && r > 0xFFFF:
			fmt.Fprintf(&out, `\+%06X`, r)
		case hidden(s, at, r):
			fmt.Fprintf(&out, `\%04X`, r)
		case r == quote, r == '\\' && escaped:
			out.WriteRune(r)
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteRune(quote)
	return out.String()
}

// keywords are what pg_get_keywords() lists from version 13 to 18, but for those
// that are unreserved: quote_ident quotes them.
var keywords = func() map[string]bool {
	words := make(map[string]bool)
	for word := range strings.FieldsSeq(`
		all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both
		case cast char character check coalesce collate collation column concurrently constraint create cross
		current_catalog current_date current_role current_schema current_time current_timestamp current_user
		dec decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign
		freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect
		interval into is isnull join json json_array json_arrayagg json_exists json_object json_objectagg json_query
		json_scalar json_serialize json_table json_value lateral leading least left like limit localtime
		localtimestamp merge_action national natural nchar none normalize not notnull null nullif numeric offset on
		only or order out outer overlaps overlay placing position precision primary real references returning right
		row select session_user setof similar smallint some substring symmetric system_user table tablesample then
		time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when
		where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi
		xmlroot xmlserialize xmltable`) {
		words[word] = true
	}
	return words
}()
