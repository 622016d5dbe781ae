package oracle

import (
	"context"
	_ "embed" // the query
	"fmt"
	"strconv"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/room"
	"muster/internal/servers"
)

//go:embed sql/jobs.sql
var jobsQuery string

// readJobs reads which jobs of the scheduler failed.
func (r *reader) readJobs(ctx context.Context, l *measure.Line, s *room.State) error {
	rows, err := servers.Query(ctx, l, 4, jobsQuery)
	if !r.may("jobs of the scheduler", "DBA_SCHEDULER_JOB_RUN_DETAILS", &err) {
		if err == nil {
			s.Denied = append(s.Denied, r.lacking["jobs of the scheduler"].Statement)
		}
		return err
	}
	failed := 0
	for _, row := range rows {
		ago, err1 := strconv.ParseInt(row[2], 10, 64)
		all, err2 := strconv.Atoi(row[3])
		if err1 != nil || err2 != nil || row[0] == "" || ago < -int64(room.Every.Seconds()) {
			return measure.ErrNonsense
		}
		failed = all
		job := room.Job{Name: row[0], At: s.At.Add(-time.Duration(ago) * time.Second)}
		if code, err := strconv.Atoi(row[1]); err == nil && code != 0 {
			job.Why = fmt.Sprintf("ORA-%05d", max(code, -code))
		}
		s.Jobs = append(s.Jobs, job)
	}
	s.Failed = &failed
	return nil
}
