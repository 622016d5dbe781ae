package oracle

import (
	"context"
	_ "embed" // the queries
	"errors"
	"strconv"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

//go:embed sql/deadlocks.sql
var deadlocksQuery string

//go:embed sql/cluster_deadlocks.sql
var clusterDeadlocksQuery string

// counter is where deadlocks are counted.
type counter struct {
	instance  string
	container uint32
}

// Deadlocks counts those of each container since the last call, which reads the counters of all instances. A
// counter that is new is a basis, and one that fell was reset. Their sides are in trace files only.
func (r *reader) Deadlocks(ctx context.Context, l *measure.Line, a *measure.Activity, _ time.Time, _ bool) ([]blocking.Sample, error) {
	rows, err := servers.Query(ctx, l, 3, r.in(deadlocksQuery, clusterDeadlocksQuery))
	if !r.may("deadlocks", r.view("V$CON_SYSSTAT"), &err) {
		if err == nil { // a grant is missing; after a failed look the counters stay the basis
			r.deadlocks = nil
		}
		return nil, err
	}
	now, since := make(map[counter]int64, len(rows)), make(map[uint32]int64, len(rows))
	for _, row := range rows {
		container, err1 := strconv.ParseUint(row[1], 10, 32)
		n, err2 := strconv.ParseInt(row[2], 10, 64)
		if errors.Join(err1, err2) != nil {
			return nil, measure.ErrNonsense
		}
		key := counter{row[0], uint32(container)}
		now[key] = n
		was, known := r.deadlocks[key]
		if !known {
			continue
		}
		if n >= was {
			n -= was
		}
		since[key.container] += n
	}
	r.deadlocks = now
	for i := range a.Databases {
		if n, told := since[a.Databases[i].ID]; told {
			a.Databases[i].Sample.Deadlocks = &n
		}
	}
	return nil, nil
}
