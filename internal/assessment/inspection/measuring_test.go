package inspection_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestQueriesOfSessionsAndDatabases runs queries of the collectors over planted rows, in PostgreSQL's words: who is
// idle (F18, F38), and which databases are nobody's (F17).
func TestQueriesOfSessionsAndDatabases(t *testing.T) {
	t.Parallel()
	db, _ := planting(t)
	words := strings.NewReplacer("CONVERT(char(16), c.query_hash, 2)", "c.query_hash", "(SELECT @@SPID)", "1", "HAS_DBACCESS(d.name)", "1", "NVL(", "COALESCE(", "@application@", "muster")
	for name, test := range map[string]struct {
		query   string
		program int // the place of it in a row
		tables  map[string][][]any
		want    []string
	}{
		"F18 a session of SQL Server that waits for a time, a message or its monitoring is idle": {"sqlserver/sql/sessions.sql", 5, map[string][][]any{
			"sys.dm_exec_sessions": {
				{"session_id", "database_id", "open_transaction_count", "status", "is_user_process", "login_name", "program_name", "host_name", "original_login_name"},
				{51, 1, 0, "running", 1, "NT SERVICE", "cluster", "db01", "x"}, {52, 5, 0, "running", 1, "app", "jobs", "db01", "x"}, {53, 5, 1, "running", 1, "app", "broker", "db01", "x"},
				{54, 5, 0, "running", 1, "app", "web", "db01", "x"}, {55, 5, 0, "running", 1, "app", "cpu", "db01", "x"}, {56, 5, 1, "Sleeping", 1, "app", "left", "db01", "x"},
				{57, 5, 0, "running", 1, "muster", "muster", "db02", "muster"}, {58, 5, 0, "dormant", 1, "app", "pool", "db01", "x"},
			},
			"sys.dm_exec_requests": {
				{"session_id", "request_id", "database_id", "wait_type", "wait_time", "query_hash"},
				{51, 0, 1, "SP_SERVER_DIAGNOSTICS_SLEEP", 9, "A"}, {52, 0, 5, "WAITFOR", 9, "B"}, {53, 0, 5, "BROKER_RECEIVE_WAITFOR", 9, "C"},
				{54, 0, 5, "LCK_M_X", 3, "D"}, {54, 1, 5, "WAITFOR", 1, "D"}, {55, 0, 5, nil, 0, "E"},
			},
		}, []string{"1 idle cluster", "5 active cpu", "5 idle jobs", "5 in transaction broker", "5 in transaction left", "5 other pool", "5 waiting web"}},
		"F38 a session of Oracle that is active in class Idle is idle": {"oracle/sql/sessions.sql", 6, map[string][][]any{
			"v$session": {
				{"con_id", "status", "state", "wait_class", "taddr", "event", "username", "program", "module", "machine", "sql_id", "type", "ownerid"},
				{3, "ACTIVE", "WAITING", "Idle", nil, "PL/SQL lock timer", "APP", "job", nil, "m", "x", "USER", 2147483644},
				{3, "ACTIVE", "WAITING", "User I/O", nil, "db file sequential read", "APP", "web", nil, "m", "x", "USER", 2147483644},
				{3, "ACTIVE", "WAITED SHORT TIME", "Idle", nil, "x", "APP", "cpu", nil, "m", "x", "USER", 2147483644},
				{3, "INACTIVE", "WAITING", "Idle", "00", "x", "APP", "left", nil, "m", nil, "USER", 2147483644},
				{3, "ACTIVE", "WAITING", "User I/O", nil, "x", "APP", "slave", nil, "m", "x", "USER", 51},
				{3, "ACTIVE", "WAITING", "User I/O", nil, "x", "MUSTER", "muster", nil, "m", "x", "USER", 2147483644},
				{3, "ACTIVE", "WAITING", "User I/O", nil, "x", nil, "LGWR", nil, "m", "x", "BACKGROUND", 2147483644},
			},
		}, []string{"3 active cpu", "3 idle job", "3 in transaction left", "3 waiting web"}},
		"F17 databases of contained availability groups, tempdb, model and snapshots are nobody's": {"sqlserver/sql/databases.sql", 0, map[string][][]any{
			"sys.databases": {
				{"database_id", "name", "state", "is_auto_close_on", "is_query_store_on", "source_database_id"},
				{1, "master", 0, 0, 0, nil}, {2, "tempdb", 0, 0, 0, nil}, {3, "model", 0, 0, 0, nil}, {5, "shop", 0, 0, 1, nil}, {6, "shop_snapshot", 0, 0, 1, 5},
				{7, "closes", 0, 1, 1, nil}, {32760, "last", 0, 0, 1, nil}, {32761, "AG1_master", 0, 0, 0, nil}, {32762, "AG1_msdb", 0, 0, 0, nil},
			},
		}, []string{"1 master 0 1 0", "32760 last 0 1 1", "5 shop 0 1 1", "7 closes 0 0 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("../../intake/measure/" + test.query)
			if err != nil {
				t.Fatal(err)
			}
			tx := db.MustBegin()
			defer func() { _ = tx.Rollback() }()
			for table, rows := range test.tables {
				if err := plant(tx, table, rows); err != nil {
					t.Fatal(err)
				}
			}
			rows, err := tx.Queryx(words.Replace(string(text))) //nolint:sqlclosecheck // it is closed below
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var got []string
			for rows.Next() {
				row, err := rows.SliceScan()
				if err != nil {
					t.Fatal(err)
				}
				if test.program > 0 {
					row = append(row[:2], row[test.program])
				}
				got = append(got, strings.TrimSpace(fmt.Sprintln(row...)))
			}
			if slices.Sort(got); rows.Err() != nil || !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q: %v", got, test.want, rows.Err())
			}
		})
	}
}
