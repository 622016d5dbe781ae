package documented

import (
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/domain/fleet"
)

//go:embed testdata
var files embed.FS

// view is a documented view or table. Its columns have the release since which they
// are there, 0 for all that Muster supports.
type view struct {
	name    string
	since   float64
	page    string
	columns map[string]float64
	unknown bool   // not documented: said once, where it is named
	called  string // as the query has it
}

// Views are all that an engine's documentation was read for.
type Views struct {
	engine    fleet.Engine
	first     float64 // the oldest release that Muster supports
	views     map[string]*view
	functions map[string]bool
	pseudo    map[string]bool // values that are written like a column
}

// Load reads the table of an engine.
func Load(engine fleet.Engine) (*Views, error) {
	v := &Views{engine: engine, views: make(map[string]*view), functions: make(map[string]bool), pseudo: make(map[string]bool)}
	switch engine {
	case fleet.SQLServer:
		v.first = 2016
	case fleet.Oracle:
		v.first = 12.2
	default:
		return nil, fmt.Errorf("there is no table of %s", engine)
	}
	rows, err := table(string(engine)+".csv", 4)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := v.add(row[0], row[1], strings.Fields(row[2]), row[3]); err != nil {
			return nil, fmt.Errorf("%s.csv: %s: %w", engine, row[0], err)
		}
	}
	rows, err = table("functions.csv", 3)
	for _, row := range rows {
		if row[0] == string(engine) && row[1] == "value" {
			v.pseudo[row[2]] = true
		} else if row[0] == string(engine) {
			v.functions[row[2]] = true
		}
	}
	return v, err
}

func table(name string, columns int) ([][]string, error) {
	f, err := files.Open("testdata/" + name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	r.Comment, r.FieldsPerRecord = '#', columns
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows[1:], nil
}

var columnForm = regexp.MustCompile(`^[a-z_][a-z0-9_#$]*$`)

func (v *Views) add(name, since string, columns []string, page string) error {
	release := 0.0
	if since != "" {
		var err error
		if release, err = strconv.ParseFloat(since, 64); err != nil || release < v.first {
			return fmt.Errorf("since %q is no release", since)
		}
	}
	if page == "" {
		return fmt.Errorf("no page")
	}
	known := v.views[name]
	if known == nil {
		known = &view{name: name, page: page, since: release, columns: make(map[string]float64)}
		v.views[name] = known
	}
	known.since = min(known.since, release)
	for _, c := range columns {
		if _, twice := known.columns[c]; twice || !columnForm.MatchString(c) {
			return fmt.Errorf("column %q is there twice, or is no name in small letters", c)
		}
		known.columns[c] = release
	}
	return nil
}

// packs are the views that Oracle's Database Licensing Information User Manual puts under the
// Diagnostics and Tuning Packs, by the beginnings of their names. The few exempted ones are
// here too, so that nobody has to look.
var packs = regexp.MustCompile(`^(dba_hist_|awr_|active_session_history|ash_|dba_advisor_|dba_addm_|dba_sqlset|dba_sqltune|sql_monitor|sql_plan_monitor|dba_sql_monitor|dba_streams_tp_path_bottleneck)`)

// find returns a view by the parts of its name, or says why there is none.
func (v *Views) find(parts []string) (*view, string) {
	parts = slices.Clone(parts)
	full := strings.Join(parts, ".")
	if v.engine == fleet.SQLServer {
		if len(parts) == 3 && (parts[1] == "sys" || parts[1] == "information_schema") {
			parts = parts[1:]
		}
		if known := v.views[strings.Join(parts, ".")]; known != nil {
			return known, ""
		}
		return nil, full + " is not in testdata/sqlserver.csv"
	}
	if len(parts) == 2 && parts[0] == "sys" {
		parts = parts[1:]
	}
	name, added := strings.Join(parts, "."), ""
	name = strings.Replace(strings.Replace(name, "gv_$", "gv$", 1), "v_$", "v$", 1)
	switch {
	case strings.HasPrefix(name, "gv$"):
		name, added = name[1:], "inst_id"
	case strings.HasPrefix(name, "cdb_"):
		name, added = "dba_"+name[4:], "con_id"
	}
	if packs.MatchString(strings.TrimPrefix(name, "v$")) {
		return nil, full + " needs the Diagnostics or the Tuning Pack"
	}
	known := v.views[name]
	if known == nil {
		return nil, full + " is not in testdata/oracle.csv"
	}
	if added == "" {
		return known, ""
	}
	wider := &view{name: full, since: known.since, page: known.page, columns: map[string]float64{added: 0}}
	for c, since := range known.columns {
		wider.columns[c] = since
	}
	return wider, ""
}

// source is the page of a view, for the reader of a fault.
func (v *Views) source(known *view) string {
	if known == nil || known.page == "" {
		return ""
	}
	return " (" + known.page + ")"
}

// Fault is what is wrong with a query.
type Fault struct {
	File string
	Line int
	Text string
}

func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

var servesForm = regexp.MustCompile(`^\s*-- (?:SQL Server|Oracle)[A-Za-z ]* ([0-9]+(?:\.[0-9]+)?)\+`)

// Check reads one query. line is the one of the file that it begins in.
func (v *Views) Check(file string, line int, sql string) []Fault {
	_, faults := v.Read(file, line, sql)
	return faults
}

// Query is what a query reads, and how many columns it selects.
type Query struct {
	Columns int
	Reads   map[string][]string // the columns of each view, sorted
}

// Read is Check for callers that also need the columns that are read. A query with a fault
// returns none.
func (v *Views) Read(file string, line int, sql string) (q Query, faults []Fault) {
	tokens, err := lex(v.engine, sql, line)
	r := &reader{views: v, serves: v.first, tokens: tokens, reads: make(map[string]map[string]bool)}
	if first := servesForm.FindStringSubmatch(sql); first != nil {
		r.serves, _ = strconv.ParseFloat(first[1], 64)
	}
	if f, ok := err.(*fault); ok { //nolint:errorlint // lex wraps nothing
		r.faults = append(r.faults, f)
	} else {
		q.Columns = r.statement()
		r.faults = append(r.faults, v.otherCase(tokens)...)
	}
	slices.SortStableFunc(r.faults, func(a, b *fault) int { return a.line - b.line })
	for _, f := range r.faults {
		faults = append(faults, Fault{file, f.line, f.text})
	}
	q.Reads = make(map[string][]string)
	for name, columns := range r.reads {
		q.Reads[name] = slices.Sorted(maps.Keys(columns))
	}
	return q, faults
}

// Files holds every .sql file of a folder, and of those below it, to what is documented.
func Files(t testing.TB, engine fleet.Engine, fsys fs.FS) {
	t.Helper()
	v, err := Load(engine)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".sql" {
			return err
		}
		sql, err := fs.ReadFile(fsys, name)
		for _, f := range v.Check(name, 1, string(sql)) {
			t.Error(f)
		}
		read++
		return err
	})
	if err != nil || read == 0 {
		t.Fatalf("%d files were read: %v", read, err)
	}
}
