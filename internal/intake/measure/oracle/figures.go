package oracle

import (
	"context"
	_ "embed" // the queries
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
)

//go:embed sql/transactions.sql
var transactionsQuery string

//go:embed sql/cluster_transactions.sql
var clusterTransactionsQuery string

//go:embed sql/temporary_space.sql
var temporarySpaceQuery string

//go:embed sql/cluster_temporary_space.sql
var clusterTemporarySpaceQuery string

//go:embed sql/counters.sql
var countersQuery string

//go:embed sql/cluster_counters.sql
var clusterCountersQuery string

//go:embed sql/block_size.sql
var blockSizeQuery string

// Figures reads what the server tells about itself. It counts neither temporary files nor why a
// checkpoint was made.
func (r *reader) Figures(ctx context.Context, l *measure.Line) ([]measure.Figure, error) {
	all := measure.Untold(measurements.NotTold, measurements.TemporaryFiles,
		measurements.CheckpointsTimed, measurements.CheckpointsAsked, measurements.CheckpointWriting, measurements.CheckpointSyncing)
	open := []measurements.Figure{measurements.OldestTransaction, measurements.OldestIdle}
	counts := []measurements.Figure{measurements.TemporaryBytes, measurements.CheckpointBuffers, measurements.NewConnections}
	if r.running == nil { // there may be other instances
		all = append(all, measure.Untold(measurements.Denied, append(open, counts...)...)...)
		return append(all, measure.Untold(measurements.Denied, measurements.TemporaryUsed)...), nil
	}
	block, failed := r.blockSize(ctx, l)
	for _, part := range []struct {
		name, view string
		read       func() ([]measure.Figure, error)
		of         []measurements.Figure
	}{
		{"transactions", "V$TRANSACTION", func() ([]measure.Figure, error) { return r.readTransactions(ctx, l) }, open},
		{"temporary space", "V$SORT_SEGMENT", func() ([]measure.Figure, error) { return r.readTemporarySpace(ctx, l, block) }, []measurements.Figure{measurements.TemporaryUsed}},
		{"counters", "V$SYSSTAT", func() ([]measure.Figure, error) { return r.readCounters(ctx, l, block) }, counts},
	} {
		figures, err := part.read()
		switch {
		case r.may(part.name, r.view(part.view), &err):
		case err == nil:
			figures = measure.Untold(measurements.Denied, part.of...)
		default:
			failed = errors.Join(failed, err)
		}
		all = append(all, figures...)
	}
	return all, failed
}

// blockSize is how many bytes a block has; 0: that is not granted.
func (r *reader) blockSize(ctx context.Context, l *measure.Line) (int64, error) {
	row, err := servers.Row(ctx, l, 1, blockSizeQuery)
	if !r.may("block size", "V$PARAMETER", &err) {
		return 0, err
	}
	size, err := strconv.ParseInt(row[0], 10, 64)
	if err != nil || size <= 0 {
		return 0, measure.ErrNonsense
	}
	return size, nil
}

func (r *reader) readTransactions(ctx context.Context, l *measure.Line) ([]measure.Figure, error) {
	if _, denied := r.lacking["sessions"]; denied {
		return measure.Untold(measurements.Denied, measurements.OldestTransaction, measurements.OldestIdle), nil
	}
	const milliseconds = 1000
	oldest, idle := measure.Told(measurements.OldestTransaction, 0, nil), measure.Told(measurements.OldestIdle, 0, nil)
	rows, err := servers.Query(ctx, l, 11, strings.ReplaceAll(r.in(transactionsQuery, clusterTransactionsQuery), "@application@", servers.ApplicationName))
	if err != nil {
		return nil, err
	}
	ids := make([][]string, len(rows))
	for i, row := range rows {
		ids[i] = []string{8: row[9]} // where rows of sessions have it
	}
	statements := r.statementsOf(ids)
	for _, row := range rows {
		container, err1 := strconv.ParseUint(row[3], 10, 32)
		open, err2 := strconv.ParseInt(row[4], 10, 64)
		if errors.Join(err1, err2) != nil {
			return nil, measure.ErrNonsense
		}
		holder := &measure.Holder{Session: row[0] + "," + row[1] + "," + row[2], Database: uint32(container), Doing: measurements.Doing{
			User: row[6], Application: row[7], Client: row[8], Statement: statements[row[9]], State: measurements.State(row[10]),
		}}
		if open*milliseconds >= oldest.Value {
			oldest = measure.Told(oldest.Of, open*milliseconds, holder)
		}
		if since, err := strconv.ParseInt(row[5], 10, 64); err == nil && since*milliseconds >= idle.Value {
			idle = measure.Told(idle.Of, since*milliseconds, holder)
		}
	}
	return []measure.Figure{oldest, idle}, nil
}

func (r *reader) readTemporarySpace(ctx context.Context, l *measure.Line, block int64) ([]measure.Figure, error) {
	if block == 0 {
		return measure.Untold(measurements.Denied, measurements.TemporaryUsed), nil
	}
	row, err := servers.Row(ctx, l, 1, r.in(temporarySpaceQuery, clusterTemporarySpaceQuery))
	if err != nil {
		return nil, err
	}
	used, err := strconv.ParseInt(row[0], 10, 64)
	if err != nil {
		return nil, measure.ErrNonsense
	}
	return []measure.Figure{measure.Told(measurements.TemporaryUsed, used*block, nil)}, nil
}

// readCounters reads what is counted since the instances were started.
func (r *reader) readCounters(ctx context.Context, l *measure.Line, block int64) ([]measure.Figure, error) {
	rows, err := servers.Query(ctx, l, 2, r.in(countersQuery, clusterCountersQuery))
	if err != nil {
		return nil, err
	}
	var since []string
	for _, number := range slices.Sorted(maps.Keys(r.running)) {
		since = append(since, fmt.Sprint(number, " ", r.running[number]))
	}
	var all []measure.Figure
	for _, row := range rows {
		value, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			return nil, measure.ErrNonsense
		}
		var f measure.Figure
		switch row[0] {
		case "logons cumulative":
			f = measure.Told(measurements.NewConnections, value, nil)
		case "DBWR checkpoint buffers written":
			f = measure.Told(measurements.CheckpointBuffers, value, nil)
		case "physical writes direct temporary tablespace":
			if f = measure.Told(measurements.TemporaryBytes, value*block, nil); block == 0 {
				f = measure.Untold(measurements.Denied, measurements.TemporaryBytes)[0]
			}
		default:
			continue
		}
		f.Since = strings.Join(since, ", ")
		all = append(all, f)
	}
	return all, nil
}
