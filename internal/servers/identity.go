package servers

import (
	"context"
	"embed"
	"errors"
	"strings"

	"muster/domain/fleet"
	"muster/domain/printable"
)

// Identity is which server answers, by what it says of itself and not by the name that led
// to it.
type Identity struct {
	Engine fleet.Engine
	// System is what a server has in common with its copies: PostgreSQL's system identifier,
	// which a standby shares with its primary, and Oracle's DBID. SQL Server has no copies
	// of the kind: it is its name. Empty: our account may not read it.
	System string
	// Process tells copies apart. PostgreSQL and SQL Server: since when it runs, to the
	// microsecond and to the 300th of a second. Oracle: the unique name and the container.
	Process string
	Role    string // primary, standby, or empty: the engine does not say
	Pooling Pooling
}

// Roles of a server.
const (
	RolePrimary = "primary"
	RoleStandby = "standby"
)

// Pooling is what lies between us and a server.
type Pooling string

// What may be in between. Direct: nothing is visible, as with a gateway that keeps its clients'
// sessions apart and passes on the server's answers.
const (
	Direct             Pooling = ""
	SessionPooling     Pooling = "session"     // a session has a connection to the server for as long as it lasts
	TransactionPooling Pooling = "transaction" // a session has one for a transaction
)

// Words say what a pooler means for what is measured through it, and what to do. Empty: there
// is nothing to be done.
func (p Pooling) Words() string {
	if p != TransactionPooling {
		return ""
	}
	return "A pooler in transaction mode answers, such as PgBouncer with pool_mode=transaction. Muster sets nothing beyond its own transactions, " +
		"so the application behind it is not affected. Muster shares the pool's connections, and reaches only the databases that the pooler offers: " +
		"connect to the server itself to see all of it."
}

// Same says whether two identities are of one server that runs now.
func (i Identity) Same(as Identity) bool {
	return i.Engine == as.Engine && i.Process != "" && i.Process == as.Process &&
		(i.System == as.System || engines[i.Engine].names.hidden && (i.System == "" || as.System == ""))
}

// Related says whether two identities are of different copies of one cluster: a primary and
// its standbys, or what was restored from one backup.
func (i Identity) Related(to Identity) bool {
	return i.Engine == to.Engine && engines[i.Engine].names.copies && i.System != "" && i.System == to.System && i.Process != to.Process
}

// Moved says whether a name leads to another server than before: to another system, or to one
// that was started earlier, which a restart cannot cause. Unknown values do not count as
// different.
func (i Identity) Moved(before Identity) bool {
	switch {
	case i.System != "" && before.System != "" && i.System != before.System:
		return true
	case i.Process == "" || before.Process == "" || i.Process == before.Process:
		return false
	case !i.Dated():
		return i.System != "" && before.System != ""
	}
	return len(i.Process) < len(before.Process) || len(i.Process) == len(before.Process) && i.Process < before.Process
}

//go:embed sql
var identityFiles embed.FS

// naming is what an engine's servers say of themselves.
type naming struct {
	// queries ask them, the fullest first: the next one is for accounts that may not read it.
	queries []string
	system  string // what its System is called, for people to read
	// hidden: an account may not be allowed to read the System, and of servers that began in
	// the same microsecond each is the same.
	hidden bool
	copies bool // servers have copies with the same System
	placed bool // Process says where the server is, and not since when it runs
}

var (
	postgreSQLNames = naming{
		queries: []string{"postgresql/identity.sql", "postgresql/identity_part.sql"}, system: "System identifier", hidden: true, copies: true,
	}
	sqlServerNames = naming{queries: []string{"sqlserver/identity.sql"}, system: "Server name"}
	oracleNames    = naming{queries: []string{"oracle/identity.sql", "oracle/identity_part.sql"}, system: "DBID", copies: true, placed: true}
)

// SystemTitle is what the System is called, for people to read.
func (i Identity) SystemTitle() string { return engines[i.Engine].names.system }

// Dated says whether another Process of the same System says that it was started again.
func (i Identity) Dated() bool { return !engines[i.Engine].names.placed }

func identitySQL(e fleet.Engine) (queries []string) {
	for _, name := range engines[e].names.queries {
		text, err := identityFiles.ReadFile("sql/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		queries = append(queries, string(text))
	}
	return queries
}

// Identify asks who answers on a session of the target. What the account may not read is
// empty; an error says that the session, or one beside it, broke.
func (t Target) Identify(ctx context.Context, s Session) (Identity, error) {
	i := Identity{Engine: t.Engine}
	for _, query := range identitySQL(t.Engine) {
		row, err := Row(ctx, s, 3, query)
		if is[*Refusal](err) {
			continue
		}
		if err != nil {
			return Identity{}, err
		}
		i.System, i.Process = bounded(row[0]), bounded(row[1])
		if row[2] == RolePrimary || row[2] == RoleStandby {
			i.Role = row[2]
		}
		break
	}
	if t.oracle.further != "" { // whichever of them is the primary
		_, i.Process, _ = strings.Cut(i.Process, "/")
		if i.System == "" {
			i.Process = "" // nothing tells it from other databases
		}
	}
	var err error
	i.Pooling, err = t.pooling(ctx, s)
	return i, err
}

// bounded is a server's name for itself, limited to what can be stored and shown: the peer may
// be no server.
func bounded(name string) string {
	const longest = 200
	runes := []rune(printable.Clean(name))
	return string(runes[:min(len(runes), longest)])
}

// pooled is a session that knows whether a pooler may be between it and the server.
type pooled interface {
	Session
	// Backend names the process that answers now; known is false if nothing is in between.
	Backend(ctx context.Context) (process string, known bool, err error)
}

// looks is how often two sessions are asked in turn which process answers: an otherwise unused
// pool gives both the same process at once, and a busy one another process each time.
const looks = 3

// pooling says what is between a session and the server. One in which a process answers
// that another session of ours had, or another than before, has no process of its own.
func (t Target) pooling(ctx context.Context, s Session) (Pooling, error) {
	if seen, ok := s.(interface{ Uncounted() Session }); ok {
		s = seen.Uncounted()
	}
	first, ok := s.(pooled)
	if !ok {
		return Direct, nil
	}
	process, between, err := first.Backend(ctx)
	if err != nil || !between {
		return Direct, err
	}
	other, err := engines[t.Engine].open(ctx, t, s.Database(), StatementTimeout)
	if err != nil {
		return SessionPooling, nil //nolint:nilerr // a pool of one session has no room for a second
	}
	defer other.Close(ctx)
	second, ok := other.(pooled)
	if !ok {
		return Direct, errors.New("two sessions of one engine are of two kinds")
	}
	beside := ""
	for range looks {
		theirs, _, err := second.Backend(ctx)
		if err != nil {
			return Direct, err
		}
		ours, _, err := first.Backend(ctx)
		if err != nil {
			return Direct, err
		}
		if theirs == process || ours != process || beside != "" && theirs != beside {
			return TransactionPooling, nil
		}
		beside = theirs
	}
	return SessionPooling, nil
}
