package findings

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// Status is what has become of a finding.
type Status string

// The statuses.
const (
	Open        Status = "open"
	Accepted    Status = "accepted"    // by an exception in force
	NotAssessed Status = "notAssessed" // the check could not be run
	Passed      Status = "passed"      // it has gone; no list has it
)

// Exception is one in force: findings that the organization decided to live with.
type Exception struct {
	ID       uuid.UUID
	CheckID  string
	Instance *uuid.UUID // nil: every instance
	Database *string    // nil: every database, and what is instance-wide
	Object   string     // empty: every object
	Until    time.Time
	Reason   string
}

// covers says whether the exception accepts a finding, as analysis does for documents.
func (x Exception) covers(f Finding) bool {
	return f.Assessed && x.CheckID == f.CheckID && (x.Instance == nil || *x.Instance == f.Instance) &&
		(x.Database == nil || x.Instance != nil && *x.Database == f.Database) && (x.Object == "" || x.Object == f.Object)
}

// narrowness ranks exceptions that cover the same finding.
func (x Exception) narrowness() (n int) {
	if x.Instance != nil {
		n++
	}
	if x.Database != nil {
		n++
	}
	if x.Object != "" {
		n += 3
	}
	return n
}

// Narrowest is the exception that accepts a finding, the narrowest of several; nil
// where none does.
func Narrowest(exceptions []Exception, f Finding) *Exception {
	var found *Exception
	for i := range exceptions {
		x := &exceptions[i]
		if x.covers(f) && (found == nil || cmp.Or(
			cmp.Compare(x.narrowness(), found.narrowness()), x.Until.Compare(found.Until), bytes.Compare(found.ID[:], x.ID[:])) > 0) {
			found = x
		}
	}
	return found
}

// Order is what a page is sorted by. Findings that are alike come by id.
type Order string

// The orders. Severities are sorted by how bad they are.
const (
	BySeverity Order = "severity"
	ByCheck    Order = "checkId"
	ByInstance Order = "instance"
	ByOwner    Order = "owner" // of the server, and then by the server; those of nobody come last
	ByFirst    Order = "firstSeenAt"
	ByLast     Order = "lastSeenAt"
	ByDue      Order = "dueAt" // checks that could not be run come last: they are never due
)

// Instance is one whose findings are listed.
type Instance struct {
	ID   uuid.UUID
	Name string
}

// Query selects a page of the findings that are there.
type Query struct {
	Organization uuid.UUID
	Instances    []Instance  // only theirs; none: nothing
	Whole        bool        // Instances are all that the organization has findings of but for Except
	Except       []uuid.UUID // where Whole
	Database     *string     // only those of a database of that name
	Checks       []string    // nil: all; empty: none
	Ranks        []int       // empty: all
	Statuses     []Status    // empty: Open
	Search       string      // substring of object, evidence, database or instance, case-insensitive
	Titled       []string    // checks that Search means, too
	Exceptions   []Exception
	Due          Due
	Overdue      *bool // nil: both
	Assignee     *uuid.UUID
	Order        Order
	Owners       map[uuid.UUID]string // the names of instances' owners, for ByOwner
	Descending   bool
	Page, Size   int // 1-based
}

// CompareOwners puts names of owners in order, whatever their case; no owner comes last either way.
func CompareOwners(a, b string, descending bool) int {
	if a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	order := strings.Compare(strings.ToLower(a), strings.ToLower(b))
	if descending {
		return -order
	}
	return order
}

var (
	//go:embed sql/page.sql
	pageSQL string
	//go:embed sql/count.sql
	countSQL string
	//go:embed sql/counts.sql
	countsSQL string
	//go:embed sql/matching.sql
	matchingSQL string
	//go:embed sql/find.sql
	findSQL string
	//go:embed sql/covered.sql
	coveredSQL string
)

// List returns a page of findings and how many there are in all.
func List(ctx context.Context, q sqlx.QueryerContext, query Query) ([]Finding, int64, error) {
	if len(query.Instances) == 0 || query.Checks != nil && len(query.Checks) == 0 {
		return []Finding{}, 0, nil
	}
	if query.Order == ByInstance || query.Order == ByOwner {
		return listByInstance(ctx, q, query)
	}
	total, err := Count(ctx, q, query)
	if err != nil || int64(query.Page-1)*int64(query.Size) >= total {
		return []Finding{}, total, err
	}
	covered, matching, args := query.matching()
	order := query.order(binds(&args))
	rows, err := statement.All[Finding](ctx, q, "read findings", query.page(covered, matching, order, int64(query.Page-1)*int64(query.Size)), args...)
	return rows, total, err
}

// Count returns how many findings a query has in all, whatever its page.
func Count(ctx context.Context, q sqlx.QueryerContext, query Query) (int64, error) {
	if len(query.Instances) == 0 || query.Checks != nil && len(query.Checks) == 0 {
		return 0, nil
	}
	covered, matching, args := query.matching()
	return statement.One[int64](ctx, q, "count findings", strings.NewReplacer("{{covered}}", covered, "{{matching}}", matching).Replace(countSQL), args...)
}

// binds adds values to the arguments of a statement; it returns how the statement names each.
func binds(args *[]any) func(any) string {
	return func(v any) string {
		*args = append(*args, v)
		return "$" + strconv.Itoa(len(*args))
	}
}

// page is the statement of a page. Its size is in the text: of an argument the planner
// supposes a tenth of all.
func (q Query) page(covered, matching, order string, offset int64) string {
	return strings.NewReplacer("{{covered}}", covered, "{{matching}}", matching, "{{order}}", order,
		"{{size}}", strconv.Itoa(q.Size), "{{offset}}", strconv.FormatInt(offset, 10)).Replace(pageSQL)
}

// listByInstance counts what each instance has, goes through them in the order of their
// names as far as the page, and reads the findings of those that are on it: to sort all
// 30,000 beside their names took four times as long.
func listByInstance(ctx context.Context, q sqlx.QueryerContext, query Query) ([]Finding, int64, error) {
	covered, matching, args := query.matching()
	counted, err := statement.All[countOf](ctx, q, "count the findings of instances",
		strings.NewReplacer("{{covered}}", covered, "{{matching}}", matching).Replace(countsSQL), args...)
	if err != nil {
		return nil, 0, err
	}
	counts := make(map[uuid.UUID]int64, len(counted))
	for _, c := range counted {
		counts[c.ID] = c.Findings
	}
	query.Instances = slices.Clone(query.Instances)
	slices.SortFunc(query.Instances, func(a, b Instance) int {
		order := cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), bytes.Compare(a.ID[:], b.ID[:]))
		if query.Order == ByOwner {
			return cmp.Or(CompareOwners(query.Owners[a.ID], query.Owners[b.ID], query.Descending), order)
		}
		if query.Descending {
			return -order
		}
		return order
	})
	first := int64(query.Page-1) * int64(query.Size)
	var total, skipped int64 // skipped are findings of instances before the page
	var on []Instance
	for _, in := range query.Instances {
		switch n := counts[in.ID]; {
		case total+n <= first:
			skipped += n
		case n > 0 && total < first+int64(query.Size):
			on = append(on, in)
		}
		total += counts[in.ID]
	}
	if len(on) == 0 {
		return []Finding{}, total, nil
	}
	query.Instances, query.Whole = on, false
	covered, matching, args = query.matching()
	args = append(args, query.instances(""))
	order := "array_position($" + strconv.Itoa(len(args)) + "::uuid[], f.instance_id), f.id"
	rows, err := statement.All[Finding](ctx, q, "read findings", query.page(covered, matching, order, first-skipped), args...)
	return rows, total, err
}

type countOf struct {
	ID       uuid.UUID `db:"instance_id"`
	Findings int64
}

// order names the worst severity the greatest.
func (q Query) order(bind func(any) string) string {
	var key string
	descending, last := q.Descending, ""
	switch q.Order {
	case ByCheck:
		key = `f.check_id COLLATE "C"`
	case ByFirst:
		key = "f.first_seen_at"
	case ByLast:
		key = "f.last_seen_at"
	case ByDue:
		key, last = "CASE WHEN f.assessed THEN f.first_seen_at - "+q.Due.latest(bind)+" END", " NULLS LAST"
	default:
		key, descending = "f.severity", !descending
	}
	if descending {
		key += " DESC"
	}
	return key + last + ", f.id"
}

// matching is the part of a statement that says what is listed, with its arguments. Unused
// filters are not in it: for 30,000 findings, a look-up of exceptions for each took as long as
// everything else.
func (q Query) matching() (covered, matching string, args []any) {
	bind := binds(&args)
	organization := bind(q.Organization)
	accepted := "false"
	if len(q.Exceptions) > 0 {
		accepted = "f.id IN (SELECT id FROM covered)"
		covered = strings.NewReplacer("{{organization}}", organization, "{{exceptions}}", q.exceptions(bind)).Replace(coveredSQL)
	}
	conditions := []string{q.statuses(accepted)}
	switch {
	case !q.Whole:
		conditions = append(conditions, "f.instance_id = ANY ("+bind(q.instances(""))+"::uuid[])")
	case len(q.Except) > 0:
		conditions = append(conditions, "f.instance_id <> ALL ("+bind(statement.IDs(q.Except))+"::uuid[])")
	}
	if q.Database != nil {
		conditions = append(conditions, "f.database_name = "+bind(*q.Database))
	}
	if q.Checks != nil {
		conditions = append(conditions, "f.check_id = ANY ("+bind(q.Checks)+"::text[])")
	}
	if len(q.Ranks) > 0 {
		conditions = append(conditions, "f.severity = ANY ("+bind(q.Ranks)+"::int[])")
	}
	if q.Overdue != nil {
		overdue := "(f.assessed AND NOT " + accepted + " AND f.first_seen_at < " + q.Due.latest(bind) + ")"
		if !*q.Overdue {
			overdue = "NOT " + overdue
		}
		conditions = append(conditions, overdue)
	}
	if q.Assignee != nil {
		conditions = append(conditions, "f.id IN (SELECT finding_id FROM finding_assignments WHERE organization_id = "+organization+" AND assignee_id = "+bind(*q.Assignee)+")")
	}
	if q.Search != "" {
		conditions = append(conditions, "(f.check_id = ANY ("+bind(append([]string{}, q.Titled...))+"::text[]) OR f.instance_id = ANY ("+bind(q.instances(q.Search))+"::uuid[])"+
			" OR position(lower("+bind(q.Search)+"::text) IN f.sought) > 0)")
	}
	matching = strings.NewReplacer("{{organization}}", organization, "{{conditions}}", strings.Join(conditions, "\n  AND ")).Replace(matchingSQL)
	return covered, strings.TrimSpace(matching), args
}

// statuses is the condition of the statuses that are asked for.
func (q Query) statuses(accepted string) string {
	asked := q.Statuses
	if len(asked) == 0 {
		asked = []Status{Open}
	}
	var any []string
	for _, s := range asked {
		any = append(any, map[Status]string{
			Open: "f.assessed AND NOT " + accepted, Accepted: "f.assessed AND " + accepted, NotAssessed: "NOT f.assessed",
		}[s])
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

// instances are those whose names have a text in them, as an argument.
func (q Query) instances(text string) [][16]byte {
	text = strings.ToLower(text)
	ids := [][16]byte{}
	for _, in := range q.Instances {
		if strings.Contains(strings.ToLower(in.Name), text) {
			ids = append(ids, in.ID)
		}
	}
	return ids
}

func (q Query) exceptions(bind func(any) string) string {
	checks, objects := make([]string, len(q.Exceptions)), make([]string, len(q.Exceptions))
	instances, databases := make([]*[16]byte, len(q.Exceptions)), make([]*string, len(q.Exceptions))
	for i, x := range q.Exceptions {
		checks[i], objects[i], databases[i] = x.CheckID, x.Object, x.Database
		if x.Instance != nil {
			id := [16]byte(*x.Instance)
			instances[i] = &id
		}
	}
	return bind(checks) + "::text[], " + bind(instances) + "::uuid[], " + bind(databases) + "::text[], " + bind(objects) + "::text[]"
}

// Find returns a finding of an organization, also one that has gone; ok is false if there is
// none with that id.
func Find(ctx context.Context, q sqlx.QueryerContext, organization, id uuid.UUID) (f Finding, ok bool, err error) {
	return statement.Find[Finding](ctx, q, "read a finding", findSQL, organization, id)
}
