package grants

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

// Script has the grants that are not declined, those that are needed as statements, the
// others as comments; where names the server to run it on. It is empty where nothing can
// be granted.
func Script(engine fleet.Engine, where string, all []Advice) string {
	var needed, optional []Advice
	for _, a := range all {
		switch {
		case a.Declined || a.Statement == "":
		case a.Needed:
			needed = append(needed, a)
		default:
			optional = append(optional, a)
		}
	}
	if len(needed)+len(optional) == 0 {
		return ""
	}
	var b strings.Builder
	of := grantsOf(engine)
	runner := cmp.Or(of.Runner, "as an administrator")
	fmt.Fprintf(&b, "-- Grants for Muster. Run this on %s %s.\n", comment(where), runner)
	b.WriteString("\n-- Needed.\n")
	if len(needed) == 0 {
		b.WriteString("-- Nothing is missing.\n")
	}
	section(&b, of, needed, "")
	if len(optional) > 0 {
		b.WriteString("\n-- Optional. Each lets Muster's account read what is named. Take the -- away where you want to grant it.\n")
		section(&b, of, optional, "-- ")
	}
	return b.String()
}

// section writes grants, those of a database together, behind what leads there. Statements
// that can be run anywhere come first.
func section(b *strings.Builder, of trait.Grants, all []Advice, prefix string) {
	var statements []string
	in := map[string][]Advice{} // by database, of which there may be thousands
	for _, a := range all {
		in[a.Database] = append(in[a.Database], a)
		statements = append(statements, a.Statement)
	}
	for _, place := range slices.Sorted(maps.Keys(in)) {
		if place != "" {
			lead, ok := leadTo(of, place, statements)
			if !ok {
				fmt.Fprintf(b, "-- Database %s has a name that no script can connect to.\n", comment(place))
				continue
			}
			b.WriteString(lines(lead, prefix))
		}
		told, written := "", map[string]bool{}
		for _, a := range in[place] {
			statement := a.Statement
			if of.Uses != nil {
				statement = of.Uses.ReplaceAllString(statement, "")
			}
			statement = ended(statement)
			if written[statement] {
				continue
			}
			written[statement] = true
			if says := "-- " + comment(a.Subject) + " reveals " + a.Reveals + "."; prefix != "" && a.Reveals != "" && told != says {
				b.WriteString(says + "\n")
				told = says
			}
			b.WriteString(lines(statement, prefix))
		}
	}
}

// leadTo is what brings a script into a database.
func leadTo(of trait.Grants, database string, statements []string) (string, bool) {
	if strings.ContainsAny(database, "\r\n\x00") {
		return "", false
	}
	if of.Lead == nil {
		return "-- In " + comment(database) + ":", true
	}
	return of.Lead(database, statements), true
}

// lines are a text with each line behind a prefix; comments stay as they are.
func lines(text, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "-- ") {
			b.WriteString(prefix)
		}
		b.WriteString(strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// ended closes a statement; a comment, where no statement would do, stays as it is.
func ended(statement string) string {
	if strings.HasPrefix(statement, "--") {
		return statement
	}
	return strings.TrimSuffix(statement, ";") + ";"
}

// comment is a name as a comment of one line can hold it.
func comment(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
}
