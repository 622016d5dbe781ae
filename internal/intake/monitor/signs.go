package monitor

import (
	"context"
	_ "embed" // the queries
	"errors"
	"strconv"

	"github.com/google/uuid"

	"muster/internal/servers"
	"muster/internal/watch"
)

//go:embed sql/capabilities.sql
var capabilitiesQuery string

//go:embed sql/lock_wait.sql
var lockWaitQuery string

//go:embed sql/lock_wait_13.sql
var lockWait13Query string

//go:embed sql/wraparound.sql
var wraparoundQuery string

// readSigns asks a server what the watch judges beside what the samples say. Who may
// not see what sessions wait for has nothing to say about it, rather than that
// nobody waits.
func readSigns(ctx context.Context, s servers.Session, a *activity, organization, instance uuid.UUID) ([]watch.Sign, error) {
	sign := watch.Sign{OrganizationID: organization, InstanceID: instance, At: a.at}
	var signs []watch.Sign
	used, err := number(ctx, s, wraparoundQuery)
	if err == nil {
		sign.Rule, sign.Value = watch.Wraparound, used
		signs = append(signs, sign)
	}
	if !a.mayRead {
		return signs, err
	}
	seconds, lockErr := longestLockWait(ctx, s)
	if lockErr == nil {
		sign.Rule, sign.Value = watch.LockWait, max(seconds/60, 0)
		signs = append(signs, sign)
	}
	return signs, errors.Join(err, lockErr)
}

func longestLockWait(ctx context.Context, s servers.Session) (seconds float64, err error) {
	tells, err := servers.Row(ctx, s, 1, capabilitiesQuery)
	if err != nil {
		return 0, err
	}
	if tells[0] == "t" {
		return number(ctx, s, lockWaitQuery)
	}
	return number(ctx, s, lockWait13Query)
}

func number(ctx context.Context, s servers.Session, query string) (float64, error) {
	row, err := servers.Row(ctx, s, 1, query)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(row[0], 64)
	if err != nil {
		return 0, errNonsense
	}
	return n, nil
}
