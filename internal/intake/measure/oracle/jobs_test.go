package oracle

import (
	"testing"
	"time"
)

// TestJobsOfTheScheduler holds the reader to rows of the scheduler's log.
func TestJobsOfTheScheduler(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.on(jobsQuery, []string{"SYS.PURGE_LOG", "1031", "60", "51"}, []string{"ERP.NIGHTLY", "0", "3600", "51"})
	b := s.pass(0)
	if len(b.Room) != 1 || *b.Room[0].Failed != 51 || len(b.Room[0].Jobs) != 2 {
		t.Fatalf("%+v", b.Room)
	}
	if j := b.Room[0].Jobs[0]; j.Name != "SYS.PURGE_LOG" || j.Why != "ORA-01031" || !j.At.Equal(b.Room[0].At.Add(-time.Minute)) {
		t.Errorf("%+v", j)
	}
	if j := b.Room[0].Jobs[1]; j.Name != "ERP.NIGHTLY" || j.Why != "" {
		t.Errorf("%+v", j)
	}
}

// TestJobsAreUnknownWithoutTheGrant on the log of the scheduler, and not zero.
func TestJobsAreUnknownWithoutTheGrant(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.deny(jobsQuery)
	want := `GRANT SELECT ON SYS.DBA_SCHEDULER_JOB_RUN_DETAILS TO "C##MUSTER";`
	if b := s.pass(0); len(b.Room) != 1 || b.Room[0].Failed != nil || len(b.Room[0].Denied) != 1 || b.Room[0].Denied[0] != want {
		t.Errorf("%+v", b.Room)
	}
	if got := s.lacking(); got != "DBA_SCHEDULER_JOB_RUN_DETAILS: "+want {
		t.Errorf("lacks %q", got)
	}
}
