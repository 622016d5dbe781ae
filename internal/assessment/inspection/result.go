package inspection

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/assessment/catalogue"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// begin is an assessment without results.
func begin(at time.Time) snapshot.Assessment {
	return snapshot.Assessment{
		StartedAt: at.UTC(), CatalogueVersion: catalogue.Version,
		Results: []snapshot.CheckResult{}, Roles: []snapshot.DatabaseRole{}, Extensions: []snapshot.Extension{},
		MissingGrants: []snapshot.MissingGrant{}, Databases: []snapshot.DatabaseFact{},
	}
}

// NotAssessed makes a result not assessed.
func NotAssessed(result *snapshot.CheckResult, code, reason string) {
	result.Status, result.ReasonCode, result.Reason = snapshot.StatusNotAssessed, code, reason
}

// NotApplicable makes a result one of a check that the server has no part in.
func NotApplicable(result *snapshot.CheckResult, code, reason string) {
	result.Status, result.ReasonCode, result.Reason = snapshot.StatusNotApplicable, code, reason
}

// Reason says in a code and a sentence why a query gave nothing. What the server said
// stays out of it: its text may quote data.
func Reason(err error) (code, sentence string) {
	refusal, refused := errors.AsType[*servers.Refusal](err)
	switch reason := servers.ReasonOf(err); {
	case reason == servers.Denied:
		return snapshot.ReasonPermissionDenied, "the server denied permission for it"
	case reason == servers.TimedOut && refused:
		return snapshot.ReasonTimeout, "the server did not finish it in time"
	case reason == servers.TimedOut:
		return snapshot.ReasonTimeout, "the server did not answer in time"
	case refused:
		return snapshot.ReasonQueryFailed, "the query failed with " + refusal.Code
	}
	return snapshot.ReasonQueryFailed, "the connection broke"
}

// Conclude fills in what violations say; total counts also those not kept. The
// result is as severe as the worst of them.
func Conclude(result *snapshot.CheckResult, violations []snapshot.Violation, total int, measured string) {
	result.Total, result.Violations, result.Measured = total, violations, measured
	result.Status = snapshot.StatusPass
	if total > 0 {
		result.Status, result.FailFraction = snapshot.StatusFail, 1
	}
	for i := range violations {
		result.Severity = worse(result.Severity, violations[i].Severity)
		violations[i].Object = snapshot.CutName(violations[i].Object)
		violations[i].Evidence = snapshot.Cut(violations[i].Evidence)
	}
}

// worse returns the higher of two severities; "" is none.
func worse(a, b string) string {
	order := []string{"", "Low", "Medium", "High", "Critical"}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// Measured is what a check looked at.
type Measured struct {
	Settings []string               // "name = value" of those that it reads
	Counted  bool                   // whether it has a population,
	All      int                    // and how many those are, -1 where that is not known
	Measure  func() (string, error) // nil: the check has none
}

// Words say what a check found, also if nothing fails: a pass without a figure cannot be
// verified by a reader.
func (m Measured) Words(failed int) string {
	found := "none"
	if failed > 0 {
		found = strconv.Itoa(failed)
	}
	switch {
	case len(m.Settings) > 0:
		return strings.Join(m.Settings, ", ")
	case m.Counted && m.All == 0 && failed == 0:
		return "nothing to look at"
	case m.Counted && m.All >= failed:
		return found + " of " + strconv.Itoa(m.All)
	case m.Measure != nil:
		text, err := m.Measure()
		switch {
		case err != nil: // what fails is known all the same
		case failed == 0:
			return snapshot.Cut(text)
		default:
			return snapshot.Cut(found + " found; " + text)
		}
	}
	return found + " found"
}

// Share is how much of a population fails.
func (m Measured) Share(result *snapshot.CheckResult) {
	if result.Status == snapshot.StatusFail && result.Total < m.All {
		result.FailFraction = float64(result.Total) / float64(m.All)
	}
}

// Setting is one of Measured.Settings.
func Setting(name, value string) string { return name + " = " + cmp.Or(snapshot.Cut(value), "(empty)") }

// unreachable makes an assessment one of a server that was not reached, or not read.
func unreachable(a *snapshot.Assessment, target servers.Target, err error) {
	a.Outcome, a.Results = snapshot.OutcomeUnreachable, []snapshot.CheckResult{}
	if refused, ok := errors.AsType[*servers.ConnectionError](err); ok {
		a.ErrorClass, a.Error = refused.Class, refused.Sentence
		return
	}
	code, sentence := Reason(err)
	a.ErrorClass = servers.ClassDatabase
	if code == snapshot.ReasonTimeout {
		a.ErrorClass = servers.ClassTimeout
	}
	a.Error = fmt.Sprintf("%s let Muster in, but could not be read: %s.", target.Address(), sentence)
}

// Finish sorts what was found, so that two looks at the same server are equal, and says
// whether it is all.
func Finish(a *snapshot.Assessment, grants []snapshot.MissingGrant) {
	slices.SortFunc(a.Results, func(x, y snapshot.CheckResult) int {
		return cmp.Or(strings.Compare(x.CheckID, y.CheckID), strings.Compare(x.Database, y.Database))
	})
	slices.SortFunc(a.Extensions, func(x, y snapshot.Extension) int {
		return cmp.Or(strings.Compare(x.Database, y.Database), strings.Compare(x.Name, y.Name))
	})
	a.Outcome = snapshot.OutcomeComplete
	for _, r := range a.Results {
		if r.Status == snapshot.StatusNotAssessed {
			a.Outcome = snapshot.OutcomePartial
		}
	}
	a.MissingGrants = mergeGrants(grants)
}

// mergeGrants puts together the checks that wait for the same grant.
func mergeGrants(grants []snapshot.MissingGrant) []snapshot.MissingGrant {
	type grantKey struct{ object, statement string }
	checks := make(map[grantKey][]string)
	for _, g := range grants {
		k := grantKey{g.Object, g.Statement}
		checks[k] = append(checks[k], g.Checks...)
	}
	out := make([]snapshot.MissingGrant, 0, len(checks))
	for k, ids := range checks {
		slices.Sort(ids)
		out = append(out, snapshot.MissingGrant{Object: k.object, Statement: k.statement, Checks: append([]string{}, slices.Compact(ids)...)})
	}
	slices.SortFunc(out, func(x, y snapshot.MissingGrant) int {
		return cmp.Or(strings.Compare(x.Object, y.Object), strings.Compare(x.Statement, y.Statement))
	})
	return out
}
