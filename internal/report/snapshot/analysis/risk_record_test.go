package analysis_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// registered is the document of one risk with what is on record of it.
func registered(rows int64, since *time.Time, before *int) snapshot.Document {
	doc := document(instance(one, "a"))
	doc.Organization.DueDays = &snapshot.BySeverity{Critical: 7, High: 30, Medium: 90, Low: 180}
	doc.Instances[0].Databases = []snapshot.Database{{Name: "d", Classification: &snapshot.Classification{Status: "completed", Tables: []snapshot.ClassifiedTable{{
		Schema: "s", Name: "t", EstimatedRows: rows, RowsKnown: true, PublicAccess: true, Columns: []snapshot.ClassifiedColumn{{Name: "c", Category: "Credentials", Weight: 10}},
	}}}}}
	id := analysis.Risks(doc)[0].ID
	if since != nil {
		doc.Risks = []snapshot.RiskRecord{{ID: id, FirstSeenAt: *since}}
	}
	if before != nil {
		doc.Previous = &snapshot.Previous{Risks: []snapshot.RiskScore{{ID: id, Score: *before}}}
	}
	return doc
}

// TestNoRiskIsAcceptedByDefault: whatever a table is and whatever else is accepted, only an exception for its id decides.
func TestNoRiskIsAcceptedByDefault(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := registered(rapid.Int64Range(0, 1e9).Draw(t, "rows"), nil, nil)
		table := &doc.Instances[0].Databases[0].Classification.Tables[0] // from a low risk to a high one
		table.PublicAccess, table.Columns[0].Weight = rapid.Bool().Draw(t, "public"), rapid.IntRange(1, 10).Draw(t, "weight")
		risk := analysis.Risks(doc)[0]
		for _, check := range rapid.SliceOfN(rapid.SampledFrom([]string{"PG-S01", "R-AAAAAAA", "r-" + risk.ID[2:], risk.ID + " "}), 0, 4).Draw(t, "accepted") {
			doc.Exceptions = append(doc.Exceptions, snapshot.Exception{ID: uuid.New(), CheckID: check, Until: doc.AsOf.AddDate(0, 1, 0)})
		}
		if r := analysis.Risks(doc)[0]; r.Decision != nil {
			t.Fatalf("accepted by %+v", r.Decision)
		}
		doc.Exceptions = append(doc.Exceptions, snapshot.Exception{ID: uuid.New(), CheckID: risk.ID, InstanceID: &two, Until: doc.AsOf.AddDate(0, 1, 0)})
		if r := analysis.Risks(doc)[0]; r.Decision != nil {
			t.Fatal("accepted by an exception for another server")
		}
		doc.Exceptions = append(doc.Exceptions, snapshot.Exception{ID: uuid.New(), CheckID: risk.ID, InstanceID: &one, Until: doc.AsOf.AddDate(0, 1, 0)})
		if r := analysis.Risks(doc)[0]; r.Decision == nil || r.Due != nil {
			t.Fatalf("%+v", r)
		}
		for _, a := range analysis.Acceptances(doc) {
			if a.Exception.CheckID == risk.ID {
				t.Fatal("the decision on a risk is listed as an exception to a check")
			}
		}
	})
}

// TestRisksAreDueFromTheirFirstSight, overdue behind that, and compared with the previous register.
func TestRisksAreDueFromTheirFirstSight(t *testing.T) {
	t.Parallel()
	asOf := document().AsOf
	since := asOf.AddDate(0, 0, -56)
	twenty, forty := 4, 25
	for name, test := range map[string]struct {
		since    *time.Time
		before   *int
		overdue  int
		movement analysis.Movement
	}{
		"seen 56 days ago, due after 30": {&since, nil, 26, analysis.MovementUnknown},
		"not on record":                  {nil, nil, 0, analysis.MovementUnknown},
		"up":                             {&since, &twenty, 26, analysis.MovementUp},
		"down":                           {&since, &forty, 26, analysis.MovementDown},
	} {
		doc := registered(200_000, test.since, test.before)
		r := analysis.Risks(doc)[0]
		if r.Level() != analysis.High || r.Due == nil || r.Due.Overdue(doc.AsOf) != test.overdue || r.Movement != test.movement {
			t.Errorf("%s: level %s, due %+v, %q from %d", name, r.Level(), r.Due, r.Movement, r.Was)
		}
		if d := analysis.RiskDebtOf(doc, analysis.Risks(doc)); d.High != 1 || d.Undecided != 1 || d.Longest != test.overdue {
			t.Errorf("%s: %+v", name, d)
		}
	}
	fresh := registered(200_000, &since, &twenty)
	fresh.Previous.Risks[0].ID = "R-AAAAAAA"
	if r := analysis.Risks(fresh)[0]; r.Movement != analysis.MovementNew {
		t.Errorf("a risk that was not there before is %q", r.Movement)
	}
}
