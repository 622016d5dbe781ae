package monitor

import (
	"context"
	_ "embed" // the queries
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/snapshot"
)

//go:embed sql/extension.sql
var extensionQuery string

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
	missing      []snapshot.MissingGrant // what keeps us from reading it
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

func (x *extension) lacks(object, statement string) {
	x.missing = append(x.missing, snapshot.MissingGrant{Object: object, Statement: statement})
}

// errNonsense says that what answered is no PostgreSQL that we know. It does not repeat
// what that was.
var errNonsense = errors.New("the server answered something else than was asked for")

// errHidden says that there are statements which our role may not tell apart: their
// list would be a part of it.
var errHidden = errors.New("the role may not read the statements of others")

// readStatements reads the whole list, between two looks at the clocks: what happens
// to the entries meanwhile shows at one of them. Errors: errHidden.
func (x *extension) readStatements(ctx context.Context, s servers.Session, at time.Time) (*statementList, error) {
	before, err := x.readClocks(ctx, s)
	if err != nil {
		return nil, err
	}
	var entries []counters
	hidden := false
	err = s.Each(ctx, 7, x.list, func(row [][]byte) error {
		if row[3] == nil {
			hidden = true
			return nil
		}
		e, err := parseCounters(row)
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
	return newStatementList(at, before, after, entries), nil
}

func (x *extension) readClocks(ctx context.Context, s servers.Session) (c clocks, err error) {
	row, err := servers.Row(ctx, s, 3, x.clocks)
	if err != nil {
		return clocks{}, err
	}
	for i, field := range []*int64{&c.now, &c.started, &c.reset} {
		if *field, err = strconv.ParseInt(row[i], 10, 64); err != nil {
			return clocks{}, errNonsense
		}
	}
	return c, nil
}

func parseCounters(row [][]byte) (e counters, err error) {
	database, err1 := strconv.ParseUint(string(row[0]), 10, 32)
	user, err2 := strconv.ParseUint(string(row[1]), 10, 32)
	query, err3 := strconv.ParseInt(string(row[3]), 10, 64)
	calls, err4 := strconv.ParseInt(string(row[4]), 10, 64)
	total, err5 := strconv.ParseFloat(string(row[5]), 64)
	since, err6 := strconv.ParseInt(string(row[6]), 10, 64)
	if errors.Join(err1, err2, err3, err4, err5, err6) != nil {
		return counters{}, errNonsense
	}
	key := statementKey{database: uint32(database), user: uint32(user), topLevel: string(row[2]) == "t", query: query}
	return counters{statementKey: key, calls: calls, totalMs: total, since: since}, nil
}

// statementSamples makes a sample of every database that the fleet knows, also where
// nothing was executed: it was looked at. What is of no such database (templates, and
// those that were dropped) is left out.
func statementSamples(instance uuid.UUID, databases []databaseActivity, ids map[string]uuid.UUID, last, now *statementList, deltas []delta, texts map[textKey]string) []measurements.StatementSample {
	byOID := make(map[uint32][]measurements.Statement)
	for _, d := range deltas {
		byOID[d.database] = append(byOID[d.database], measurements.Statement{
			Key: d.name(), Calls: d.calls, TotalMs: d.totalMs, Text: texts[d.textKey()],
		})
	}
	var samples []measurements.StatementSample
	for _, d := range databases {
		if id, known := ids[d.name]; known && d.connectable {
			samples = append(samples, measurements.StatementSample{
				Instance: instance, Engine: fleet.PostgreSQL, Database: id,
				At: now.at, Interval: now.at.Sub(last.at), BusyMs: busyBetween(last, now, d.oid), Statements: byOID[d.oid],
			})
		}
	}
	return samples
}

// name names a statement in its database: the same query of another role, or called
// from within another one, is another statement.
func (k statementKey) name() string {
	out := strconv.AppendInt(nil, k.query, 10)
	out = strconv.AppendUint(append(out, '/'), uint64(k.user), 10)
	if !k.topLevel {
		out = append(out, "/nested"...)
	}
	return string(out)
}
