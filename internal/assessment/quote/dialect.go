package quote

// Dialect is how an engine writes names and strings. ok is false for a text that it cannot
// write visibly.
type Dialect struct {
	Identifier, Literal func(string) (text string, ok bool)
}

// Plain says whether all of s can be seen, and is no longer than the engine takes.
func Plain(s string, most int) bool {
	for at, r := range s {
		if hidden(s, at, r) {
			return false
		}
	}
	return s != "" && len(s) <= most
}
