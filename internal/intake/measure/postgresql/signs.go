package postgresql

import (
	"context"
	_ "embed" // the queries
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/watch"
)

//go:embed sql/capabilities.sql
var capabilitiesQuery string

//go:embed sql/connections.sql
var connectionsQuery string

//go:embed sql/lock_wait.sql
var lockWaitQuery string

//go:embed sql/wraparound.sql
var wraparoundQuery string

// Signs reads the further figures for the watch. If the account may not see what sessions wait
// for, the result is that nothing is known, and not that no session waits.
func (r *reader) Signs(ctx context.Context, l *measure.Line) ([]watch.Sign, error) {
	signs, err := wraparound(ctx, l)
	if !r.mayRead {
		return signs, err
	}
	waits, lockErr := lockWaits(ctx, l)
	open, openErr := connections(ctx, l)
	return slices.Concat(signs, waits, open), errors.Join(err, lockErr, openErr)
}

// connections is how many of the connections that clients may have are in use.
func connections(ctx context.Context, s servers.Session) ([]watch.Sign, error) {
	row, err := servers.Row(ctx, s, 2, connectionsQuery)
	if err != nil {
		return nil, err
	}
	used, usedErr := strconv.Atoi(row[0])
	limit, limitErr := strconv.Atoi(row[1])
	if usedErr != nil || limitErr != nil || limit < 1 {
		return nil, measure.ErrNonsense
	}
	return []watch.Sign{{Rule: watch.Connections, Value: 100 * float64(used) / float64(limit), Details: watch.Details{Sessions: used, Limit: limit}}}, nil
}

func wraparound(ctx context.Context, s servers.Session) ([]watch.Sign, error) {
	row, err := servers.Row(ctx, s, 3, wraparoundQuery)
	if err != nil {
		return nil, err
	}
	used, err := strconv.ParseFloat(row[0], 64)
	if err != nil {
		return nil, measure.ErrNonsense
	}
	return []watch.Sign{{Rule: watch.Wraparound, Value: used, Details: watch.Details{Database: row[1], Multi: row[2] == "t"}}}, nil
}

func lockWaits(ctx context.Context, s servers.Session) ([]watch.Sign, error) {
	tells, err := servers.Row(ctx, s, 1, capabilitiesQuery)
	if err != nil {
		return nil, err
	}
	rows, err := servers.Query(ctx, s, 9, lockWaitsSince(tells[0] == "t"))
	if err != nil {
		return nil, err
	}
	return measure.LockWaits(rows, time.Second, func(row []string, d *watch.Details) {
		d.Session, d.Kind, d.Object, d.Database, d.Holder, d.Idle = row[3], row[4], row[5], row[6], row[7], row[8] == "t"
	})
}

// lockWaitsSince is the query of lock waits; told says whether a lock says since when it is
// waited for.
func lockWaitsSince(told bool) string {
	since := "a.query_start"
	if told {
		since = "l.waitstart"
	}
	return strings.ReplaceAll(lockWaitQuery, "@since@", since)
}
