package inspection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/internal/assessment/catalogue"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Server is what an engine's inspector knows of a server before its checks are run.
type Server interface {
	// Excludes says why a check does not apply to this server, "" if it does.
	Excludes(check catalogue.Check) string
	// Missing are the grants without which a check would not see all.
	Missing(check catalogue.Check) []snapshot.MissingGrant
	// Refused are the grants that a refusal of a check's query asks for; none if it had another
	// reason.
	Refused(check catalogue.Check, refusal *servers.Refusal) []snapshot.MissingGrant
}

// Rule judges a check that no query can. measured says what it looked at, unknown in
// words why nothing can be said.
type Rule func() (violations []snapshot.Violation, measured, unknown string)

// Look is one look at a database, or at a server as a whole.
type Look struct {
	Session  servers.Session
	Server   Server
	Database string            // "" where the checks are those of the server
	Account  string            // who looks, for people to read
	Settings map[string]string // what its options or parameters are, by name in small letters; nil where they could not be read
	Rules    map[string]Rule   // by the name that a check's evaluate has
	// Beyond says what a check speaks of and this look does not see, "" for nothing. It may be nil.
	Beyond func(check catalogue.Check) string
}

// Run runs checks one after another on one session; a server should hardly notice us.
func (l Look) Run(ctx context.Context, checks []catalogue.Check) (results []snapshot.CheckResult, grants []snapshot.MissingGrant) {
	for _, check := range checks {
		result := snapshot.CheckResult{CheckID: check.ID, Database: l.Database, Threshold: check.Pass}
		switch missing, applies := l.admit(&result, check); {
		case !applies:
			grants = append(grants, missing...)
		case check.Evaluate != "":
			l.judge(&result, check)
		case Cut(ctx, &result):
		case l.Session.Closed():
			NotAssessed(&result, snapshot.ReasonTimeout, "The connection was lost before this check, after a statement that the server did not finish.")
		default:
			grants = append(grants, l.ask(ctx, &result, check)...)
			Cut(ctx, &result)
		}
		results = append(results, result)
	}
	return results, grants
}

// Skip is what came of checks that could not be run at all, all for one reason: a database
// that is not there for us.
func Skip(checks []catalogue.Check, database, code, reason string) (results []snapshot.CheckResult) {
	for _, check := range checks {
		result := snapshot.CheckResult{CheckID: check.ID, Database: database, Threshold: check.Pass}
		NotAssessed(&result, code, reason)
		results = append(results, result)
	}
	return results
}

// Unread is what came of the checks of a database that could not be read: because the look is
// over, or for another reason.
func Unread(ctx context.Context, checks []catalogue.Check, database, reason string) []snapshot.CheckResult {
	if notRead, over := Over(ctx); over {
		return Skip(checks, database, snapshot.ReasonTimeout, notRead)
	}
	return Skip(checks, database, snapshot.ReasonDatabaseUnreachable, reason)
}

// admit decides whether a check can be run here, by what the server has and lets our
// account see.
func (l Look) admit(result *snapshot.CheckResult, check catalogue.Check) (grants []snapshot.MissingGrant, applies bool) {
	if reason := l.Server.Excludes(check); reason != "" {
		NotApplicable(result, snapshot.ReasonNotPresent, reason)
		return nil, false
	}
	if grants = l.Server.Missing(check); len(grants) > 0 {
		NotAssessed(result, snapshot.ReasonPermissionDenied, l.refusal(grants))
		return grants, false
	}
	settings := settingsOf(check)
	if l.Settings != nil && len(settings) > 0 && len(settings) == len(check.Reads) && !slices.ContainsFunc(settings, l.has) {
		NotApplicable(result, snapshot.ReasonNotPresent, "This server has no "+settings[0].Object()+".")
		return nil, false
	}
	return nil, true
}

func settingsOf(check catalogue.Check) []catalogue.Read {
	return slices.DeleteFunc(slices.Clone(check.Reads), func(r catalogue.Read) bool { return !r.Setting() })
}

// has says whether the server has a setting. An Oracle setting that begins with _ is listed
// only if it was set.
func (l Look) has(r catalogue.Read) bool {
	_, there := l.Settings[strings.ToLower(r.Name)]
	return there || strings.HasPrefix(r.Name, "_")
}

// refusal is why a check with missing grants was not assessed.
func (l Look) refusal(grants []snapshot.MissingGrant) string {
	var objects, statements []string
	for _, g := range grants {
		objects = append(objects, g.Object)
		if g.Statement != "" && !slices.Contains(statements, g.Statement) {
			statements = append(statements, g.Statement)
		}
	}
	text := fmt.Sprintf("The account %s lacks %s.", l.Account, strings.Join(objects, " and "))
	if len(statements) > 0 {
		text += " To grant it: " + strings.Join(statements, " ")
	}
	return text
}

func (l Look) judge(result *snapshot.CheckResult, check catalogue.Check) {
	rule, ok := l.Rules[check.Evaluate]
	if !ok {
		NotAssessed(result, snapshot.ReasonQueryFailed, "Nothing here judges "+check.Evaluate+".")
		return
	}
	violations, measured, unknown := rule()
	if unknown != "" {
		NotAssessed(result, snapshot.ReasonQueryFailed, unknown)
		return
	}
	Conclude(result, violations[:min(len(violations), snapshot.MaxViolations)], len(violations), measured)
}

// Query is a query of a check as a server is asked it. Its first line says which it is.
func Query(check catalogue.Check, what, query string) string {
	return "-- Muster " + check.ID + " " + what + "\n" + strings.TrimSpace(query)
}

// The queries of a check.
const (
	Inapplicable = "inapplicable"
	Violations   = "violations"
	Population   = "population"
	Measure      = "measure"
	Unreadable   = "unreadable"
)

// ask runs the queries of a check.
func (l Look) ask(ctx context.Context, result *snapshot.CheckResult, check catalogue.Check) []snapshot.MissingGrant {
	if check.Inapplicable != "" {
		rows, err := servers.Query(ctx, l.Session, 1, Query(check, Inapplicable, check.Inapplicable))
		if err != nil {
			return l.unanswered(result, check, err)
		}
		if len(rows) > 0 {
			NotApplicable(result, snapshot.ReasonNotPresent, rows[0][0])
			return nil
		}
	}
	violations, total, err := l.violations(ctx, check)
	if err != nil {
		return l.unanswered(result, check, err)
	}
	hidden, err := l.hidden(ctx, check)
	if err == nil && hidden == "" && l.Beyond != nil {
		hidden = l.Beyond(check)
	}
	if err != nil || hidden != "" && total == 0 {
		if err != nil {
			_, sentence := Reason(err)
			hidden = "Muster could not find out which objects the server hides: " + sentence + "."
		}
		if total == 0 {
			NotAssessed(result, snapshot.ReasonQueryFailed, hidden)
			return nil
		}
	}
	m := Measured{Counted: check.Population != "", All: l.population(ctx, check)}
	for _, read := range settingsOf(check) {
		if value, ok := l.Settings[strings.ToLower(read.Name)]; ok {
			m.Settings = append(m.Settings, Setting(read.Name, value))
		}
	}
	if check.Measure != "" {
		m.Measure = func() (string, error) {
			row, err := servers.Row(ctx, l.Session, 1, Query(check, Measure, check.Measure))
			if err != nil {
				return "", err
			}
			return row[0], nil
		}
	}
	if check.Population != "" || check.Measure != "" {
		m.Settings = nil // they say what it is measured by, and not what was found
	}
	Conclude(result, violations, total, m.Words(total))
	m.Share(result)
	result.Reason = hidden
	return nil
}

// unanswered says why a check's query gave nothing.
func (l Look) unanswered(result *snapshot.CheckResult, check catalogue.Check, err error) []snapshot.MissingGrant {
	refusal, refused := errors.AsType[*servers.Refusal](err)
	if refused {
		if grants := l.Server.Refused(check, refusal); len(grants) > 0 {
			NotAssessed(result, snapshot.ReasonPermissionDenied, l.refusal(grants))
			return grants
		}
		if refusal.Reason == servers.Absent {
			NotApplicable(result, snapshot.ReasonNotPresent, "This server lacks a view or a column that the check reads ("+refusal.Code+").")
			return nil
		}
	}
	code, sentence := Reason(err)
	NotAssessed(result, code, "Not assessed: "+sentence+".")
	return nil
}

// violations are the first ones by object and evidence, and how many there are. They are
// cut while rows come, so that no server decides how much is kept.
func (l Look) violations(ctx context.Context, check catalogue.Check) (kept []snapshot.Violation, total int, err error) {
	parts := len(check.Object.Parts())
	cut := func() {
		slices.SortFunc(kept, func(a, b snapshot.Violation) int {
			return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Evidence, b.Evidence))
		})
		kept = kept[:min(len(kept), snapshot.MaxViolations)]
	}
	err = l.Session.Each(ctx, servers.Statement{Columns: 1 + parts, Text: Query(check, Violations, check.Query)}, func(row [][]byte) error {
		total++
		values := make([]string, parts)
		for i := range values {
			values[i] = strings.ToValidUTF8(string(row[1+i]), "\uFFFD")
		}
		object := check.Object.Name(values)
		kept = append(kept, snapshot.Violation{Object: object, Evidence: strings.ToValidUTF8(string(row[0]), "\uFFFD")})
		if len(kept) == 2*snapshot.MaxViolations {
			cut()
		}
		return nil
	})
	cut()
	for i := range kept {
		kept[i].Fix = check.Fix(l.Database, kept[i].Object)
	}
	return kept, total, err
}

// hidden says what of a check could not be seen, "" for nothing.
func (l Look) hidden(ctx context.Context, check catalogue.Check) (string, error) {
	if check.Unreadable == "" {
		return "", nil
	}
	rows, err := servers.Query(ctx, l.Session, 1, Query(check, Unreadable, check.Unreadable))
	if err != nil || len(rows) == 0 {
		return "", err
	}
	const listed = 20
	var names []string
	for _, row := range rows[:min(len(rows), listed)] {
		names = append(names, row[0])
	}
	slices.Sort(names)
	more := ""
	if len(rows) > listed {
		more = fmt.Sprintf(" and %d more", len(rows)-listed)
	}
	return "Not known: " + strings.Join(names, ", ") + more + ".", nil
}

// population is how many objects a check assessed; -1 where that is not known.
func (l Look) population(ctx context.Context, check catalogue.Check) int {
	if check.Population == "" {
		return -1
	}
	row, err := servers.Row(ctx, l.Session, 1, Query(check, Population, check.Population))
	if err != nil {
		return -1
	}
	all, err := strconv.Atoi(row[0])
	if err != nil {
		return -1
	}
	return all
}
