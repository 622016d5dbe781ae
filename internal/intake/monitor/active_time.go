package monitor

import (
	"context"
	_ "embed" // the query
	"errors"
	"strconv"

	"muster/internal/servers"
)

//go:embed sql/active_time.sql
var activeTimeQuery string

// activeTime is how long the sessions of a database have executed, by the server.
type activeTime struct {
	ms    float64
	reset int64 // since when, by the server's clock; 0: since its statistics began
}

// readActiveTime reads how long the sessions of each database have executed; nil: the
// server does not count it.
func (x *extension) readActiveTime(ctx context.Context, s servers.Session) (map[uint32]activeTime, error) {
	if !x.tellsActive {
		return nil, nil
	}
	of := make(map[uint32]activeTime)
	err := s.Each(ctx, 3, activeTimeQuery, func(row [][]byte) error {
		database, err1 := strconv.ParseUint(string(row[0]), 10, 32)
		ms, err2 := strconv.ParseFloat(string(row[1]), 64)
		reset, err3 := strconv.ParseInt(string(row[2]), 10, 64)
		if errors.Join(err1, err2, err3) != nil {
			return errNonsense
		}
		of[uint32(database)] = activeTime{ms: ms, reset: reset}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return of, nil
}

// busyBetween is how long the sessions of a database executed between two looks. It is
// nil where that is not known: the server does not count it, or has begun anew. A crash
// resets it and need not say so, and a restart may have been one.
func busyBetween(last, now *statementList, database uint32) *float64 {
	before, known := last.active[database]
	after, still := now.active[database]
	if !known || !still || after.reset != before.reset || after.ms < before.ms || now.after.started != last.before.started {
		return nil
	}
	busy := after.ms - before.ms
	return &busy
}
