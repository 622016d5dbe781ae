package documented

import (
	"fmt"
	"strings"

	"muster/domain/fleet"
)

// otherCase finds names of SQL Server that a server or a database with a case-sensitive collation does not know: its
// own views and columns are in small letters, and an alias is spelled as where it is given. Keywords and functions have
// no case.
func (v *Views) otherCase(tokens []token) (faults []*fault) {
	if v.engine != fleet.SQLServer {
		return nil
	}
	around := func(i int) token {
		if i < 0 || i >= len(tokens) {
			return token{}
		}
		return tokens[i]
	}
	names := make(map[string]bool) // in small letters
	for i, t := range tokens {
		if qualified := around(i-1).is(".") || around(i+1).is("."); t.kind == word && qualified {
			names[t.text] = true
		}
	}
	for i, t := range tokens {
		keyword := around(i+1).is("(", "between", "unbounded", "fetch", "only") // of a function, a window or a page
		if t.kind == word && t.raw != t.text && (names[t.text] || v.isColumn(t.text)) && !keyword {
			faults = append(faults, &fault{line: t.line, text: fmt.Sprintf("%s is not written in small letters, as a case-sensitive collation has it", t.raw)})
		}
		if t.kind == parameter && t.raw != strings.ToLower(t.raw) && !strings.HasPrefix(t.raw, "@@") {
			faults = append(faults, &fault{line: t.line, text: t.raw + " is not written in small letters"})
		}
	}
	return faults
}

// isColumn says whether any documented view has a column of that name.
func (v *Views) isColumn(name string) bool {
	for _, one := range v.views {
		if _, ok := one.columns[name]; ok {
			return true
		}
	}
	return false
}
