package sqltext_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/engine"
)

// A secret is a word or a number; no part of one is in the statements around it.
const (
	secretWord   = "Zq7kxWvJm"
	secretNumber = "48151623"
)

// planted are the statements of an engine and what secrets can be hidden in. # stands
// for such a place, ~ for white space, § for the secret itself.
type planted struct {
	statements []string // # is a literal
	utilities  []string
	literals   []string
	comments   []string
}

var (
	statements = []string{
		"SELECT a,~#~FROM t~WHERE b~=~#~AND c IN~(#,~#,#)", "INSERT INTO t~(a, b) VALUES~(#,#),~(#,~#)", "UPDATE t SET a~=~#,b=#~WHERE c=#",
		"DELETE FROM t WHERE a~BETWEEN # AND~#", "WITH x AS (SELECT~#) SELECT * FROM x~", "MERGE INTO t USING u ON (t.a=u.a AND u.b=#) WHEN MATCHED THEN UPDATE SET c=#",
		"SELECT a - #,b+#,(#),f(#) FROM t", "SELECT 1; UPDATE t SET a =~#",
	}
	literals = []string{
		"'§'", "'it''s §'", "'''§'''", "'-- §'", "'/* §'", "'*/ §'", `'"§'`, "'[§'", "'$$§$$'", "'a\n §'", "N'§'", "n'§'", `'\\§'`,
		"48151623", "48151623.5", ".48151623", "1.48151623e5", "-48151623", "+48151623", "48151623E+48151623", "0x48151623",
	}
	comments = []string{"/* § */", "-- §\n", "/*+ § */", "/* ' § */", "-- ' §\n", "/* -- */", "-- /* §\n", "/* \" § */", "/** § **/"}
	plants   = map[fleet.Engine]planted{
		pg: {
			statements: append([]string{
				"SELECT d->>#, d @> #, d ?~#, x::int, ARRAY[#,~#] FROM t", "PREPARE p AS SELECT #", "EXECUTE p(#,~#)", "DECLARE c CURSOR FOR SELECT #",
				"CREATE TABLE x AS SELECT #", "CREATE INDEX i ON t ((a~||~#))", "EXPLAIN (ANALYZE) SELECT #", "CALL p(#)", "BEGIN; SELECT #; COMMIT",
			}, statements...),
			utilities: []string{
				"CREATE USER u PASSWORD '§'", "ALTER ROLE u WITH LOGIN ENCRYPTED PASSWORD '§'", "SET x.y TO §", "SET LOCAL x = §", "ALTER ROLE u SET x = §",
				"ALTER SYSTEM SET primary_conninfo = 'password=§'", "ALTER DATABASE d SET x TO §", "COPY t FROM PROGRAM 'curl §'", "COPY (SELECT '§') TO PROGRAM 'curl §'", "COPY (SELECT 1) TO STDOUT (DELIMITER §)", "COPY (§) TO STDOUT", "COPY t FROM STDIN; §\t§",
				"DO $$BEGIN EXECUTE '§'; END$$", "DO LANGUAGE plpgsql $x$ § $x$", "CREATE SUBSCRIPTION s CONNECTION 'password=§' PUBLICATION p",
				"CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $f$ SELECT '§' $f$", "CREATE FUNCTION f() RETURNS text SET x TO § BEGIN ATOMIC SELECT '§'; END",
				"CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'a', password '§')", "ALTER SERVER s OPTIONS (SET host '§')", "COMMENT ON TABLE t IS '§'",
				"SECURITY LABEL ON TABLE t IS '§'", "NOTIFY c, '§'", "SELECT 1; ALTER USER u PASSWORD '§'", "§ '§'",
			},
			literals: append([]string{
				`E'§\'§'`, `e'\\§'`, `E'\\\'§'`, `E'§''§\''`, "U&'§' UESCAPE '!'", "U&'\\0053§'", "B'48151623'", "X'48151623'",
				"$$§$$", "$$it's §$$", "$a$ $b$ § $b$ $a$", "$a$ $$ § $$ $ $A$ $a$", "$_é1$ § $_é1$", "$a$ $a§$a$",
				`'§\'§'`, `'§\'`, `'\''§'`, `'a\' § \'b'`, `'\'||'§'`, "E'a'\n'§\\'§'", "4815_1623", "0b1001", "0o4815", "48151623AND", "'§'::text", "float8'48151623'",
			}, literals...),
			comments: append([]string{"/* a /* b */ § */", "/*/* § */*/", "-- a\r-- §\n"}, comments...),
		},
		ms: {
			statements: append([]string{
				"DECLARE @a int~=~#; SELECT @a", "SET @a =~#", "IF @a~=~# SELECT #", "SELECT * FROM OPENROWSET(#,#;#;#,#)", "SELECT * FROM OPENDATASOURCE(#,#).a.b.c",
				"INSERT INTO [a]]b] EXEC dbo.p~#,~#", "RAISERROR(#,#,#)", "(@P0 int,@P1 nvarchar(100))SELECT @P0,#", "{call p(#)}",
			}, statements...),
			utilities: []string{
				"CREATE LOGIN u WITH PASSWORD = N'§'", "CREATE LOGIN u WITH PASSWORD = 0x48151623 HASHED, SID = 0x48151623", "ALTER LOGIN u WITH PASSWORD = '§' OLD_PASSWORD = '§'",
				"CREATE USER u WITH PASSWORD = '§'", "EXEC sp_addlinkedsrvlogin 'a', 'false', NULL, 'sa', '§'", "EXEC sp_addlogin u, §", "sp_addlogin u, §", "EXECUTE sp_password NULL, §, u",
				"EXEC ('CREATE LOGIN u WITH PASSWORD = ''§''')", `EXEC ("§")`, "EXEC @r = sp_setapprole @rolename = u, @password = §", "EXEC sp_executesql N'§', N'@a int', @a = 48151623",
				"SELECT 1 EXEC sp_addlogin u, §", "SELECT 1; execute [sp_addlogin] u, §", "SELECT 1\nGO\nsp_addlogin u, §", "CREATE MASTER KEY ENCRYPTION BY PASSWORD = '§'",
				"OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = '§'", "BACKUP DATABASE d TO DISK = 'x' WITH MEDIAPASSWORD = '§'", "CREATE CREDENTIAL c WITH IDENTITY = 'u', SECRET = '§'",
				"CREATE PROCEDURE p @a varchar(9) = § AS SELECT 1", "SELECT 1 GRANT x TO u DENY y TO §", "DBCC TRACEON (48151623)", "KILL 48151623", "§ 1",
			},
			literals: append([]string{`"§"`, `"it's §"`, `"a ""§"" b"`, `'§\'`, "$48151623", "$-48151623", "£4815.1623", "0x48151623\\\n48151623", "{ts '§'}", "{guid'§'}", "48151623AND"}, literals...),
			comments: append([]string{"/* a /* b */ § */", "/*/* § */*/", "-- a\r\n"}, comments...),
		},
		ora: {
			statements: append([]string{
				"BEGIN p.q(#,~n =>~#); END;", "DECLARE a VARCHAR2(9) :=~#; BEGIN EXECUTE IMMEDIATE #; END;", "CALL p(#)", "EXPLAIN PLAN SET STATEMENT_ID =~# FOR SELECT # FROM dual",
				"SELECT :1, :a, :\"SYS_B_0\", # FROM t@l", "CREATE INDEX i ON t (NVL(a,~#))",
			}, statements...),
			utilities: []string{
				`CREATE USER u IDENTIFIED BY "§"`, "CREATE USER u IDENTIFIED BY §", "ALTER USER u IDENTIFIED BY § REPLACE §", "ALTER USER u IDENTIFIED BY VALUES '§:§'",
				"GRANT CONNECT TO u IDENTIFIED BY §", "CREATE ROLE r IDENTIFIED BY §", "SET ROLE r IDENTIFIED BY §", `CREATE DATABASE LINK l CONNECT TO u IDENTIFIED BY "§" USING '§'`,
				"ALTER SYSTEM SET ENCRYPTION WALLET OPEN IDENTIFIED BY \"§\"", "ADMINISTER KEY MANAGEMENT SET KEYSTORE OPEN IDENTIFIED BY §", "CREATE TABLE t (a NUMBER ENCRYPT IDENTIFIED BY §)",
				"ALTER TABLE t MODIFY (a ENCRYPT IDENTIFIED BY §)", "ALTER SESSION SET x = §", "CONNECT u/§@d", "BEGIN NULL; END;\n/\nCONNECT u/§", "BEGIN NULL; END; CONNECT u/§", "SELECT 1 FROM dual; CONNECT u/§",
				"CREATE TABLE t (a NUMBER) ORGANIZATION EXTERNAL (ACCESS PARAMETERS (FIELDS TERMINATED BY \"§\" §))", "EXPLAIN PLAN FOR CREATE USER u IDENTIFIED BY §", "§ IDENTIFIED BY §",
			},
			literals: append([]string{
				"q'[it's §]'", "Q'{§}'", "q'(a'§')'", "q'<'§'>'", "nq'!it's §!'", "NQ'|§|'", "q'X§''§X'", "q'é'§é'", "q''§''", "q' § '", "1q'[it's §]'", "DATE '§'", "'§\\'", "48151623f", "48151623D", "u'§'",
			}, literals...),
			comments: append([]string{"/* /* § */", "/*/* ' § */", "--+ §\n"}, comments...),
		},
	}
)

// write makes a text of a statement.
func (p planted) write(rng *rand.Rand, statement string) string {
	pick := func(of []string) string { return of[rng.IntN(len(of))] }
	var s strings.Builder
	for _, r := range statement {
		switch r {
		case '#':
			if end := s.String()[max(0, s.Len()-1):]; strings.Trim(end, "=,(+-* \n") != "" {
				s.WriteByte(' ') // characters that touch a word are a part of it
			}
			s.WriteString(pick(p.literals))
		case '~':
			s.WriteString(pick([]string{"", " ", "\n\t", pick(p.comments), " " + pick(p.comments) + " "}))
		default:
			s.WriteRune(r)
		}
	}
	return strings.ReplaceAll(s.String(), "§", secretWord)
}

// leaks is the part of a secret that a text holds.
func leaks(text string) string {
	text = strings.ToLower(text)
	for _, secret := range []string{strings.ToLower(secretWord), secretNumber} {
		for i := 0; i+4 <= len(secret); i++ {
			if strings.Contains(text, secret[i:i+4]) {
				return secret[i : i+4]
			}
		}
	}
	return ""
}

// TestPlantedSecrets: nothing of a secret is left, wherever in a statement it stands and
// wherever the text was cut off.
func TestPlantedSecrets(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 0))
	kept := map[fleet.Engine]int{}
	const texts = 600
	for of, p := range plants {
		for n := range texts {
			statement := p.statements[rng.IntN(len(p.statements))]
			if n%5 == 0 {
				statement = p.utilities[rng.IntN(len(p.utilities))]
			}
			text := p.write(rng, statement)
			got := engine.Normalize(of, text)
			if strings.Contains(got, "?") {
				kept[of]++
			}
			for range 10 {
				if part := leaks(got); part != "" {
					t.Fatalf("seed %d: %s\n%q\n%q leaks %q", seed, of, text, got, part)
				}
				if again := engine.Normalize(of, got); again != got {
					t.Fatalf("seed %d: %s\n%q\n%q\n%q", seed, of, text, got, again)
				}
				got = engine.Normalize(of, text[:rng.IntN(len(text)+1)])
			}
		}
		if kept[of] < texts/3 {
			t.Errorf("%s: of %d texts only %d are more than leading keywords", of, texts, kept[of])
		}
	}
}
