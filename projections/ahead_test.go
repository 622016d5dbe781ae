package projections_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/testing/pgtest"
	"muster/projections"
)

// TestALogThatWasCutOff: a projection that had applied more says so until it is rebuilt, also
// when the log has grown past it, and swallows nothing of what comes next.
func TestALogThatWasCutOff(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	kept, gone := uuid.New(), uuid.New()
	s.appendNumbers(kept, "plain", 1)
	last := s.appendNumbers(gone, "plain", 2, 3, 4)
	r := s.runner(p.projection())
	s.run(r)
	s.settle(r, last)
	if err := r.CheckAhead(t.Context()); err != nil {
		t.Fatal(err)
	}
	pgtest.Unguard(t, s.db)
	tx := s.db.MustBegin()
	tx.MustExec(`DELETE FROM events WHERE log = 'reports' AND position > $1`, last-3)
	tx.MustExec(`UPDATE log_head SET position = $1, hash = (SELECT hash FROM events WHERE log = 'reports' AND position = $1) WHERE log = 'reports'`, last-3)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	ahead := func(when string) {
		t.Helper()
		var e *projections.AheadError
		st := s.status(r)
		if st.Status != projections.Ahead || st.AheadEvents != 3 || st.LagEvents != 0 || !strings.Contains(st.LastError, "3 events of the log reports are gone") {
			t.Errorf("%s: status is %+v", when, st)
		}
		if err := r.CheckAhead(t.Context()); !errors.As(err, &e) {
			t.Errorf("%s: the check says %v", when, err)
		}
	}
	total := func() (sum int) {
		if err := s.db.Get(&sum, `SELECT sum(total) FROM sums_v1.totals`); err != nil {
			t.Fatal(err)
		}
		return sum
	}
	ahead("at once")
	if err := r.Prepare(t.Context()); err != nil { // a process starts
		t.Fatal(err)
	}
	next := s.appendNumbers(uuid.New(), "plain", 10, 20, 30, 40) // past where it was
	s.settle(r, next)
	ahead("behind it")
	if got := total(); got != 1+2+3+4+10+20+30+40 {
		t.Errorf("what came next was swallowed: the sum is %d", got)
	}
	if _, err := r.Rebuild(t.Context(), "sums", projections.RebuildOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := total(); got != 1+10+20+30+40 {
		t.Errorf("the rebuilt sum is %d", got)
	}
	if st := s.status(r); st.AheadEvents != 0 || st.LastError != "" || r.CheckAhead(t.Context()) != nil {
		t.Errorf("rebuilt: %+v", st)
	}
}
