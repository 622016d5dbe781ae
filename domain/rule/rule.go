package rule

import "strings"

// Broken is one rule that a request breaks, with the place that breaks it.
type Broken struct {
	Pointer string // JSON pointer fragment into the request body, "#/scope/to"
	Code    string // contract §1.6
	Detail  string // the part of the sentence after the place: "must lie before to"
	Params  map[string]any
	Whole   string // code of the whole answer where this rule is the first; empty: Code
}

var escapes = strings.NewReplacer("~", "~0", "/", "~1")

// Escape is a name as part of a pointer (RFC 6901).
func Escape(name string) string { return escapes.Replace(name) }

// Set is the rules that one request breaks.
type Set []Broken

// Add adds a broken rule without Params.
func (s *Set) Add(pointer, code, detail string) {
	*s = append(*s, Broken{Pointer: pointer, Code: code, Detail: detail})
}
