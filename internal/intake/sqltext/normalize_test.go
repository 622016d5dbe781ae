package sqltext_test

import (
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/intake/sqltext"
)

const (
	pg  = fleet.PostgreSQL
	ms  = fleet.SQLServer
	ora = fleet.Oracle
)

// TestNormalize: the stored form of texts. Each is the same when normalized again.
func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine   fleet.Engine
		in, want string
	}{
		// Literals
		{pg, "SELECT  a,\n\t'x' FROM t -- why\nWHERE b=5", "SELECT a, ? FROM t WHERE b=?"},
		{pg, `SELECT 'it''s', E'it\'s', e'\\', U&'d\0061t' UESCAPE '!', N'n', B'01', x'ff'`, "SELECT ?, ?, ?, ? UESCAPE ?, ?, ?, ?"},
		{pg, "SELECT $$a'b$$, $t$ $$ $u$ $t$, $é1$x$é1$", "SELECT ?, ?, ?"},
		{pg, "SELECT 1, 1.5, .5, 1., 1e5, 1E-5, 0xFF, 0b01, 1_000, -7, 2-1, a-1", "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?-?, a-?"},
		{pg, "SELECT date'2026-11-20', interval '1 day', true, FALSE WHERE a IS TRUE AND b IS NOT FALSE AND c IS NULL", "SELECT date ?, interval ?, ?, ? WHERE a IS TRUE AND b IS NOT FALSE AND c IS NULL"},
		{pg, `SELECT "a""b", U&"d\0061t", a.b, x::int[], d->>'k', d ?| ARRAY['k'] FROM "T"`, `SELECT "a""b", U&"d\0061t", a.b, x::int[], d->>?, d ?| ARRAY[?] FROM "T"`},
		{pg, "SELECT 1 /* a /* b */ c */ + /**/ 2", "SELECT ? + ?"},
		{pg, "SELECT $1, $22 FROM größe", "SELECT ?, ? FROM größe"},
		{ms, `SELECT N'x', 'it''s', 'C:\', 0xFF, $1.50, €5, -$2, "x" FROM [a]]b].[c d] WHERE @p1 = @@rowcount AND $action = #t.x`,
			"SELECT ?, ?, ?, ?, ?, ?, -?, ? FROM [a]]b].[c d] WHERE @p1 = @@rowcount AND $action = #t.x"},
		{ms, "SELECT /* a /* b */ c */ {ts '2026-11-20'}", "SELECT {ts ?}"},
		{ms, "(@P0 int,@P1 nvarchar(4000))SELECT a FROM t WHERE b=@P0", "SELECT a FROM t WHERE b=@P0"},
		{ora, "SELECT q'[it's]', Q'{a}', nq'!b'!', q'<c>', N'd', q'xdx', 'C:\\' FROM dual", "SELECT ?, ?, ?, ?, ?, ?, ? FROM dual"},
		{ora, `SELECT /*+ FULL(t) */ :1, :name, :"SYS_B_0", 1.5f, DATE '2026-11-20' FROM "T"@link /* a /* b */`, `SELECT ?, :name, ?, ?, DATE ? FROM "T"@link`},
		// Lists
		{pg, "SELECT 1 FROM t WHERE a IN ($1, $2 , 3) AND b = ANY (ARRAY[1,2]) AND c IN (1, x)", "SELECT ? FROM t WHERE a IN (?) AND b = ANY (ARRAY[?]) AND c IN (?, x)"},
		{pg, "INSERT INTO t VALUES (1, 'a'), (-2, 'b'), (3, 'c') ON CONFLICT DO NOTHING", "INSERT INTO t VALUES (?, ?) ON CONFLICT DO NOTHING"},
		{pg, "SELECT f(1, 2), (1, 2), (1)", "SELECT f(?, ?), (?, ?), (?)"},
		// What cannot be read
		{pg, "SELECT a FROM t WHERE b = 'unfinished", "SELECT"},
		{pg, "INSERT INTO t VALUES (1) /* unfinished /* */", "INSERT INTO"},
		{pg, "DELETE FROM t WHERE a = $x$ unfinished $X$", "DELETE FROM"},
		{pg, `SELECT DISTINCT a FROM t WHERE b LIKE 'x' ESCAPE '\' AND c = 'y'`, "SELECT"},
		{pg, "SELECT 1a'x'", "SELECT"},
		{pg, "'x' SELECT", ""},
		{pg, "secret", ""},
		{pg, "", ""},
		{ms, `SELECT "unfinished`, "SELECT"},
		{ms, "SELECT 1 -- a\rb", "SELECT"},
		{ora, "SELECT q'[unfinished]", "SELECT"},
		{ora, "SELECT q''a'' FROM dual", "SELECT"},
		{ora, "SELECT 1q'[it's]' FROM dual", "SELECT"},
		{fleet.MySQL, "SELECT 1", ""},
		// Utility statements
		{pg, "create user bob PASSWORD 'x'", "CREATE USER"},
		{pg, "ALTER ROLE bob SET search_path TO x", "ALTER ROLE"},
		{pg, "SET application_name = x", "SET"},
		{pg, "COPY t FROM PROGRAM 'x'", "COPY"},
		{pg, "COPY", "COPY"},
		{pg, "copy (select a, 'x' from t where (b = 2)) TO STDOUT WITH (DELIMITER x)", "COPY (select a, ? from t where (b = ?))"}, // F24
		{pg, "COPY ((WITH w AS (SELECT 1) SELECT * FROM w)) TO PROGRAM 'x'; SELECT 1", "COPY ((WITH w AS (SELECT ?) SELECT * FROM w))"},
		{pg, "COPY (secret) TO STDOUT", "COPY ("},
		{pg, "COPY t (a, b) FROM STDIN; x", "COPY"},
		{pg, "DO $$ BEGIN x; END $$", "DO"},
		{pg, "CREATE SUBSCRIPTION s CONNECTION 'password=x' PUBLICATION p", "CREATE SUBSCRIPTION"},
		{pg, "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT x; END", "CREATE OR REPLACE FUNCTION"},
		{pg, "BEGIN; SELECT 1; SET x TO y; SELECT 2", "BEGIN; SELECT ?; SET"},
		{pg, "create unique index concurrently i on t ((lower(a) || 'x'))", "CREATE UNIQUE INDEX concurrently i on t ((lower(a) || ?))"},
		{pg, "VACUUM (ANALYZE) t", "VACUUM (ANALYZE) t"},
		{pg, "DECLARE c CURSOR FOR SELECT 'x'", "DECLARE c CURSOR FOR SELECT ?"},
		{ms, "CREATE LOGIN bob WITH PASSWORD = 0x0200 HASHED", "CREATE LOGIN"},
		{ms, "EXEC sp_addlinkedsrvlogin 'a', 'false', NULL, 'b', c", "EXEC sp_addlinkedsrvlogin"},
		{ms, "EXEC @rc = [db].dbo.p bare; SELECT 1", "EXEC @rc = [db].dbo.p"},
		{ms, "execute as user = 'x'", "EXECUTE as"},
		{ms, "sp_addlogin bob, x", ""},
		{ms, "SELECT 1 EXEC ('x')", "SELECT ? EXEC"},
		{ms, "SELECT 1 CREATE LOGIN bob", "SELECT ? CREATE LOGIN"},
		{ms, "SELECT 1\nGO\nsp_addlogin bob, x", "SELECT ? GO"},
		{ms, "SELECT * FROM OPENROWSET('x', 'y';'sa';'z', 'q')", "SELECT * FROM OPENROWSET(?, ?;?;?, ?)"},
		{ms, "SET @x = 'y'", "SET @x = ?"},
		{ms, "SET LANGUAGE x", "SET LANGUAGE"},
		{ms, "UPDATE t SET a = 1; IF @@rowcount = 0 x: SET @y = 2", "UPDATE t SET a = ?; IF @@rowcount = ? x: SET @y = ?"},
		{ora, `ALTER USER scott IDENTIFIED BY "tiger" REPLACE lion`, "ALTER USER"},
		{ora, "GRANT CONNECT TO scott IDENTIFIED BY tiger", "GRANT"},
		{ora, "CREATE TABLE t (a NUMBER ENCRYPT IDENTIFIED BY tiger)", "CREATE TABLE"},
		{ora, "SELECT 1 FROM dual WHERE x IDENTIFIED BY tiger", "SELECT"},
		{ora, "BEGIN p.q('x', n => 5); :r := f; END;", "BEGIN p.q(?, n => ?); :r := f; END;"},
		{ora, "BEGIN NULL; END;\n/\nCONNECT scott/tiger", "BEGIN NULL; END;"},
		{ora, "connect scott/tiger@db", ""},
		// What would mislead
		{pg, "SELECT \"a\u202eb\x00\" FROM t", "SELECT \"a\ufffdb\ufffd\" FROM t"},
		{pg, "SELECT a\u200f FROM t", "SELECT"},
		{pg, "SELECT '<script>' AS \"<b>\" \xff'", "SELECT"},
	} {
		got := engine.Normalize(c.engine, c.in)
		if got != c.want {
			t.Errorf("%s %q:\n got %q\nwant %q", c.engine, c.in, got, c.want)
		}
		if again := engine.Normalize(c.engine, got); again != got {
			t.Errorf("%s %q: again %q", c.engine, got, again)
		}
	}
}

// TestNormalizeLong: a text that is too long ends after a whole token, and the rest is still
// read.
func TestNormalizeLong(t *testing.T) {
	t.Parallel()
	columns := "SELECT " + strings.Repeat("größe, ", 2000)
	for _, c := range []struct{ in, want string }{
		{columns + "1 FROM t", columns[:7+909*9-1]},
		{columns + "'unfinished", "SELECT"},
		{"SELECT a FROM t WHERE b IN (" + strings.Repeat("'x', ", 100_000) + "1) ORDER BY c", "SELECT a FROM t WHERE b IN (?) ORDER BY c"},
		{"SELECT " + strings.Repeat("a", sqltext.MaxBytes), "SELECT"},
	} {
		got := engine.Normalize(pg, c.in)
		if got != c.want || len(got) > sqltext.MaxBytes || engine.Normalize(pg, got) != got {
			t.Errorf("%.40q: %d bytes, %q", c.in, len(got), got[max(0, len(got)-40):])
		}
	}
}
