package documented

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"muster/domain/fleet"
)

func loaded(t *testing.T, engine fleet.Engine) *Views {
	t.Helper()
	v, err := Load(engine)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// planted are queries with one fault each, "" for none, as the reader tells it.
type planted struct{ name, sql, want string }

func hold(t *testing.T, engine fleet.Engine, queries []planted) {
	v := loaded(t, engine)
	for _, q := range queries {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			var told []string
			for _, f := range v.Check("x.sql", 1, q.sql) {
				told = append(told, f.Text)
			}
			switch got := strings.Join(told, "\n"); {
			case q.want == "" && got != "":
				t.Errorf("it says %s", got)
			case q.want != "" && (len(told) != 1 || !strings.Contains(got, q.want)):
				t.Errorf("it says %q, want %q", got, q.want)
			}
		})
	}
}

// TestACaseSensitiveCollationKnowsEachName: sys.Databases, d.Name and an alias in another case are not there on a
// server or in a database with a case-sensitive collation. Keywords and functions have no case.
func TestACaseSensitiveCollationKnowsEachName(t *testing.T) {
	t.Parallel()
	const small = "is not written in small letters"
	hold(t, fleet.SQLServer, []planted{
		{"as the catalog has it", "SELECT COUNT(d.name), MAX(d.state) OVER (ORDER BY d.name ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM sys.databases AS d", ""},
		{"a column", "select d.Name from sys.databases d", small},
		{"a column without its table", "select Name from sys.databases", small},
		{"a view", "select name from sys.Databases", small},
		{"a schema", "select name from SYS.databases", small},
		{"an alias", "select d.name from sys.databases D", small},
		{"an alias, where it is used", "select D.name from sys.databases d", small},
		{"a column of msdb", "select s.Database_Name from msdb.dbo.backupset s", small},
		{"a parameter", "select name from sys.databases where database_id = @Id", small},
	})
	hold(t, fleet.Oracle, []planted{{"Oracle's names", "SELECT USERNAME FROM V$SESSION", ""}})
}

func TestUndocumentedColumnsOfSQLServerAreFound(t *testing.T) {
	t.Parallel()
	hold(t, fleet.SQLServer, []planted{
		{"plain", "select name, database_id from sys.databases", ""},
		{"a column", "select nam from sys.databases", "no table here has a column nam"},
		{"a column by its table", "select d.nam from sys.databases d", "sys.databases has no column nam (relational-databases/"},
		{"a column in WHERE", "select d.name from sys.databases d where d.stat = 1", "has no column stat"},
		{"a column in ON", "select d.name from sys.databases d join sys.master_files f on f.databaseid = d.database_id", "has no column databaseid"},
		{"a column in ORDER BY", "select d.name from sys.databases d order by d.nam", "has no column nam"},
		{"a column in GROUP BY", "select count(*) from sys.databases group by stat", "no table here has a column stat"},
		{"a column in HAVING", "select state from sys.databases group by state having max(nam) = 'x'", "a column nam"},
		{"a column in CASE", "select case when state = 1 then nam else 'x' end from sys.databases", "a column nam"},
		{"a column in a function", "select isnull(convert(nvarchar(10), nam, 126), '') from sys.databases", "a column nam"},
		{"a column in OVER", "select row_number() over (partition by state order by nam) from sys.databases", "a column nam"},
		{"a column in IN", "select name from sys.databases where state in (1, stat)", "a column stat"},
		{"a column in a subquery", "select name from sys.databases d where exists (select 1 from sys.master_files f where f.database_id = d.databaseid)", "no column databaseid"},
		{"a column in TOP", "select top (nam) name from sys.databases", "a column nam"},
		{"a view", "select name from sys.database", "sys.database is not in testdata/sqlserver.csv"},
		{"an alias that is none", "select e.name from sys.databases d", "no table here is called e"},
		{"the view's name behind its alias", "select databases.name from sys.databases d", "no table here is called databases"},
		{"the view's whole name", "select sys.databases.name from sys.databases", ""},
		{"a column of two tables", "select name from sys.databases d join sys.master_files f on f.database_id = d.database_id", "name is a column of sys.databases and of sys.master_files"},
		{"two tables of a name", "select 1 from sys.databases d join sys.master_files d on 1 = 1", "two tables are called d"},
		{"nobody names it twice", "select f.state from sys.databases d cross join sys.master_files f", ""},
		{"an ON that looks ahead", "select d.name from sys.databases d join sys.objects o on o.object_id = t.object_id join sys.tables t on t.object_id = o.object_id", "no table here is called t"},
		{"an ON that looks behind a comma", "select 1 from sys.databases d, sys.objects o join sys.tables t on t.object_id = d.database_id", "no table here is called d"},
		{"brackets", "select [d].[name] as [the name] from [sys].[databases] [d]", ""},
		{"a column in brackets", "select [nam] from sys.databases", "a column nam"},
		{"master's own", "select name from master.sys.databases union select name from {database}.sys.tables", ""},
		{"a table of msdb", "select s.database_name from msdb.dbo.backupset s", ""},
		{"a table of msdb without its schema", "select s.database_name from msdb..backupset s", ""},
		{"a subquery's column", "select x.b from (select name a from sys.databases) x", "x has no column b"},
		{"a subquery's list", "select x.b from (select name from sys.databases) x (b)", ""},
		{"a subquery's list, too long", "select x.b from (select name from sys.databases) x (b, c)", "x names 2 columns, and 1 are there"},
		{"a subquery that looks aside", "select 1 from sys.databases d, (select d.name) x", "no table here is called d"},
		{"APPLY that looks aside", "select x.n from sys.databases d cross apply (select d.name n) x", ""},
		{"APPLY that looks for what is not there", "select x.n from sys.databases d outer apply (select d.nam n) x", "no column nam"},
		{"a function's rows", "select t.text from sys.dm_exec_requests r cross apply sys.dm_exec_sql_text(r.sql_handle) t", ""},
		{"a function's argument", "select t.text from sys.dm_exec_requests r cross apply sys.dm_exec_sql_text(r.sqlhandle) t", "no column sqlhandle"},
		{"a common table", "with d as (select name n from sys.databases) select d.n from d", ""},
		{"a common table's column", "with d as (select name n from sys.databases) select d.name from d", "d has no column name"},
		{"a common table's list", "with d (a, b) as (select name, state from sys.databases) select a, b from d", ""},
		{"a common table's list, too short", "with d (a) as (select name, state from sys.databases) select a from d", "d names 1 columns, and 2 are selected"},
		{"a common table behind its query", "select x.a from (with d as (select 1 a) select d.a from d) x union select 1 from d", "d is not in"},
		{"one that sees itself", "with m as (select member_principal_id m, 1 n from sys.server_role_members union all select r.role_principal_id, m.n + 1 from sys.server_role_members r join m on m.m = r.member_principal_id) select m.m, m.n from m option (maxrecursion 10)", ""},
		{"one that does not see itself", "with m as (select m.member_principal_id m from m) select m.m from m", "m is not in"},
		{"arms that differ", "select name, state from sys.databases union all select name from sys.databases", "an arm selects 1 columns, the first one 2"},
		{"ORDER BY behind a UNION", "select name from sys.databases union select name from sys.tables order by state", "a column state"},
		{"ORDER BY of what is selected", "select name n from sys.databases union select name from sys.tables order by n desc", ""},
		{"* over a view", "select * from sys.databases", "* over the documented view sys.databases"},
		{"* over one's own", "select x.b from (select * from (select name a, state b from sys.databases) y) x", ""},
		{"EXISTS with a star", "select 1 from sys.databases where exists (select * from sys.tables)", "* over the documented view"},
		{"a younger column", "select is_memory_optimized_enabled from sys.databases", "has is_memory_optimized_enabled since 2019, and the query serves 2016"},
		{"a younger column where it is served", "-- SQL Server 2019+: memory\nselect is_memory_optimized_enabled from sys.databases", ""},
		{"a younger view", "select host_platform from sys.dm_os_host_info", "since 2017, and the query serves 2016"},
		{"a function", "select quotenames(name) from sys.databases", "quotenames is not one of the documented functions"},
		{"dates", "select datediff(second, create_date, sysutcdatetime()), convert(varchar(33), create_date at time zone 'UTC', 126) from sys.databases", ""},
		{"a part of a date", "select datediff(secnd, create_date, getdate()) from sys.databases", "secnd is no part of a date"},
		{"values", "select v.o from (values (N'a', 1), (N'b', 2)) v (o, n) left join sys.configurations c on c.name = v.o", ""},
		{"values of other lengths", "select v.o from (values (1), (2, 3)) v (o)", "a row of 2 values"},
		{"a text in rows", "select stuff((select ',' + name from sys.databases for xml path('')), 1, 1, '')", ""},
		{"hints", "select d.name from sys.databases d with (nolock) where d.name not like N'it''s%' escape '\\' -- nam\n/* nam */", ""},
		{"Oracle's way to put texts together", "select name || 'x' from sys.databases", "|| is Oracle's"},
		{"Oracle's EXCEPT", "select name from sys.databases minus select name from sys.tables", "minus is the other engine's"},
		{"a JOIN without ON", "select 1 from sys.databases d join sys.tables t", "the end stands where on is needed"},
		{"LIMIT", "select name from sys.databases order by name limit 5", "limit is not understood"},
		{"FETCH alone", "select name from sys.databases order by name fetch next 5 rows only", "FETCH needs an OFFSET"},
		{"FETCH", "select name from sys.databases order by name offset 0 rows fetch next 5 rows only", ""},
		{"ORDER BY in a subquery", "select x.name from (select name from sys.databases order by name) x", "ORDER BY in a subquery"},
		{"ORDER BY in APPLY", "select x.name from sys.tables t cross apply (select name from sys.databases order by name) x", "ORDER BY in a subquery"},
		{"ORDER BY with TOP", "select x.name from sys.tables t cross apply (select top (1) name from sys.databases order by name) x", ""},
		{"equal, twice", "select name from sys.databases where name == 'x'", "= stands where a value is needed"},
		{"a comma too many", "select name, from sys.databases", "from stands where a value is needed"},
		{"two statements", "select 1; select 2", "select is not understood"},
		{"a variable", "declare @x int", "declare stands where select"},
		{"INTO", "select name into #t from sys.databases", "into is not understood"},
		{"PIVOT", "select 1 from sys.databases pivot (max(name) for state in ([0])) p", "pivot is not understood"},
		{"a method of XML", "select x.value('a', 'int') from (select 1 x) y", "x.value is not one of the documented functions"},
		{"an open bracket", "select [name from sys.databases", "is not closed"},
		{"a word too many", "select name n m from sys.databases", "m is not understood"},
		{"a letter that is none", "select `name` from sys.databases", "is not understood"},
	})
}

func TestUndocumentedColumnsOfOracleAreFound(t *testing.T) {
	t.Parallel()
	hold(t, fleet.Oracle, []planted{
		{"plain", `select s.sid, s.serial#, "USERNAME" from v$session s`, ""},
		{"a column", "select usernam from dba_users", "a column usernam"},
		{"a column in small letters", `select "username" from dba_users where "Username" = 'x'`, "a column Username"},
		{"SYS's own", "select username from sys.dba_users union all select username from sys.v_$session", ""},
		{"all instances", "select inst_id, sid from gv$session", ""},
		{"one instance has no number", "select inst_id from v$session", "a column inst_id"},
		{"all containers", "select con_id, username from cdb_users", ""},
		{"one container has none", "select con_id from dba_users", "a column con_id"},
		{"the Diagnostics Pack", "select 1 from v$active_session_history", "needs the Diagnostics or the Tuning Pack"},
		{"the Diagnostics Pack of all instances", "select 1 from sys.gv_$active_session_history", "needs the Diagnostics or the Tuning Pack"},
		{"its history", "select 1 from cdb_hist_sqlstat", "needs the Diagnostics or the Tuning Pack"},
		{"the Tuning Pack", "select 1 from v$sql_monitor", "needs the Diagnostics or the Tuning Pack"},
		{"a younger column", "select version_full from v$instance", "since 18, and the query serves 12.2"},
		{"a younger column where it is served", "-- Oracle 18+: the release\nselect version_full from v$instance", ""},
		{"what is written as a column", "select user, sysdate, extract(day from (systimestamp - cast(logon_time as timestamp with time zone))), interval '7' day from v$session where rownum < 5", ""},
		{"a part of a time zone", "select extract(timezone_hour from systimestamp) from dual where interval '7' timezone_hour is null", "is no unit of an interval"},
		{"such a word by its table", "select s.sysdate from v$session s", "v$session has no column sysdate"},
		{"lists", "select listagg(username, ',' on overflow truncate) within group (order by usernam) from dba_users", "a column usernam"},
		{"the last one", "select max(status) keep (dense_rank last order by end_tim) from v$rman_backup_job_details", "a column end_tim"},
		{"pairs", "select 1 from dba_users where (username, profil) in (select grantee, granted_role from dba_role_privs)", "a column profil"},
		{"LATERAL", "select x.n from dba_users u cross join lateral (select u.username n from dual) x fetch first 5 rows only", ""},
		{"MINUS", "select username from dba_users minus select role from dba_roles", ""},
		{"its own outer join", "select 1 from dba_users u, dba_roles r where r.role = u.username (+)", "is not understood"},
		{"TOP", "select top (1) username from dba_users", "TOP is SQL Server's"},
		{"EXCEPT", "select username from dba_users except select role from dba_roles", "except is the other engine's"},
		{"no FROM", "select 1", "needs a FROM"},
		{"AS before an alias", "select u.username from dba_users as u", "Oracle takes no AS"},
		{"VALUES", "select x.a from (values (1)) x (a)", "takes VALUES since release 23"},
		{"CONNECT BY", "select granted_role from dba_role_privs connect by prior granted_role = grantee", "connect"},
		{"brackets", "select [username] from dba_users", "is not understood"},
	})
}

// TestFaultsAreNamedByFileAndLine, and a folder without a query is one, too.
func TestFaultsAreNamedByFileAndLine(t *testing.T) {
	t.Parallel()
	got := loaded(t, fleet.Oracle).Check("sql/users.sql", 10, "-- Oracle 12.2+: who\n/* and\nwhat */\nselect username,\n  profil\nfrom dba_users")
	if len(got) != 1 || !strings.HasPrefix(fmt.Sprint(got[0]), "sql/users.sql:14: ") {
		t.Errorf("%v", got)
	}
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"a fault": {fstest.MapFS{"sql/a.sql": {Data: []byte("\nselect a from dual")}, "sql/b.txt": {Data: []byte("x")}}, "sql/a.sql:2: no table here has a column a"},
		"nothing": {fstest.MapFS{"sql/b.txt": {Data: []byte("x")}}, "0 files were read"},
		"none":    {fstest.MapFS{"sql/a.sql": {Data: []byte("select dummy from dual")}}, ""},
	} {
		r := &recorded{TB: t}
		func() {
			defer func() { _ = recover() }()
			Files(r, fleet.Oracle, test.files)
		}()
		if got := strings.Join(r.told, "\n"); got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// recorded is a test whose failures are looked at.
type recorded struct {
	testing.TB
	told []string
}

func (r *recorded) Error(args ...any) { r.told = append(r.told, fmt.Sprint(args...)) }

func (r *recorded) Fatalf(format string, args ...any) {
	r.told = append(r.told, fmt.Sprintf(format, args...))
	panic("stop")
}

func (r *recorded) Fatal(args ...any) {
	r.Fatalf("%s", fmt.Sprint(args...))
}
