package sqlserver

import (
	"context"
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

// Freed reads what became of a session that held others up. Which of its transactions it has, the server does not say.
func (r *reader) Freed(ctx context.Context, l *measure.Line, root blocking.Node, _ time.Time) (blocking.End, error) {
	id, err := strconv.ParseUint(root.Session, 10, 31)
	if err != nil || root.Began == nil {
		return "", nil //nolint:nilerr // it is no session
	}
	rows, err := servers.Query(ctx, l, 2, strings.ReplaceAll(query("freed"), "@session", strconv.FormatUint(id, 10)))
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return blocking.SessionEnded, nil
	}
	if began, err := time.Parse(loginTime, rows[0][0]); err != nil || !began.Equal(*root.Began) {
		return blocking.SessionEnded, nil //nolint:nilerr // another session has the id
	}
	if rows[0][1] == "0" {
		return blocking.TransactionEnded, nil
	}
	return "", nil
}
