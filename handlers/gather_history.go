package handlers

import (
	"context"
	"slices"

	"muster/domain/organization"
	"muster/internal/assessment/findings"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// historyStep is how many days lie between two points of the history. It reaches back over the longest of
// analysis.TrendDays.
const historyStep = 3

// addHistory adds the numbers of findings that have gone, of the checks that the report covers. The document's own
// findings say themselves since when they are there.
func (g *Inputs) addHistory(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	h := findings.Past{Organization: in.OrganizationID, Due: findings.Due{Now: doc.AsOf}}
	if d := doc.Organization.DueDays; d != nil {
		h.Due.Days = organization.DueDays(*d)
	}
	for _, i := range doc.Instances {
		if i.Active && i.Assessment != nil {
			h.Instances = append(h.Instances, i.ID)
		}
	}
	for _, c := range analysis.Checks(*doc) {
		h.Checks = append(h.Checks, c.ID)
	}
	if doc.Database != nil {
		h.Database = &doc.Database.Name
	}
	for days := slices.Max(analysis.TrendDays[:]); days > 0; days -= historyStep {
		h.At = append(h.At, doc.AsOf.AddDate(0, 0, -days))
	}
	doc.History = &snapshot.History{}
	if len(h.Instances) == 0 {
		return nil
	}
	since, gone, err := g.Facts.History(ctx, h)
	if err != nil {
		return err
	}
	doc.History.Since = since
	for _, at := range h.At {
		past := snapshot.PastFindings{At: at}
		for _, n := range gone {
			if n.At.Equal(at) {
				*past.Gone.Of(n.Rank), *past.Overdue.Of(n.Rank) = n.Gone, n.Overdue
			}
		}
		doc.History.Past = append(doc.History.Past, past)
	}
	return nil
}
