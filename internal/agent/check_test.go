package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/agent"
	"muster/internal/engine/live"
	"muster/internal/intake/measure"
	"muster/internal/servers/tdstest"
	"muster/internal/servers/tnstest"
	"muster/internal/testing/longtest"
)

// check tries one server and returns what came of it, and the report.
func check(t *testing.T, engine, dsn string) (agent.Checked, agent.Report) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.yaml")
	text := "directory: " + dir + "\nservers:\n  - name: one\n    engine: " + engine + "\n    dsn: ${DSN}\n    classify: off\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := agent.ReadConfig(path, func(string) (string, bool) { return dsn, true })
	if err != nil {
		t.Fatal(err)
	}
	var checked agent.Checked
	report := agent.Check(t.Context(), agent.Options{Config: config, Engines: live.Measured}, func(c agent.Checked) { checked = c })
	return checked, report
}

// TestAReportNamesTheStageThatAConnectionReached, by stage, number and cause, and nothing of the server's
// message.
func TestAReportNamesTheStageThatAConnectionReached(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		engine, dsn               string
		class, stage, code, cause string
	}{
		"nobody listens": {"sqlserver", "sqlserver://u:p@127.0.0.1:1", "refused", "dial", "", ""},
		"another protocol": {
			"sqlserver", tdstest.Start(t, tdstest.Options{Banner: "SSH-2.0-hunter2\r\n"}).DSN("encrypt=disable"), "database", "greeting", "", "",
		},
		"no TLS":          {"sqlserver", tdstest.Start(t, tdstest.Options{}).DSN("encrypt=true"), "tls", "tls", "", "no TLS"},
		"a login":         {"sqlserver", tdstest.Start(t, tdstest.Options{Refuse: &tdstest.LoginLocked}).DSN("encrypt=disable"), "authentication", "login", "18486", ""},
		"a listener":      {"oracle", tnstest.Start(t, tnstest.Options{Refuse: 12514}).DSN(""), "database", "login", "ORA-12514", ""},
		"encryption":      {"oracle", tnstest.Start(t, tnstest.Options{Services: 12269}).DSN(""), "tls", "tls", "ORA-12269", ""},
		"a full listener": {"oracle", tnstest.Start(t, tnstest.Options{Refuse: 12516}).DSN(""), "refused", "login", "ORA-12516", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, report := check(t, test.engine, test.dsn)
			s := report.Servers[0]
			if s.Error != test.class || s.Stage != test.stage || s.Code != test.code || s.Cause != test.cause {
				t.Errorf("%q at %q, code %q, cause %q", s.Error, s.Stage, s.Code, s.Cause)
			}
			text, err := json.Marshal(report)
			if err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "127.0.0.1") {
				t.Errorf("the report names: %s, %v", text, err)
			}
		})
	}
}

// TestLongACheckHasTheTimeoutsOfTheAgent: a query that takes longer than the agent lets it fails in the check, too.
func TestLongACheckHasTheTimeoutsOfTheAgent(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	stub := tdstest.Start(t, tdstest.Options{})
	stub.Answer("-- SQL Server 2016+ and Azure SQL: what the server is, and what we may see of it.", tdstest.Answer{Then: tdstest.Stall})
	stub.Answer("-- SQL Server 2016+ and Azure SQL: what time it is in UTC, how many minutes local time is ahead, and when the server was started.",
		tdstest.Answer{Error: &tdstest.Error{Number: 229}})
	begun := time.Now()
	checked, _ := check(t, "sqlserver", stub.DSN("encrypt=disable"))
	if took := time.Since(begun); took < measure.StatementTimeout || took > measure.StatementTimeout+4*time.Second || checked.OK() {
		t.Errorf("after %s: %+v", took, checked.Parts)
	}
}

// TestACheckNamesThePartThatFails: sessions that are refused are so under their own name, with the server's number,
// and nothing is said of locks, about which nobody asked.
func TestACheckNamesThePartThatFails(t *testing.T) {
	t.Parallel()
	stub := tdstest.Start(t, tdstest.Options{})
	for line, answer := range map[string]tdstest.Answer{
		"-- SQL Server 2016+ and Azure SQL: what the server is, and what we may see of it.":                                                 {Rows: [][]any{{3, 15, 1, 1, "[watcher]", "[dbo]", 0}}},
		"-- SQL Server 2016+: the databases, their states, whether we may look into them, and their query stores.":                          {Rows: [][]any{{1, "master", 0, 1, 0}}},
		"-- SQL Server 2016+: the databases of availability groups here, and whether this is their primary replica.":                        {},
		"-- SQL Server 2016+ and Azure SQL: the sessions of clients by database, by what they do and by what they wait for.":                {Error: &tdstest.NotReadable},
		"-- SQL Server 2016+ and Azure SQL: in how many days the password of our login expires; NULL where it does not.":                    {Rows: [][]any{{nil}}},
		"-- SQL Server 2016+ and Azure SQL: what time it is in UTC, how many minutes local time is ahead, and when the server was started.": {Error: &tdstest.Error{Number: 229}},
	} {
		stub.Answer(line, answer)
	}
	checked, _ := check(t, "sqlserver", stub.DSN("encrypt=disable"))
	parts := map[string]string{}
	for _, p := range checked.Parts {
		parts[p.Name] = p.Detail
	}
	if !strings.Contains(parts["note"], "encrypt=false") {
		t.Errorf("nothing is said of a readable password: %+v", checked.Parts)
	}
	if _, locks := parts["locks"]; locks || !strings.Contains(parts["sessions"], "978") || checked.OK() {
		t.Errorf("%+v", checked.Parts)
	}
}
