package documented

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"muster/domain/fleet"
)

type kind int

const (
	end kind = iota
	word
	quoted // a name in brackets or quotation marks
	number
	text
	parameter
	symbol
)

// token is a piece of a query; text is lower case of a word, and of a quoted name as
// the engine compares it.
type token struct {
	kind kind
	text string
	raw  string // of a word, and of a parameter
	line int
}

func (t token) is(words ...string) bool {
	for _, w := range words {
		if (t.kind == word || t.kind == symbol) && t.text == w {
			return true
		}
	}
	return false
}

func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return t.text
}

// symbols of two letters come first.
var symbols = []string{"<>", "!=", "<=", ">=", "||", "(", ")", ",", ".", "*", "+", "-", "/", "%", "=", "<", ">", "&", "|", "^", "~", ";"}

// lex takes a query apart. Comments are left out.
func lex(engine fleet.Engine, sql string, line int) (tokens []token, err error) {
	l := lexer{engine: engine, rest: sql, line: line}
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
		if t.kind == end {
			return tokens, nil
		}
	}
}

type lexer struct {
	engine fleet.Engine
	rest   string
	line   int
}

// take is the first n bytes of what is left.
func (l *lexer) take(n int) string {
	out := l.rest[:n]
	l.rest = l.rest[n:]
	l.line += strings.Count(out, "\n")
	return out
}

func (l *lexer) fault(format string, args ...any) error {
	return &fault{line: l.line, text: fmt.Sprintf(format, args...)}
}

func (l *lexer) skip() error {
	for l.rest != "" {
		switch {
		case strings.ContainsRune(" \t\r\n", rune(l.rest[0])):
			l.take(1)
		case strings.HasPrefix(l.rest, "--"):
			l.take(lineLength(l.rest))
		case strings.HasPrefix(l.rest, "/*"):
			at := strings.Index(l.rest, "*/")
			if at < 0 {
				return l.fault("a comment has no end")
			}
			l.take(at + 2)
		default:
			return nil
		}
	}
	return nil
}

func lineLength(s string) int {
	if at := strings.IndexByte(s, '\n'); at >= 0 {
		return at
	}
	return len(s)
}

func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil || l.rest == "" {
		return token{kind: end, line: l.line}, err
	}
	line := l.line
	at := func(k kind, text string) (token, error) { return token{kind: k, text: text, line: line}, nil }
	switch c := l.rest[0]; {
	case c == '\'':
		s, err := l.enclosed('\'')
		return token{kind: text, text: s, line: line}, err
	case (c == 'N' || c == 'n') && strings.HasPrefix(l.rest[1:], "'"):
		l.take(1)
		s, err := l.enclosed('\'')
		return token{kind: text, text: s, line: line}, err
	case c == '"', c == '[' && l.engine == fleet.SQLServer:
		closing := byte('"')
		if c == '[' {
			closing = ']'
		}
		s, err := l.enclosed(closing)
		if l.engine == fleet.SQLServer { // names are compared without case, as most collations do
			s = strings.ToLower(s)
		} else if s == strings.ToUpper(s) {
			s = strings.ToLower(s)
		}
		return token{kind: quoted, text: s, line: line}, err
	case c == '{':
		n := strings.IndexByte(l.rest, '}')
		if n < 2 {
			return token{}, l.fault("{ has no name and }")
		}
		return at(quoted, l.take(n+1))
	case c >= '0' && c <= '9', c == '.' && len(l.rest) > 1 && l.rest[1] >= '0' && l.rest[1] <= '9':
		n := 0
		for n < len(l.rest) && (wordByte(l.rest[n]) || l.rest[n] == '.') {
			n++
		}
		return at(number, l.take(n))
	case c == '@' || c == ':':
		n := 1
		for n < len(l.rest) && (wordByte(l.rest[n]) || l.rest[n] == '@') {
			n++
		}
		name := l.take(n)
		return token{kind: parameter, text: name, raw: name, line: line}, nil
	case wordByte(c) && c != '$':
		n := 0
		for n < len(l.rest) && wordByte(l.rest[n]) {
			n++
		}
		name := l.take(n)
		return token{kind: word, text: strings.ToLower(name), raw: name, line: line}, nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.rest, s) {
			return at(symbol, l.take(len(s)))
		}
	}
	r, _ := utf8.DecodeRuneInString(l.rest)
	return token{}, l.fault("%q is not understood", r)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// enclosed reads what stands between two marks; the second one, twice, is itself.
func (l *lexer) enclosed(closing byte) (string, error) {
	var out strings.Builder
	l.take(1)
	for {
		at := strings.IndexByte(l.rest, closing)
		if at < 0 {
			return "", l.fault("a %q is not closed", closing)
		}
		out.WriteString(l.take(at + 1)[:at])
		if l.rest == "" || l.rest[0] != closing {
			return out.String(), nil
		}
		out.WriteByte(closing)
		l.take(1)
	}
}
