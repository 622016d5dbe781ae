package postgresql

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// evidence is what rules judge: everything an assessment has found.
type evidence struct {
	found *snapshot.Assessment
	roles []roleFact
	judge *hbaJudge  // nil where the HBA rules could not be read
	feed  *feed.Feed // nil: it could not be read
	at    time.Time
	ends  *time.Time // of the certificate that the server presented; nil: the session has no TLS
}

// rule judges a check that no single query can. measured says what it looked at,
// unknown in words why nothing can be said.
type rule func(evidence) (violations []snapshot.Violation, measured, unknown string)

// rules are the names that a check's evaluate may use.
func rules() map[string]rule {
	return map[string]rule{
		"superuser_remote_login": superuserRemoteLogin,
		"major_out_of_support":   majorOutOfSupport,
		"known_vulnerabilities":  knownVulnerabilities,
		"certificate_end":        certificateEnd,
	}
}

// unknownRules names the rules that checks name and that do not exist.
func unknownRules(checks []catalogue.Check) (unknown []string) {
	known := rules()
	for _, check := range checks {
		if _, ok := known[check.Evaluate]; check.Evaluate != "" && !ok {
			unknown = append(unknown, check.ID+": "+check.Evaluate)
		}
	}
	return unknown
}

func superuserRemoteLogin(e evidence) (violations []snapshot.Violation, measured, unknown string) {
	if e.judge == nil {
		return nil, "", "The HBA rules could not be read."
	}
	superusers := 0
	for _, r := range e.roles {
		if !r.Superuser || !r.Login {
			continue
		}
		superusers++
		if rule, possible := e.judge.remoteLogin(r); possible {
			violations = append(violations, snapshot.Violation{
				Object: r.Name,
				Evidence: fmt.Sprintf("%s: %s %s %s %s %s", rule.Line, rule.Type, strings.Join(rule.Databases, ","),
					strings.Join(rule.Users, ","), rule.Address, rule.Method),
			})
		}
	}
	return violations, fmt.Sprintf("superusers that may sign in remotely: %d of %d", len(violations), superusers), ""
}

// feedAway is why a version was not judged.
const feedAway = "The release and CVE feed could not be read."

func majorOutOfSupport(e evidence) (violations []snapshot.Violation, measured, unknown string) {
	if e.feed == nil {
		return nil, "", feedAway
	}
	v := feed.VersionOf(e.found.VersionNum)
	since, out, known := e.feed.OutOfSupport(v, e.at)
	if !known {
		return nil, "", fmt.Sprintf("The feed of %s does not know PostgreSQL %s.", e.feed.Identity().Date.Format(time.DateOnly), v.Major)
	}
	measured = "PostgreSQL " + v.String() + ", supported until " + since.Format(time.DateOnly)
	if out {
		measured = "PostgreSQL " + v.String() + ", out of support since " + since.Format(time.DateOnly)
		violations = append(violations, snapshot.Violation{
			Object: "PostgreSQL " + v.String(), Evidence: "out of support since " + since.Format(time.DateOnly),
		})
	}
	return violations, measured, ""
}

func knownVulnerabilities(e evidence) (violations []snapshot.Violation, measured, unknown string) {
	if e.feed == nil {
		return nil, "", feedAway
	}
	v := feed.VersionOf(e.found.VersionNum)
	if _, _, known := e.feed.OutOfSupport(v, e.at); !known {
		return nil, "", fmt.Sprintf("The feed of %s does not know PostgreSQL %s.", e.feed.Identity().Date.Format(time.DateOnly), v.Major)
	}
	possible := 0
	open := slices.DeleteFunc(e.feed.Concerns(v, e.found), func(c snapshot.InstanceCVE) bool {
		if c.Applies == snapshot.CVEUnknown {
			possible++
		}
		return c.Applies != snapshot.CVEOpen
	})
	for _, known := range e.feed.Vulnerabilities(open) {
		violations = append(violations, snapshot.Violation{
			Object: known.ID, Severity: analysis.Band(known.CVSS),
			Evidence: fmt.Sprintf("CVSS %.1f, %s: %s", known.CVSS, fixedIn(known.FixedIn, v.Major), known.Title),
		})
	}
	return violations, fmt.Sprintf("PostgreSQL %s, CVEs: %d open, %d not ruled out", v, len(open), possible), ""
}

// How many days before its end a certificate is a finding, and a grave one.
const (
	renewWithin = 30
	renewAtOnce = 14
)

func certificateEnd(e evidence) (violations []snapshot.Violation, measured, unknown string) {
	left, day := e.ends.Sub(e.at), e.ends.UTC().Format(time.DateOnly)
	measured = "ends on " + day
	if left >= renewWithin*24*time.Hour {
		return nil, measured, ""
	}
	v := snapshot.Violation{Object: "certificate", Evidence: measured, Severity: analysis.Medium}
	switch {
	case left < 0:
		v.Evidence, v.Severity = "ended on "+day, analysis.High
	case left < renewAtOnce*24*time.Hour:
		v.Severity = analysis.High
	}
	return []snapshot.Violation{v}, v.Evidence, ""
}

// fixedIn names the release of this major that fixes a vulnerability.
func fixedIn(releases []string, major string) string {
	for _, r := range releases {
		if v, ok := feed.ParseVersion(r); ok && v.Major == major {
			return "fixed in " + r
		}
	}
	return "not fixed in " + major + ", fixed in " + strings.Join(releases, " ")
}

// judgeRules runs the checks that rules judge, on an instance whose access a
// is known. What cannot be read is not assessed, as with queries.
func judgeRules(e evidence, a access, checks []catalogue.Check) []snapshot.CheckResult {
	known := rules()
	var results []snapshot.CheckResult
	for _, check := range checks {
		judge, ok := known[check.Evaluate]
		if !ok {
			continue
		}
		result := snapshot.CheckResult{CheckID: check.ID, Threshold: check.Pass}
		if _, applies := admit(&result, a, e.found.VersionNum, check); !applies {
			continue // runChecks has recorded it
		}
		if check.Evaluate == "certificate_end" && e.ends == nil {
			inspection.NotApplicable(&result, snapshot.ReasonNotPresent, "Muster's session has no TLS, so the server presented no certificate.")
			results = append(results, result)
			continue
		}
		violations, measured, unknown := judge(e)
		if unknown != "" {
			inspection.NotAssessed(&result, snapshot.ReasonQueryFailed, unknown)
		} else {
			inspection.Conclude(&result, violations[:min(len(violations), snapshot.MaxViolations)], len(violations), measured)
		}
		results = append(results, result)
	}
	return results
}
