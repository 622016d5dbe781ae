package inspection_test

import (
	"context"
	"testing"

	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
)

// TestALookThatTimesOutKeepsItsResults, and the unread checks have a reason.
func TestALookThatTimesOutKeepsItsResults(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	var unread snapshot.CheckResult
	if inspection.Cut(ctx, &unread) || unread.Status != "" {
		t.Errorf("the look goes on, and the check is %+v", unread)
	}
	end()
	for before, after := range map[string]string{
		"":                         snapshot.StatusNotAssessed,
		snapshot.StatusNotAssessed: snapshot.StatusNotAssessed,
		snapshot.StatusPass:        snapshot.StatusPass,
		snapshot.StatusFail:        snapshot.StatusFail,
	} {
		r := snapshot.CheckResult{Status: before}
		if !inspection.Cut(ctx, &r) || r.Status != after || (r.ReasonCode == snapshot.ReasonTimeout) != (after == snapshot.StatusNotAssessed) {
			t.Errorf("%q becomes %+v", before, r)
		}
	}
}
