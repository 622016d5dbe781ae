package alerts

import (
	"context"
	_ "embed" // the queries
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/domain/fleet"
)

var (
	//go:embed sql/page.sql
	pageQuery string
	//go:embed sql/page_whole.sql
	wholeQuery string
	//go:embed sql/page_near.sql
	nearQuery string
	//go:embed sql/page_recorded_near.sql
	recordedNearQuery string
	//go:embed sql/page_seen_near.sql
	seenNearQuery string
	//go:embed sql/page_recorded.sql
	recordedQuery string
	//go:embed sql/page_seen.sql
	seenQuery string
	//go:embed sql/page_seen_of_instance.sql
	seenOfInstanceQuery string
	//go:embed sql/page_of_instances.sql
	ofInstancesQuery string
)

// Order is what a page is sorted by.
type Order string

// The orders. States are sorted as an alert goes through them, severities by
// how bad they are. Alerts that are alike come by last triggered, newest first,
// and then by id, greatest first; only ByLastTriggered, ascending, has the least
// id first.
const (
	ByLastTriggered Order = "lastTriggeredAt"
	ByCreated       Order = "createdAt"
	BySeverity      Order = "severity"
	ByState         Order = "state"
	ByOwner         Order = "owner" // of the server that the alert belongs to; those of nobody come last
)

// Query selects a page of alerts.
type Query struct {
	Organization uuid.UUID
	Scope        fleet.Scope
	From, To     time.Time // of last triggered; zero: no bound. From is inclusive, To exclusive
	Closed       *bool
	Muted        *bool
	Severities   []domain.Severity // empty: all
	Search       string            // substring of the title, or of the instance's or database's name, case-insensitive
	Order        Order
	Owners       map[uuid.UUID]string // the names of instances' owners, for ByOwner
	Descending   bool
	Page, Size   int // 1-based

	elsewhere []uuid.UUID // alerts that concern the scope and belong to no server of it
}

// Page returns a page of alerts and how many there are in all.
func (r *Reader) Page(ctx context.Context, q Query) ([]Alert, int64, error) {
	if q.nothing() {
		return []Alert{}, 0, nil
	}
	var err error
	if q.elsewhere, err = r.elsewhere(ctx, q.Organization, q.Scope); err != nil {
		return nil, 0, err
	}
	var total int64
	count, args := q.total()
	if err := r.db.GetContext(ctx, &total, count, args...); err != nil {
		return nil, 0, fmt.Errorf("count alerts: %w", err)
	}
	if int64(q.Page-1)*int64(q.Size) >= total {
		return []Alert{}, total, nil
	}
	page, args := q.page()
	alerts, err := r.alerts(ctx, page, args...)
	if err != nil {
		return nil, 0, fmt.Errorf("read alerts: %w", err)
	}
	return alerts, total, nil
}

// nothing reports whether no alert can match.
func (q Query) nothing() bool {
	return q.Scope.Filtered && len(q.Scope.Instances) == 0 ||
		!q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To)
}

// nearEach is how many alerts of all servers are looked at for each server of a scope, before those of each server
// are. Looking at one takes about a twentieth of the time of looking for the alerts of a server.
const nearEach = 20

// page is the statement of a page. Its size and depth are in the text: the planner supposes that a limit
// which it does not see is a tenth of all alerts, and would plan the statement anew for each page.
func (q Query) page() (query string, args []any) {
	c := conditionsOf(q)
	key, order, direction := q.order(c.bind)
	chosen, near, scope, recorded, seen := wholeQuery, "", "a.organization_id = "+c.organization, recordedQuery, seenQuery
	if q.Scope.Filtered {
		scope += " AND a.instance_id = instance.id"
		recorded, seen = c.ofInstances(recordedQuery), c.ofInstances(seenOfInstanceQuery)
		if key == sortedByTime && q.Search == "" {
			chosen, near = nearQuery, strconv.Itoa(nearEach*powerOfTwo(len(q.Scope.Instances)))
		}
	}
	query = strings.NewReplacer("{{recorded}}", recorded, "{{seen}}", seen, "{{recorded near}}", recordedNearQuery,
		"{{seen near}}", seenNearQuery).Replace(chosen + pageQuery)
	return strings.NewReplacer(
		"{{columns}}", columnsRead, "{{places}}", placesNamed, "{{seen later}}", seenLater, "{{scope}}", scope,
		"{{organization}}", c.organization, "{{instances}}", c.instances, "{{near}}", near, "{{within}}", c.hashed(),
		"{{window of a}}", between("a.last_triggered_at", c.from, c.to),
		"{{window of s}}", between("s.last_triggered_at", c.from, c.to),
		"{{order of a}}", "a.last_triggered_at"+direction+", a.id"+direction, "{{order of s}}", "s.last_triggered_at"+direction+", s.alert_id"+direction,
		"{{filter}}", c.filter, "{{key}}", key, "{{order}}", order, "{{depth}}", strconv.FormatInt(int64(q.Page)*int64(q.Size), 10),
		"{{size}}", strconv.Itoa(q.Size), "{{offset}}", strconv.FormatInt(int64(q.Page-1)*int64(q.Size), 10),
	).Replace(query), c.args
}

// powerOfTwo is the least power of two that is not below n, so that few texts of a statement differ by it.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// ofInstances is a branch of a page for each instance, and once for the alerts elsewhere.
func (c *conditions) ofInstances(branch string) string {
	query := strings.Replace(ofInstancesQuery, "{{branch}}", branch, 1)
	if c.elsewhere != "" {
		query += "UNION ALL\n(" + strings.ReplaceAll(branch, "{{scope}}", "a.organization_id = "+c.organization+" AND a.id = ANY ("+c.elsewhere+")") + ")"
	}
	return query
}

// sortedByTime is the key of alerts that are sorted by the time of last triggering alone.
const sortedByTime = "NULL"

// order is what is sorted by beside the time of last triggering, the order in terms
// of that, of last and of id, and the direction in which these two are sorted.
func (q Query) order(bind func(any) string) (key, order, direction string) {
	direction = " ASC"
	if q.Descending {
		direction = " DESC"
	}
	switch q.Order {
	case ByCreated:
		key = "a.created_at"
	case BySeverity:
		key = rank("a.severity", domain.Severities())
	case ByOwner:
		key = q.ownerRank(bind)
	case ByState:
		key = rank("a.state", domain.States())
	default:
		return sortedByTime, "last" + direction + ", id" + direction, direction
	}
	return key, "key" + direction + ", last DESC, id DESC", " DESC"
}

// ownerRank is the place of the owner of an alert's server among the owners by name. A JSON object is
// looked up by its key, so that a row costs no walk through all servers.
func (q Query) ownerRank(bind func(any) string) string {
	names := map[string]bool{}
	for _, name := range q.Owners {
		names[strings.ToLower(name)] = true
	}
	sorted := slices.Sorted(maps.Keys(names))
	ranks := make(map[uuid.UUID]int, len(q.Owners))
	for id, name := range q.Owners {
		ranks[id] = slices.Index(sorted, strings.ToLower(name))
	}
	text, _ := json.Marshal(ranks) // of ids and numbers: it cannot fail
	last := len(sorted)
	if q.Descending {
		last = -1
	}
	return "coalesce((" + bind(string(text)) + "::jsonb ->> a.instance_id::text)::int, " + strconv.Itoa(last) + ")"
}

// rank is the place of a column's value among the constants of a type.
func rank[T ~string](column string, values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = "'" + string(v) + "'"
	}
	return "array_position(ARRAY[" + strings.Join(names, ", ") + "], " + column + ")"
}

var (
	//go:embed sql/counted.sql
	countedQuery string
	//go:embed sql/counted_of_instances.sql
	countedOfInstances string
	//go:embed sql/counted_elsewhere.sql
	countedElsewhere string
	//go:embed sql/recorded_between.sql
	recordedBetweenQuery string
	//go:embed sql/crossed.sql
	crossedQuery string
)

// total is the number of matching alerts. If the counters can tell, they do for the whole hours
// of the window, or for its whole months if it is of some instances, and the rest is counted;
// otherwise everything is counted. Both use the time in the alert's last event. Alerts that
// alert_last_seen moves across a bound are then counted on its other side.
func (q Query) total() (query string, args []any) {
	c := conditionsOf(q)
	counters, counts := period{"hour", hourOf, time.Hour}, countedQuery
	if q.Scope.Filtered {
		counters, counts = period{"month", monthOf, 31 * 24 * time.Hour}, countedOfInstances
	}
	var terms []string
	if first, end, ok := counters.whole(q.From, q.To); ok && q.Search == "" {
		from, to := c.at(first), c.at(end)
		terms = append(terms, c.term(counts, "{{window of t}}", between("t."+counters.column, from, to)))
		if c.from != "" {
			terms = append(terms, c.moved(first, q.From, from, c.from))
		}
		if c.to != "" {
			terms = append(terms, c.moved(q.To, end, c.to, to))
		}
		if c.elsewhere != "" {
			terms = append(terms, c.term(countedElsewhere, "{{window of a}}", between("a.last_triggered_at", from, to)))
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

// moved corrects a total by the alerts between an end of the window and where the counters begin or end
// instead: it adds those that the counters leave out, or takes off those that they have besides.
func (c *conditions) moved(early, late time.Time, atEarly, atLate string) string {
	if early.Before(late) {
		return "-" + c.recordedBetween(atEarly, atLate)
	}
	return c.recordedBetween(atLate, atEarly)
}

func (c *conditions) recordedBetween(from, to string) string {
	return c.term(recordedBetweenQuery, "{{window of a}}", between("a.last_triggered_at", from, to))
}

func (c *conditions) term(query string, own ...string) string {
	return strings.NewReplacer(append(own, "{{organization}}", c.organization, "{{scope}}", c.scope(), "{{instances}}", c.instances, "{{elsewhere}}", c.elsewhere,
		"{{seen later}}", seenLater, "{{filter}}", c.filter, "{{counted}}", c.counted)...).Replace(strings.TrimSpace(query))
}
