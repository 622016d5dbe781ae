package watch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"

	"muster/internal/watch"
)

// broughtAbout has for each rule of the catalogue the test that brings it about, and what it is brought about on. Each of these
// tests sees it raised, delivered to a webhook and a mail server, and resolved, once each, and compares the preview of its setting.
var broughtAbout = map[watch.Rule]struct{ test, on string }{
	watch.Down:              {"TestAvailabilityOfARealServer", "PostgreSQL, stopped and started"},
	watch.Silent:            {"TestAnAgentOfARealServerFallsSilent", "PostgreSQL, whose agent stops"},
	watch.NotMeasured:       {"TestAvailabilityOfARealServer", "PostgreSQL, whose pg_stat_activity may not be read"},
	watch.LockWait:          {"TestLongRulesOfMinutesOnARealServer", "PostgreSQL"},
	watch.Blocking:          {"TestRulesAreBroughtAboutOnARealServer", "PostgreSQL"},
	watch.LongTransaction:   {"TestLongRulesOfMinutesOnARealServer", "PostgreSQL"},
	watch.IdleInTransaction: {"TestLongRulesOfMinutesOnARealServer", "PostgreSQL"},
	watch.Deadlocks:         {"TestRulesAreBroughtAboutOnARealServer", "PostgreSQL"},
	watch.Connections:       {"TestRulesAreBroughtAboutOnARealServer", "PostgreSQL"},
	watch.TemporaryFiles:    {"TestRulesAreBroughtAboutOnARealServer", "PostgreSQL"},
	watch.ReplicationLag:    {"TestReplicationIsWatched", "PostgreSQL, a primary and a standby"},
	watch.ReplicationBroken: {"TestReplicationIsWatched", "PostgreSQL, a primary and a standby"},
	watch.BackupRPO:         {"TestABackupOfARealServerIsLate", "PostgreSQL, with what pgBackRest prints of that cluster"},
	watch.Certificate:       {"TestACertificateOfARealServerIsRenewed", "PostgreSQL, with TLS"},
	watch.Volume:            {"TestAVolumeOfARealServerFills", "PostgreSQL, which grows; the size of the volume is a reported figure"},
	watch.FullIn:            {"TestAVolumeOfARealServerFills", "PostgreSQL, which grows; the size of the volume is a reported figure"},
	watch.Wraparound:        {"TestTransactionIDsOfARealServerRunOut", "PostgreSQL, forced to 60 %"},
	watch.FailedJobs:        {"TestAJobFails", "what is read from recorded rows of SQL Server and Oracle"},
}

// TestEachRuleHasATest: the table above has all rules, and no test that is gone.
func TestEachRuleHasATest(t *testing.T) {
	t.Parallel()
	isTest := func(f fs.FileInfo) bool { return strings.HasSuffix(f.Name(), "_test.go") }
	parsed, err := parser.ParseDir(token.NewFileSet(), ".", isTest, 0) //nolint:staticcheck // SA1019: these files have no build tags
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, pkg := range parsed {
		for _, file := range pkg.Files {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
					tests[f.Name.Name] = true
				}
			}
		}
	}
	for _, rule := range watch.Rules() {
		if at, there := broughtAbout[rule]; !there || !tests[at.test] {
			t.Errorf("no test brings about the rule %s: %+v", rule, at)
		}
	}
	if len(broughtAbout) != len(watch.Rules()) {
		t.Errorf("%d rules are brought about, of %d", len(broughtAbout), len(watch.Rules()))
	}
}
