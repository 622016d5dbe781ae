package sqlserver

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
)

// counterFigures are what the server's counters count.
var counterFigures = map[string]measurements.Figure{"logins/sec": measurements.NewConnections, "checkpoint pages/sec": measurements.CheckpointBuffers}

// Figures reads what the server tells about itself. It counts neither temporary files nor checkpoints.
func (r *reader) Figures(ctx context.Context, l *measure.Line) ([]measure.Figure, error) {
	all := measure.Untold(measurements.NotTold, measurements.TemporaryBytes, measurements.TemporaryFiles,
		measurements.CheckpointsTimed, measurements.CheckpointsAsked, measurements.CheckpointWriting, measurements.CheckpointSyncing)
	if !r.server.sees {
		return append(all, measure.Untold(measurements.Denied, measurements.OldestTransaction, measurements.OldestIdle,
			measurements.TemporaryUsed, measurements.CheckpointBuffers, measurements.NewConnections)...), nil
	}
	var failed error
	for _, part := range []struct {
		read func(context.Context, *measure.Line) ([]measure.Figure, error)
		of   []measurements.Figure
	}{
		{readTransactions, []measurements.Figure{measurements.OldestTransaction, measurements.OldestIdle}},
		{readTemporarySpace, []measurements.Figure{measurements.TemporaryUsed}},
		{readCounters, []measurements.Figure{measurements.CheckpointBuffers, measurements.NewConnections}},
	} {
		figures, err := part.read(ctx, l)
		if servers.ReasonOf(err) == servers.Denied {
			figures, err = measure.Untold(measurements.Denied, part.of...), nil
		}
		all, failed = append(all, figures...), errors.Join(failed, err)
	}
	return all, failed
}

func readTransactions(ctx context.Context, l *measure.Line) ([]measure.Figure, error) {
	oldest, idle := measure.Told(measurements.OldestTransaction, 0, nil), measure.Told(measurements.OldestIdle, 0, nil)
	rows, err := servers.Query(ctx, l, 9, strings.ReplaceAll(query("transactions"), "@application@", servers.ApplicationName))
	for _, row := range rows {
		database, err1 := strconv.ParseUint(row[1], 10, 32)
		open, err2 := strconv.ParseInt(row[2], 10, 64)
		if errors.Join(err1, err2) != nil {
			return nil, measure.ErrNonsense
		}
		statement := strings.ToLower(row[7])
		if strings.Trim(statement, "0") == "" {
			statement = ""
		}
		holder := &measure.Holder{Session: row[0], Database: uint32(database), Doing: measurements.Doing{
			User: row[4], Application: row[5], Client: row[6], Statement: statement, State: measurements.State(row[8]),
		}}
		if open >= oldest.Value {
			oldest = measure.Told(oldest.Of, open, holder)
		}
		if since, err := strconv.ParseInt(row[3], 10, 64); err == nil && since >= idle.Value {
			idle = measure.Told(idle.Of, since, holder)
		}
	}
	return []measure.Figure{oldest, idle}, err
}

func readTemporarySpace(ctx context.Context, l *measure.Line) ([]measure.Figure, error) {
	row, err := servers.Row(ctx, l, 1, query("temporary_space"))
	if err != nil {
		return nil, err
	}
	used, err := strconv.ParseInt(row[0], 10, 64)
	if err != nil {
		return nil, measure.ErrNonsense
	}
	return []measure.Figure{measure.Told(measurements.TemporaryUsed, used, nil)}, nil
}

// readCounters reads what is counted since the server was started.
func readCounters(ctx context.Context, l *measure.Line) (all []measure.Figure, err error) {
	rows, err := servers.Query(ctx, l, 3, query("counters"))
	for _, row := range rows {
		of, known := counterFigures[row[0]]
		value, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			return nil, measure.ErrNonsense
		}
		if known {
			f := measure.Told(of, value, nil)
			f.Since = row[2]
			all = append(all, f)
		}
	}
	return all, err
}
