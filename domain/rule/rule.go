package rule

// Broken is one rule that a request breaks, with the place that breaks it.
type Broken struct {
	Pointer string // JSON pointer fragment into the request body, "#/scope/to"
	Code    string // contract §1.6
	Detail  string // what the place does not do: "must lie before to"
	Params  map[string]any
	Whole   string // code of the whole answer where this rule is the first; empty: Code
}

// Set is the rules that one request breaks.
type Set []Broken

// Add adds one that needs no Params.
func (s *Set) Add(pointer, code, detail string) {
	*s = append(*s, Broken{Pointer: pointer, Code: code, Detail: detail})
}
