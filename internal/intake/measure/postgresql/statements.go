package postgresql

import (
	"context"
	_ "embed" // the queries
	"errors"
	"slices"
	"strconv"
	"strings"

	"muster/internal/intake/measure"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/extension.sql
var extensionQuery string

//go:embed sql/watcher.sql
var watcherQuery string

//go:embed sql/databases.sql
var databasesQuery string

//go:embed sql/clocks.sql
var clocksQuery string

//go:embed sql/clocks_1_9.sql
var clocks19Query string

//go:embed sql/statements_1_11.sql
var statements111Query string

//go:embed sql/statements_1_9.sql
var statements19Query string

//go:embed sql/statements_1_8.sql
var statements18Query string

//go:embed sql/statements_1_4.sql
var statements14Query string

// extension is pg_stat_statements as one database has it.
type extension struct {
	clocks, list string                  // the queries that fit
	texts        string                  // likewise, of the statements that are put in
	tellsActive  bool                    // the server counts how long it executes
	missing      []snapshot.MissingGrant // the reason why it cannot be read
	watcher      uint32                  // our role, where it is one for watching; else 0
}

// findExtension looks for the extension in the session's database; nil: it is not
// there. What it offers is known by its columns: an extension may be older than the
// server it runs on.
func findExtension(ctx context.Context, s servers.Session) (*extension, error) {
	rows, err := servers.Query(ctx, s, 7, extensionQuery)
	if err != nil || len(rows) != 1 {
		return nil, err
	}
	row := rows[0]
	schema, role := row[0], row[5]
	x, tellsReset := &extension{clocks: clocksQuery, tellsActive: row[6] == "t"}, row[2] == "t"
	if tellsReset {
		x.clocks = clocks19Query
	}
	x.watcher = findWatcher(ctx, s)
	offers := func(column string) bool { return slices.Contains(strings.Split(row[1], ","), column) }
	switch {
	case offers("stats_since"):
		x.list = statements111Query
	case offers("toplevel"):
		x.list = statements19Query
	case offers("total_exec_time"):
		x.list = statements18Query
	default:
		x.list = statements14Query
	}
	x.clocks, x.list = strings.ReplaceAll(x.clocks, "@schema@", schema), strings.ReplaceAll(x.list, "@schema@", schema)
	x.texts = strings.ReplaceAll(textsQuery, "@schema@", schema)
	if row[4] != "t" {
		x.lacks("schema "+schema+" in database "+s.Database(), "GRANT USAGE ON SCHEMA "+schema+" TO "+role+";")
	}
	if row[3] != "t" {
		functions := schema + ".pg_stat_statements(boolean)"
		if tellsReset {
			functions += ", " + schema + ".pg_stat_statements_info()"
		}
		x.lacks("pg_stat_statements in database "+s.Database(), "GRANT EXECUTE ON FUNCTION "+functions+" TO "+role+";")
	}
	return x, nil
}

// findWatcher returns the number of our role; 0: the role is not only for monitoring, or cannot
// be known, and then no statement is ours alone.
func findWatcher(ctx context.Context, s servers.Session) uint32 {
	row, err := servers.Row(ctx, s, 1, watcherQuery)
	if err != nil {
		return 0
	}
	number, err := strconv.ParseUint(row[0], 10, 32)
	if err != nil {
		return 0
	}
	return uint32(number)
}

func (x *extension) lacks(object, statement string) {
	x.missing = append(x.missing, snapshot.MissingGrant{Object: object, Statement: statement})
}

// readStatements reads the whole list, between two readings of the clocks: changes of the
// entries meanwhile show at one of them. Errors: errHidden.
func (x *extension) readStatements(ctx context.Context, s servers.Session) (*measure.List, error) {
	before, err := x.readClocks(ctx, s)
	if err != nil {
		return nil, err
	}
	var entries []measure.Entry
	hidden := false
	err = s.Each(ctx, servers.Statement{Columns: 7, Text: x.list}, func(row [][]byte) error {
		if row[3] == nil {
			hidden = true
			return nil
		}
		e, err := parseEntry(row)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	if hidden {
		return nil, errHidden
	}
	after, err := x.readClocks(ctx, s)
	if err != nil {
		return nil, err
	}
	return measure.NewList(before, after, entries), nil
}

func (x *extension) readClocks(ctx context.Context, s servers.Session) (c measure.Clocks, err error) {
	row, err := servers.Row(ctx, s, 3, x.clocks)
	if err != nil {
		return measure.Clocks{}, err
	}
	for i, field := range []*int64{&c.Now, &c.Started, &c.Reset} {
		if *field, err = strconv.ParseInt(row[i], 10, 64); err != nil {
			return measure.Clocks{}, measure.ErrNonsense
		}
	}
	return c, nil
}

func parseEntry(row [][]byte) (e measure.Entry, err error) {
	database, err1 := strconv.ParseUint(string(row[0]), 10, 32)
	user, err2 := strconv.ParseUint(string(row[1]), 10, 32)
	query, err3 := strconv.ParseInt(string(row[3]), 10, 64)
	calls, err4 := strconv.ParseInt(string(row[4]), 10, 64)
	total, err5 := strconv.ParseFloat(string(row[5]), 64)
	since, err6 := strconv.ParseInt(string(row[6]), 10, 64)
	topLevel := string(row[2]) == "t"
	if errors.Join(err1, err2, err3, err4, err5, err6) != nil || !topLevel && string(row[2]) != "f" {
		return measure.Entry{}, measure.ErrNonsense
	}
	which := statement(query, uint32(user), topLevel)
	return measure.Entry{
		Key: measure.Key{Database: uint32(database), Entry: which}, Statement: which, Calls: calls, TotalMs: total, Since: since,
	}, nil
}

// nested marks the statement that was called from within another one.
const nested = 1 << 32

// statement is an entry of pg_stat_statements, and also the identity for users: the same query
// of another role, or called from within another one, is another statement.
func statement(query int64, user uint32, topLevel bool) measure.Statement {
	who := uint64(user)
	if !topLevel {
		who |= nested
	}
	return measure.Statement{uint64(query), who} //nolint:gosec // G115: a number of 64 bits, whatever its sign
}

// Own says that a statement belongs to the role with which we monitor. A superuser, and a role
// that may not read the statements of others, may also be an application's.
func (r *reader) Own(s measure.Statement) bool {
	return r.extension != nil && r.extension.watcher != 0 && uint32(s[1]) == r.extension.watcher //nolint:gosec // G115: the role's number
}

// Name names a statement in its database.
func (r *reader) Name(s measure.Statement) string {
	out := strconv.AppendInt(nil, int64(s[0]), 10)                       //nolint:gosec // G115: as the server has it
	out = strconv.AppendUint(append(out, '/'), uint64(uint32(s[1])), 10) //nolint:gosec // G115: the role's number
	if s[1]&nested != 0 {
		out = append(out, "/nested"...)
	}
	return string(out)
}
