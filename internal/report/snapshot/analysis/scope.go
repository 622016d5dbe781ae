package analysis

import (
	"slices"
	"strconv"
	"strings"

	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// domainOf is the one domain of checks that a document's kind is about; empty: all of them, as
// for a document that is no report.
func domainOf(doc snapshot.Document) string {
	kind, err := report.Find(report.Kind(doc.Kind))
	if err != nil {
		return ""
	}
	return kind.CheckDomain
}

// Checks returns the definitions of the checks that the report is about.
func Checks(doc snapshot.Document) []snapshot.Check {
	domain := domainOf(doc)
	if domain == "" {
		return doc.Checks
	}
	return slices.DeleteFunc(slices.Clone(doc.Checks), func(c snapshot.Check) bool { return c.Domain != domain })
}

// outside holds the checks that the report is not about. A check that the
// catalogue does not define is about nothing known, so it is in every report.
func outside(doc snapshot.Document) map[string]bool {
	domain, out := domainOf(doc), map[string]bool{}
	for _, c := range doc.Checks {
		if domain != "" && c.Domain != domain {
			out[c.ID] = true
		}
	}
	return out
}

// Results returns what the report says about an instance's checks, once what
// exceptions cover is taken out of the failed ones: with nothing left of it a
// check is accepted, else it fails with the rest.
func Results(doc snapshot.Document, in *snapshot.Instance) []snapshot.CheckResult {
	all := recorded(doc, in)
	if len(doc.Exceptions) == 0 {
		return all
	}
	out, checks := make([]snapshot.CheckResult, len(all)), catalogueOf(doc)
	for i, r := range all {
		out[i] = judge(doc, checks, in, r).open
	}
	return out
}

// recorded returns the results that the report is about as they were found:
// those of its domain, and in a database-scoped scorecard the instance-wide ones
// and those of its own database. An inactive instance is counted and not
// assessed, whatever an earlier assessment says.
func recorded(doc snapshot.Document, in *snapshot.Instance) []snapshot.CheckResult {
	return within(doc, outside(doc), in)
}

// within is recorded, with what outside says of the document.
func within(doc snapshot.Document, skip map[string]bool, in *snapshot.Instance) []snapshot.CheckResult {
	if !in.Active || in.Assessment == nil {
		return nil
	}
	if doc.Database == nil && len(skip) == 0 {
		return in.Assessment.Results
	}
	out := make([]snapshot.CheckResult, 0, len(in.Assessment.Results))
	for _, r := range in.Assessment.Results {
		if !skip[r.CheckID] && (doc.Database == nil || r.Database == "" || r.Database == doc.Database.Name) {
			out = append(out, r)
		}
	}
	return out
}

// Outcome is the outcome of an instance's assessment as far as the report covers it: one that
// only lacks answers to checks of other domains is complete.
func Outcome(doc snapshot.Document, in *snapshot.Instance) string {
	unanswered := func(r snapshot.CheckResult) bool { return r.Status == snapshot.StatusNotAssessed }
	switch a := in.Assessment; {
	case a.Outcome == snapshot.OutcomeUnreachable:
		return a.Outcome
	case slices.ContainsFunc(Results(doc, in), unanswered):
		return snapshot.OutcomePartial
	case a.Outcome == snapshot.OutcomePartial && slices.ContainsFunc(a.Results, unanswered):
		return snapshot.OutcomeComplete
	default:
		return a.Outcome
	}
}

// Version is the version in the server's answer, otherwise the registered one; answered says
// which.
func Version(in *snapshot.Instance) (version string, answered bool) {
	a := in.Assessment
	if a == nil {
		return withoutEngine(in.Engine, in.Version), false
	}
	if a.Sent && a.VersionText != "" && !strings.Contains(a.VersionText, ".") { // "15" is not 15.0
		return withoutEngine(in.Engine, a.VersionText), true
	}
	// "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, …"
	if words := strings.Fields(a.VersionText); len(words) > 1 && words[0] == "PostgreSQL" {
		return words[1], true
	}
	if a.VersionNum >= 100_000 {
		return strconv.Itoa(a.VersionNum/10_000) + "." + strconv.Itoa(a.VersionNum%10_000), true
	}
	if (a.Sent || in.Engine != "postgresql") && a.VersionText != "" { // "16.0.4135.4", "19.24.0.0.0"
		return withoutEngine(in.Engine, a.VersionText), true
	}
	return withoutEngine(in.Engine, in.Version), false
}

// withoutEngine leaves the engine's name out of a version, which is printed behind it:
// "PostgreSQL 15.18 (Debian …)", "Microsoft SQL Server 2022", "Oracle Database 19c".
func withoutEngine(engine, version string) string {
	for _, name := range []string{"Microsoft " + EngineName(engine), EngineName(engine) + " Database", EngineName(engine)} {
		if len(version) > len(name)+1 && strings.EqualFold(version[:len(name)], name) && version[len(name)] == ' ' {
			return strings.TrimSpace(version[len(name):])
		}
	}
	return version
}
