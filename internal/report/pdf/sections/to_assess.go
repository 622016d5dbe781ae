package sections

import (
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Subject is the scorecard's one instance; nil if the document has none.
func Subject(b *blocks.Builder) *snapshot.Instance {
	if len(b.Doc.Instances) == 0 {
		return nil
	}
	return &b.Doc.Instances[0]
}

// ToAssess is what the one instance of a report lacks to be assessed.
func ToAssess(b *blocks.Builder) []string {
	if in := Subject(b); in != nil && b.Kind.OneInstance {
		return analysis.ToAssess(b.Doc, in)
	}
	return nil
}
