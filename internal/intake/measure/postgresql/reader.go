package postgresql

import (
	"context"
	"errors"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// searchEvery is how often other databases are searched for the extension, and searchAtOnce
// how many of them in one round: the others follow in the next ones.
const (
	searchEvery  = 10 * time.Minute
	searchAtOnce = 20
)

// Engine is how PostgreSQL is measured: sessions every ten seconds (specification, §4.6),
// statements every minute (§4.5).
func Engine(now func() time.Time) measure.Engine {
	return measure.Engine{
		Name: fleet.PostgreSQL, SessionsEvery: 10 * time.Second, StatementsEvery: time.Minute,
		NewReader: func() measure.Reader { return &reader{now: now} },
	}
}

// reader reads one server.
type reader struct {
	now       func() time.Time
	role      string           // ours, quoted; empty: the server has no database, and said nothing
	mayRead   bool             // it sees what others do
	met       servers.Session  // the connection on which the server was asked what it tells
	tells     bool             // a session tells the id of its statement, and a lock since when it is waited for (14)
	hidden    bool             // there were statements that it may not tell apart
	deadlocks map[uint32]int64 // the server's counters of the last look, by database
	tell      tells            // what the server tells about itself
	progress  progress         // of replication
	withheld  withheld         // of replication
	extension *extension
	stays     string             // the database that the extension was found in, where we moved there
	search    search             // of other databases
	rooms     map[string]*looked // what was found in databases, by name
	roomTurns measure.Rotation   // into which databases the next look goes
	roles     map[uint32]string  // names by number; empty: asked for, and not known
}

// search is one through the databases of a server for the extension.
type search struct {
	began   time.Time // zero: none has
	left    []string  // where it was not looked for yet
	refused bool      // a database did not let us in
	outcome string    // of the last one that came to its end; empty: none has
}

// What a search came to, as the object of what is missing. An organization may decline that,
// so it has no figures in it.
const (
	searching = "extension pg_stat_statements, not found yet: Muster looks into 20 databases a minute"
	nowhere   = "extension pg_stat_statements, which no database has"
	unseen    = "extension pg_stat_statements, which no database has; some do not let this role in"
)

// says what came of it, in vain so far.
func (s *search) says() string {
	if s.outcome == "" && !s.began.IsZero() {
		return searching
	}
	return s.outcome
}

func (s *search) end() {
	if s.outcome = nowhere; s.refused {
		s.outcome = unseen
	}
}

// errHidden says that there are statements which our role may not tell apart: their
// list would be a part of it.
var errHidden = errors.New("the role may not read the statements of others")

// Missing is what the role may not read.
func (r *reader) Missing() ([]snapshot.MissingGrant, bool) {
	if r.role == "" {
		return nil, false
	}
	var lacking []snapshot.MissingGrant
	if !r.mayRead || r.hidden {
		lacking = append(lacking, snapshot.MissingGrant{
			Object: "what members of pg_read_all_stats see", Statement: "GRANT pg_read_all_stats TO " + r.role + ";",
		})
	}
	if r.extension != nil {
		lacking = append(lacking, r.extension.missing...)
	} else if object := r.search.says(); object != "" {
		lacking = append(lacking, snapshot.MissingGrant{Object: object, Statement: "CREATE EXTENSION pg_stat_statements;"})
	}
	return append(lacking, r.missingReplication()...), true
}

// Statements reads the statements' counters, where the extension is there and may be
// read. That the role may not tell statements apart is no error: Missing says it.
func (r *reader) Statements(ctx context.Context, l *measure.Line) (*measure.List, error) {
	r.hidden = false
	if r.extension == nil || len(r.extension.missing) > 0 {
		// Perhaps it has been created, or granted, since.
		if err := r.findExtension(ctx, l); err != nil {
			return nil, err
		}
	}
	if r.extension == nil || len(r.extension.missing) > 0 {
		return nil, nil
	}
	list, err := r.extension.readStatements(ctx, l)
	if errors.Is(err, errHidden) {
		r.hidden = true
		return nil, nil
	}
	if err != nil {
		r.extension = nil // dropped, moved or updated, or its library is not loaded
		return nil, err
	}
	r.readRoles(ctx, l, list)
	list.Active, err = r.extension.readActiveTime(ctx, l)
	return list, err
}

// findExtension looks in the connected database, and from time to time in the others, and stays
// where it finds the extension. Only then is there a second connection for a moment.
func (r *reader) findExtension(ctx context.Context, l *measure.Line) (err error) {
	if r.extension, err = findExtension(ctx, l); err != nil || r.extension != nil {
		return err
	}
	if r.stays != "" && l.Database() != r.stays { // that database is gone
		r.stays, r.search = "", search{}
	}
	if len(r.search.left) == 0 {
		if !r.search.began.IsZero() && r.now().Sub(r.search.began) < searchEvery {
			return nil
		}
		if err := r.beginSearch(ctx, l); err != nil {
			return err
		}
	}
	for range min(searchAtOnce, len(r.search.left)) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := r.search.left[0]
		r.search.left = r.search.left[1:]
		if found, err := r.lookInto(ctx, l, name); err != nil || found {
			return err
		}
	}
	if len(r.search.left) == 0 {
		r.search.end()
	}
	return ctx.Err()
}

// beginSearch lists the databases to look into, but for the one where we are.
func (r *reader) beginSearch(ctx context.Context, l *measure.Line) error {
	next := search{began: r.now(), outcome: r.search.outcome}
	err := l.Each(ctx, servers.Statement{Columns: 2, Text: databasesQuery}, func(row [][]byte) error {
		switch name := string(row[0]); {
		case name == l.Database():
		case string(row[1]) != "t":
			next.refused = true
		default:
			next.left = append(next.left, name)
		}
		return nil
	})
	if err == nil {
		r.search = next
	}
	return err
}

// lookInto looks into another database, and stays there if it finds the extension. A database
// that refuses the connection is no error.
func (r *reader) lookInto(ctx context.Context, l *measure.Line, name string) (found bool, err error) {
	other, err := l.Open(ctx, name)
	if err != nil {
		r.search.refused = true
		return false, ctx.Err()
	}
	extension, err := findExtension(ctx, other)
	if err != nil || extension == nil {
		other.Close(ctx)
		return false, ctx.Err()
	}
	l.Stay(ctx, other)
	r.stays, r.extension, r.search = name, extension, search{}
	return true, nil
}
