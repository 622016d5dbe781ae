package findings

import (
	"context"
	_ "embed" // the statement
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

//go:embed sql/before.sql
var beforeSQL string

// New are the findings of an assessment that the previous one did not have, or had with a lower
// severity, counted by check; accepted ones are left out. The first assessment of an instance
// has none. A check that could not run before has none either, because its findings may have
// existed.
func New(ctx context.Context, q sqlx.QueryerContext, organization, instance uuid.UUID, a snapshot.Assessment, accepted []snapshot.Exception, at time.Time) ([]fleet.NewFindings, error) {
	if !slices.ContainsFunc(a.Results, func(r snapshot.CheckResult) bool { return r.Status == snapshot.StatusFail }) {
		return nil, nil
	}
	facts, ok, err := statement.Find[[]byte](ctx, q, "read the assessment before of instance "+instance.String(), beforeSQL, organization, instance, at)
	if err != nil || !ok {
		return nil, err
	}
	var before snapshot.Assessment
	if json.Unmarshal(facts, &before) != nil {
		return nil, nil // it says nothing
	}
	checks, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	return since(organization, instance, before, a, checks.Definitions(), accepted, at), nil
}

// since compares two assessments of an instance.
func since(organization, instance uuid.UUID, before, now snapshot.Assessment, checks []snapshot.Check, accepted []snapshot.Exception, at time.Time) (out []fleet.NewFindings) {
	was, looked := in(organization, instance, before, checks, nil, at), lookOf(before)
	type group struct {
		check string
		rank  int
	}
	counts := map[group]int{}
	for id, f := range in(organization, instance, now, checks, accepted, at) {
		earlier, there := was[id]
		if f.Assessed && (there && earlier.Rank > f.Rank || !there && looked.sawNo(f)) {
			counts[group{f.CheckID, f.Rank}]++
		}
	}
	titles := make(map[string]string, len(checks))
	for _, c := range checks {
		titles[c.ID] = c.Title
	}
	for g, n := range counts {
		out = append(out, fleet.NewFindings{CheckID: g.check, Title: titles[g.check], Severity: analysis.Severities[g.rank], Findings: n})
	}
	slices.SortFunc(out, func(x, y fleet.NewFindings) int {
		if by := analysis.Rank(x.Severity) - analysis.Rank(y.Severity); by != 0 {
			return by
		}
		return strings.Compare(x.CheckID, y.CheckID)
	})
	return out
}

// sawNo says that a look would have found what a finding is about, had it been there.
func (l look) sawNo(f Finding) bool {
	r, there := l.results[place{f.CheckID, f.Database}]
	if whole, ok := l.results[place{check: f.CheckID}]; !there && ok {
		r, there = whole, true
	}
	if !there { // of a database that is new, unless the check is
		for p := range l.results {
			if p.check == f.CheckID {
				return true
			}
		}
		return false
	}
	cut := r.Total > len(r.Violations) && len(r.Violations) > 0 && f.Object > r.Violations[len(r.Violations)-1].Object
	return r.Status != snapshot.StatusNotAssessed && !cut && !l.unreadable(f)
}
