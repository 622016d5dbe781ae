package postgresql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// runChecks runs the checks one after another on one session; a server should
// hardly notice us. Rules are left out: they judge what all sessions found.
func runChecks(ctx context.Context, s servers.Session, a access, version int, checks []catalogue.Check, database string) (results []snapshot.CheckResult, grants []snapshot.MissingGrant) {
	for _, check := range checks {
		result := snapshot.CheckResult{CheckID: check.ID, Database: database, Threshold: check.Pass}
		missing, applies := admit(&result, a, version, check)
		grants = append(grants, missing...)
		switch {
		case !applies || check.Evaluate != "":
		case inspection.Cut(ctx, &result):
		case s.Closed():
			inspection.NotAssessed(&result, snapshot.ReasonTimeout, "The connection was lost before this check, after a statement that the server did not finish.")
		default:
			grants = append(grants, runCheck(ctx, s, a, check, &result)...)
			inspection.Cut(ctx, &result)
		}
		if check.Evaluate == "" || !applies {
			results = append(results, result)
		}
	}
	return results, grants
}

// admit decides whether a check can be run here, by what the server has.
func admit(result *snapshot.CheckResult, a access, version int, check catalogue.Check) (grants []snapshot.MissingGrant, applies bool) {
	if version < check.MinVersion {
		result.Status, result.ReasonCode = snapshot.StatusNotApplicable, snapshot.ReasonVersionTooOld
		result.Reason = fmt.Sprintf("Needs PostgreSQL %s or newer; this is %s.",
			feed.VersionOf(check.MinVersion).Major, feed.VersionOf(version))
		return nil, false
	}
	missing, absent := a.missing(check)
	if len(absent) > 0 {
		result.Status, result.ReasonCode = snapshot.StatusNotApplicable, snapshot.ReasonNotPresent
		result.Reason = "This server has no " + absent[0].Object() + "."
		return nil, false
	}
	if what := a.withheld(missing); what != "" {
		a.platform.withhold(result, what)
		return nil, false
	}
	if len(missing) > 0 {
		grants = a.grants(check, missing)
		inspection.NotAssessed(result, snapshot.ReasonPermissionDenied, a.refusal(grants))
		return grants, false
	}
	return nil, true
}

func runCheck(ctx context.Context, s servers.Session, a access, check catalogue.Check, result *snapshot.CheckResult) []snapshot.MissingGrant {
	columns, severity := "object, evidence", "''"
	if check.Graded {
		columns, severity = "object, evidence, severity", "v.severity::text"
	}
	further, selected := named(check.Names)
	rows, err := servers.Query(ctx, s, 4+len(check.Names), fmt.Sprintf(
		"select v.object::text, v.evidence::text, %s, count(*) over ()%s from (\n%s\n) v(%s%s)\n"+
			`order by v.object::text collate "C", v.evidence::text collate "C" limit %d`,
		severity, selected, check.Query, columns, further, snapshot.MaxViolations))
	if err != nil {
		code, sentence := inspection.Reason(err)
		inspection.NotAssessed(result, code, "Not assessed: "+sentence+".")
		return nil
	}
	hidden, grants := hiddenObjects(ctx, s, a, check)
	violations := make([]snapshot.Violation, len(rows))
	for i, row := range rows {
		violations[i] = snapshot.Violation{Object: row[0], Evidence: row[1] + a.fixedElsewhere(check), Severity: row[2]}
		violations[i].Fix = a.fix(check, s.Database(), row[4:])
		result.Total, _ = strconv.Atoi(row[3])
	}
	unknown := unknownOf(ctx, s, check)
	switch reason := strings.TrimSpace(hidden + " " + unknown); {
	case len(rows) > 0 || reason == "":
	case hidden != "":
		inspection.NotAssessed(result, snapshot.ReasonPermissionDenied, reason)
		return grants
	default:
		inspection.NotAssessed(result, snapshot.ReasonNotTold, reason)
		return nil
	}
	all := population(ctx, s, check)
	m := measured(ctx, s, a, check, all)
	inspection.Conclude(result, violations, result.Total, m.Words(result.Total))
	result.Reason = strings.TrimSpace(hidden + " " + unknown)
	m.Share(result)
	return grants
}

// measured is what a check looks at.
func measured(ctx context.Context, s servers.Session, a access, check catalogue.Check, all int) inspection.Measured {
	m := inspection.Measured{Counted: check.Population != "", All: all}
	for _, read := range check.Reads {
		if read.Kind == catalogue.ReadSetting {
			m.Settings = append(m.Settings, inspection.Setting(read.Name, a.states[key(read)].setting))
		}
	}
	if check.Measure != "" {
		m.Measure = func() (string, error) {
			row, err := servers.Row(ctx, s, 1, check.Measure)
			if err != nil {
				return "", err
			}
			return row[0], nil
		}
	}
	return m
}

// hiddenObjects lists the objects of a check that our role may not see, individually: hidden
// objects must not count as clean.
func hiddenObjects(ctx context.Context, s servers.Session, a access, check catalogue.Check) (reason string, grants []snapshot.MissingGrant) {
	if check.Unreadable == "" {
		return "", nil
	}
	rows, err := servers.Query(ctx, s, 3, check.Unreadable)
	if err != nil {
		_, sentence := inspection.Reason(err)
		return "Which objects are hidden could not be read: " + sentence + ".", nil
	}
	const listed = 20
	var objects []string
	for _, row := range rows {
		if len(objects) < listed {
			objects = append(objects, row[0])
		}
		grants = append(grants, snapshot.MissingGrant{
			Object:    row[0] + " in database " + s.Database(),
			Statement: catalogue.First(check.Grants, map[string]string{"role": a.role, "schema": row[1], "name": row[2]}),
			Checks:    []string{check.ID},
		})
	}
	if len(rows) == 0 {
		return "", nil
	}
	more := ""
	if len(rows) > listed {
		more = fmt.Sprintf(" and %d more", len(rows)-listed)
	}
	return fmt.Sprintf("The monitoring role %s may not read %s%s. %s %s",
		a.role, strings.Join(objects, ", "), more, a.toLetIt(), grants[0].Statement), grants
}

// unknownOf says what of a check the server does not tell, "" for nothing.
func unknownOf(ctx context.Context, s servers.Session, check catalogue.Check) string {
	if check.Unknown == "" {
		return ""
	}
	rows, err := servers.Query(ctx, s, 1, check.Unknown)
	if err != nil {
		_, sentence := inspection.Reason(err)
		return "Muster could not find out which facts the server hides: " + sentence + "."
	}
	const listed = 20
	var said []string
	for _, row := range rows[:min(len(rows), listed)] {
		said = append(said, row[0])
	}
	switch {
	case len(rows) == 0:
		return ""
	case len(rows) > listed:
		said = append(said, fmt.Sprintf("and %d more", len(rows)-listed))
	}
	return "Not known: " + strings.Join(said, "; ") + "."
}

// population is how many objects a check assessed; -1 where that is not known.
func population(ctx context.Context, s servers.Session, check catalogue.Check) int {
	if check.Population == "" {
		return -1
	}
	row, err := servers.Row(ctx, s, 1, check.Population)
	if err != nil {
		return -1
	}
	all, err := strconv.Atoi(row[0])
	if err != nil {
		return -1
	}
	return all
}
