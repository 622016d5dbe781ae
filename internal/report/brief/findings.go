package brief

import (
	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Findings are the findings of a document as report.ready counts them, for comparison with the next report; nil of a
// kind that has no findings.
func Findings(doc snapshot.Document) *report.Findings {
	if kind, err := report.Find(report.Kind(doc.Kind)); err != nil || !kind.Comparable {
		return nil
	}
	groups := analysis.Findings(doc)
	counts, coverage, cves := analysis.CountBySeverity(groups), analysis.AssessmentCoverage(doc), analysis.AllCVEs(doc)
	found := &report.Findings{SHA256: analysis.FindingsDigest(doc), Open: counts.Total(), Looked: &report.Looked{
		Instances: coverage.Total, Assessed: coverage.Assessed, Critical: counts[0], High: counts[1],
		Overdue: analysis.DebtOf(doc, groups).Grave(), OpenCVEs: cves.Open.Total(), WorstCVSS: cves.HighestOpen,
	}}
	if change, ok := analysis.ChangeSince(doc); ok {
		found.Since = &doc.Previous.AsOf
		found.New, found.Closed, found.Accepted, found.Unknown = change.New+change.Reopened, change.Closed, change.Accepted, change.Unknown
	}
	return found
}
