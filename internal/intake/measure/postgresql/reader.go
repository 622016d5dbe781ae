package postgresql

import (
	"context"
	"errors"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/snapshot"
)

// searchEvery is how often other databases are searched for the extension.
const searchEvery = 10 * time.Minute

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
	role      string // ours, quoted; empty: the server has no database, and said nothing
	mayRead   bool   // it sees what others do
	hidden    bool   // there were statements that it may not tell apart
	extension *extension
	stays     string    // the database that the extension was found in, where we moved there
	searched  time.Time // when other databases were
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
	}
	return lacking, true
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
	list.Active, err = r.extension.readActiveTime(ctx, l)
	return list, err
}

// findExtension looks where we are connected, and from time to time in the other
// databases; where it finds it, there we stay. Only then is there a second connection
// for a moment.
func (r *reader) findExtension(ctx context.Context, l *measure.Line) (err error) {
	if r.extension, err = findExtension(ctx, l); err != nil || r.extension != nil {
		return err
	}
	if r.stays != "" && l.Database() != r.stays { // that database is gone
		r.stays, r.searched = "", time.Time{}
	}
	if !r.searched.IsZero() && r.now().Sub(r.searched) < searchEvery {
		return nil
	}
	r.searched = r.now()
	rows, err := servers.Query(ctx, l, 1, databasesQuery)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row[0] == l.Database() || ctx.Err() != nil {
			continue
		}
		other, err := l.Open(ctx, row[0])
		if err != nil {
			continue // not for us
		}
		found, err := findExtension(ctx, other)
		if err != nil || found == nil {
			other.Close(ctx)
			continue
		}
		l.Stay(ctx, other)
		r.stays, r.extension = row[0], found
		return nil
	}
	return ctx.Err()
}
