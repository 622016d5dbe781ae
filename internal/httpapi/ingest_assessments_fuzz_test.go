package httpapi

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/ingest"
	"muster/internal/intake"
	"muster/internal/intake/feed"
	"muster/internal/intake/resolve"
	"muster/internal/report/snapshot"
)

// keptAssessments is a store that keeps what comes.
type keptAssessments struct{ all []assessment.Sent }

func (k *keptAssessments) Collected(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]bool, error) {
	return nil, nil
}

func (k *keptAssessments) RecordSent(_ context.Context, _ uuid.UUID, all []assessment.Sent, _ func(*sqlx.Tx, []domain.Assessed) error) error {
	k.all = all
	return nil
}

func (k *keptAssessments) RefuseCollected(context.Context, sqlx.QueryerContext, uuid.UUID, []uuid.UUID) error {
	return nil
}

func (k *keptAssessments) ForgetFed(context.Context, uuid.UUID, uuid.UUID) error { return nil }

// FuzzAssessments reads a body as the door does. What passes the contract fits the types,
// what is refused says where, and what is taken can be printed: every check of the
// catalogue has a result, and nothing is longer than what documents have room for.
func FuzzAssessments(f *testing.F) {
	c, err := ourContract()
	if err != nil {
		f.Fatal(err)
	}
	schema := c.Routes["POST "+assessmentsPath].Body().Content["application/json"].Schema.Value
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	example, err := json.Marshal(schema.Example)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(strings.ReplaceAll(string(example), "OR-01", "PG-S01")))
	checks, err := catalogue.Load()
	if err != nil {
		f.Fatal(err)
	}
	ours := 0
	for _, check := range checks.Definitions() {
		if check.Engine == string(domain.PostgreSQL) {
			ours++
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if wrong, p := contract.CheckJSON(schema, body); p != nil || len(wrong) > 0 {
			return
		}
		var decoded any
		if err := json.Unmarshal(body, &decoded); err != nil {
			t.Fatalf("fits the contract and is no JSON: %v", err)
		}
		var sent api.AssessmentBatch
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatalf("fits the contract and not the types: %v", err)
		}
		kept := &keptAssessments{}
		doors := feed.Doors{
			Places: &resolve.Resolver{Keys: everythingKnown{}, Fleet: everythingKnown{}}, Assessments: kept, Now: func() time.Time { return now },
			Accepted: func(context.Context, uuid.UUID, uuid.UUID) ([]snapshot.Exception, error) { return nil, nil },
		}
		_, err := doors.TakeAssessments(t.Context(), intake.Caller{}, false, ingest.AssessmentItems(&sent))
		if err != nil {
			refusedAt(t, decoded, err)
			return
		}
		if len(kept.all) != len(sent.Assessments) {
			t.Fatalf("of %d assessments there are %d", len(sent.Assessments), len(kept.all))
		}
		for _, one := range kept.all {
			timeInBounds(t, one.At, now)
			answered := map[string]bool{}
			for _, r := range one.Assessment.Results {
				answered[r.CheckID] = true
				textInBounds(t, "x"+r.Measured, 201)
				if (r.Status == snapshot.StatusNotAssessed || r.Status == snapshot.StatusNotApplicable) == (r.Reason == "") {
					t.Fatalf("%s with reason %q", r.Status, r.Reason)
				}
				if r.Status == snapshot.StatusFail && r.Measured == "" || len(r.Violations) > snapshot.MaxViolations || r.Total < len(r.Violations) {
					t.Fatalf("%+v", r)
				}
				for _, v := range r.Violations {
					textInBounds(t, v.Object, 200)
				}
			}
			if len(answered) != ours {
				t.Fatalf("%d of %d checks have a result", len(answered), ours)
			}
			if !slices.IsSortedFunc(one.Assessment.Results, func(a, b snapshot.CheckResult) int { return strings.Compare(a.CheckID, b.CheckID) }) {
				t.Fatal("the results are in no order")
			}
			if _, err := json.Marshal(one.Assessment); err != nil {
				t.Fatal(err)
			}
		}
	})
}
