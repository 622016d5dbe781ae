package changes_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/changes"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// TestTheScoreOfALookUsesTheCapsOfItsEngine: a server without a backup is capped in the history as in its
// scorecard, also where the result makes the check less than critical.
func TestTheScoreOfALookUsesTheCapsOfItsEngine(t *testing.T) {
	t.Parallel()
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		engine fleet.Engine
		backup string
		most   int
	}{
		{fleet.SQLServer, "MS-16", 59}, {fleet.Oracle, "OR-15", 59}, {fleet.PostgreSQL, "MS-16", 89},
	} {
		found := snapshot.Assessment{Outcome: snapshot.OutcomeComplete, Results: []snapshot.CheckResult{
			{CheckID: test.backup, Status: snapshot.StatusFail, Severity: analysis.High},
			{CheckID: "MS-01", Status: snapshot.StatusPass}, {CheckID: "OR-14", Status: snapshot.StatusPass}, {CheckID: "PG-S31", Status: snapshot.StatusPass},
		}}
		e, err := changes.Late(changes.Look{Instance: uuid.New(), Engine: test.engine, ID: uuid.New(), At: at, Assessment: found})
		if err != nil || e.Score == nil {
			t.Fatal(e, err)
		}
		doc := snapshot.Document{AsOf: at, Checks: checks.Definitions(), Instances: []snapshot.Instance{{Engine: string(test.engine), Active: true, Assessment: &found}}}
		if s := analysis.HealthScore(doc, &doc.Instances[0]); *e.Score > test.most || *e.Score != s.Overall || e.Grade != s.Grade {
			t.Errorf("%s: %d %s in the history, %d %s in a scorecard", test.engine, *e.Score, e.Grade, s.Overall, s.Grade)
		}
	}
}
