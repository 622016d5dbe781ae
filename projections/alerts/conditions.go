package alerts

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
)

// conditions are those of a query, composed of fixed text: the caller's values are in the
// arguments alone. A condition that was not requested is absent, so the planner sees which ones
// apply.
type conditions struct {
	args                              []any
	organization, instances, from, to string // placeholders; empty: not asked for
	filter, counted                   string // of a row of alerts (a), of totals (t); begin with AND
	elsewhere                         string // placeholder; empty: no alert concerns the instances beside its own
}

func conditionsOf(q Query) *conditions {
	c := &conditions{}
	c.organization = c.bind(q.Organization)
	if q.Scope.Filtered {
		c.within(q.Scope.Instances, q.elsewhere)
		c.instances = hidden(c.instances)
	}
	c.from, c.to = c.at(q.From), c.at(q.To)
	if q.Closed != nil {
		c.flag(*q.Closed, "a.resolved_at IS NOT NULL", "t.closed")
	}
	if q.Muted != nil {
		c.flag(*q.Muted, "a.muted", "t.muted")
	}
	if len(q.Severities) > 0 {
		severities := make([]string, len(q.Severities))
		for i, s := range q.Severities {
			severities[i] = string(s)
		}
		wanted := " = ANY (" + c.bind(severities) + ")"
		c.filter += " AND a.severity" + wanted
		c.counted += " AND t.severity" + wanted
	}
	if q.Search != "" {
		c.filter += " AND " + c.found(c.bind(q.Search))
	}
	return c
}

// within limits to instances, and to further alerts that concern them.
func (c *conditions) within(instances, elsewhere []uuid.UUID) {
	c.instances = c.bind(instances)
	if len(elsewhere) > 0 {
		c.elsewhere = c.bind(elsewhere)
	}
}

// hidden are ids that the planner does not see, so a statement is planned once and not for each list of ids: planning
// a page or a total of 200 instances takes as long as reading it.
func hidden(ids string) string { return "(SELECT " + ids + "::uuid[])::uuid[]" }

// titleInScope is the title of an alert (a) without the names of its servers, if it has several.
const titleInScope = "CASE WHEN a.other_instance_ids = '' THEN a.title ELSE split_part(a.title, '" + domain.TitleServers + "', 1) END"

// found asks for alerts whose title has a text in it, or the name of one of their instances or
// their database has. Who filters by instances does not find an alert by the names of others. Which places those are is looked up once a query: there are some
// thousands, and may be a million alerts.
func (c *conditions) found(text string) string {
	has := func(column string) string { return "position(lower(" + text + ") IN lower(" + column + ")) > 0" }
	named := func(id, and string) string {
		return "(SELECT " + id + " FROM alerts_v5.places p WHERE p.organization_id = " + c.organization + " AND " + has("p.name") + and + ")"
	}
	title, theirs := "a.title", ""
	if c.instances != "" {
		title = titleInScope
		theirs = " AND p.id = ANY (" + c.instances + ")"
	}
	return "(" + has(title) + " OR a.instance_id IN " + named("p.id", theirs) + " OR a.database_id IN " + named("p.id", "") +
		" OR a.other_instance_ids <> '' AND string_to_array(a.other_instance_ids, ',') && ARRAY" + named("p.id::text", theirs) + ")"
}

// flag asks for what is so, or is not.
func (c *conditions) flag(is bool, alert, counted string) {
	not := ""
	if !is {
		not = "NOT "
	}
	c.filter += " AND " + not + "(" + alert + ")"
	c.counted += " AND " + not + counted
}

// bind adds an argument and returns its placeholder.
func (c *conditions) bind(value any) string {
	c.args = append(c.args, value)
	return "$" + strconv.Itoa(len(c.args))
}

// at binds a time; the zero time has no placeholder.
func (c *conditions) at(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return c.bind(at)
}

// scope is the condition that an alert (a) is in scope.
func (c *conditions) scope() string {
	scope := "a.organization_id = " + c.organization
	if c.instances != "" {
		is := "a.instance_id = ANY (" + c.instances + ")"
		if c.elsewhere != "" {
			is = "(" + is + " OR a.id = ANY (" + c.elsewhere + "))"
		}
		scope += " AND " + is
	}
	return scope
}

// hashed is the condition that an alert (a) concerns the instances. They are hashed even where the planner does not
// see them, and the condition stays a filter of alerts in their order.
func (c *conditions) hashed() string {
	is := "(a.instance_id IN (SELECT unnest(" + c.instances + "::uuid[]))) IS TRUE"
	if c.elsewhere != "" {
		is += " OR a.id = ANY (" + c.elsewhere + ")"
	}
	return "(" + is + ")"
}

// between is the condition that a time is at or after one and before another,
// where either may be missing; it begins with AND.
func between(column, from, to string) (condition string) {
	if from != "" {
		condition += " AND " + column + " >= " + from
	}
	if to != "" {
		condition += " AND " + column + " < " + to
	}
	return condition
}

// period is what counters count: it begins with begin, which a column has, and lasts for longest at most.
type period struct {
	column  string
	begin   func(time.Time) time.Time
	longest time.Duration
}

// whole are the periods whose counters tell about a window. Each end of the window is moved to the nearest begin
// of a period, which may lie outside the window, and an open end stays open. ok is false if there are none, or if one
// of the ends is the zero time, which would read as open.
func (p period) whole(from, to time.Time) (first, end time.Time, ok bool) {
	first, end = p.nearest(from), p.nearest(to)
	if first.IsZero() != from.IsZero() || end.IsZero() != to.IsZero() {
		return first, end, false
	}
	return first, end, from.IsZero() || to.IsZero() || first.Before(end)
}

// nearest is the begin of a period that is nearest to a time; the zero time stays as it is.
func (p period) nearest(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	begin := p.begin(at)
	if next := p.begin(begin.Add(p.longest)); next.Sub(at) < at.Sub(begin) {
		return next
	}
	return begin
}
