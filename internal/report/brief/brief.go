package brief

import (
	"slices"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Of is the brief of a document; ok is false if its kind has no verdict.
func Of(doc snapshot.Document) (b report.Brief, ok bool) {
	kind, err := report.Find(report.Kind(doc.Kind))
	if err != nil {
		return b, false
	}
	verdict, err := analysis.Judge(doc)
	if err != nil {
		return b, false
	}
	b = report.Brief{State: verdict.State, Green: verdict.State == analysis.Clean && calm(doc)}
	b.Verdict, b.Rest = verdict.Headline()
	switch {
	case kind.Comparable:
		b.Debt, b.First = debt(doc), firstStep(doc)
	case kind.Verdict == report.VerdictOnData:
		risks := analysis.Risks(doc)
		b.Debt, b.First = riskDebt(doc, risks), firstTable(doc, risks)
	}
	return b, true
}

// calm says whether the open alerts of every server were gathered, and none of them is critical: a verdict is not green
// over alerts that nobody looked at. The verdict of an inventory does not weigh alerts.
func calm(doc snapshot.Document) bool {
	return !slices.ContainsFunc(doc.Instances, func(in snapshot.Instance) bool {
		if in.OpenAlerts == nil {
			return doc.Alerts == nil
		}
		return in.OpenAlerts.Critical > 0
	})
}

func debt(doc snapshot.Document) *report.BriefDebt {
	d := &report.BriefDebt{
		Assessed: analysis.AssessmentCoverage(doc).Assessed,
		Overdue:  analysis.DebtOf(doc, analysis.Findings(doc)).Grave(),
	}
	if change, ok := analysis.ChangeSince(doc); ok {
		d.New, d.Closed = bySeverity(change.NewBy), bySeverity(change.ClosedBy)
	}
	return d
}

// riskDebt counts the risks of the register: those that the previous register does not have, and those that only it
// has. A risk that somebody has accepted is in both.
func riskDebt(doc snapshot.Document, risks []analysis.TableRisk) *report.BriefDebt {
	c := analysis.ClassificationCoverage(doc)
	d := &report.BriefDebt{Risks: true, Assessed: c.Completed + c.Partial, Overdue: analysis.RiskDebtOf(doc, risks).Overdue}
	if doc.Previous == nil {
		return d
	}
	var added, gone analysis.SeverityCounts
	now := map[string]bool{}
	for _, r := range risks {
		now[r.ID] = true
		if r.Movement == analysis.MovementNew {
			added[analysis.Rank(r.Level())]++
		}
	}
	for _, was := range doc.Previous.Risks {
		if !now[was.ID] {
			gone[analysis.Rank(analysis.TableRisk{Score: was.Score}.Level())]++
		}
	}
	d.New, d.Closed = bySeverity(added), bySeverity(gone)
	return d
}

func bySeverity(n analysis.SeverityCounts) *report.BySeverity {
	return &report.BySeverity{Critical: n[0], High: n[1], Medium: n[2], Low: n[3]}
}

// firstStep is the first of the steps that page 1 lists.
func firstStep(doc snapshot.Document) *report.FirstAction {
	plan := analysis.Plan(doc)
	if len(plan) == 0 {
		return nil
	}
	s := plan[0]
	return &report.FirstAction{What: s.Subject(), Instance: s.Where, Owner: s.Owner, Due: s.Deadline.At, Overdue: s.Deadline.Overdue(doc.AsOf)}
}

// firstTable is the first of the tables that page 1 lists of which nobody has accepted the risk.
func firstTable(doc snapshot.Document, risks []analysis.TableRisk) *report.FirstAction {
	i := slices.IndexFunc(risks, func(r analysis.TableRisk) bool { return r.Due != nil })
	if i < 0 {
		return nil
	}
	r := risks[i]
	name := r.Table.Name
	if r.Table.Schema != "" {
		name = r.Table.Schema + "." + name
	}
	what := r.Level() + " risk of table " + name + " in database " + r.Database
	if len(r.Treatments) > 0 {
		what += ": " + r.Treatments[0]
	}
	return &report.FirstAction{What: what, Instance: r.InstanceName, Owner: r.Owner, Due: r.Due.At, Overdue: r.Due.Overdue(doc.AsOf)}
}
