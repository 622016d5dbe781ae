package postgresql

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"muster/internal/assessment"
	"muster/internal/assessment/inspection"
	"muster/internal/assessment/pii"
	"muster/internal/assessment/quote"
	"muster/internal/servers"
	"muster/internal/snapshot"
)

// Bounds of a look at values: what we read must cost the server next to
// nothing, however large its tables are.
const (
	sampleRows    = 200
	sampleLength  = 256 // characters of a value
	sampleTimeout = 5 * time.Second
	largeTable    = 20_000 // rows from which on a block sample is cheaper than luck
	blockRows     = 4_000  // rows in the blocks that the sample is drawn from: some twenty blocks of usual rows
)

// Classify looks for personal and secret data in one database, by column names
// and, with mode values, by samples. The values are forgotten here: what is
// returned holds none. Where ctx ended meanwhile, the caller must drop it.
func (c *Inspector) Classify(ctx context.Context, target servers.Target, database, mode string) snapshot.Classification {
	run := snapshot.Classification{
		StartedAt: c.now().UTC(), Mode: mode, RulesVersion: c.pii.Version(),
		Tables: []snapshot.ClassifiedTable{}, FailedTables: []snapshot.FailedTable{},
	}
	if mode == assessment.ClassifyOff {
		run.Status, run.Reason = snapshot.ClassificationOff, "Classification is switched off for this instance."
	} else {
		c.classify(ctx, target, database, &run)
	}
	run.FinishedAt = c.now().UTC()
	return run
}

func (c *Inspector) classify(ctx context.Context, target servers.Target, database string, run *snapshot.Classification) {
	fail := func(reason string) { run.Status, run.Reason = snapshot.ClassificationFailed, reason }
	s, err := target.Open(ctx, database, servers.StatementTimeout)
	if err != nil {
		refused, _ := errors.AsType[*servers.ConnectionError](err)
		fail(refused.Sentence)
		return
	}
	defer s.Close(ctx)
	tables, err := readJSON[tableFact](ctx, s, columnsSQL)
	if err != nil {
		_, sentence := inspection.Reason(err)
		fail("The columns could not be read: " + sentence + ".")
		return
	}
	if run.Own, err = target.KeepsMuster(ctx, s); err != nil {
		fail("Whether it is the database that Muster keeps its own data in could not be told.")
		return
	}
	circle, err := readCircle(ctx, s)
	if err != nil {
		_, sentence := inspection.Reason(err)
		fail("The roles could not be read: " + sentence + ".")
		return
	}
	s.SetTimeout(sampleTimeout)
	for _, t := range tables {
		c.classifyTable(ctx, s, circle, t, run)
	}
	run.Status = snapshot.ClassificationCompleted
	if n := len(run.FailedTables); n > 0 {
		run.Status = snapshot.ClassificationPartial
		run.Reason = fmt.Sprintf("%d of %d tables could not be sampled; they were classified by their column names only.", n, run.TablesSeen)
	}
	if run.Mode == assessment.ClassifyValues {
		run.SampleRows = sampleRows
	}
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
	Columns     []columnFact `json:"columns"`
}

type columnFact struct {
	Name     string `json:"name"`
	DataType string `json:"dataType"`
	Type     string `json:"type"`
	Virtual  bool   `json:"virtual"`
}

//go:embed sql/columns.sql
var columnsSQL string

func (c *Inspector) classifyTable(ctx context.Context, s servers.Session, roles *circle, t tableFact, run *snapshot.Classification) {
	run.TablesSeen++
	run.ColumnsSeen += len(t.Columns)
	var samples map[string][]string
	if run.Mode == assessment.ClassifyValues {
		var refusal string
		if samples, refusal = sample(ctx, s, t); refusal != "" {
			run.FailedTables = append(run.FailedTables, snapshot.FailedTable{Schema: t.Schema, Name: t.Name, Reason: refusal})
		} else {
			run.TablesSampled++
		}
	}
	if run.Mode == assessment.ClassifyNames || samples != nil {
		run.TablesClassified++
		run.ColumnsClassified += len(t.Columns)
	}
	found := snapshot.ClassifiedTable{
		Schema: t.Schema, Name: t.Name, SizeBytes: t.Bytes,
		PublicAccess: t.Public, Grantees: t.Grantees, RowSecurity: t.RowSecurity,
	}
	if t.Rows != nil {
		found.EstimatedRows, found.RowsKnown = *t.Rows, true
	}
	for _, column := range t.Columns {
		match, ok := c.pii.Classify(pii.Candidate{Name: column.Name, Type: typeOf(column.Type), Values: samples[column.Name]}, run.StartedAt)
		if ok {
			match.DataType = column.DataType
			found.Columns = append(found.Columns, match)
		}
	}
	if len(found.Columns) > 0 {
		roles.keep(&found, t.Access)
		run.Tables = append(run.Tables, found)
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

// sample reads some values of each column that a rule could match; a refusal
// says why it could not. An empty table has an empty, not a nil, sample.
func sample(ctx context.Context, s servers.Session, t tableFact) (samples map[string][]string, refusal string) {
	switch {
	case t.Foreign:
		return nil, "Its rows lie on another server, which is not asked."
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
			expression = fmt.Sprintf("left(%s::text, %d)", expression, sampleLength)
		}
		if !column.Virtual {
			names, expressions = append(names, column.Name), append(expressions, expression)
		}
	}
	samples = make(map[string][]string)
	if len(names) == 0 {
		return samples, ""
	}
	rows, err := sampledRows(ctx, s, t, expressions)
	if err != nil {
		code, sentence := inspection.Reason(err)
		if code == snapshot.ReasonPermissionDenied && t.RowSecurity {
			return nil, "Row security hides rows of it from the monitoring role."
		}
		return nil, "It could not be sampled: " + sentence + "."
	}
	for _, row := range rows {
		for i, value := range row {
			if value != "" {
				samples[names[i]] = append(samples[names[i]], value)
			}
		}
	}
	return samples, ""
}

// sampledRows takes whole blocks from all over a large table, so that it is not
// always the oldest customers that are looked at, and draws from them, so that
// it is not one block either. Where the estimate of rows is far off, the sample
// may come out empty, and then the first rows have to do.
func sampledRows(ctx context.Context, s servers.Session, t tableFact, expressions []string) ([][]string, error) {
	from := quote.Identifier(t.Schema) + "." + quote.Identifier(t.Name)
	statement := fmt.Sprintf("select %s from %s", strings.Join(expressions, ", "), from)
	if t.Rows != nil && *t.Rows > largeTable && t.Kind != "f" {
		percent := min(100, 100*blockRows/float64(*t.Rows))
		rows, err := servers.Query(ctx, s, len(expressions), fmt.Sprintf("%s tablesample system (%f) order by random() limit %d", statement, percent, sampleRows))
		if err != nil || len(rows) > 0 {
			return rows, err
		}
	}
	return servers.Query(ctx, s, len(expressions), fmt.Sprintf("%s limit %d", statement, sampleRows))
}
