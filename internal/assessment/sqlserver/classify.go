package sqlserver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/internal/assessment/inspection"
	"muster/internal/assessment/pii"
	"muster/internal/engine/sqlserver"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/tables.sql
var tablesSQL string

//go:embed sql/columns.sql
var columnsSQL string

//go:embed sql/sensitivity.sql
var sensitivitySQL string

// Classify looks for personal and secret data in one database: by its owner's labels, by column
// names and, with mode values, by samples. The values are discarded here: the result contains
// none. If ctx ended meanwhile, the caller must drop it.
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
	schema, name string
	rows         *int64
	bytes        int64
	readable     bool
	external     bool // its rows lie elsewhere
	inMemory     bool // takes no sample of pages
	filtered     bool // a policy of rows hides some, from administrators as well
	grantees     int
	public       bool
	columns      []column
}

type column struct {
	name, base, shown string
	hidden            bool // what is read is not what is stored
}

// unread is why values of a column are not read, though a rule might tell them.
func (c column) unread() string {
	if t := typeOf(c.base); !c.hidden || t == pii.Other || t == pii.Geometry {
		return ""
	}
	return "They are masked or encrypted: what the login reads is not what is stored."
}

func (c *Inspector) classify(ctx context.Context, target servers.Target, database string, run *inspection.Classifying) {
	s, err := c.open(ctx, target, database)
	if err != nil {
		refused, _ := errors.AsType[*servers.ConnectionError](err)
		run.Fail(ctx, refused.Sentence)
		return
	}
	defer s.Close(ctx)
	granted, err := c.access(ctx, s)
	var tables []*table
	if err == nil {
		tables, err = readTables(ctx, s)
	}
	if err != nil {
		if denied, ok := errors.AsType[*hiddenError](err); ok {
			run.Fail(ctx, denied.Error())
			return
		}
		_, sentence := inspection.Reason(err)
		run.Fail(ctx, "The columns could not be read: "+sentence+".")
		return
	}
	labels, unknown, hidden := c.readLabels(ctx, s, granted)
	s.SetTimeout(inspection.SampleTimeout)
	for _, t := range tables {
		t.classify(ctx, s, labels, run)
	}
	run.Complete()
	note := func(text string) { run.Run.Reason = strings.TrimSpace(run.Run.Reason + " " + text) }
	if hidden {
		run.Run.Status = snapshot.ClassificationPartial
		note("The labels that its owner gave are hidden: " + sqlserver.ViewLabels + " is not granted. To grant it: " + granted.statement(sqlserver.ViewLabels))
	}
	if unknown > 0 {
		note(fmt.Sprintf("%d columns have a label of an information type that Muster does not know.", unknown))
	}
}

// hiddenError says that our login would see some tables only.
type hiddenError struct{ right, statement string }

func (e *hiddenError) Error() string {
	return "Tables may be hidden: " + e.right + " is not granted. To grant it: " + e.statement
}

// access is what our login may see of the database that a session is in. The error is a
// *hiddenError where that is not all of its tables.
func (c *Inspector) access(ctx context.Context, s servers.Session) (access, error) {
	who, err := readIdentity(ctx, s)
	if err != nil {
		return access{}, err
	}
	granted, err := lookUp(ctx, s, who)
	if err != nil {
		return access{}, err
	}
	const right = "VIEW DEFINITION in the database"
	if !granted.rights[right] {
		return access{}, &hiddenError{right: right, statement: granted.statement(right)}
	}
	return granted, nil
}

// ofGraph are the columns that a graph table has for itself, and that nobody may read (error 13908). They are named in
// "SQL Graph Architecture".
var ofGraph = regexp.MustCompile(`^(graph_id|from_obj_id|from_id|to_obj_id|to_id)_[0-9A-F]{32}$`)

func readTables(ctx context.Context, s servers.Session) ([]*table, error) {
	rows, err := servers.Query(ctx, s, 11, tablesSQL)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*table, len(rows))
	var tables []*table
	for _, row := range rows {
		t := &table{
			schema: row[1], name: row[2], readable: row[5] == "1", external: row[6] == "1", inMemory: row[7] == "1",
			filtered: row[8] != "0", public: row[10] != "0",
		}
		if n, err := strconv.ParseInt(row[3], 10, 64); err == nil && !t.external {
			t.rows = &n
		}
		t.bytes, _ = strconv.ParseInt(row[4], 10, 64)
		t.grantees, _ = strconv.Atoi(row[9])
		byID[row[0]], tables = t, append(tables, t)
	}
	rows, err = servers.Query(ctx, s, 7, columnsSQL)
	for _, row := range rows {
		if t := byID[row[0]]; t != nil && !ofGraph.MatchString(row[1]) { // else it came meanwhile
			t.columns = append(t.columns, column{name: row[1], base: row[2], shown: shown(row), hidden: row[6] == "1"})
		}
	}
	slices.SortFunc(tables, func(a, b *table) int { return strings.Compare(a.schema+"\x00"+a.name, b.schema+"\x00"+b.name) })
	return tables, err
}

// shown is a type as it is declared.
func shown(row []string) string {
	base, length := row[2], row[3]
	switch base {
	case "nvarchar", "nchar":
		if n, err := strconv.Atoi(length); err == nil && n > 0 {
			length = strconv.Itoa(n / 2)
		}
		fallthrough
	case "varchar", "char", "varbinary", "binary":
		if length == "-1" {
			length = "max"
		}
		return base + "(" + length + ")"
	case "decimal", "numeric":
		return base + "(" + row[4] + "," + row[5] + ")"
	}
	return base
}

// labelled are Microsoft's own information types, by what the rules of classification call
// the same: a word for a rule, or a category.
var labelled = map[string]string{
	"Networking": "Online", "Contact Info": "Contact", "Credentials": "password", "Name": "name", "National ID": "nationalId", "SSN": "usSocialSecurity",
	"Credit Card": "paymentCard", "Banking": "bankAccount", "Financial": "Financial", "Health": "health", "Date Of Birth": "dateOfBirth",
}

// readLabels are the columns that the owner has labelled, by schema, table and column, and
// how many labels are of no kind that is known. Before 2019 there are none; hidden says that
// there may be some and our login would not see them.
func (c *Inspector) readLabels(ctx context.Context, s servers.Session, granted access) (labels map[[3]string]snapshot.ClassifiedColumn, unknown int, hidden bool) {
	rows, err := servers.Query(ctx, s, 6, sensitivitySQL)
	if servers.ReasonOf(err) == servers.Absent {
		return nil, 0, false
	}
	if err != nil || !granted.rights[sqlserver.ViewLabels] {
		return nil, 0, true
	}
	labels = make(map[[3]string]snapshot.ClassifiedColumn, len(rows))
	for _, row := range rows {
		match, ok := c.pii.Called(labelled[row[3]], row[2], "Certain")
		if !ok {
			unknown++
			continue
		}
		labels[[3]string{row[0], row[1], row[2]}] = match
	}
	return labels, unknown, false
}

func (t *table) classify(ctx context.Context, s servers.Session, labels map[[3]string]snapshot.ClassifiedColumn, run *inspection.Classifying) {
	found := snapshot.ClassifiedTable{
		Schema: t.schema, Name: t.name, SizeBytes: t.bytes, PublicAccess: t.public, Grantees: t.grantees, RowSecurity: t.filtered,
	}
	if t.rows != nil {
		found.EstimatedRows, found.RowsKnown = *t.rows, true
	}
	columns := make([]inspection.Column, len(t.columns))
	for i, one := range t.columns {
		columns[i] = inspection.Column{Name: one.name, Shown: one.shown, Type: typeOf(one.base), Unread: one.unread()}
		if label, said := labels[[3]string{t.schema, t.name, one.name}]; said {
			columns[i].Label = &label
		}
	}
	if run.Table(ctx, &found, columns, func() (map[string][]string, string) { return t.sample(ctx, s) }) {
		run.Run.Tables = append(run.Run.Tables, found)
	}
}

// typeOf maps SQL Server's own types to what rules know.
func typeOf(name string) pii.Type {
	switch name {
	case "varchar", "nvarchar", "char", "nchar", "text", "ntext", "sysname":
		return pii.Text
	case "varbinary", "binary", "image":
		return pii.Bytes
	case "tinyint", "smallint", "int", "bigint":
		return pii.Integer
	case "decimal", "numeric", "float", "real", "money", "smallmoney":
		return pii.Numeric
	case "date", "datetime", "datetime2", "smalldatetime", "datetimeoffset":
		return pii.Date
	case "geography", "geometry":
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
		return nil, "Its rows lie on another server, which is not asked."
	case t.filtered:
		return nil, "A security policy hides rows of it, and does not say so."
	case !t.readable:
		return nil, "The login may not SELECT from it."
	case s.Closed():
		return nil, "The connection was lost before this table."
	}
	names, expressions := t.sampled()
	if len(names) == 0 {
		return map[string][]string{}, ""
	}
	rows, err := t.rowsOf(ctx, s, expressions)
	if err != nil {
		_, sentence := inspection.Reason(err)
		return nil, "It could not be sampled: " + sentence + "."
	}
	return inspection.ByColumn(names, rows), ""
}

// bracketed is a name in a statement that no person reads, with any characters.
func bracketed(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// sampled are the columns that values are read of, and how.
func (t *table) sampled() (names, expressions []string) {
	for _, one := range t.columns {
		name := bracketed(one.name)
		expression := fmt.Sprintf("left(convert(nvarchar(4000), %s), %d)", name, inspection.SampleLength)
		switch typeOf(one.base) {
		case pii.Other, pii.Geometry:
			continue
		case pii.Bytes:
			expression = "convert(varchar(64), convert(varbinary(64), " + name + "))"
		case pii.Date:
			expression = "convert(nvarchar(40), " + name + ", 126)" // 2026-11-23T10:00:00, whatever the language
		}
		if !one.hidden {
			names, expressions = append(names, one.name), append(expressions, expression)
		}
	}
	return names, expressions
}

// rowsOf takes pages from all over a large table, so that it is not always the oldest
// customers that are looked at. Where they come out empty, the first rows have to do.
func (t *table) rowsOf(ctx context.Context, s servers.Session, expressions []string) ([][]string, error) {
	statement := fmt.Sprintf("select top (%d) %s from %s.%s", inspection.SampleRows, strings.Join(expressions, ", "), bracketed(t.schema), bracketed(t.name))
	if t.rows != nil && *t.rows > inspection.LargeTable && !t.inMemory {
		rows, err := servers.Query(ctx, s, len(expressions), fmt.Sprintf("%s tablesample system (%f percent)", statement, inspection.Percent(*t.rows)))
		if err != nil || len(rows) > 0 {
			return rows, err
		}
	}
	return servers.Query(ctx, s, len(expressions), statement)
}
