package quote

import "strings"

// Dialect is how an engine writes names and strings. ok is false for what it has no
// way to write so that a person sees what it is.
type Dialect struct {
	Identifier, Literal func(string) (text string, ok bool)
}

// The dialects of the engines that there are statements for. Only PostgreSQL's can
// write a letter by its number inside a name.
var (
	PostgreSQL = Dialect{
		Identifier: func(s string) (string, bool) { return Identifier(s), true },
		Literal:    func(s string) (string, bool) { return Literal(s), true },
	}
	SQLServer = Dialect{
		Identifier: func(s string) (string, bool) { return "[" + strings.ReplaceAll(s, "]", "]]") + "]", plain(s, 128) },
		Literal:    func(s string) (string, bool) { return "N'" + strings.ReplaceAll(s, "'", "''") + "'", plain(s, 4000) },
	}
	// Oracle has no way at all to write a quotation mark inside a name.
	Oracle = Dialect{
		Identifier: func(s string) (string, bool) { return `"` + s + `"`, plain(s, 128) && !strings.Contains(s, `"`) },
		Literal:    func(s string) (string, bool) { return "'" + strings.ReplaceAll(s, "'", "''") + "'", plain(s, 4000) },
	}
)

// plain says whether all of s can be seen, and is no longer than the engine takes.
func plain(s string, most int) bool {
	for at, r := range s {
		if hidden(s, at, r) {
			return false
		}
	}
	return s != "" && len(s) <= most
}
