package status

import (
	"regexp"
	"strings"
)

// Said is what the server itself said, in its words and with its code.
type Said struct {
	Code, Words string
	Last        bool // before the connection was lost; else it is what the server answers now
}

const lastWords = " Its last words: "

// WithLastWords is a sentence about a server that cannot be reached, with what the server said
// before the connection was lost. Said takes it apart again: a sentence is what agents send
// and what is kept.
func WithLastWords(sentence, code, words string) string {
	return sentence + lastWords + code + " " + words + "."
}

// answered is what package servers says of a PostgreSQL server that refuses a connection.
var answered = regexp.MustCompile(`^(.* refuses connections): (.+) \(([0-9A-Z]{5})\)\.$`)

// Said tells what Muster saw apart from what the server said; nil where the server said nothing.
func (r Reason) Said() (seen string, said *Said) {
	if before, after, ok := strings.Cut(r.Sentence, lastWords); ok {
		code, words, _ := strings.Cut(strings.TrimSuffix(after, "."), " ")
		return before, &Said{Code: code, Words: words, Last: true}
	}
	if m := answered.FindStringSubmatch(r.Sentence); m != nil {
		return m[1] + ".", &Said{Code: m[3], Words: m[2]}
	}
	return r.Sentence, nil
}
