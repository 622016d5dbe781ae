package feed

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"muster/domain/printable"
	"muster/internal/assessment/catalogue"
	"muster/internal/report/snapshot"
)

// unassessed are the results in the databases that a check could not look at, while it
// passes or fails in others.
func (r *assessmentRules) unassessed(at string, c CheckItem, check catalogue.Check, instance uuid.UUID) (out []snapshot.CheckResult) {
	if len(c.NotAssessedIn) > 0 && (c.Outcome != "pass" && c.Outcome != "fail" || check.ID != "" && check.Scope != catalogue.ScopeDatabase) {
		r.breaks(at+"/notAssessedIn", "out_of_range", "can be there only where a check of databases passes or fails")
		return nil
	}
	seen := make(map[string]bool, len(c.NotAssessedIn))
	for i, u := range c.NotAssessedIn {
		at := at + "/notAssessedIn/" + strconv.Itoa(i)
		r.unique(at+"/database", u.Database, seen)
		reason := r.text(at+"/reason", u.Reason, 1, maxWords)
		for j, o := range c.Objects {
			if o.Database != nil && *o.Database == u.Database {
				r.breaks(at+"/database", "out_of_range", fmt.Sprintf("has objects (#%d), so that it was looked at", j))
				break
			}
		}
		out = append(out, snapshot.CheckResult{
			CheckID: c.ID, Database: r.database(at+"/database", u.Database, instance), Status: snapshot.StatusNotAssessed,
			ReasonCode: snapshot.ReasonSent, Reason: printable.Cut(printable.Clean(reason), keptReason), Threshold: check.Pass,
		})
	}
	return out
}

// measuredIn puts what a check measured in single databases into its results there.
func (r *assessmentRules) measuredIn(at string, c CheckItem, check catalogue.Check, instance uuid.UUID, results []snapshot.CheckResult) {
	if len(c.MeasuredIn) > 0 && (c.Outcome != "pass" && c.Outcome != "fail" || check.ID != "" && check.Scope != catalogue.ScopeDatabase) {
		r.breaks(at+"/measuredIn", "out_of_range", "can be there only where a check of databases passes or fails")
		return
	}
	seen := make(map[string]bool, len(c.MeasuredIn))
	for i, m := range c.MeasuredIn {
		at := at + "/measuredIn/" + strconv.Itoa(i)
		r.unique(at+"/database", m.Database, seen)
		database := r.database(at+"/database", m.Database, instance)
		measured := r.line(at+"/measured", m.Measured, maxWords, snapshot.Characters)
		share := 1.0
		if m.FailFraction != nil {
			if share = r.number(at+"/failFraction", *m.FailFraction, 0, 1); share == 0 {
				r.breaks(at+"/failFraction", "out_of_range", "must be more than 0: nothing fails there else")
			}
		}
		for n := range results {
			one := &results[n]
			if one.Database != database || one.Status != snapshot.StatusPass && one.Status != snapshot.StatusFail {
				continue
			}
			if measured != "" {
				one.Measured = measured
			}
			if one.Status == snapshot.StatusFail {
				one.FailFraction = share
			}
		}
	}
}

// severities in their order; of a check that does not say it is its own.
var severities = []string{"", "Low", "Medium", "High", "Critical"}

// gravest is how grave a result is with these objects, as the collectors have it.
func gravest(violations []snapshot.Violation) (severity string) {
	for _, v := range violations {
		severity = severities[max(slices.Index(severities, severity), slices.Index(severities, v.Severity))]
	}
	return severity
}
