package quote

// Dialect is how an engine writes names and strings. ok is false for what it has no
// way to write so that a person sees what it is.
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
