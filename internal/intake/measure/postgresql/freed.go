package postgresql

import (
	"context"
	_ "embed" // the query
	"strconv"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

//go:embed sql/freed.sql
var freedQuery string

// sameTransaction is by how much the beginning of a transaction may differ in two looks, by our clock. Those who waited did
// so for longer, so a later transaction of the session began later than that.
const sameTransaction = time.Second

// Freed reads what became of a session that held others up.
func (r *reader) Freed(ctx context.Context, l *measure.Line, root blocking.Node, at time.Time) (blocking.End, error) {
	if root.Kind == blocking.Prepared {
		return freedByPrepared(ctx, l, root)
	}
	pid, err := strconv.ParseUint(root.Session, 10, 31)
	if err != nil {
		return "", nil //nolint:nilerr // it is no process
	}
	rows, err := servers.Query(ctx, l, 3, strings.ReplaceAll(freedQuery, "@session@", strconv.FormatUint(pid, 10)))
	if err != nil {
		return "", err
	}
	micros := func(text string) *time.Time {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil
		}
		read := time.UnixMicro(n)
		return &read
	}
	if len(rows) == 0 {
		return blocking.SessionEnded, nil
	}
	began, transaction, now := micros(rows[0][0]), micros(rows[0][1]), micros(rows[0][2])
	switch {
	case began == nil || now == nil || root.Began == nil:
		return "", nil
	case !began.Equal(*root.Began): // another session has the id
		return blocking.SessionEnded, nil
	case transaction == nil:
		return blocking.TransactionEnded, nil
	case root.Transaction == nil:
		return "", nil
	}
	if transaction.Add(-now.Sub(at)).Sub(*root.Transaction).Abs() > sameTransaction {
		return blocking.TransactionEnded, nil
	}
	return blocking.WaitsEnded, nil
}

// freedByPrepared is what became of a prepared transaction, which has no session.
func freedByPrepared(ctx context.Context, l *measure.Line, root blocking.Node) (blocking.End, error) {
	gid, known := strings.CutPrefix(root.Session, "prepared ")
	if !known || strings.ContainsAny(gid, `\`+"\uFFFD") {
		return "", nil
	}
	there, err := servers.Row(ctx, l, 1, `SELECT count(*) FROM pg_prepared_xacts WHERE gid = '`+strings.ReplaceAll(gid, "'", "''")+`'`)
	switch {
	case err != nil:
		return "", err
	case there[0] == "0":
		return blocking.TransactionEnded, nil
	}
	return blocking.WaitsEnded, nil
}
