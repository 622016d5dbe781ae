package documented

import (
	"slices"
	"strings"

	"muster/domain/fleet"
)

// operators stand between two operands.
var operators = []string{"+", "-", "*", "/", "%", "||", "=", "<>", "!=", "<", ">", "<=", ">=", "&", "|", "^", "and", "or"}

// expression reads an expression, and looks up its columns. It returns the column's name if it
// is nothing but a column.
func (r *reader) expression(s *scope) string {
	name := r.operand(s)
	for {
		switch {
		case r.peek(0).is("||") && r.views.engine == fleet.SQLServer:
			r.stop("|| is Oracle's, and SQL Server's since 2025")
		case r.accept(operators...):
			r.operand(s)
		case r.acceptAll("is", "not", "null"), r.acceptAll("is", "null"):
		case r.acceptAll("not", "in"), r.accept("in"):
			if !r.peek(0).is("(") {
				r.stop("IN needs (")
			}
			r.operand(s)
		case r.acceptAll("not", "like"), r.accept("like"), r.accept("escape"):
			r.operand(s)
		case r.acceptAll("not", "between"), r.accept("between"): // its AND is like any other
			r.operand(s)
		case r.accept("collate"):
			r.name()
			continue // the column keeps its name
		case r.acceptAll("at", "time", "zone"):
			r.operand(s)
		case r.accept("over"), r.acceptAll("within", "group"), r.accept("keep"):
			r.window(s)
		default:
			return name
		}
		name = ""
	}
}

// list is several expressions.
func (r *reader) list(s *scope) (n int) {
	for ok := true; ok; ok = r.accept(",") {
		r.expression(s)
		n++
	}
	return n
}

// window is what stands in the parentheses of OVER, WITHIN GROUP and KEEP.
func (r *reader) window(s *scope) {
	r.expect("(")
	if r.accept("dense_rank") && !r.accept("first", "last") {
		r.stop("KEEP needs FIRST or LAST")
	}
	if r.acceptAll("partition", "by") {
		r.list(s)
	}
	if r.acceptAll("order", "by") {
		r.order(s)
	}
	if r.accept("rows", "range") {
		for r.accept("between", "unbounded", "preceding", "following", "current", "row", "and") || r.peek(0).kind == number && r.next().kind == number {
			continue
		}
	}
	r.expect(")")
}

func (r *reader) operand(s *scope) string {
	for r.accept("+", "-", "~", "not", "distinct") {
		continue
	}
	t := r.peek(0)
	switch {
	case r.accept("exists", "any", "all", "some"):
		r.expect("(")
		r.query(s)
		r.expect(")")
	case r.accept("("):
		if r.peek(0).is("select", "with") {
			r.query(s)
		} else {
			r.list(s)
		}
		r.expect(")")
	case r.accept("case"):
		r.choice(s)
	case r.accept("null"):
	case t.kind == text, t.kind == number, t.kind == parameter:
		r.next()
	case t.is("date", "timestamp") && r.peek(1).kind == text:
		r.next()
		r.next()
	case t.is("interval") && r.peek(1).kind == text:
		r.next()
		r.next()
		r.interval()
	case t.kind == quoted, t.kind == word && (!reserved[t.text] || t.is("left", "right") && r.peek(1).is("(")):
		return r.chain(s)
	default:
		r.stop("%s stands where a value is needed", t)
	}
	return ""
}

// interval is DAY, DAY TO SECOND, DAY(3) behind INTERVAL '…'.
func (r *reader) interval() {
	for i := 0; i == 0 || r.accept("to"); i++ {
		if !r.accept("year", "month", "day", "hour", "minute", "second") {
			r.stop("%s is no unit of an interval", r.peek(0))
		}
		if r.accept("(") {
			r.next()
			r.expect(")")
		}
	}
}

func (r *reader) choice(s *scope) {
	if !r.peek(0).is("when") {
		r.expression(s)
	}
	for r.accept("when") {
		r.expression(s)
		r.expect("then")
		r.expression(s)
	}
	if r.accept("else") {
		r.expression(s)
	}
	r.expect("end")
}

// chain is a.b.c: a column, or a function where ( follows.
func (r *reader) chain(s *scope) string {
	line := r.peek(0).line
	wasQuoted := r.peek(0).kind == quoted
	parts := []string{r.next().text}
	for r.peek(0).is(".") {
		r.next()
		if t := r.peek(0); t.kind != word && t.kind != quoted {
			r.stop("%s stands where a name is needed", t)
			return ""
		}
		parts = append(parts, r.next().text)
	}
	if r.peek(0).is("(") && r.peek(1).is("+") && r.peek(2).is(")") {
		r.stop("(+) is not understood")
		return ""
	}
	if r.peek(0).is("(") {
		r.function(s, strings.Join(parts, "."), line)
		return ""
	}
	name := parts[len(parts)-1]
	if len(parts) == 1 && !wasQuoted && r.views.pseudo[name] && !s.sees(name) {
		return name
	}
	r.column(s, parts, line)
	return name
}

// sees says whether some table here has a column of that name.
func (s *scope) sees(name string) bool {
	for ; s != nil; s = s.outer {
		if slices.Contains(s.outputs, name) || slices.ContainsFunc(s.sources, func(t *source) bool { return t.has(name) }) {
			return true
		}
	}
	return false
}

// column holds a reference to what the tables have.
func (r *reader) column(s *scope, parts []string, line int) {
	name, qualifier := parts[len(parts)-1], strings.Join(parts[:len(parts)-1], ".")
	for at := s; at != nil; at = at.outer {
		if qualifier == "" && slices.Contains(at.outputs, name) {
			return
		}
		var here []*source
		for _, t := range at.sources {
			switch {
			case qualifier == "" && (t.has(name) || t.view != nil && t.view.unknown):
				here = append(here, t)
			case qualifier != "" && (t.alias == qualifier || t.name == qualifier):
				if !t.has(name) && (t.view == nil || !t.view.unknown) {
					r.say(line, "%s has no column %s%s", t.called(), name, r.views.source(t.view))
					return
				}
				here = append(here, t)
			}
		}
		if len(here) > 1 {
			r.say(line, "%s is a column of %s and of %s: say which", name, here[0].called(), here[1].called())
		}
		if len(here) > 0 {
			r.read(here[0], name, line)
			return
		}
	}
	if qualifier != "" {
		r.say(line, "%s.%s: no table here is called %s", qualifier, name, qualifier)
		return
	}
	r.say(line, "no table here has a column %s", name)
}

// read notes that a column is read, and reports one that is newer than the releases that the
// query serves.
func (r *reader) read(t *source, column string, line int) {
	if t.view == nil {
		return
	}
	r.reads[t.view.called][column] = true
	if since := t.view.columns[column]; since > r.serves && t.view.since <= r.serves { // else it is said of the view
		r.say(line, "%s has %s since %v, and the query serves %v", t.called(), column, since, r.serves)
	}
}

func (s *source) called() string {
	if s.view != nil {
		return s.view.name
	}
	return s.alias
}

// parts of a date, as SQL Server's functions take them.
var dateParts = []string{"year", "quarter", "month", "dayofyear", "day", "week", "weekday", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond", "tzoffset"}

func (r *reader) function(s *scope, name string, line int) {
	if !r.views.functions[name] {
		r.say(line, "%s is not one of the documented functions in testdata/functions.csv", name)
	}
	r.expect("(")
	switch {
	case r.accept(")"):
		return
	case slices.Contains([]string{"cast", "try_cast"}, name):
		r.expression(s)
		r.expect("as")
		r.datatype()
	case slices.Contains([]string{"convert", "try_convert"}, name):
		r.datatype()
		r.expect(",")
		r.list(s)
	case name == "extract":
		if !r.accept("timezone_hour", "timezone_minute") {
			r.interval()
		}
		r.expect("from")
		r.expression(s)
	case name == "trim":
		r.accept("leading", "trailing", "both")
		if !r.accept("from") {
			r.expression(s)
			if !r.accept("from") {
				break
			}
		}
		r.expression(s)
	case name == "count" && r.accept("*"):
	case strings.HasPrefix(name, "date") && r.peek(0).kind == word && r.peek(1).is(","):
		if !r.accept(dateParts...) {
			r.stop("%s is no part of a date", r.peek(0))
		}
		r.expect(",")
		r.list(s)
	default:
		r.list(s)
		if r.acceptAll("on", "overflow", "truncate") {
			if r.peek(0).kind == text {
				r.next()
			}
			if r.accept("with", "without") {
				r.expect("count")
			}
		}
	}
	r.expect(")")
}

// datatype is nvarchar(4000), varchar2(10 char), timestamp with time zone.
func (r *reader) datatype() {
	if r.peek(0).kind != word {
		r.stop("%s is no type", r.peek(0))
	}
	r.next()
	if r.accept("(") {
		for r.peek(0).kind == number || r.peek(0).is("max", ",", "char", "byte") {
			r.next()
		}
		r.expect(")")
	}
	if r.accept("with") {
		r.accept("local")
		r.expect("time", "zone")
	}
}
