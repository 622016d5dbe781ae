package handlers

import (
	"context"
	"slices"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// decisive are the parts that decide about findings.
var decisive = []report.Part{
	report.PartInstances, report.PartChecks, report.PartAssessments, report.PartLogged, report.PartHead,
	report.PartExceptions, report.PartVulnerabilities,
}

// Findings is the digest of what the document that Gather would assemble finds: of its
// parts only those that decide about findings are looked at. Errors: *SourceError,
// *AlteredFactsError, *report.UnknownKindError.
func (g *Inputs) Findings(ctx context.Context, in Gathering) (string, error) {
	kind, err := report.Find(in.Queued.Kind)
	if err != nil {
		return "", err
	}
	known, doc, err := g.begin(ctx, in)
	if err != nil {
		return "", err
	}
	wanted := func(p report.Part) bool { return kind.Gathers(p) && slices.Contains(decisive, p) }
	if err := addAll(ctx, in, &doc, g.parts(known), wanted); err != nil {
		return "", err
	}
	return analysis.FindingsDigest(snapshot.Normalize(doc)), nil
}
