package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// What a report compares itself with is the same, whether the whole previous document is read or only its findings.
func TestFindingsReadAloneMatchTheDocument(t *testing.T) {
	t.Parallel()
	docs := map[string]snapshot.Document{}
	for _, kind := range []report.Kind{report.Security, report.InstanceScorecard} {
		docs[string(kind)] = snapshottest.Rich(kind)
	}
	scoped := snapshottest.Rich(report.InstanceScorecard)
	for _, r := range scoped.Instances[0].Assessment.Results {
		if r.Database != "" {
			scoped.Database = &snapshot.DatabaseRef{Name: r.Database}
		}
	}
	docs["a database's scorecard"] = scoped
	docs["more than is listed"] = unlisted(snapshottest.Rich(report.Security))
	for name, doc := range docs {
		data, err := snapshot.Encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := snapshot.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := snapshot.DecodeFindings(data)
		if err != nil {
			t.Fatal(err)
		}
		open, accepted := analysis.Keys(whole)
		openAlone, acceptedAlone := analysis.Keys(alone)
		if len(open) == 0 || len(accepted) == 0 || !alone.AsOf.Equal(whole.AsOf) {
			t.Errorf("%s: %d open, %d accepted, of %s and %s", name, len(open), len(accepted), alone.AsOf, whole.AsOf)
		}
		if diff := cmp.Diff([][]snapshot.FindingKey{open, accepted}, [][]snapshot.FindingKey{openAlone, acceptedAlone}); diff != "" {
			t.Errorf("%s (-whole +alone):\n%s", name, diff)
		}
	}
}

// unlisted is the document with an exception for each listed object of a check that breaks on more objects.
func unlisted(doc snapshot.Document) snapshot.Document {
	domains := map[string]string{}
	for _, c := range doc.Checks {
		domains[c.ID] = c.Domain
	}
	for _, in := range doc.Instances {
		if in.Assessment == nil || !in.Active {
			continue
		}
		for i := range in.Assessment.Results {
			r := &in.Assessment.Results[i]
			if r.Status != snapshot.StatusFail || len(r.Violations) == 0 || domains[r.CheckID] != "Security" {
				continue
			}
			r.Total = len(r.Violations) + 1
			for _, v := range r.Violations {
				x := doc.Exceptions[0]
				x.CheckID, x.InstanceID, x.Database, x.Object = r.CheckID, nil, nil, v.Object
				doc.Exceptions = append(doc.Exceptions, x)
			}
			return doc
		}
	}
	return doc
}
