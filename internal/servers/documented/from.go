package documented

import (
	"strings"

	"muster/domain/fleet"
)

// from reads the tables of a SELECT.
func (r *reader) from(s *scope) {
	for ok := true; ok; ok = r.accept(",") {
		r.joined(s)
	}
}

// joined is a table and those joined to it. An ON sees these, and not what stands
// before the comma.
func (r *reader) joined(s *scope) {
	first := len(s.sources)
	r.table(s, r.accept("lateral"))
	for {
		on := true
		lateral := false
		switch {
		case r.acceptAll("cross", "apply"), r.acceptAll("outer", "apply"):
			on, lateral = false, true
		case r.acceptAll("cross", "join"):
			on, lateral = false, r.accept("lateral")
		case r.acceptAll("inner", "join"), r.accept("join"):
		case r.peek(0).is("left", "right", "full") && (r.peek(1).is("join") || r.peek(1).is("outer") && r.peek(2).is("join")):
			r.next()
			r.accept("outer")
			r.expect("join")
		default:
			return
		}
		r.table(s, lateral || r.accept("lateral"))
		if on {
			r.expect("on")
			r.expression(&scope{outer: s.outer, sources: s.sources[first:]})
		}
	}
}

// table is one source of rows. A lateral one sees those before it.
func (r *reader) table(s *scope, lateral bool) {
	around := s.outer
	if lateral {
		around = s
	}
	t := &source{}
	line := r.peek(0).line
	switch {
	case r.peek(0).is("(") && r.peek(1).is("values") && r.views.engine == fleet.Oracle:
		r.stop("Oracle takes VALUES since release 23")
	case r.peek(0).is("(") && r.peek(1).is("values"):
		r.next()
		r.next()
		t.columns = r.rows(around)
		r.expect(")")
	case r.peek(0).is("(") && r.peek(1).is("select", "with", "("):
		r.next()
		t.columns = r.query(around)
		r.expect(")")
	case r.accept("("):
		r.joined(s)
		r.expect(")")
		return
	default:
		t = r.named(around)
	}
	r.alias(t, line)
	if r.peek(0).is("with") && r.peek(1).is("(") {
		r.next()
		for hint := true; hint; hint = r.accept(",") {
			r.accept("(")
			r.expect("nolock")
		}
		r.expect(")")
	}
	if t.alias == "" {
		r.say(line, "a subquery without an alias")
	}
	for _, other := range s.sources {
		if other.alias == t.alias {
			r.say(line, "two tables are called %s", t.alias)
		}
	}
	s.sources = append(s.sources, t)
}

// alias is what a table is called here, and its columns where they are listed.
func (r *reader) alias(t *source, line int) {
	if r.peek(0).is("as") && r.views.engine == fleet.Oracle {
		r.stop("Oracle takes no AS before the alias of a table")
	}
	if r.accept("as") || r.peek(0).kind == quoted || r.peek(0).kind == word && !reserved[r.peek(0).text] {
		t.alias, t.name = r.name(), ""
		if r.peek(0).is("(") {
			names := r.names()
			if t.view != nil || len(names) != len(t.columns) {
				r.say(line, "%s names %d columns, and %d are there", t.alias, len(names), len(t.columns))
			}
			t.columns = names
		}
	}
}

// rows are those of VALUES: as many unnamed columns as the first has.
func (r *reader) rows(s *scope) (columns []string) {
	for i := 0; i == 0 || r.accept(","); i++ {
		line := r.peek(0).line
		r.expect("(")
		n := r.list(s)
		r.expect(")")
		if i == 0 {
			columns = make([]string, n)
		} else if n != len(columns) {
			r.say(line, "a row of %d values, the first one has %d", n, len(columns))
		}
	}
	return columns
}

// named is a view, a common table expression or a function that returns a table.
func (r *reader) named(around *scope) *source {
	line := r.peek(0).line
	parts := []string{r.name()}
	for r.accept(".") {
		if r.peek(0).is(".") {
			parts = append(parts, "dbo") // msdb..backupset
			continue
		}
		parts = append(parts, r.name())
	}
	called := r.peek(0).is("(")
	if called {
		r.next()
		if !r.accept(")") {
			r.list(around)
			r.expect(")")
		}
	}
	full := strings.Join(parts, ".")
	for i := len(r.made) - 1; i >= 0 && len(parts) == 1 && !called; i-- {
		if r.made[i].alias == full {
			return &source{alias: full, columns: r.made[i].columns}
		}
	}
	v, why := r.views.find(parts)
	if v == nil {
		r.say(line, "%s", why)
		v = &view{name: full, unknown: true}
	}
	if r.reads[full] == nil {
		r.reads[full] = make(map[string]bool)
	}
	named := *v
	named.called = full
	v = &named
	t := &source{alias: parts[len(parts)-1], name: full, view: v}
	for column := range v.columns {
		t.columns = append(t.columns, column)
	}
	if v.since > r.serves {
		r.say(line, "%s is there since %v, and the query serves %v", full, v.since, r.serves)
	}
	return t
}
