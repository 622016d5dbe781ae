package inspection_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"go.yaml.in/yaml/v3"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/testing/pgtest"
)

// plantedCheck is what the views of a server hold, guilty rows and innocent ones, and the
// objects that a check is to find in them.
type plantedCheck struct {
	Found    []string
	Unseen   []string           // what the check cannot know
	Excluded bool               // the check does not apply
	Well     []worldOf          // where the check finds nothing
	Tables   map[string][][]any `yaml:",inline"`
}

// worldOf is what the views hold.
type worldOf map[string][][]any

// TestQueriesFindOnlyThePlantedObjects: the query of every check finds what is planted for it, and no other
// object. There is no SQL Server and no Oracle to ask, so the queries are put into PostgreSQL's words by
// polyglot (scripts/sql_lint, testdata/planted) and asked there: that holds their joins and conditions, and not
// their spelling.
func TestQueriesFindOnlyThePlantedObjects(t *testing.T) {
	t.Parallel()
	db, queries := planting(t)
	c := load(t)
	for _, engine := range []fleet.Engine{fleet.SQLServer, fleet.Oracle} {
		var planted map[string]plantedCheck
		text, err := os.ReadFile("testdata/planted/" + string(engine) + ".yaml")
		if err == nil {
			err = yaml.Unmarshal(text, &planted)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range c.Of(engine) {
			if check.Query == "" {
				continue
			}
			p, ok := planted[check.ID]
			if !ok {
				holdSetting(t, db, check, queries)
				continue
			}
			found, err := p.ask(t, db, check, queries)
			slices.Sort(p.Found)
			if err != nil || !slices.Equal(found, p.Found) {
				t.Errorf("%s finds %q, want %q: %v", check.ID, found, p.Found, err)
			}
			for i, well := range p.Well {
				if found, err := (plantedCheck{Tables: well}).ask(t, db, check, queries); err != nil || len(found) > 0 {
					t.Errorf("%s finds %q where all is well (%d): %v", check.ID, found, i, err)
				}
			}
		}
	}
}

// TestACheckOfHiddenDataNeverPasses: the data of a check is not visible to us, is NULL or is another's. Then
// the check names the unknown part, or says that it does not apply. Every check that has a query for either is
// planted.
func TestACheckOfHiddenDataNeverPasses(t *testing.T) {
	t.Parallel()
	db, queries := planting(t)
	var planted map[string]plantedCheck
	text, err := os.ReadFile("testdata/planted/unseen.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &planted)
	}
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := []string{"MS-22", "OR-19"} // of a property of the server, and of an option: look_test.go
	c := load(t)
	for _, engine := range []fleet.Engine{fleet.SQLServer, fleet.Oracle} {
		for _, check := range c.Of(engine) {
			p, ok := planted[check.ID]
			if !ok {
				if (check.Unreadable != "" || check.Inapplicable != "") && !slices.Contains(elsewhere, check.ID) {
					t.Errorf("nothing is planted for what %s cannot see", check.ID)
				}
				continue
			}
			found, unseen, excluded, err := p.see(t, db, check, queries)
			slices.Sort(p.Unseen)
			if err != nil || len(found) > 0 || !slices.Equal(unseen, p.Unseen) || excluded != p.Excluded {
				t.Errorf("%s finds %q, does not know %q, want %q, and applies: %v, %v", check.ID, found, unseen, p.Unseen, !excluded, err)
			}
		}
	}
}

// see plants the rows, runs the check, reads what it does not know and whether it applies, and
// removes the rows.
func (p plantedCheck) see(t *testing.T, db *sqlx.DB, check catalogue.Check, queries map[string]string) (found, unseen []string, excluded bool, err error) {
	t.Helper()
	tx := db.MustBegin()
	defer func() { _ = tx.Rollback() }()
	for name, rows := range p.Tables {
		if err := plant(tx, name, rows); err != nil {
			return nil, nil, false, fmt.Errorf("plant %s: %w", name, err)
		}
	}
	if q := queries[check.ID+" inapplicable"]; q != "" {
		var why []string
		if err := tx.Select(&why, inPostgreSQL(check, q)); err != nil || len(why) > 0 {
			return nil, nil, true, err
		}
	}
	if found, err = objects(tx, check, inPostgreSQL(check, queries[check.ID+" query"])); err != nil {
		return nil, nil, false, err
	}
	if q := queries[check.ID+" unreadable"]; q != "" {
		err = tx.Select(&unseen, inPostgreSQL(check, q))
		slices.Sort(unseen)
	}
	return found, unseen, false, err
}

// planting is a database with the functions that the queries call, and the queries in its words.
func planting(t *testing.T) (db *sqlx.DB, queries map[string]string) {
	t.Helper()
	db = pgtest.Connect(t, pgtest.EmptyURL(t))
	db.MustExec(functions)
	text, err := os.ReadFile("testdata/planted/postgresql.json")
	if err == nil {
		err = json.Unmarshal(text, &queries)
	}
	if err != nil {
		t.Fatal(err)
	}
	return db, queries
}

// holdSetting is for a check of one setting: it fails with the value that is recorded as
// failing, and passes with the other.
func holdSetting(t *testing.T, db *sqlx.DB, check catalogue.Check, queries map[string]string) {
	t.Helper()
	i := slices.IndexFunc(check.Reads, catalogue.Read.Setting)
	all := recordedOf(t, fleet.Engine(check.Engine))
	at := slices.IndexFunc(all, func(r recorded) bool { return r.Check == check.ID })
	if i < 0 || len(check.Object.Parts()) > 0 {
		if check.ID != "MS-08" { // of the server itself
			t.Errorf("nothing is planted for %s", check.ID)
		}
		return
	}
	view := map[string]string{"sqlserver": "sys.configurations", "oracle": "v$parameter"}[check.Engine]
	value := map[string]string{"sqlserver": "value_in_use", "oracle": "value"}[check.Engine]
	for k, want := range [][]string{{check.Object.String()}, nil} {
		var is any = all[at].Counted[k]
		if is == "" {
			is = nil
		}
		p := plantedCheck{Tables: map[string][][]any{view: {{"name", value}, {check.Reads[i].Name, is}, {"another", "1"}}, "v$option": {{"parameter", "value"}}}}
		if found, err := p.ask(t, db, check, queries); err != nil || !slices.Equal(found, want) {
			t.Errorf("%s with %v finds %q, want %q: %v", check.ID, is, found, want, err)
		}
	}
}

// ask plants the rows, runs the check's queries, and takes all back.
func (p plantedCheck) ask(t *testing.T, db *sqlx.DB, check catalogue.Check, queries map[string]string) (found []string, err error) {
	t.Helper()
	tx := db.MustBegin()
	defer func() { _ = tx.Rollback() }()
	for name, rows := range p.Tables {
		if err := plant(tx, name, rows); err != nil {
			return nil, fmt.Errorf("plant %s: %w", name, err)
		}
	}
	if found, err = objects(tx, check, inPostgreSQL(check, queries[check.ID+" query"])); err != nil {
		return nil, err
	}
	for _, further := range []string{"population", "measure", "unreadable", "inapplicable"} {
		if q := queries[check.ID+" "+further]; q != "" {
			if _, err := tx.Exec(inPostgreSQL(check, q)); err != nil {
				return found, fmt.Errorf("%s: %w", further, err)
			}
		}
	}
	return found, nil
}

// objects are what a query names, sorted.
func objects(tx *sqlx.Tx, check catalogue.Check, query string) (found []string, err error) {
	rows, err := tx.Queryx(query) //nolint:sqlclosecheck // it is closed below, and SliceScan hides that
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return nil, err
		}
		var parts []string
		for _, value := range row[1:] {
			parts = append(parts, fmt.Sprint(value))
		}
		found = append(found, check.Object.Name(parts))
	}
	slices.Sort(found)
	return found, rows.Err()
}

var (
	hours  = regexp.MustCompile(`^-(\d+) hours$`)
	binary = regexp.MustCompile(`^x[0-9a-f]+$`)
	number = regexp.MustCompile(`(\w)#`) // PostgreSQL takes no # in a name
)

// plant makes a view with the columns of the first row, and fills it. A column has the type of
// its values.
func plant(tx *sqlx.Tx, name string, rows [][]any) error {
	name = schemas.Replace(name)
	var columns []string
	for i, column := range rows[0] {
		kind := "text"
		if len(rows) == 1 && number.MatchString(fmt.Sprint(column)) { // a view without rows
			kind = "bigint"
		}
		for _, row := range rows[1:] {
			switch v := row[i].(type) {
			case int:
				kind = "bigint"
			case time.Time:
				kind = "timestamp"
			case string:
				if hours.MatchString(v) {
					kind = "timestamp"
				} else if binary.MatchString(v) {
					kind = "bit varying"
				}
			}
		}
		if kind == "bigint" && slices.ContainsFunc(rows[1:], func(row []any) bool { _, text := row[i].(string); return text }) {
			kind = "text"
		}
		columns = append(columns, `"`+number.ReplaceAllString(fmt.Sprint(column), "${1}_no")+`" `+kind)
	}
	if _, err := tx.Exec("CREATE TABLE " + name + " (" + strings.Join(columns, ", ") + ")"); err != nil {
		return err
	}
	for _, row := range rows[1:] {
		var values []string
		for i, value := range row {
			text := strings.ReplaceAll(fmt.Sprint(value), "'", "''")
			switch v := value.(type) {
			case nil:
				text = "NULL"
			case time.Time:
				text = "'" + v.Format(time.DateTime) + "'"
			default:
				if ago := hours.FindStringSubmatch(text); ago != nil {
					text = "localtimestamp - interval '" + ago[1] + " hours'"
				} else if binary.MatchString(text) && strings.HasSuffix(columns[i], "varying") {
					text = "x'" + text[1:] + "'"
				} else {
					text = "'" + text + "'"
				}
			}
			values = append(values, text)
		}
		if _, err := tx.Exec("INSERT INTO " + name + " VALUES (" + strings.Join(values, ", ") + ")"); err != nil {
			return err
		}
	}
	return nil
}

// schemas are the databases of a SQL Server.
var schemas = strings.NewReplacer("master.sys.", "sys.", "msdb.sys.", "msdb_sys.", "msdb.dbo.", "msdb_dbo.")

var (
	listagg = regexp.MustCompile(`LISTAGG\(([^,]+), ', '\) WITHIN GROUP \(ORDER BY [^)]+\)`)
	bytesOf = regexp.MustCompile(`SUBSTRING\((\w+\.(?:sid|password_hash)) FROM 1 FOR (\d+)\)`) // which has bits here
	days    = regexp.MustCompile(`CURRENT_TIMESTAMP - (\d+)\)`)
)

// inPostgreSQL mends what polyglot leaves as it is.
func inPostgreSQL(check catalogue.Check, query string) string {
	query = number.ReplaceAllString(schemas.Replace(query), "${1}_no")
	query = listagg.ReplaceAllString(query, "string_agg($1, ', ')")
	query = days.ReplaceAllString(query, "CURRENT_TIMESTAMP - interval '$1 days')")
	query = strings.ReplaceAll(query, `'[() ]', ''`, `'[() ]', '', 'g'`)
	if check.Engine == string(fleet.SQLServer) { // whose LIKE escapes by brackets
		query = bytesOf.ReplaceAllString(query, "SUBSTRING($1 FROM 1 FOR 8 * $2)")
		query = strings.NewReplacer(`\%'`, `\\%'`, `\MSSQL$%'`, `\\MSSQL$%'`, `\SQLAGENT$%'`, `\\SQLAGENT$%'`, "[_]", `\_`, "CURRENT_USER()", "'somebody'").Replace(query)
	}
	return query
}

// functions of both engines, as far as the queries call them.
const functions = `
	CREATE SCHEMA sys; CREATE SCHEMA msdb_sys; CREATE SCHEMA msdb_dbo;
	CREATE TABLE dual (dummy text); INSERT INTO dual VALUES ('X');
	CREATE FUNCTION serverproperty(text) RETURNS text LANGUAGE sql AS $$
		SELECT CASE $1 WHEN 'MachineName' THEN 'DB01' WHEN 'ProductMajorVersion' THEN '16' ELSE '0' END $$;
	CREATE FUNCTION databasepropertyex(text, text) RETURNS text LANGUAGE sql AS $$
		SELECT CASE $1 WHEN 'never' THEN '1900-01-01' WHEN 'stale' THEN (localtimestamp - interval '15 days')::text
			WHEN 'good' THEN (localtimestamp - interval '13 days')::text WHEN 'old' THEN NULL ELSE '1900-01-01' END $$;
	CREATE FUNCTION pwdcompare(text, text) RETURNS int LANGUAGE sql AS $$ SELECT ($1 = $2)::int $$;
	CREATE FUNCTION pwdcompare(text, bit varying) RETURNS int LANGUAGE sql AS $$
		SELECT CASE substring($2 from 17) WHEN x'00' THEN ($1 = '')::int WHEN x'01' THEN ($1 <> '')::int ELSE 0 END $$;
	CREATE FUNCTION datalength(bit varying) RETURNS int LANGUAGE sql AS $$ SELECT octet_length($1) $$;
	CREATE FUNCTION db_name() RETURNS text LANGUAGE sql AS $$ SELECT 'shop' $$;
	CREATE FUNCTION db_name(bigint) RETURNS text LANGUAGE sql AS $$ SELECT CASE $1 WHEN 5 THEN 'shop' END $$;
	CREATE FUNCTION db_id() RETURNS int LANGUAGE sql AS $$ SELECT 5 $$;
	CREATE FUNCTION sys_context(text, text) RETURNS text LANGUAGE sql AS $$ SELECT CASE $2 WHEN 'SESSION_USER' THEN 'MUSTER' ELSE '0' END $$;
	CREATE FUNCTION original_login() RETURNS text LANGUAGE sql AS $$ SELECT 'muster' $$;
	CREATE COLLATION database_default (provider = libc, locale = 'C');
	CREATE FUNCTION to_number(text, text, text) RETURNS numeric LANGUAGE sql AS $$ SELECT $1::numeric $$;
	CREATE FUNCTION to_char(bigint) RETURNS text LANGUAGE sql AS $$ SELECT $1::text $$;
	CREATE FUNCTION to_number(text) RETURNS numeric LANGUAGE sql AS $$ SELECT $1::numeric $$`
