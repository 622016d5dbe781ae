package sqlserver

import (
	"regexp"
	"strings"

	"muster/internal/assessment/quote"
	"muster/internal/engine/trait"
)

var checks = trait.Checks{
	ID: regexp.MustCompile(`^MS-[0-9]{2}$`), Form: "MS-00",
	Fed:   true,
	Azure: true,
	Quote: quote.Dialect{
		Identifier: func(s string) (string, bool) {
			return "[" + strings.ReplaceAll(s, "]", "]]") + "]", quote.Plain(s, 128)
		},
		Literal: func(s string) (string, bool) {
			return "N'" + strings.ReplaceAll(s, "'", "''") + "'", quote.Plain(s, 4000)
		},
	},
}
