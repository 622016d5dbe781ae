package documented

import (
	"fmt"
	"slices"

	"muster/domain/fleet"
)

// fault is what is wrong in a query, and where.
type fault struct {
	line int
	text string
}

func (f *fault) Error() string { return fmt.Sprintf("line %d: %s", f.line, f.text) }

// source is a table as a SELECT sees it.
type source struct {
	alias   string
	name    string // in full, of a view that has no alias
	columns []string
	view    *view // nil for what the query made itself
}

func (s *source) has(column string) bool { return slices.Contains(s.columns, column) }

// scope is what names mean at a place of a query.
type scope struct {
	outer   *scope
	sources []*source
	outputs []string // what is selected, which ORDER BY sees
}

// reader reads one query. What it does not understand ends it: it goes to the end of
// the text, where nothing more is found.
type reader struct {
	views  *Views
	serves float64
	tokens []token
	at     int
	made   []*source // the common table expressions, the nearest last
	faults []*fault
	broken bool
	reads  map[string]map[string]bool
	depth  int // of subqueries
}

func (r *reader) peek(ahead int) token { return r.tokens[min(r.at+ahead, len(r.tokens)-1)] }

func (r *reader) next() token {
	t := r.peek(0)
	r.at = min(r.at+1, len(r.tokens)-1)
	return t
}

func (r *reader) accept(words ...string) bool {
	if r.peek(0).is(words...) {
		r.next()
		return true
	}
	return false
}

// acceptAll takes several words, or none of them.
func (r *reader) acceptAll(words ...string) bool {
	for i, w := range words {
		if !r.peek(i).is(w) {
			return false
		}
	}
	for range words {
		r.next()
	}
	return true
}

func (r *reader) expect(words ...string) {
	for _, w := range words {
		if !r.accept(w) {
			r.stop("%s stands where %s is needed", r.peek(0), w)
		}
	}
}

// say notes a fault and goes on.
func (r *reader) say(line int, format string, args ...any) {
	if !r.broken {
		r.faults = append(r.faults, &fault{line, fmt.Sprintf(format, args...)})
	}
}

// stop notes a fault behind which nothing is understood.
func (r *reader) stop(format string, args ...any) {
	r.say(r.peek(0).line, format, args...)
	r.broken, r.at = true, len(r.tokens)-1
}

// statement is the whole text; it returns how many columns are selected.
func (r *reader) statement() int {
	columns := len(r.query(nil))
	r.accept(";")
	if r.peek(0).kind != end {
		r.stop("%s is not understood: a file has one SELECT, and documented/doc.go says what it may hold", r.peek(0))
	}
	return columns
}

// query is [WITH …] SELECT … [ORDER BY …]; it returns the names of what is selected.
func (r *reader) query(outer *scope) []string {
	made := len(r.made)
	r.depth++
	defer func() { r.depth-- }()
	if r.accept("with") {
		for ok := true; ok; ok = r.accept(",") {
			r.common(outer)
		}
	}
	first := r.at
	outputs, inner := r.arms(outer, nil)
	ordered := r.acceptAll("order", "by")
	if ordered {
		inner.outputs = outputs
		r.order(inner)
	}
	if ordered && r.depth > 1 && r.views.engine == fleet.SQLServer && !r.tokens[first+1].is("top") && !r.peek(0).is("offset", "for") {
		r.say(r.peek(0).line, "SQL Server takes ORDER BY in a subquery with TOP, OFFSET or FOR XML alone")
	}
	r.limits(inner)
	r.made = r.made[:made]
	return outputs
}

// common is one common table expression. It sees itself: by its list of columns, or
// behind the first arm of its UNION.
func (r *reader) common(outer *scope) {
	s := &source{alias: r.name()}
	listed := r.peek(0).is("(")
	if listed {
		s.columns = r.names()
		r.made = append(r.made, s)
	}
	r.expect("as", "(")
	if r.peek(0).is("with") {
		s.columns = r.fit(s, listed, r.query(outer))
	} else {
		outputs, inner := r.arms(outer, func(first []string) {
			if !listed {
				s.columns = first
				r.made = append(r.made, s)
			}
		})
		if r.acceptAll("order", "by") {
			inner.outputs = outputs
			r.order(inner)
		}
		r.limits(inner)
		s.columns = r.fit(s, listed, outputs)
	}
	if !slices.Contains(r.made, s) {
		r.made = append(r.made, s)
	}
	r.expect(")")
}

// fit holds a list of columns to what is selected.
func (r *reader) fit(s *source, listed bool, outputs []string) []string {
	if !listed {
		return outputs
	}
	if len(s.columns) != len(outputs) {
		r.say(r.peek(0).line, "%s names %d columns, and %d are selected", s.alias, len(s.columns), len(outputs))
	}
	return s.columns
}

// arms are SELECTs with UNION and the like between them.
func (r *reader) arms(outer *scope, first func([]string)) (outputs []string, inner *scope) {
	outputs, inner = r.arm(outer)
	if first != nil {
		first(outputs)
	}
	theirs := "minus" // what Oracle calls SQL Server's EXCEPT, and the reverse
	if r.views.engine == fleet.Oracle {
		theirs = "except"
	}
	for r.peek(0).is("union", "except", "intersect", "minus") {
		if r.peek(0).is(theirs) {
			r.stop("%s is the other engine's", theirs)
		}
		r.next()
		r.accept("all")
		line := r.peek(0).line
		further, _ := r.arm(outer)
		if len(further) != len(outputs) {
			r.say(line, "an arm selects %d columns, the first one %d", len(further), len(outputs))
		}
		inner = &scope{}
	}
	return outputs, inner
}

func (r *reader) arm(outer *scope) ([]string, *scope) {
	if r.accept("(") {
		outputs := r.query(outer)
		r.expect(")")
		return outputs, &scope{}
	}
	r.expect("select")
	r.accept("distinct", "all")
	s := &scope{outer: outer}
	if r.accept("top") {
		if r.views.engine == fleet.Oracle {
			r.stop("TOP is SQL Server's")
		}
		if r.accept("(") {
			r.expression(s)
			r.expect(")")
		} else {
			r.next()
		}
		r.accept("percent")
		r.acceptAll("with", "ties")
	}
	// What is selected is read behind FROM, which says what its names mean.
	items := r.at
	r.skipTo("from")
	if r.accept("from") {
		r.from(s)
	} else if r.views.engine == fleet.Oracle {
		r.stop("Oracle needs a FROM before release 23")
	}
	rest := r.at
	if r.broken { // going back would read it all again
		return nil, s
	}
	r.at = items
	outputs := r.items(s)
	if !r.broken {
		r.at = max(rest, r.at)
	}
	if r.accept("where") {
		r.expression(s)
	}
	if r.acceptAll("group", "by") {
		r.list(s)
	}
	if r.accept("having") {
		r.expression(s)
	}
	return outputs, s
}

// skipTo goes to a word outside of parentheses, or to where the SELECT ends.
func (r *reader) skipTo(stop string) {
	for depth := 0; r.peek(0).kind != end; r.next() {
		t := r.peek(0)
		switch {
		case t.is("("):
			depth++
		case t.is(")") && depth == 0, depth == 0 && t.is(stop, "union", "except", "intersect", "minus", "where", "order", ";"):
			return
		case t.is(")"):
			depth--
		}
	}
}

// items are what is selected.
func (r *reader) items(s *scope) (outputs []string) {
	for ok := true; ok; ok = r.accept(",") {
		if star, done := r.star(s); done {
			outputs = append(outputs, star...)
			continue
		}
		name := r.expression(s)
		switch {
		case r.accept("as"):
			name = r.name()
		case r.peek(0).kind == quoted, r.peek(0).kind == word && !reserved[r.peek(0).text]:
			name = r.name()
		}
		outputs = append(outputs, name)
	}
	if !r.peek(0).is("from", "where", "group", "having", "union", "except", "intersect", "minus", "order", "option", "for", "offset", "fetch", ")", ";") && r.peek(0).kind != end {
		r.stop("%s is not understood in what is selected", r.peek(0))
	}
	return outputs
}

// star is * or t.*, which only a subquery or an expression of the query's own may have: the
// query did not ask for a view's columns of the next release.
func (r *reader) star(s *scope) (columns []string, ok bool) {
	qualifier := ""
	switch {
	case r.peek(0).is("*"):
		r.next()
	case r.peek(1).is(".") && r.peek(2).is("*"):
		qualifier = r.next().text
		r.next()
		r.next()
	default:
		return nil, false
	}
	line, found := r.peek(0).line, false
	for _, table := range s.sources {
		if qualifier != "" && table.alias != qualifier {
			continue
		}
		found = true
		if table.view != nil {
			r.say(line, "* over the documented view %s", table.view.name)
		}
		columns = append(columns, table.columns...)
	}
	if !found {
		r.say(line, "* of %q, which is no table here", qualifier)
	}
	return columns, true
}

// limits are what may stand behind ORDER BY.
func (r *reader) limits(s *scope) {
	offset := r.accept("offset")
	if offset {
		r.expression(s)
		r.accept("rows", "row")
	}
	if r.peek(0).is("fetch") && !offset && r.views.engine == fleet.SQLServer {
		r.stop("SQL Server's FETCH needs an OFFSET")
	}
	if r.accept("fetch") {
		r.accept("first", "next")
		if !r.peek(0).is("row", "rows") {
			r.expression(s)
		}
		r.accept("rows", "row")
		r.expect("only")
	}
	if r.acceptAll("for", "xml", "path") {
		r.expect("(")
		r.expression(s)
		r.expect(")")
		r.acceptAll(",", "type")
	}
	if r.acceptAll("option", "(") {
		for !r.peek(0).is(")") && r.peek(0).kind != end {
			r.next()
		}
		r.expect(")")
	}
}

func (r *reader) order(s *scope) {
	for ok := true; ok; ok = r.accept(",") {
		r.expression(s)
		r.accept("asc", "desc")
		if r.accept("nulls") {
			r.accept("first", "last")
		}
	}
}

// name is a name that the query gives.
func (r *reader) name() string {
	t := r.peek(0)
	if t.kind != quoted && (t.kind != word || reserved[t.text]) {
		r.stop("%s stands where a name is needed", t)
		return ""
	}
	return r.next().text
}

// names are (a, b, …).
func (r *reader) names() (out []string) {
	r.expect("(")
	for ok := true; ok; ok = r.accept(",") {
		out = append(out, r.name())
	}
	r.expect(")")
	return out
}

// reserved are the words that are no name unless they are quoted.
var reserved = func() map[string]bool {
	out := make(map[string]bool)
	for _, w := range []string{
		"select", "from", "where", "group", "having", "order", "by", "on", "join", "inner", "left", "right", "full", "cross", "outer",
		"apply", "union", "except", "intersect", "minus", "as", "and", "or", "not", "in", "is", "null", "like", "escape", "between",
		"exists", "case", "when", "then", "else", "end", "distinct", "top", "with", "over", "within", "option", "for", "offset", "fetch",
		"values", "lateral", "collate", "into", "pivot", "unpivot", "connect", "start", "model", "any", "all", "some", "keep",
	} {
		out[w] = true
	}
	return out
}()
