package inspection_test

import (
	"fmt"
	"slices"
	"testing"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
)

// Faults that a specialist of SQL Server or Oracle found in checks, by their numbers: what a check finds in some rows,
// what it does not know, and whether it applies.
var faults = map[string]struct {
	engine fleet.Engine
	check  string
	cases  map[string]plantedCheck
}{
	"F23 a differential backup counts, and snapshots of RDS are in no table": {fleet.SQLServer, "MS-16", map[string]plantedCheck{
		"a monthly full backup, and differential ones": {Tables: backupsOf("", []any{"shop", "D", "-600 hours", 0}, []any{"shop", "I", "-20 hours", 0})},
		"differential ones of another database":        {Found: []string{"shop"}, Tables: backupsOf("", []any{"shop", "I", "-20 hours", 0})},
		"both are old":                                 {Found: []string{"shop"}, Tables: backupsOf("", []any{"shop", "D", "-600 hours", 0}, []any{"shop", "I", "-200 hours", 0})},
		"Amazon RDS":                                   {Excluded: true, Tables: backupsOf("rdsadmin")},
	}},
	"F24 slow hashes are tried of 60 logins": {fleet.SQLServer, "MS-48", map[string]plantedCheck{
		"60 slow ones":  {Found: []string{"l59"}, Tables: loginsOf(60, "x03")},
		"61 slow ones":  {Unseen: []string{"the password of l60"}, Tables: loginsOf(61, "x03")},
		"900 fast ones": {Found: []string{"l899"}, Tables: loginsOf(900, "x02")},
	}},
	"F41 where backups may be taken elsewhere, none is no finding": {fleet.Oracle, "OR-15", map[string]plantedCheck{
		"no backup":                 {Found: []string{"RMAN backup"}, Tables: jobsOf("SYS", "")},
		"no archived log, on RDS":   {Found: []string{"LOG_MODE"}, Unseen: []string{"the backups, which Amazon RDS takes as snapshots"}, Tables: jobsIn("NOARCHIVELOG", "RDSADMIN", "")},
		"Amazon RDS":                {Unseen: []string{"the backups, which Amazon RDS takes as snapshots"}, Tables: jobsOf("RDSADMIN", "")},
		"Data Guard":                {Unseen: []string{"the backups, which another database of the Data Guard configuration may take"}, Tables: jobsOf("SYS", "DG_CONFIG=(boston,chicago)")},
		"Data Guard, and one here":  {Tables: jobsOf("SYS", "DG_CONFIG=(boston,chicago)", []any{"DB INCR", "COMPLETED", "-20 hours"})},
		"by pluggable database":     {Unseen: []string{"the backups, of which RMAN took those of single pluggable databases or files"}, Tables: jobsOf("SYS", "", []any{"DATAFILE FULL", "COMPLETED", "-20 hours"})},
		"by pluggable one, of 2025": {Found: []string{"RMAN backup"}, Tables: jobsOf("SYS", "", []any{"DATAFILE FULL", "COMPLETED", "-900 hours"})},
	}},
	"F40 statistics of Oracle's own tables are no finding": {fleet.Oracle, "OR-18", map[string]plantedCheck{
		"of SYS": {Tables: map[string][][]any{
			"dba_users": {{"username", "oracle_maintained"}, {"SYS", "Y"}}, "dba_tables": {{"owner", "table_name", "temporary"}},
			"dba_tab_statistics": {{"owner", "table_name", "object_type", "stale_stats", "last_analyzed"}, {"SYS", "WRI$_X", "TABLE", "YES", "-900 hours"}},
		}},
	}},
	"F42 the privilege of the account that assesses": {fleet.Oracle, "OR-07", map[string]plantedCheck{
		"is no finding, and another of it is one": {Found: []string{"ALTER ANY TABLE to MUSTER", "SELECT ANY TABLE to APP"}, Tables: map[string][][]any{
			"dba_sys_privs": {{"grantee", "privilege", "admin_option"}, {"MUSTER", "SELECT ANY TABLE", "NO"}, {"MUSTER", "ALTER ANY TABLE", "NO"}, {"APP", "SELECT ANY TABLE", "NO"}},
			"dba_users":     {{"username", "oracle_maintained"}, {"MUSTER", "N"}, {"APP", "N"}}, "dba_roles": {{"role", "oracle_maintained"}},
		}},
	}},
	"F42 the views of the account that assesses": {fleet.Oracle, "OR-45", map[string]plantedCheck{
		"are no finding": {Found: []string{"DBA_USERS to APP"}, Tables: map[string][][]any{
			"dba_tab_privs": {{"grantee", "owner", "table_name", "privilege"}, {"MUSTER", "SYS", "DBA_USERS", "SELECT"}, {"APP", "SYS", "DBA_USERS", "SELECT"}},
			"dba_users":     {{"username", "oracle_maintained"}, {"MUSTER", "N"}, {"APP", "N"}}, "dba_roles": {{"role", "oracle_maintained"}},
		}},
	}},
	"F44 a cluster needs its remote listener": {fleet.Oracle, "OR-27", map[string]plantedCheck{
		"in a cluster": {Excluded: true, Tables: listenerOf("YES")},
		"of one's own": {Found: []string{"remote_listener"}, Tables: listenerOf("NO")},
	}},
	"F52 Muster's own session is no finding": {fleet.SQLServer, "MS-14", map[string]plantedCheck{
		"and another one by its login is": {Found: []string{"muster from 10.0.0.9"}, Tables: map[string][][]any{
			"sys.dm_exec_connections": {{"session_id", "parent_connection_id", "encrypt_option", "net_transport", "client_net_address"}, {51, nil, "FALSE", "TCP", "10.0.0.5"}, {52, nil, "FALSE", "TCP", "10.0.0.9"}},
			"sys.dm_exec_sessions":    {{"session_id", "login_name", "program_name", "original_login_name"}, {51, "muster", "muster", "muster"}, {52, "muster", "sqlcmd", "muster"}},
		}},
	}},
}

func TestFaultsOfChecks(t *testing.T) {
	t.Parallel()
	db, queries := planting(t)
	c := load(t)
	for name, fault := range faults {
		checks := c.Of(fault.engine)
		check := checks[slices.IndexFunc(checks, func(c catalogue.Check) bool { return c.ID == fault.check })]
		for scene, p := range fault.cases {
			found, unseen, excluded, err := p.see(t, db, check, queries)
			if err != nil || !slices.Equal(found, p.Found) || !slices.Equal(unseen, p.Unseen) || excluded != p.Excluded {
				t.Errorf("%s, %s: finds %q, does not know %q, applies: %t, %v", name, scene, found, unseen, !excluded, err)
			}
		}
	}
}

// backupsOf are backups of a database in the model SIMPLE, and perhaps another database beside it.
func backupsOf(beside string, rows ...[]any) map[string][][]any {
	databases := [][]any{{"name", "database_id", "create_date", "recovery_model_desc", "state_desc", "source_database_id", "replica_id"}, {"shop", 5, "-900 hours", "SIMPLE", "ONLINE", nil, nil}}
	if beside != "" {
		databases = append(databases, []any{beside, 6, "-900 hours", "SIMPLE", "ONLINE", nil, nil})
	}
	return map[string][][]any{
		"sys.databases": databases, "msdb.dbo.backupset": append([][]any{{"database_name", "type", "backup_finish_date", "is_copy_only"}, {"other", "D", "-1 hours", 0}}, rows...),
	}
}

// loginsOf are logins whose hashes are of a kind. The last has no password.
func loginsOf(n int, kind string) map[string][][]any {
	rows := [][]any{{"name", "is_disabled", "password_hash"}}
	for i := range n {
		hash := kind + "0002"
		if i == n-1 {
			hash = kind + "0000"
		}
		rows = append(rows, []any{fmt.Sprintf("l%02d", i), 0, hash})
	}
	return map[string][][]any{"sys.sql_logins": rows}
}

func jobsOf(user, config string, rows ...[]any) map[string][][]any {
	return jobsIn("ARCHIVELOG", user, config, rows...)
}

func jobsIn(mode, user, config string, rows ...[]any) map[string][][]any {
	return map[string][][]any{
		"v$database": {{"log_mode"}, {mode}}, "dba_users": {{"username"}, {user}}, "v$parameter": {{"name", "value"}, {"log_archive_config", config}},
		"v$rman_backup_job_details": append([][]any{{"input_type", "status", "end_time"}, {"ARCHIVELOG", "COMPLETED", "-1 hours"}}, rows...),
	}
}

func listenerOf(parallel string) map[string][][]any {
	return map[string][][]any{"v$instance": {{"parallel"}, {parallel}}, "v$parameter": {{"name", "value"}, {"remote_listener", "scan:1521"}}}
}
