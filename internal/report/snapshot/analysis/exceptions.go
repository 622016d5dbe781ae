package analysis

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/exception"
	"muster/internal/report/snapshot"
)

// verdict is what the exceptions in force make of one failed result.
type verdict struct {
	open     snapshot.CheckResult // what is left of it: Accepted where nothing is
	accepted []Finding
	unlisted int                 // accepted, beyond the listed ones,
	beyond   *snapshot.Exception // by this one
}

// exceptionsFor returns the exceptions that may cover a result, the narrowest
// first.
func exceptionsFor(doc snapshot.Document, in *snapshot.Instance, r snapshot.CheckResult) []*snapshot.Exception {
	var out []*snapshot.Exception
	for i := range doc.Exceptions {
		x := &doc.Exceptions[i]
		switch {
		case x.CheckID != r.CheckID,
			x.InstanceID != nil && *x.InstanceID != in.ID,
			x.Database != nil && (x.InstanceID == nil || x.Database.Name != r.Database):
		default:
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b *snapshot.Exception) int {
		return cmp.Or(cmp.Compare(narrowness(b), narrowness(a)), b.Until.Compare(a.Until), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return out
}

// narrowness ranks exceptions that cover the same finding: one that names the object before one
// that does not, then by place.
func narrowness(x *snapshot.Exception) int {
	n := 0
	if x.InstanceID != nil {
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

// covering is the narrowest of the exceptions that covers an object.
func covering(exceptions []*snapshot.Exception, object string) *snapshot.Exception {
	for _, x := range exceptions {
		if x.Object == "" || x.Object == object {
			return x
		}
	}
	return nil
}

// judge divides a failed result into open and accepted findings; the rest has the severity of
// its worst open finding. An exception that names no object covers all of them. One that does
// covers no object beyond the listed ones, because their names are unknown.
func judge(doc snapshot.Document, checks catalogue, in *snapshot.Instance, r snapshot.CheckResult) verdict {
	if r.Status != snapshot.StatusFail {
		return verdict{open: r}
	}
	exceptions := exceptionsFor(doc, in, r)
	if len(exceptions) == 0 {
		return verdict{open: r}
	}
	v := verdict{open: r}
	v.open.Violations = nil
	listed, worst := findingsOf(checks, in, r), ""
	for i, f := range listed {
		if f.Exception = covering(exceptions, f.Object); f.Exception != nil {
			v.accepted = append(v.accepted, f)
			continue
		}
		if len(r.Violations) > 0 {
			v.open.Violations = append(v.open.Violations, r.Violations[i])
		}
		if worst == "" || Rank(f.Severity) < Rank(worst) {
			worst = f.Severity
		}
	}
	all := max(r.Total, len(listed))
	if v.beyond = covering(exceptions, ""); v.beyond != nil {
		v.unlisted = all - len(listed)
	}
	v.open.Total = all - len(v.accepted) - v.unlisted
	switch {
	case v.open.Total == 0:
		v.open.Status = snapshot.StatusAccepted
	case v.open.Total == len(v.open.Violations): // nothing is beyond the listed ones
		v.open.Severity = worst
	}
	v.open.FailFraction = withoutAccepted(r.FailFraction, all, all-v.open.Total)
	return v
}

// withoutAccepted is the share of the objects that fail once the accepted ones
// have left numerator and denominator.
func withoutAccepted(share float64, failing, accepted int) float64 {
	if share <= 0 || share > 1 || accepted == 0 || accepted >= failing {
		return share
	}
	assessed := float64(failing) / share
	return float64(failing-accepted) / (assessed - float64(accepted))
}

// Accepted returns the findings that exceptions accept, in the order of Findings. Each names
// the narrowest exception that covers it.
func Accepted(doc snapshot.Document) []CheckFindings {
	if len(doc.Exceptions) == 0 {
		return []CheckFindings{}
	}
	checks := catalogueOf(doc)
	return groups(doc, checks, func(in *snapshot.Instance, r snapshot.CheckResult) ([]Finding, int) {
		v := judge(doc, checks, in, r)
		return v.accepted, v.unlisted
	})
}

// AcceptedCounts says for each of Results how many of its findings are accepted,
// whatever is left of it.
func AcceptedCounts(doc snapshot.Document, in *snapshot.Instance) []int {
	all, checks := recorded(doc, in), catalogueOf(doc)
	counts := make([]int, len(all))
	for i, r := range all {
		v := judge(doc, checks, in, r)
		counts[i] = len(v.accepted) + v.unlisted
	}
	return counts
}

// Acceptance is one exception in force with what it covers.
type Acceptance struct {
	Exception snapshot.Exception
	Check     snapshot.Check // with the severity of the worst that it covers
	Findings  []Finding
	Unlisted  int // found, but beyond snapshot.MaxViolations
}

// Total is the number of findings, listed or not.
func (a Acceptance) Total() int { return len(a.Findings) + a.Unlisted }

// Acceptances returns the exceptions in force that the report is about, also
// those that cover nothing just now: severity descending, check id ascending,
// the oldest first.
func Acceptances(doc snapshot.Document) []Acceptance {
	skip, checks := outside(doc), catalogueOf(doc)
	index := map[uuid.UUID]int{}
	out := []Acceptance{}
	for _, x := range doc.Exceptions {
		if skip[x.CheckID] || exception.IsRisk(x.CheckID) { // the risk register prints those of risks
			continue
		}
		check := checks.of(snapshot.CheckResult{CheckID: x.CheckID})
		if _, known := checks[x.CheckID]; !known { // it was, when it was asked for
			check.Title = "Not in this catalogue"
		}
		index[x.ID] = len(out)
		out = append(out, Acceptance{Exception: x, Check: check})
	}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		for _, r := range recorded(doc, in) {
			v := judge(doc, checks, in, r)
			for _, f := range v.accepted {
				out[index[f.Exception.ID]].addFinding(f)
			}
			if v.unlisted > 0 {
				out[index[v.beyond.ID]].Unlisted += v.unlisted
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Acceptance) int {
		return cmp.Or(
			cmp.Compare(Rank(a.Check.Severity), Rank(b.Check.Severity)),
			strings.Compare(a.Check.ID, b.Check.ID),
			bytes.Compare(a.Exception.ID[:], b.Exception.ID[:]), // the id begins with the time
		)
	})
	return out
}

func (a *Acceptance) addFinding(f Finding) {
	if len(a.Findings) == 0 || Rank(f.Severity) < Rank(a.Check.Severity) {
		a.Check.Severity = f.Severity
	}
	a.Findings = append(a.Findings, f)
}
