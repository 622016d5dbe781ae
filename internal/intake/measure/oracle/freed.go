package oracle

import (
	"context"
	_ "embed" // the queries
	"regexp"
	"strings"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

//go:embed sql/freed.sql
var freedQuery string

//go:embed sql/cluster_freed.sql
var clusterFreedQuery string

// sessionID is a session as we name it: its number, its serial number and its instance.
var sessionID = regexp.MustCompile(`^([0-9]+),([0-9]+),([0-9]+)$`)

// Freed reads what became of a session that held others up. Which of its transactions it has, the server does not say.
func (r *reader) Freed(ctx context.Context, l *measure.Line, root blocking.Node, _ time.Time) (blocking.End, error) {
	id := sessionID.FindStringSubmatch(root.Session)
	if id == nil {
		return "", nil
	}
	rows, err := servers.Query(ctx, l, 1, strings.NewReplacer("@sid@", id[1], "@serial@", id[2], "@instance@", id[3]).Replace(r.in(freedQuery, clusterFreedQuery)))
	switch {
	case err != nil:
		return "", err
	case len(rows) == 0:
		return blocking.SessionEnded, nil
	case rows[0][0] == "0":
		return blocking.TransactionEnded, nil
	}
	return "", nil
}
