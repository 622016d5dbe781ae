package oracle

import (
	"regexp"
	"strings"

	"muster/internal/assessment/quote"
	"muster/internal/engine/trait"
)

var checks = trait.Checks{
	ID: regexp.MustCompile(`^OR-[0-9]{2}$`), Form: "OR-00",
	Fed:        true,
	Right:      right,
	WeakSignIn: []string{"OR-01", "OR-10", "OR-13"},
	Outdated:   "OR-14",
	Backup:     "OR-15",
	Alerts:     []trait.AlertCheck{{Check: "OR-15", Words: []string{"rman backup"}}},
	// Oracle has no way at all to write a quotation mark inside a name.
	Quote: quote.Dialect{
		Identifier: func(s string) (string, bool) { return `"` + s + `"`, quote.Plain(s, 128) && !strings.Contains(s, `"`) },
		Literal: func(s string) (string, bool) {
			return "'" + strings.ReplaceAll(s, "'", "''") + "'", quote.Plain(s, 4000)
		},
	},
}

// right is what lets an account read a view or a parameter.
func right(kind, name string) string {
	switch kind {
	case trait.ReadView:
		return "SELECT on " + View(name)
	case trait.ReadParameter:
		return "SELECT on " + View("V$PARAMETER")
	}
	return "" // an option of another engine
}

// View is the object behind the public synonym of a view: GRANT takes no synonym
// of a fixed view.
func View(name string) string {
	if rest, ok := strings.CutPrefix(name, "V$"); ok {
		return "SYS.V_$" + rest
	}
	if strings.Contains(name, ".") {
		return name
	}
	return "SYS." + name
}
