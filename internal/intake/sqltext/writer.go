package sqltext

import "strings"

// MaxBytes is how long a normalized text may be.
const MaxBytes = 8 << 10

// writer gathers the tokens of a normalized text and folds lists of placeholders. A
// text that is too long ends after a whole token.
type writer struct {
	tokens []token
	size   int // in bytes, with the spaces between them
	full   bool
}

func (w *writer) push(t token) {
	if w.full || w.foldsItem(t) || w.foldsRow(t) {
		return
	}
	t.space = len(w.tokens) > 0 && (t.space || touches(w.tokens[len(w.tokens)-1].kind, t.kind))
	if w.full = w.size+t.size() > MaxBytes; w.full {
		return
	}
	w.tokens = append(w.tokens, t)
	w.size += t.size()
}

func (t token) size() int {
	if t.space {
		return len(t.text) + 1
	}
	return len(t.text)
}

// touches reports whether two tokens read badly without a space, as date?.
func touches(a, b kind) bool {
	return a == placeholder && named(b) || named(a) && b == placeholder
}

func named(k kind) bool { return k == word || k == quoted || k == variable }

// foldsItem folds IN (?, ?) and ARRAY[?, ?] to one placeholder: drivers write as many
// as there are values.
func (w *writer) foldsItem(t token) bool {
	n := len(w.tokens)
	if t.kind != placeholder || n < 3 || !w.tokens[n-1].is(",") || w.tokens[n-2].kind != placeholder {
		return false
	}
	if opened := w.tokens[n-3]; !opened.is("[") && (!opened.is("(") || n < 4 || !w.tokens[n-4].isWord("IN")) {
		return false
	}
	w.truncate(n - 1)
	return true
}

// foldsRow folds VALUES (?, ?), (?, ?) to one row. Parentheses after a function's name are no
// row.
func (w *writer) foldsRow(t token) bool {
	if !t.is(")") {
		return false
	}
	row := len(w.tokens) - 1
	for row >= 0 && (w.tokens[row].kind == placeholder || w.tokens[row].is(",")) {
		row--
	}
	length := len(w.tokens) - row // without its end
	before := row - 2 - length
	if before < 1 || w.tokens[before-1].kind != symbol && !w.tokens[before-1].isWord("VALUES") || !w.tokens[row].is("(") || !w.tokens[row-1].is(",") || !w.tokens[row-2].is(")") {
		return false
	}
	for i := range length {
		if w.tokens[before+i].text != w.tokens[row+i].text {
			return false
		}
	}
	w.truncate(row - 1)
	return true
}

func (w *writer) truncate(n int) {
	for _, t := range w.tokens[n:] {
		w.size -= t.size()
	}
	w.tokens = w.tokens[:n]
}

func (w *writer) String() string {
	var s strings.Builder
	for _, t := range w.tokens {
		if t.space {
			s.WriteByte(' ')
		}
		s.WriteString(t.text)
	}
	return s.String()
}
