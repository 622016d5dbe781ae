package assessment_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/internal/assessment"
	"muster/internal/report/snapshot"
)

// TestAnswers: the answer of each check is stored beside the facts, and is computed for
// assessments from before that.
func TestAnswers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, db := storeOf(t)
	organization, instance := register(t, store, db)
	hostile := "a\x00b\xff"
	looks := []snapshot.Assessment{
		{Outcome: snapshot.OutcomeComplete, Results: []snapshot.CheckResult{
			{CheckID: "PG-S17", Database: hostile, Status: snapshot.StatusFail, Total: 700, Violations: []snapshot.Violation{{Object: "t"}}},
			{CheckID: "PG-S17", Database: "app", Status: snapshot.StatusNotAssessed, Reason: "no grant"},
			{CheckID: "PG-S30", Status: snapshot.StatusPass, Reason: "left out"},
		}},
		{Outcome: snapshot.OutcomeUnreachable, ErrorClass: "refused", Error: "Nothing listens there."},
		{Outcome: snapshot.OutcomeComplete},
	}
	for _, a := range looks {
		claim, ok, err := claimOne(ctx, store, organization, instance)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := store.Record(ctx, claim, a, nil, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][][]assessment.Answer{
		"PG-S17": {{{Database: "a\uFFFDb\uFFFD", Status: "fail", Failing: 700}, {Database: "app", Status: "not_assessed", Reason: "no grant"}}, {{Status: "not_assessed", Reason: "Nothing listens there."}}, nil},
		"PG-S30": {{{Status: "pass"}}, {{Status: "not_assessed", Reason: "Nothing listens there."}}, nil},
	}
	fromFacts := false
	read := func(of uuid.UUID, check string) (all [][]assessment.Answer) {
		err := store.EachAnswer(ctx, assessment.AnswerQuery{
			Organization: of, Instances: []uuid.UUID{instance}, Check: check, After: time.Now().Add(-time.Hour), Before: time.Now().Add(time.Hour), FromFacts: fromFacts,
		}, func(a assessment.Answered) error {
			all = append(all, a.Answers)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	hold := func(when string) {
		t.Helper()
		for check, answers := range want {
			if diff := cmp.Diff(answers, read(organization, check)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", when, check, diff)
			}
		}
	}
	hold("as recorded")
	if theirs := read(uuid.New(), "PG-S17"); theirs != nil {
		t.Errorf("another organization reads %v", theirs)
	}
	db.MustExec(`UPDATE assessments SET answers = NULL`)
	hold("from the facts")
	db.MustExec(`INSERT INTO assessments (id, organization_id, instance_id, recorded_at, outcome, facts) VALUES (gen_random_uuid(), $1, $2, now(), 'complete', '{"results": 7}')`,
		uuid.New(), instance)
	if err := store.MakeAnswers(ctx); err != nil {
		t.Fatal(err)
	}
	hold("made later")
	db.MustExec(`UPDATE assessments SET answers = '{}'`)
	fromFacts = true
	hold("from the facts, whatever was taken out of them")
	var left int
	if err := db.Get(&left, `SELECT count(*) FROM assessments WHERE answers IS NULL`); err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}
