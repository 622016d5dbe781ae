package sqlserver

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/room"
	"muster/internal/servers"
)

// jobRows is how many rows of the Agent's history a look reads at most, as its query says.
const jobRows = 10_000

// jobs are the runs that failed, as far as a session has read the history.
type jobs struct {
	on    servers.Session
	since int64 // the newest row that was read
	runs  []room.Job
	steps map[string]string // that failed in a run whose outcome is still to come, by job
}

// readJobs reads which jobs of the Agent failed.
func (r *reader) readJobs(ctx context.Context, l *measure.Line, s *room.State) error {
	if r.jobs.on != l.Session {
		r.jobs = jobs{on: l.Session, steps: map[string]string{}}
	}
	asked := strings.ReplaceAll(query("jobs"), "@since", strconv.FormatInt(r.jobs.since, 10))
	rows, err := servers.Query(ctx, l, 5, asked)
	if err != nil {
		return err
	}
	for _, row := range slices.Backward(rows) { // the oldest first
		if err := r.jobs.add(row, s.At); err != nil {
			return err
		}
	}
	s.Jobs = r.jobs.newest(s.At)
	failed := len(s.Jobs)
	s.Failed = &failed
	return nil
}

// add adds a row: a step that failed, or the outcome of its job.
func (j *jobs) add(row []string, at time.Time) error {
	id, err1 := strconv.ParseInt(row[0], 10, 64)
	ago, err2 := strconv.ParseInt(row[4], 10, 64)
	if err1 != nil || err2 != nil || row[1] == "" {
		return measure.ErrNonsense
	}
	if j.since = max(j.since, id); row[2] != "0" {
		j.steps[row[1]] = row[3]
		return nil
	}
	j.runs = append(j.runs, room.Job{Name: row[1], At: at.Add(-time.Duration(ago) * time.Second), Step: j.steps[row[1]]})
	delete(j.steps, row[1])
	return nil
}

// newest are the runs of the last 24 hours.
func (j *jobs) newest(at time.Time) []room.Job {
	j.runs = slices.DeleteFunc(j.runs, func(r room.Job) bool { return at.Sub(r.At) > room.JobsOf })
	if n := len(j.runs); n > jobRows {
		j.runs = slices.Clone(j.runs[n-jobRows:])
	}
	return slices.Clone(j.runs)
}
