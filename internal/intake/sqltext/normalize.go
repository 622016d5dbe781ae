package sqltext

import (
	"strings"
)

// maxHeadings is how many leading keywords are kept of what is cut.
const maxHeadings = 4

// Normalize returns a statement's text as it may be kept: without literals, comments and
// needless white space, valid UTF-8, at most MaxBytes, the same when normalized again.
// It is empty where nothing may be kept, and for an engine without a dialect.
func Normalize(d *Dialect, text string) string {
	if d == nil {
		return ""
	}
	r := reader{lexer: lexer{dialect: d, text: text}, dialect: d}
	for d.ListsParameters && r.lexer.skipParameters() {
	}
	for {
		t := r.lexer.next()
		if t.kind == end {
			return r.out.String()
		}
		if t.kind == unreadable || d.SecretAfter != "" && t.isWord(d.SecretAfter) {
			return strings.Join(r.headings, " ")
		}
		r.read(t)
	}
}

// skipParameters skips the list of parameters that SQL Server writes before a prepared
// statement: (@P0 int,@P1 nvarchar(4000)).
func (l *lexer) skipParameters() bool {
	from := *l
	opened, first := l.next(), l.next()
	for depth := 1; opened.is("(") && first.kind == variable; {
		switch t := l.next(); {
		case t.kind == end || t.kind == unreadable:
			*l = from
			return false
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				l.last, l.before = token{}, token{}
				return true
			}
		}
	}
	*l = from
	return false
}

// reader follows the statements of a text and decides what of them is written.
type reader struct {
	lexer    lexer
	dialect  *Dialect
	out      writer
	headings []string // the text's leading keywords
	headed   bool     // they have ended

	state state
	block bool // statements may begin with the name of a procedure or a variable
	heads int  // leading keywords written of what is cut
	named kind // EXEC: the procedure's name so far
	dot   bool // EXEC: and whether it goes on
	depth int  // COPY (query): how many brackets of it are open
	query bool // COPY (query): and whether it has begun
}

// state is where in a statement the reader is.
type state int

const (
	starting state = iota // at the beginning of a statement
	altering              // after CREATE, ALTER, DROP: the kind of object comes next
	setting               // after SQL Server's SET at the beginning of the text
	inside                // of a statement that is kept
	copying               // after PostgreSQL's COPY: only a query in brackets is kept
	calling               // after EXEC: only the procedure's name is kept
	heading               // of a statement that is cut: only its leading keywords are kept
	dropping              // nothing more is kept
)

func (r *reader) read(t token) {
	r.gather(t)
	switch r.state {
	case starting:
		r.start(t)
	case altering:
		r.alter(t)
	case setting:
		if t.kind == variable {
			r.keep(t)
		} else {
			r.head(t)
		}
	case inside:
		r.inside(t)
	case copying:
		r.copied(t)
	case calling:
		r.call(t)
	case heading:
		r.head(t)
	case dropping:
	}
}

// gather remembers the text's leading keywords, to which it is cut where a later part
// cannot be read.
func (r *reader) gather(t token) {
	switch {
	case r.headed:
	case leading[t.upper] && len(r.headings) < maxHeadings:
		r.headings = append(r.headings, t.upper)
		r.headed = r.dialect.Calls[t.upper]
	case len(r.headings) == 0 && t.is("({;"):
	default:
		r.headed = true
	}
}

func (r *reader) keep(t token) {
	r.out.push(t)
	r.state = inside
	if t.is(";") {
		r.state = starting
	}
}

func (r *reader) start(t token) {
	switch {
	case t.is(";({"):
		r.out.push(t)
	case r.dialect.Alters[t.upper]:
		r.alters(t)
	case r.dialect.Calls[t.upper]:
		r.calls(t)
	case r.dialect.Copies[t.upper]:
		t.text = t.upper
		r.out.push(t)
		r.heads++
		r.state, r.depth, r.query = copying, 0, false
	case r.dialect.Kept[t.upper]:
		r.block = r.block || r.dialect.Blocks[t.upper]
		r.keep(t)
	case r.dialect.Cut[t.upper] || t.is("/") || !r.block:
		r.head(t)
	default:
		r.inside(t)
	}
	if r.dialect.Batches && r.state == inside && !r.block {
		// A batch may go on with any statement, without a semicolon before it.
		if r.block = true; t.upper == "SET" {
			r.state = setting
		}
	}
}

func (r *reader) inside(t token) {
	if t.kind != word || !r.dialect.Batches || r.lexer.before.is(".") {
		r.keep(t)
		return
	}
	switch {
	case r.dialect.Alters[t.upper]:
		r.alters(t)
	case r.dialect.Calls[t.upper]:
		r.calls(t)
	case r.dialect.Cut[t.upper]:
		r.head(t)
	case t.upper == "GO": // the client's separator: a procedure's call may follow
		r.keep(t)
		r.state, r.block = starting, false
	default:
		r.keep(t)
	}
}

func (r *reader) alters(t token) {
	t.text = t.upper
	r.out.push(t)
	r.state = altering
}

// alter keeps a CREATE, ALTER or DROP of objects that can contain neither a password nor
// procedure code.
func (r *reader) alter(t token) {
	switch {
	case modifiers[t.upper]:
		r.alters(t)
	case r.dialect.Altered[t.upper]:
		t.text = t.upper
		r.keep(t)
	default:
		r.head(t)
	}
}

func (r *reader) calls(t token) {
	t.text = t.upper
	r.out.push(t)
	r.state, r.named, r.dot = calling, end, false
}

// call keeps @result = and the name of the procedure. What follows may be a value
// without quotes, and where that ends and the next statement begins only a parser tells.
func (r *reader) call(t token) {
	switch {
	case t.kind == variable && r.named == end:
		r.named = variable
	case t.is("=") && r.named == variable:
		r.named = symbol
	case t.is(".") && (r.named == word || r.named == end):
		r.named, r.dot = word, true
	case (t.kind == word || t.kind == quoted) && (r.named == end || r.named == symbol || r.dot):
		r.named, r.dot = word, false
	default:
		r.state = dropping
		return
	}
	r.out.push(t)
}

// copied keeps COPY (query), in which all values are literals. The rest of it, and every other
// COPY, has values without quotes, and its data.
func (r *reader) copied(t token) {
	switch {
	case t.is("("):
		r.depth++
	case r.depth == 0:
		r.head(t)
		return
	case !r.query && !r.dialect.Kept[t.upper], t.is(";"):
		r.state = dropping
		return
	default:
		r.query = true
	}
	if r.out.push(t); t.is(")") {
		if r.depth--; r.depth == 0 {
			r.state = dropping
		}
	}
}

// head keeps the leading keywords of a statement that is cut.
func (r *reader) head(t token) {
	if !leading[t.upper] || r.heads == maxHeadings {
		r.state = dropping
		return
	}
	t.text = t.upper
	r.out.push(t)
	r.heads++
	r.state = heading
}
