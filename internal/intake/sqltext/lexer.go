package sqltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/domain/printable"
)

// kind is what a token is.
type kind int

const (
	end         kind = iota
	unreadable       // the lexer cannot tell what follows, or the text ends within a token
	word             // a keyword or a bare identifier
	quoted           // an identifier in quotation marks or brackets
	variable         // @name, :name
	placeholder      // the token for a literal, or for a positional parameter
	symbol           // one character of an operator or of punctuation
)

// token is one token as it is written again.
type token struct {
	kind  kind
	text  string
	upper string // of a word: as keywords are listed
	space bool   // white space or a comment stands before it
}

func (t token) is(symbols string) bool {
	return t.kind == symbol && strings.Contains(symbols, t.text)
}

func (t token) isWord(upper string) bool { return t.upper == upper }

// lexer reads a text as one engine does. Where two settings of the engine read it
// differently, the rest is unreadable.
type lexer struct {
	dialect      *Dialect
	text         string
	at           int
	last, before token // the newest token and the one before it
}

// next reads a token. After unreadable there are no more.
func (l *lexer) next() token {
	space, ok := l.skipBlanks()
	t := token{kind: unreadable}
	if ok {
		t = l.scan()
	}
	t.space = space
	l.before, l.last = l.last, t
	return t
}

// peek is the rune at n bytes from here; 0 at the end.
func (l *lexer) peek(n int) rune {
	if l.at+n >= len(l.text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.at+n:])
	return r
}

func (l *lexer) starts(with string) bool { return strings.HasPrefix(l.text[l.at:], with) }

// skipBlanks skips white space and comments; ok is false if it cannot tell where a comment
// ends.
func (l *lexer) skipBlanks() (skipped, ok bool) {
	for from := l.at; ; {
		switch r := l.peek(0); {
		case l.at < len(l.text) && l.isBlank(r):
			l.at += utf8.RuneLen(r)
		case l.starts("--"):
			if !l.skipLine() {
				return true, false
			}
		case l.starts("/*"):
			if !l.skipComment() {
				return true, false
			}
		default:
			return l.at > from, true
		}
	}
}

func (l *lexer) isBlank(r rune) bool {
	return unicode.IsSpace(r) && (r < utf8.RuneSelf || !l.dialect.OnlyASCIIBlanks)
}

// otherLineEnds end a line for some programs and not for others.
const otherLineEnds = "\r\v\f\u0085\u2028\u2029"

func (l *lexer) skipLine() bool {
	rest := l.text[l.at:]
	if l.dialect.ReturnEndsLine {
		if n := strings.IndexAny(rest, "\r\n"); n >= 0 {
			rest = rest[:n]
		}
		l.at += len(rest)
		return true
	}
	line, _, ended := strings.Cut(rest, "\n")
	l.at += len(line)
	if ended {
		line = strings.TrimSuffix(line, "\r")
	}
	return !strings.ContainsAny(line, otherLineEnds)
}

// skipComment skips a comment in /* */.
func (l *lexer) skipComment() bool {
	l.at += 2
	for depth := 1; depth > 0; {
		n := strings.IndexAny(l.text[l.at:], "*/")
		if n < 0 {
			return false
		}
		l.at += n
		switch {
		case l.starts("*/"):
			depth--
			l.at += 2
		case l.starts("/*") && !l.dialect.FlatComments:
			depth++
			l.at += 2
		default:
			l.at++
		}
	}
	return true
}

func (l *lexer) scan() token {
	r := l.peek(0)
	switch {
	case l.at >= len(l.text):
		return token{kind: end}
	case r == '\'':
		return l.literal(l.skipString())
	case r == '"' && l.dialect.QuotesHoldStrings:
		return l.literal(l.skipTo('"'))
	case r == '"':
		return l.identifier('"')
	case r == '[' && l.dialect.BracketsHoldNames:
		return l.identifier(']')
	case l.startsNumber(0):
		return l.number()
	case r == '-' || r == '+':
		if l.startsNumber(1) && l.takesSign() {
			l.at++
			return l.number()
		}
	case r == '?':
		return l.take(placeholder, 1)
	case l.startsWord(r):
		return l.word()
	case r == '$' && l.dialect.DollarQuotes:
		return l.dollar()
	case l.dialect.Money && unicode.Is(unicode.Sc, r):
		return l.money(r)
	case l.dialect.AtVariables && r == '@':
		return l.take(variable, l.wordLength(0))
	case l.dialect.ColonBinds && r == ':':
		return l.bind()
	}
	if r > unicode.MaxASCII || !strings.ContainsRune(commonSymbols+l.dialect.Symbols, r) {
		return token{kind: unreadable}
	}
	return l.take(symbol, 1)
}

// commonSymbols are the characters of operators and punctuation that every engine has.
const commonSymbols = "()[],;:.+-*/<>=~!%^&|"

func (l *lexer) take(k kind, n int) token {
	t := token{kind: k, text: l.text[l.at : l.at+n]}
	l.at += n
	return t
}

// literal is the token of a literal that was read to its end.
func (l *lexer) literal(read bool) token {
	if !read {
		return token{kind: unreadable}
	}
	return token{kind: placeholder, text: "?"}
}

// skipTo skips the quoted text from here to the quote; a doubled quote stands for itself.
func (l *lexer) skipTo(quote byte) bool {
	for l.at++; ; l.at += 2 {
		n := strings.IndexByte(l.text[l.at:], quote)
		if n < 0 {
			return false
		}
		if l.at += n; l.at+1 >= len(l.text) || l.text[l.at+1] != quote {
			l.at++
			return true
		}
	}
}

// skipString skips a string without a prefix. Where a backslash may be itself or an
// escape, and that moves the string's end, the text cannot be read.
func (l *lexer) skipString() bool {
	from := l.at
	if !l.skipTo('\'') {
		return false
	}
	return !l.dialect.BackslashMayEscape || !escapesQuote(l.text[from+1:l.at])
}

// escapesQuote reports whether a quote follows an odd number of backslashes.
func escapesQuote(s string) bool {
	odd := false
	for i := range len(s) {
		if s[i] == '\'' && odd {
			return true
		}
		odd = s[i] == '\\' && !odd
	}
	return false
}

// skipEscaped skips PostgreSQL's E'…'.
func (l *lexer) skipEscaped() bool {
	for l.at++; l.at < len(l.text); l.at++ {
		switch l.text[l.at] {
		case '\\':
			l.at++
		case '\'':
			if l.at++; l.peek(0) != '\'' {
				return true
			}
		}
	}
	l.at = len(l.text)
	return false
}

// skipAlternative skips what follows the q of Oracle's q'[…]'. It cannot tell what a
// quote or white space as delimiter means.
func (l *lexer) skipAlternative() bool {
	l.at++
	delimiter := l.peek(0)
	if delimiter == 0 || delimiter == '\'' || delimiter == utf8.RuneError || unicode.IsSpace(delimiter) {
		return false
	}
	l.at += utf8.RuneLen(delimiter)
	if closing, is := map[rune]rune{'[': ']', '(': ')', '{': '}', '<': '>'}[delimiter]; is {
		delimiter = closing
	}
	ending := string(delimiter) + "'"
	n := strings.Index(l.text[l.at:], ending)
	l.at += n + len(ending)
	return n >= 0
}

// identifier reads a name that ends with the quote; a misleading one is cleaned.
func (l *lexer) identifier(quote byte) token {
	from := l.at
	if !l.skipTo(quote) {
		return token{kind: unreadable}
	}
	return token{kind: quoted, text: printable.Clean(l.text[from:l.at])}
}

func (l *lexer) startsWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || l.dialect.SignsBeginWords && (r == '#' || r == '$' && unicode.IsLetter(l.peek(1)))
}

func (l *lexer) continuesWord(r rune) bool {
	switch {
	case isDigit(r) || 'a' <= r|0x20 && r|0x20 <= 'z':
		return true
	case r == '_' || r == '$':
		return true
	case r == '#':
		return !l.dialect.HashIsOperator
	case r == '@':
		return l.dialect.AtVariables
	case r < utf8.RuneSelf:
		return false
	}
	return unicode.In(r, unicode.L, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Nl, unicode.Pc)
}

// wordLength is how many bytes from here n, and what continues a word after them, take.
func (l *lexer) wordLength(n int) int {
	for r := l.peek(n); r != 0 && l.continuesWord(r); r = l.peek(n) {
		n += utf8.RuneLen(r)
	}
	return n
}

func (l *lexer) word() token {
	t := l.take(word, l.wordLength(utf8.RuneLen(l.peek(0))))
	t.upper = strings.ToUpper(t.text)
	if l.dialect.UnicodeEscapes && t.upper == "U" {
		switch {
		case l.starts("&'"):
			l.at++
			return l.literal(l.skipString())
		case l.starts(`&"`):
			l.at++
			named := l.identifier('"')
			named.text = t.text + "&" + named.text
			return named
		}
	}
	if l.peek(0) == '\'' {
		switch l.dialect.Prefixes[t.upper] {
		case Escaped:
			return l.literal(l.skipEscaped())
		case Alternative:
			return l.literal(l.skipAlternative())
		case Plain:
			return l.literal(l.skipString())
		}
	}
	if (t.isWord("TRUE") || t.isWord("FALSE")) && l.dialect.Booleans && !l.tests() {
		return token{kind: placeholder, text: "?"}
	}
	return t
}

// tests reports whether IS or IS NOT stands before: then TRUE and FALSE are parts of
// an operator.
func (l *lexer) tests() bool {
	return l.last.isWord("IS") || l.last.isWord("NOT") && l.before.isWord("IS")
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func (l *lexer) startsNumber(n int) bool {
	return isDigit(l.peek(n)) || l.peek(n) == '.' && isDigit(l.peek(n+1))
}

// takesSign reports whether a sign here cannot be an operator between two values.
func (l *lexer) takesSign() bool {
	return l.last.kind == end || l.last.kind == symbol && !l.last.is(")]}")
}

// number reads one in all spellings (1, .5, 1e5, 1e-5, 0xff, 1_000, 1.5f), and what
// touches it: 1AND is two tokens to some and an error to others.
func (l *lexer) number() token {
	for l.at < len(l.text) {
		c := l.text[l.at]
		sign := (c == '+' || c == '-') && l.text[l.at-1]|0x20 == 'e' && isDigit(l.peek(1))
		if !sign && c != '.' && c != '_' && !isDigit(rune(c)) && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		l.at++
	}
	return l.apart()
}

// apart is a literal's placeholder, unless a quote or a word touches what was read: the
// quote's prefix may be a part of that.
func (l *lexer) apart() token {
	if r := l.peek(0); r != 0 && (r == '\'' || r == '"' || l.continuesWord(r)) {
		return token{kind: unreadable}
	}
	return l.literal(true)
}

// dollar reads PostgreSQL's $1 and $tag$…$tag$.
func (l *lexer) dollar() token {
	if isDigit(l.peek(1)) {
		for l.at++; isDigit(l.peek(0)); l.at++ {
		}
		return l.apart()
	}
	n := 1
	for r := l.peek(n); r != 0 && r != '$' && l.continuesWord(r); r = l.peek(n) {
		n += utf8.RuneLen(r)
	}
	if l.peek(n) != '$' {
		return token{kind: unreadable}
	}
	tag := l.text[l.at : l.at+n+1]
	l.at += len(tag)
	closing := strings.Index(l.text[l.at:], tag)
	l.at += closing + len(tag)
	return l.literal(closing >= 0)
}

// money reads SQL Server's $1.50 and €1.50, and the sign alone, which is 0.
func (l *lexer) money(sign rune) token {
	l.at += utf8.RuneLen(sign)
	if l.startsNumber(0) {
		return l.number()
	}
	return l.apart()
}

// bind reads Oracle's :name, :1 and :"SYS_B_0".
func (l *lexer) bind() token {
	switch r := l.peek(1); {
	case r == '"':
		l.at++
		return l.literal(l.skipTo('"'))
	case isDigit(r):
		for l.at++; isDigit(l.peek(0)); l.at++ {
		}
		return l.apart()
	case l.startsWord(r):
		return l.take(variable, l.wordLength(1))
	}
	return l.take(symbol, 1)
}
