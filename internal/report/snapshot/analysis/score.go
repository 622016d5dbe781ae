package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"muster/internal/report/snapshot"
)

// Domains are the health domains with their weights in the overall score.
var Domains = [...]struct {
	Name   string
	Weight float64
}{
	{"Security", 30}, {"Performance", 25}, {"Maintenance", 20}, {"Configuration", 15}, {"Schema", 10},
}

// Score is the health of one instance.
type Score struct {
	Known    bool // false: no check has an answer, so there is no score
	Overall  int  // 0-100, capped: what counts
	Uncapped int
	Grade    string        // A to F, of the capped score
	Caps     []Cap         // all that there are, the lowest first
	Domains  []DomainScore // in the order of Domains
	Lost     []Deduction   // by severity, then points descending, then check id
	// How many (check, database) pairs are not part of the score.
	NotAssessed, NotApplicable, Accepted int
}

// DomainScore is one of the five bars.
type DomainScore struct {
	Name   string
	Weight float64
	Known  bool
	Score  float64 // 0-100
	Checks int     // with an answer
	Failed int
	Gaps   int // (check, database) pairs that were not assessed
}

// Deduction is what one failed check costs.
type Deduction struct {
	Check  snapshot.Check
	Domain float64 // points of the domain's 100
	Points float64 // points of the overall 100, before caps
}

// outcome is one check on one instance, its databases taken together.
type outcome struct {
	check    snapshot.Check
	assessed int
	failing  float64 // sum of the fail fractions
	failed   bool
}

// cost is w · (0.5 + 0.5 · f), f being the share of the assessed that fails.
func (o outcome) cost() float64 {
	if !o.failed {
		return 0
	}
	return Weight(o.check.Severity) * (0.5 + 0.5*o.failing/float64(o.assessed))
}

// outcomes folds an instance's results by check, in the order of check ids. A
// check counts once, whatever number of databases it looks at: otherwise the
// database checks of a server with 50 databases would drown the others.
func outcomes(doc snapshot.Document, in *snapshot.Instance) []outcome {
	checks := catalogueOf(doc)
	index := map[string]int{}
	var out []outcome
	for _, r := range Results(doc, in) {
		if r.Status != snapshot.StatusPass && r.Status != snapshot.StatusFail {
			continue
		}
		i, ok := index[r.CheckID]
		if !ok {
			i = len(out)
			index[r.CheckID] = i
			out = append(out, outcome{check: checks.of(r)})
		}
		out[i].assessed++
		if r.Status == snapshot.StatusFail {
			if check := checks.of(r); !out[i].failed || Rank(check.Severity) < Rank(out[i].check.Severity) {
				out[i].check = check
			}
			out[i].failed = true
			out[i].failing += failFraction(r)
		}
	}
	slices.SortFunc(out, func(a, b outcome) int { return strings.Compare(a.check.ID, b.check.ID) })
	return out
}

// failFraction is 1 for an instance-wide check and wherever the source gave
// something that is not a share.
func failFraction(r snapshot.CheckResult) float64 {
	if r.Database == "" || !(r.FailFraction > 0 && r.FailFraction <= 1) {
		return 1
	}
	return r.FailFraction
}

// HealthScore computes the score of an instance by report-contents, "Health
// score": a domain is 100 − 100 · Σ failed w·(0.5+0.5f) / Σ assessed w; the
// overall score is the mean of the domains weighted by Domains, renormalised
// over those with data, and capped. In a database-scoped document
// instance-wide results count too.
func HealthScore(doc snapshot.Document, in *snapshot.Instance) Score {
	var s Score
	checks, gaps := catalogueOf(doc), map[string]int{}
	for _, r := range Results(doc, in) {
		switch r.Status {
		case snapshot.StatusNotAssessed:
			s.NotAssessed++
			gaps[checks.of(r).Domain]++
		case snapshot.StatusNotApplicable:
			s.NotApplicable++
		case snapshot.StatusAccepted:
			s.Accepted++
		}
	}
	all := outcomes(doc, in)
	weights := 0.0
	for _, d := range Domains {
		bar, lost := domainScore(d.Name, d.Weight, all)
		bar.Gaps = gaps[d.Name]
		s.Lost = append(s.Lost, lost...)
		if bar.Known {
			weights += d.Weight
		}
		s.Domains = append(s.Domains, bar)
	}
	if weights == 0 {
		return s
	}
	s.Known = true
	mean, share := 0.0, map[string]float64{}
	for _, bar := range s.Domains {
		if bar.Known {
			mean += bar.Score * bar.Weight / weights
			share[bar.Name] = bar.Weight / weights
		}
	}
	for i, l := range s.Lost {
		s.Lost[i].Points = l.Domain * share[l.Check.Domain]
	}
	slices.SortFunc(s.Lost, func(a, b Deduction) int {
		return cmp.Or(cmp.Compare(Rank(a.Check.Severity), Rank(b.Check.Severity)), cmp.Compare(b.Points, a.Points), strings.Compare(a.Check.ID, b.Check.ID))
	})
	s.Uncapped = int(math.Round(mean))
	s.Overall, s.Caps = s.Uncapped, capsOf(doc, in, all)
	for _, c := range s.Caps {
		if c.State == CapApplies {
			s.Overall = min(s.Overall, c.Most)
		}
	}
	s.Grade = grade(s.Overall)
	return s
}

// domainScore is one domain's bar, and what was lost in it as points of the domain.
func domainScore(name string, weight float64, all []outcome) (bar DomainScore, lost []Deduction) {
	bar = DomainScore{Name: name, Weight: weight}
	total, cost := 0.0, 0.0
	for _, o := range all {
		if o.check.Domain != name {
			continue
		}
		bar.Checks++
		total += Weight(o.check.Severity)
		cost += o.cost()
		if o.failed {
			bar.Failed++
			lost = append(lost, Deduction{Check: o.check, Domain: 100 * o.cost()})
		}
	}
	if total > 0 {
		bar.Known = true
		bar.Score = 100 - 100*cost/total
	}
	for i := range lost {
		lost[i].Domain /= total
	}
	return bar, lost
}

// failedBySeverity counts the failed checks.
func failedBySeverity(all []outcome) (c SeverityCounts) {
	for _, o := range all {
		if o.failed {
			c[Rank(o.check.Severity)]++
		}
	}
	return c
}

// Grades are the letters with the lowest score of each, best first.
var Grades = [...]struct {
	Letter string
	From   int
}{{"A", 90}, {"B", 80}, {"C", 70}, {"D", 60}, {"E", 40}, {"F", 0}}

// grade turns the capped score into a letter.
func grade(score int) string {
	for _, g := range Grades {
		if score >= g.From {
			return g.Letter
		}
	}
	return Grades[len(Grades)-1].Letter
}
