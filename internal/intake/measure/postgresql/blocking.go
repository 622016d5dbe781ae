package postgresql

import (
	"context"
	_ "embed" // the query
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"muster/internal/engine/postgresql"
	"muster/internal/intake/measure"
	"muster/internal/intake/sqltext"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

//go:embed sql/blocking.sql
var blockingQuery string

// Blocking reads who waits for whom.
func (r *reader) Blocking(ctx context.Context, l *measure.Line, at time.Time, texts bool) (*blocking.Look, error) {
	look := &blocking.Look{At: at}
	waiting := 0
	err := l.Each(ctx, servers.Statement{Columns: 19, Text: blockingSince(r.tells, texts)}, func(row [][]byte) error {
		node, sessions, err := blockingNode(row, at)
		look.Nodes, waiting = append(look.Nodes, node), max(waiting, sessions)
		return err
	})
	if err != nil {
		return nil, err
	}
	look.Omitted = max(waiting-blocking.MaxNodes, 0)
	return look, nil
}

// blockingSince is the query of who waits for whom. told says whether a lock says since when it
// is waited for, and a session the id of its statement (both since 14).
func blockingSince(told, texts bool) string {
	since, queryID, statement := "NULL::timestamptz", "NULL::bigint", "NULL::text"
	if told {
		since, queryID = "waitstart", "query_id"
	}
	if texts {
		statement = "a.query"
	}
	return strings.NewReplacer(
		"@since@", since, "@query_id@", queryID, "@statement@", statement, "@application@", servers.ApplicationName,
		"@most@", strconv.Itoa(blocking.MaxNodes), "@blockers@", strconv.Itoa(blocking.MaxBlockers),
	).Replace(blockingQuery)
}

// blockingNode is a session as a row has it, and how many sessions wait on the server.
func blockingNode(row [][]byte, at time.Time) (blocking.Node, int, error) {
	now, err := strconv.ParseInt(string(row[17]), 10, 64)
	sessions, err2 := strconv.Atoi(string(row[18]))
	if err != nil || err2 != nil || len(row[0]) == 0 {
		return blocking.Node{}, 0, measure.ErrNonsense
	}
	ahead := time.UnixMicro(now).Sub(at) // the server's clock, of ours
	micros := func(column int) *time.Time {
		n, failed := strconv.ParseInt(string(row[column]), 10, 64)
		if len(row[column]) == 0 || failed != nil {
			return nil
		}
		read := time.UnixMicro(n).UTC()
		return &read
	}
	ours := func(column int) *time.Time {
		read := micros(column)
		if read != nil {
			*read = read.Add(-ahead)
		}
		return read
	}
	n := blocking.Node{
		Session: string(row[0]), Kind: kindOf(string(row[1])), Began: micros(2), User: string(row[3]), Application: string(row[4]), Client: string(row[5]),
		Database: string(row[6]), State: string(row[7]), StatementID: string(row[9]), Transaction: ours(10), Changed: ours(11), Waits: ours(12),
		Lock: string(row[14]), Mode: string(row[15]), Object: string(row[16]), Advisory: string(row[14]) == "advisory",
	}
	n.Idle = strings.HasPrefix(n.State, "idle in transaction")
	if n.Statement = string(row[8]); !blocking.Vacuums(n) {
		n.Statement = sqltext.Normalize(postgresql.Engine.Dialect, n.Statement)
	}
	if len(row[13]) > 0 {
		if err := json.Unmarshal(row[13], &n.For); err != nil {
			return n, 0, measure.ErrNonsense
		}
	}
	return n, sessions, nil
}

func kindOf(backend string) blocking.Kind {
	switch backend {
	case "client backend":
		return blocking.Client
	case "autovacuum worker":
		return blocking.Autovacuum
	case "prepared":
		return blocking.Prepared
	}
	return blocking.System
}
