package alerts

import (
	_ "embed" // the queries
	"strings"
	"time"
)

var (
	//go:embed sql/counted.sql
	countedQuery string
	//go:embed sql/recorded_between.sql
	recordedBetweenQuery string
	//go:embed sql/crossed.sql
	crossedQuery string
)

// total is how many alerts match. Where the totals can say, they do for the whole
// hours of the window, and what is beside those is counted; else everything is.
// Both go by the time in the alert's last event: what alert_last_seen takes
// across a bound is then put on its other side.
func (q Query) total() (query string, args []any) {
	c := conditionsOf(q)
	var terms []string
	if first, end, ok := wholeHours(q.From, q.To); ok && !q.Scope.Filtered && q.Search == "" {
		hours := func(at time.Time) string {
			if at.IsZero() {
				return ""
			}
			return c.bind(at)
		}
		from, to := hours(first), hours(end)
		terms = append(terms, c.term(countedQuery, "{{window of t}}", between("t.hour", from, to)))
		if c.from != "" {
			terms = append(terms, c.recordedBetween(c.from, from))
		}
		if c.to != "" {
			terms = append(terms, c.recordedBetween(to, c.to))
		}
	} else {
		terms = append(terms, c.recordedBetween(c.from, c.to))
	}
	if c.from != "" {
		terms = append(terms, c.term(crossedQuery, "{{bound}}", c.from))
	}
	query = "SELECT " + strings.Join(terms, "\n+ ")
	if c.to != "" {
		query += "\n- " + c.term(crossedQuery, "{{bound}}", c.to)
	}
	return query, c.args
}

func (c *conditions) recordedBetween(from, to string) string {
	return c.term(recordedBetweenQuery, "{{window of a}}", between("a.last_triggered_at", from, to))
}

func (c *conditions) term(query string, own ...string) string {
	return strings.NewReplacer(append(own, "{{organization}}", c.organization, "{{scope}}", c.scope(),
		"{{seen later}}", seenLater, "{{filter}}", c.filter, "{{counted}}", c.counted)...).Replace(strings.TrimSpace(query))
}
