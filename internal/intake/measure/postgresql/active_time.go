package postgresql

import (
	"context"
	_ "embed" // the query
	"errors"
	"strconv"

	"muster/internal/intake/measure"
	"muster/internal/servers"
)

//go:embed sql/active_time.sql
var activeTimeQuery string

// readActiveTime reads how long the sessions of each database have executed; nil: the
// server does not count it.
func (x *extension) readActiveTime(ctx context.Context, s servers.Session) (map[uint32]measure.ActiveTime, error) {
	if !x.tellsActive {
		return nil, nil
	}
	of := make(map[uint32]measure.ActiveTime)
	err := s.Each(ctx, servers.Statement{Columns: 3, Text: activeTimeQuery}, func(row [][]byte) error {
		database, err1 := strconv.ParseUint(string(row[0]), 10, 32)
		ms, err2 := strconv.ParseFloat(string(row[1]), 64)
		reset, err3 := strconv.ParseInt(string(row[2]), 10, 64)
		if errors.Join(err1, err2, err3) != nil {
			return measure.ErrNonsense
		}
		of[uint32(database)] = measure.ActiveTime{Ms: ms, Reset: reset}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return of, nil
}
