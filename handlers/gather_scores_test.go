package handlers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/report"
)

// scored records that an assessment came to a score; 0: no check had an answer.
func (e *estate) scored(instance uuid.UUID, at time.Time, score int) {
	e.t.Helper()
	fact := domain.InstanceAssessed{
		InstanceID: instance, AssessmentID: uuid.New(), At: at, Score: &score, Grade: "C", Domains: []domain.DomainScore{}, Changes: []domain.Change{},
	}
	if score == 0 {
		fact.Score, fact.Grade = nil, ""
	}
	tx := e.db.MustBegin()
	mark, err := e.commands.RecordAssessmentTx(e.t.Context(), tx, e.actor(), fact)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		e.t.Fatal(err)
	}
	e.wait(mark)
}

// A scorecard has the score of each day that its window touches, a gap where the log has
// none, and nothing of the days before and after.
func TestGatherTakesInTheScoreOfEachDay(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	instance, other := e.register("line", true), e.register("other", true)
	now := e.clock.Now().UTC()
	today := now.Truncate(day)
	for _, told := range []struct {
		at    time.Time
		score int
	}{
		{today.Add(-5*day - time.Minute), 10}, // the day before the window
		{today.Add(-5*day + time.Minute), 20}, // before the window, on a day of it
		{today.Add(-4*day + 8*time.Hour), 31},
		{today.Add(-4*day + 9*time.Hour), 32},
		{today.Add(-4*day + 7*time.Hour), 33}, // told late
		{today.Add(-3 * day), 0},
		{today.Add(-time.Nanosecond).Truncate(time.Microsecond), 50},
		{now, 60},
	} {
		e.scored(instance, told.at, told.score)
	}
	e.scored(other, today.Add(-2*day), 99)
	g := e.scorecard(instance, nil, 5*day)
	from := today.Add(-5*day + time.Hour)
	line := func(to time.Time) []int {
		t.Helper()
		g.Queued.Scope.From, g.Queued.Scope.To = &from, &to
		doc, err := e.inputs().Gather(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		if !doc.ScoreByDay.Start.Equal(today.Add(-5 * day)) {
			t.Errorf("the line begins at %s", doc.ScoreByDay.Start)
		}
		var scores []int
		for _, s := range doc.ScoreByDay.Scores {
			if s == nil {
				s = new(int)
			}
			scores = append(scores, *s)
		}
		return scores
	}
	for name, test := range map[string]struct {
		to   time.Time
		want []int
	}{
		"until now":             {now, []int{20, 32, 0, 0, 50, 60}},
		"until a later day":     {now.Add(9 * day), []int{20, 32, 0, 0, 50, 60}},
		"until a day began":     {today, []int{20, 32, 0, 0, 50}},
		"until a day had begun": {today.Add(-4*day + time.Minute), []int{20, 32}},
	} {
		if diff := cmp.Diff(test.want, line(test.to)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	foreign := g
	foreign.OrganizationID = e.stranger()
	if doc, err := e.inputs().Gather(t.Context(), foreign); err != nil || slices.ContainsFunc(doc.ScoreByDay.Scores, func(s *int) bool { return s != nil }) {
		t.Errorf("a stranger's scorecard has %+v, %v", doc.ScoreByDay, err)
	}
	if doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); err != nil || doc.ScoreByDay != nil {
		t.Errorf("a Security report has %+v, %v", doc.ScoreByDay, err)
	}
}
