package handlers

import (
	"context"
	"slices"
	"strings"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// addRisks adds what is on record of the risks of the instances.
func (g *Inputs) addRisks(ctx context.Context, in Gathering, doc *snapshot.Document) (err error) {
	doc.Risks, err = g.Facts.Risks(ctx, in.OrganizationID, instanceIDs(doc))
	return err
}

// riskScores are the risks in the register of an earlier report; none if its kind has no register.
func riskScores(before snapshot.Document) (scores []snapshot.RiskScore) {
	if kind, err := report.Find(report.Kind(before.Kind)); err != nil || !kind.Gathers(report.PartRisks) {
		return nil
	}
	for _, r := range analysis.Risks(before) {
		scores = append(scores, snapshot.RiskScore{ID: r.ID, Score: r.Score})
	}
	slices.SortFunc(scores, func(a, b snapshot.RiskScore) int { return strings.Compare(a.ID, b.ID) })
	return scores
}
