package postgresql

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"muster/internal/assessment"
	"muster/internal/assessment/inspection"
	"muster/internal/assessment/pii"
	"muster/internal/assessment/quote"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Classify looks for personal and secret data in one database, by column names and, with mode
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

func (c *Inspector) classify(ctx context.Context, target servers.Target, database string, run *inspection.Classifying) {
	s, err := target.Open(ctx, database, servers.StatementTimeout)
	if err != nil {
		refused, _ := errors.AsType[*servers.ConnectionError](err)
		run.Fail(ctx, refused.Sentence)
		return
	}
	defer s.Close(ctx)
	tables, err := readTables(ctx, s)
	if err != nil {
		_, sentence := inspection.Reason(err)
		run.Fail(ctx, "The columns could not be read: "+sentence+".")
		run.Run.Again = isLocked(err)
		return
	}
	if run.Run.Own, err = target.KeepsMuster(ctx, s); err != nil {
		run.Fail(ctx, "Whether it is the database that Muster keeps its own data in could not be told.")
		return
	}
	circle, err := readCircle(ctx, s)
	if err != nil {
		_, sentence := inspection.Reason(err)
		run.Fail(ctx, "The roles could not be read: "+sentence+".")
		return
	}
	s.SetTimeout(inspection.SampleTimeout)
	for _, t := range tables {
		classifyTable(ctx, s, circle, t, run)
	}
	if row, err := servers.Row(ctx, s, 1, largeObjectsSQL); run.Run.Mode == assessment.ClassifyValues && (err != nil || row[0] == "t") {
		run.Run.TablesSeen++
		run.Run.FailedTables = append(run.Run.FailedTables, snapshot.FailedTable{
			Schema: "pg_catalog", Name: "pg_largeobject", Reason: "Large objects are not read: no column says what they hold.",
		})
	}
	run.Complete()
}

const largeObjectsSQL = `select exists (select from pg_largeobject_metadata)`

// lockNotAvailable is the code of a statement that waited for a lock in vain.
const lockNotAvailable = "55P03"

func isLocked(err error) bool {
	refusal, ok := errors.AsType[*servers.Refusal](err)
	return ok && refusal.Code == lockNotAvailable
}

// tries is how often the tables are listed: one may be locked after we saw that it is not.
const tries = 3

func readTables(ctx context.Context, s servers.Session) (tables []tableFact, err error) {
	for range tries {
		if tables, err = readJSON[tableFact](ctx, s, columnsSQL); !isLocked(err) {
			break
		}
	}
	return tables, err
}

// tableFact is a table with what classification and the risk register need.
type tableFact struct {
	Schema      string       `json:"schema"`
	Name        string       `json:"name"`
	Kind        string       `json:"kind"`
	Rows        *int64       `json:"rows"` // nil: nobody has counted them
	Bytes       int64        `json:"bytes"`
	Public      bool         `json:"public"`
	Grantees    int          `json:"grantees"`
	RowSecurity bool         `json:"rowSecurity"`
	Access      tableAccess  `json:"access"`
	Readable    bool         `json:"readable"`
	Foreign     bool         `json:"foreign"`
	Locked      bool         `json:"locked"` // by another session, so that its size is not known either
	Columns     []columnFact `json:"columns"`
}

type columnFact struct {
	Name     string `json:"name"`
	DataType string `json:"dataType"`
	Type     string `json:"type"`
	Virtual  bool   `json:"virtual"`
	Readable bool   `json:"readable"`
}

// unread is why values of a column are not read, though a rule might tell them.
func (c columnFact) unread() string {
	switch t := typeOf(c.Type); {
	case t == pii.Other || t == pii.Geometry:
		return ""
	case c.Virtual:
		return "Their values are computed when they are read, which may fail, so Muster does not."
	case !c.Readable:
		return "The monitoring role may not SELECT them."
	}
	return ""
}

//go:embed sql/columns.sql
var columnsSQL string

func classifyTable(ctx context.Context, s servers.Session, roles *circle, t tableFact, run *inspection.Classifying) {
	found := snapshot.ClassifiedTable{
		Schema: t.Schema, Name: t.Name, SizeBytes: t.Bytes,
		PublicAccess: t.Public, Grantees: t.Grantees, RowSecurity: t.RowSecurity,
	}
	if t.Rows != nil {
		found.EstimatedRows, found.RowsKnown = *t.Rows, true
	}
	columns := make([]inspection.Column, len(t.Columns))
	for i, column := range t.Columns {
		columns[i] = inspection.Column{Name: column.Name, Shown: column.DataType, Type: typeOf(column.Type), Unread: column.unread()}
	}
	if run.Table(ctx, &found, columns, func() (map[string][]string, string) {
		values, refusal := sample(ctx, s, t)
		if refusal == locked {
			refusal = run.Locked()
		}
		return values, refusal
	}) {
		roles.keep(&found, t.Access)
		run.Run.Tables = append(run.Run.Tables, found)
	}
}

// typeOf maps PostgreSQL's own types to what rules know.
func typeOf(name string) pii.Type {
	switch name {
	case "text", "varchar", "bpchar", "name":
		return pii.Text
	case "bytea":
		return pii.Bytes
	case "int2", "int4", "int8":
		return pii.Integer
	case "numeric", "float4", "float8", "money":
		return pii.Numeric
	case "date", "timestamp", "timestamptz":
		return pii.Date
	case "inet", "cidr":
		return pii.Inet
	case "point":
		return pii.Geometry
	default:
		return pii.Other
	}
}

// locked is a refusal of sample's: another session has locked the table.
const locked = "locked"

// sample reads some values of each column that a rule could match; a refusal
// says why it could not. An empty table has an empty, not a nil, sample.
func sample(ctx context.Context, s servers.Session, t tableFact) (samples map[string][]string, refusal string) {
	switch {
	case t.Foreign:
		return nil, "Its rows lie on another server, which is not asked."
	case t.Locked:
		return nil, locked
	case !t.Readable:
		return nil, "The monitoring role may not SELECT from it."
	case s.Closed():
		return nil, "The connection was lost before this table."
	}
	var names, expressions []string
	for _, column := range t.Columns {
		expression := quote.Identifier(column.Name)
		switch typeOf(column.Type) {
		case pii.Other, pii.Geometry:
			continue
		case pii.Bytes:
			expression = "encode(substr(" + expression + ", 1, 64), 'escape')"
		default:
			expression = fmt.Sprintf("left(%s::text, %d)", expression, inspection.SampleLength)
		}
		if column.unread() == "" {
			names, expressions = append(names, column.Name), append(expressions, expression)
		}
	}
	if len(names) == 0 {
		return map[string][]string{}, ""
	}
	rows, err := sampledRows(ctx, s, t, expressions)
	if err != nil {
		code, sentence := inspection.Reason(err)
		if code == snapshot.ReasonPermissionDenied && t.RowSecurity {
			return nil, "Row security hides rows of it from the monitoring role."
		}
		if isLocked(err) {
			return nil, locked
		}
		return nil, "It could not be sampled: " + sentence + "."
	}
	return inspection.ByColumn(names, rows), ""
}

// sampledRows takes whole blocks from all over a large table, so that it is not
// always the oldest customers that are looked at, and draws from them, so that
// it is not one block either. Where the estimate of rows is far off, the sample
// may come out empty, and then the first rows have to do.
func sampledRows(ctx context.Context, s servers.Session, t tableFact, expressions []string) ([][]string, error) {
	from := quote.Identifier(t.Schema) + "." + quote.Identifier(t.Name)
	statement := fmt.Sprintf("select %s from %s", strings.Join(expressions, ", "), from)
	if t.Rows != nil && *t.Rows > inspection.LargeTable && t.Kind != "f" {
		rows, err := servers.Query(ctx, s, len(expressions), fmt.Sprintf("%s tablesample system (%f) order by random() limit %d", statement, inspection.Percent(*t.Rows), inspection.SampleRows))
		if err != nil || len(rows) > 0 {
			return rows, err
		}
	}
	return servers.Query(ctx, s, len(expressions), fmt.Sprintf("%s limit %d", statement, inspection.SampleRows))
}
