package grants

import (
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
)

func loaded(t *testing.T) *catalogue.Catalogue {
	t.Helper()
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	return checks
}

// TestAnAgentsObjectHasTheListsStatement, by its engine and version, and none where no list has
// the object.
func TestAnAgentsObjectHasTheListsStatement(t *testing.T) {
	t.Parallel()
	checks := loaded(t)
	for _, c := range []struct {
		engine          fleet.Engine
		version, object string
		want            string // the statement begins so; empty: there is none
	}{
		{fleet.PostgreSQL, "15.18", "what members of pg_read_all_stats see", "GRANT pg_read_all_stats TO muster;"},
		{fleet.PostgreSQL, "", "extension pg_stat_statements, which no database has", "CREATE EXTENSION pg_stat_statements;"},
		{fleet.PostgreSQL, "", "pg_stat_statements in database shop", "DO $grants$ DECLARE reads "},
		{fleet.PostgreSQL, "", "schema metrics in database shop", "DO $grants$ DECLARE holds "},
		{fleet.PostgreSQL, "", "pg_authid (rolname, rolpassword) in database shop", "GRANT SELECT (rolname, rolpassword) ON pg_catalog.pg_authid TO muster;"},
		{fleet.PostgreSQL, "", "V$SESSION", ""},
		{fleet.SQLServer, "15.0.4123.1", "sessions, and statements in the plan cache", "GRANT VIEW SERVER STATE TO [muster];"},
		{fleet.SQLServer, "16.0.1000.6", "sessions, and statements in the plan cache", "GRANT VIEW SERVER PERFORMANCE STATE TO [muster];"},
		{fleet.SQLServer, "12.0.2000.8", "sessions, and statements in the plan cache", ""}, // of Azure
		{fleet.SQLServer, "15.0.4123.1", "the query store of a, b, c and 2 more databases", "GRANT CONNECT ANY DATABASE TO [muster];"},
		{fleet.SQLServer, "15.0.4123.1", "SELECT on msdb.dbo.backupset", "USE msdb; GRANT SELECT ON dbo.backupset TO [muster];"},
		{fleet.Oracle, "19.24", "GV$SESSION", "GRANT SELECT ON SYS.GV_$SESSION TO muster;"},
		{fleet.Oracle, "19.24", "the pluggable databases", "ALTER USER c##muster SET CONTAINER_DATA = ALL CONTAINER = CURRENT;"},
		{fleet.Oracle, "19.24", "SELECT on SYS.DBA_USERS", "GRANT SELECT ON SYS.DBA_USERS TO muster;"},
		{fleet.Oracle, "19.24", "V$SESSION TO intruder; --", ""},
		{fleet.Engine("mongodb"), "8", "V$SESSION", ""},
	} {
		got := Stated(c.engine, c.version, checks, []string{c.object})[0]
		if got.Object != c.object || !strings.HasPrefix(got.Statement, c.want) || c.want == "" && got.Statement != "" {
			t.Errorf("%s %s %q: %q", c.engine, c.version, c.object, got.Statement)
		}
	}
}

// TestNoTextOfAnAgentIsInAStatement, nor in a script, whatever an object holds before, in or
// behind what the lists know.
func TestNoTextOfAnAgentIsInAStatement(t *testing.T) {
	t.Parallel()
	checks := loaded(t)
	const planted = "intruder"
	frames := []string{
		"%", "% in database %", "what members of pg_read_all_stats see%", "what members of % see", "extension pg_stat_statements, %",
		"pg_stat_statements in database %", "schema % in database %", "pg_authid (rolname, rolpassword) in database %", "pg_user_mapping in database %",
		"the query store of %", "SELECT on msdb.dbo.backupset in database %", "sessions, and statements in the plan cache in database %", "V$SESSION in database %", "SELECT on SYS.DBA_USERS in database %", "SELECT on %",
	}
	texts := []string{planted, `x"; ALTER ROLE ` + planted + ` SUPERUSER; --`, "x\n\\! " + planted, `x' host=` + planted, "]; EXEC " + planted + " --", "$grants$; " + planted}
	for _, engine := range []fleet.Engine{fleet.PostgreSQL, fleet.SQLServer, fleet.Oracle} {
		var objects []string
		for _, frame := range frames {
			for _, text := range texts {
				objects = append(objects, strings.ReplaceAll(frame, "%", text))
			}
		}
		missing := Stated(engine, "15.0 "+planted, checks, objects)
		stated := 0
		for _, g := range missing {
			if g.Statement != "" {
				stated++
			}
			if strings.Contains(g.Statement, planted) {
				t.Errorf("%s %q has %q", engine, g.Object, g.Statement)
			}
		}
		script := AgentScript(engine, All(engine, missing, nil))
		if stated == 0 || script == "" || strings.Contains(script, planted) {
			t.Errorf("%s: %d statements, in the script\n%s", engine, stated, script)
		}
	}
}
