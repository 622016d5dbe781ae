package postgresql

import (
	"context"
	_ "embed" // the queries
	"errors"
	"slices"
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/servers"
)

//go:embed sql/tells.sql
var tellsQuery string

//go:embed sql/figures.sql
var figuresQuery string

// Where checkpoints are counted: those of a standby are restart points, which the background writer
// counted with them.
const (
	checkpointsOfWriter = `(SELECT checkpoints_timed AS timed, checkpoints_req AS requested, checkpoint_write_time AS writing,
            checkpoint_sync_time AS syncing, buffers_checkpoint AS buffers, stats_reset FROM pg_stat_bgwriter)`
	checkpointsOfCheckpointer = `(SELECT num_timed + restartpoints_timed AS timed, num_requested + restartpoints_req AS requested, write_time AS writing,
            sync_time AS syncing, buffers_written AS buffers, stats_reset FROM pg_stat_checkpointer)`
)

// tells is what a server tells, as it was asked on a connection.
type tells struct {
	on     servers.Session
	query  string
	untold []measure.Figure // what its version does not
}

func (t *tells) ask(ctx context.Context, s servers.Session) error {
	if t.on == s {
		return nil
	}
	row, err := servers.Row(ctx, s, 3, tellsQuery)
	if err != nil {
		return err
	}
	t.untold = measure.Untold(measurements.NotTold, measurements.TemporaryUsed)
	if row[1] != "t" {
		t.untold = append(t.untold, measure.Untold(measurements.NotTold, measurements.NewConnections)...)
	}
	t.on, t.query = s, figuresOf(row[0] == "t", row[1] == "t", row[2] == "t")
	return nil
}

// figuresOf is the query of the figures; the arguments say whether sessions tell the ids of their
// statements, databases the sessions that were begun, and the checkpointer its checkpoints.
func figuresOf(queryID, sessions, checkpointer bool) string {
	tokens := map[string]string{"@application@": servers.ApplicationName, "@query_id@": "NULL::bigint", "@sessions@": "NULL::bigint", "@checkpoints@": checkpointsOfWriter}
	if queryID {
		tokens["@query_id@"] = "query_id"
	}
	if sessions {
		tokens["@sessions@"] = "s.sessions"
	}
	if checkpointer {
		tokens["@checkpoints@"] = checkpointsOfCheckpointer
	}
	query := figuresQuery
	for token, text := range tokens {
		query = strings.ReplaceAll(query, token, text)
	}
	return query
}

// Figures reads what the server tells about itself. A session that is hidden may have the oldest
// transaction.
func (r *reader) Figures(ctx context.Context, l *measure.Line) ([]measure.Figure, error) {
	if err := r.tell.ask(ctx, l.Session); err != nil {
		return nil, err
	}
	all := slices.Clone(r.tell.untold)
	open := map[measurements.Figure]measure.Figure{}
	var hidden, untracked int64
	err := l.Each(ctx, servers.Statement{Columns: 10, Text: r.tell.query}, func(row [][]byte) error {
		f, err := figureOf(row)
		switch name := string(row[0]); {
		case name == "hidden":
			hidden = f.Value
		case name == "untracked":
			untracked = f.Value
		case f.Of == measurements.OldestTransaction || f.Of == measurements.OldestIdle:
			open[f.Of] = f
		default:
			all = append(all, f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, of := range []measurements.Figure{measurements.OldestTransaction, measurements.OldestIdle} {
		switch f, is := open[of]; {
		case hidden > 0:
			all = append(all, measure.Untold(measurements.Denied, of)...)
		case untracked > 0: // it may be the oldest
		case is:
			all = append(all, f)
		default:
			all = append(all, measure.Told(of, 0, nil))
		}
	}
	return all, nil
}

func figureOf(row [][]byte) (f measure.Figure, err error) {
	var database uint64
	if row[1] != nil {
		database, err = strconv.ParseUint(string(row[1]), 10, 32)
	}
	value, valueErr := strconv.ParseInt(string(row[2]), 10, 64)
	if errors.Join(err, valueErr) != nil {
		return f, measure.ErrNonsense
	}
	f = measure.Told(measurements.Figure(row[0]), value, nil)
	if f.Database, f.Since = uint32(database), string(row[3]); row[4] != nil {
		f.Database, f.Holder = 0, &measure.Holder{Session: string(row[4]), Database: uint32(database), Doing: measurements.Doing{
			User: string(row[5]), Application: string(row[6]), Client: string(row[7]), Statement: string(row[8]), State: measurements.State(row[9]),
		}}
	}
	return f, nil
}
