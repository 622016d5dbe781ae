package handlers

import (
	"context"

	"muster/internal/snapshot"
	"muster/internal/snapshot/analysis"
)

// Findings is the digest of what the document that Gather would assemble finds: of its
// parts only those that decide about findings are looked at. Errors: *SourceError,
// *AlteredFactsError.
func (g *Inputs) Findings(ctx context.Context, in Gathering) (string, error) {
	known, doc, err := g.begin(ctx, in)
	if err != nil {
		return "", err
	}
	if err := addAll(ctx, in, &doc, []part{
		{"the instances", g.addInstances},
		{"the checks", g.addChecks},
		{"the assessments", g.addAssessments},
		{"the log's word of the assessments", g.bind},
		{"the log's head", g.addInstant},
		{"the exceptions", g.addExceptions},
		vulnerabilities(known),
	}); err != nil {
		return "", err
	}
	return analysis.FindingsDigest(snapshot.Normalize(doc)), nil
}
