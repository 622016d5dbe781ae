package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/internal/assessment/inspection"
	"muster/internal/assessment/pii"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Classify looks for personal and secret data in one container, by column names and, with mode
// values, by samples. The values are discarded here: the result contains none. If ctx ended
// meanwhile, the caller must drop it.
func (c *Inspector) Classify(ctx context.Context, target servers.Target, database, mode string) snapshot.Classification {
	run, on := inspection.NewClassifying(c.pii, mode, c.now())
	if on {
		c.classify(ctx, target, database, run)
	}
	run.Run.FinishedAt = c.now().UTC()
	return run.Run
}

// table is one with what classification and the risk register need of it.
type table struct {
	owner, name string
	rows        *int64
	bytes       int64
	external    bool
	filtered    bool // a policy hides some rows
	grantees    int
	public      bool
	columns     []tableColumn
}

type tableColumn struct{ name, kind, shown, scale string }

func (c *Inspector) classify(ctx context.Context, target servers.Target, database string, run *inspection.Classifying) {
	s, err := c.inContainer(ctx, target, database)
	if err != nil {
		if refused, ok := errors.AsType[*servers.ConnectionError](err); ok {
			run.Fail(ctx, refused.Sentence)
			return
		}
		_, sentence := inspection.Reason(err)
		run.Fail(ctx, "Which container it is could not be read: "+sentence+".")
		return
	}
	defer s.Close(ctx)
	tables, err := readTables(ctx, s)
	if err != nil {
		_, sentence := inspection.Reason(err)
		run.Fail(ctx, "The columns could not be read: "+sentence+".")
		return
	}
	s.SetTimeout(inspection.SampleTimeout)
	for _, t := range tables {
		t.classify(ctx, s, run)
	}
	run.Complete()
}

// inContainer opens a session in a container by its name.
func (c *Inspector) inContainer(ctx context.Context, target servers.Target, name string) (servers.Session, error) {
	s, err := c.open(ctx, target, target.Database)
	if err != nil {
		return nil, err
	}
	who, err := readIdentity(ctx, s)
	if err == nil && who.container == name {
		return s, nil
	}
	s.Close(ctx)
	if err != nil {
		return nil, err
	}
	return c.open(ctx, target, name)
}

func readTables(ctx context.Context, s servers.Session) ([]*table, error) {
	rows, err := servers.Query(ctx, s, 8, tablesSQL)
	if err != nil {
		return nil, err
	}
	byName := make(map[[2]string]*table, len(rows))
	var tables []*table
	for _, row := range rows {
		t := &table{owner: row[0], name: row[1], external: row[4] == "YES", filtered: row[5] != "0", public: row[7] != "0"}
		if n, err := strconv.ParseInt(row[2], 10, 64); err == nil {
			t.rows = &n
		}
		t.bytes, _ = strconv.ParseInt(row[3], 10, 64)
		t.grantees, _ = strconv.Atoi(row[6])
		byName[[2]string{t.owner, t.name}], tables = t, append(tables, t)
	}
	rows, err = servers.Query(ctx, s, 7, columnsSQL)
	for _, row := range rows {
		if t := byName[[2]string{row[0], row[1]}]; t != nil { // else it is a table that is left out, or came meanwhile
			t.columns = append(t.columns, tableColumn{name: row[2], kind: row[3], shown: shown(row), scale: row[6]})
		}
	}
	slices.SortFunc(tables, func(a, b *table) int { return strings.Compare(a.owner+"\x00"+a.name, b.owner+"\x00"+b.name) })
	return tables, err
}

// shown is a type as it is declared.
func shown(row []string) string {
	switch kind := row[3]; kind {
	case "VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR":
		return kind + "(" + row[4] + ")"
	case "NUMBER":
		switch {
		case row[5] == "":
			return kind
		case row[6] == "" || row[6] == "0":
			return kind + "(" + row[5] + ")"
		}
		return kind + "(" + row[5] + "," + row[6] + ")"
	default:
		return kind
	}
}

func (t *table) classify(ctx context.Context, s servers.Session, run *inspection.Classifying) {
	found := snapshot.ClassifiedTable{
		Schema: t.owner, Name: t.name, SizeBytes: t.bytes, PublicAccess: t.public, Grantees: t.grantees, RowSecurity: t.filtered,
	}
	if t.rows != nil {
		found.EstimatedRows, found.RowsKnown = *t.rows, true
	}
	columns := make([]inspection.Column, len(t.columns))
	for i, one := range t.columns {
		columns[i] = inspection.Column{Name: one.name, Shown: one.shown, Type: one.typeOf(), Unread: one.unread()}
	}
	if run.Table(ctx, &found, columns, func() (map[string][]string, string) { return t.sample(ctx, s) }) {
		run.Run.Tables = append(run.Run.Tables, found)
	}
}

// unread is why values of a column are not read, though a rule might tell them.
func (c tableColumn) unread() string {
	if c.typeOf() == pii.Text && !strings.Contains(c.kind, "CHAR") {
		return "Large objects are not read."
	}
	return ""
}

// typeOf maps Oracle's own types to what rules know.
func (c tableColumn) typeOf() pii.Type {
	switch {
	case slices.Contains([]string{"VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR", "CLOB", "NCLOB", "LONG"}, c.kind):
		return pii.Text
	case c.kind == "RAW":
		return pii.Bytes
	case c.kind == "NUMBER" && c.scale == "0":
		return pii.Integer
	case slices.Contains([]string{"NUMBER", "FLOAT", "BINARY_FLOAT", "BINARY_DOUBLE"}, c.kind):
		return pii.Numeric
	case c.kind == "DATE" || strings.HasPrefix(c.kind, "TIMESTAMP"):
		return pii.Date
	case c.kind == "SDO_GEOMETRY":
		return pii.Geometry
	default:
		return pii.Other
	}
}

// sample reads some values of each column that a rule could match; a refusal says why it
// could not. An empty table has an empty, not a nil, sample.
func (t *table) sample(ctx context.Context, s servers.Session) (samples map[string][]string, refusal string) {
	switch {
	case t.external:
		return nil, "Its rows lie outside of the database, where Muster does not look."
	case t.filtered:
		return nil, "A policy hides rows of it, and does not say so."
	case s.Closed():
		return nil, "The connection was lost before this table."
	}
	names, expressions := t.sampled()
	if len(names) == 0 {
		return map[string][]string{}, ""
	}
	rows, err := t.rowsOf(ctx, s, expressions)
	if err != nil {
		code, sentence := inspection.Reason(err)
		if code == snapshot.ReasonPermissionDenied {
			return nil, "The account may not SELECT from it."
		}
		return nil, "It could not be sampled: " + sentence + "."
	}
	return inspection.ByColumn(names, rows), ""
}

// quoted is a name in a statement that no person reads. No Oracle name has a quotation mark.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, "") + `"` }

// sampled are the columns that values are read of, and how: no large object is read.
func (t *table) sampled() (names, expressions []string) {
	for _, one := range t.columns {
		name := quoted(one.name)
		expression := fmt.Sprintf("substr(to_char(%s), 1, %d)", name, inspection.SampleLength)
		switch one.typeOf() {
		case pii.Other, pii.Geometry:
			continue
		case pii.Bytes:
			expression = "substr(utl_raw.cast_to_varchar2(" + name + "), 1, 64)"
		case pii.Date:
			expression = "to_char(" + name + ", 'YYYY-MM-DD HH24:MI:SS')"
		}
		if one.unread() != "" {
			continue
		}
		names, expressions = append(names, one.name), append(expressions, expression)
	}
	return names, expressions
}

// rowsOf takes blocks from all over a large table, so that it is not always the oldest
// customers that are looked at. Where they come out empty, the first rows have to do.
func (t *table) rowsOf(ctx context.Context, s servers.Session, expressions []string) ([][]string, error) {
	from := quoted(t.owner) + "." + quoted(t.name)
	rows := func(sample string) ([][]string, error) {
		text := fmt.Sprintf("select %s from %s%s where rownum <= %d", strings.Join(expressions, ", "), from, sample, inspection.SampleRows)
		return servers.Ask(ctx, s, servers.Statement{Columns: len(expressions), Text: text, Tables: true})
	}
	if t.rows != nil && *t.rows > inspection.LargeTable {
		percent := max(0.000001, min(99, inspection.Percent(*t.rows)))
		some, err := rows(fmt.Sprintf(" sample block (%f)", percent))
		if err != nil || len(some) > 0 {
			return some, err
		}
	}
	return rows("")
}
