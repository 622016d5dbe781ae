package analysis_test

import (
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// The steps to have an instance assessed follow from the reason why it was not; there are none
// if it was, or if nothing helps.
func TestStepsToAnAssessment(t *testing.T) {
	t.Parallel()
	unreachable := func(class string) func(in *snapshot.Instance) {
		return func(in *snapshot.Instance) {
			in.Assessment = &snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable, ErrorClass: class}
		}
	}
	of := func(engine, class string) func(in *snapshot.Instance) {
		return func(in *snapshot.Instance) {
			unreachable(class)(in)
			in.Engine = engine
		}
	}
	never := func(engine string) func(in *snapshot.Instance) {
		return func(in *snapshot.Instance) { in.Engine, in.Collected, in.Assessment = engine, false, nil }
	}
	for name, test := range map[string]struct {
		make func(in *snapshot.Instance)
		want string // in the first step; empty: there is none
	}{
		"assessed":              {func(*snapshot.Instance) {}, ""},
		"without a connection":  {never("postgresql"), "GRANT pg_monitor TO muster"},
		"an Oracle":             {never("oracle"), "muster agent grants --engine oracle"},
		"an engine of no check": {never("mongodb"), ""},
		"gone":                  {func(in *snapshot.Instance) { *in = snapshot.Instance{Name: "removed", NotAssessed: "removed"} }, ""},
		"inactive":              {func(in *snapshot.Instance) { in.Active, in.Assessment = false, nil }, "Make the instance active"},
		"never looked at":       {func(in *snapshot.Instance) { in.Assessment = nil }, "Assess now"},
		"refused":               {unreachable("refused"), "listens at the registered address"},
		"too slow":              {unreachable("timeout"), "listens at the registered address"},
		"a wrong password":      {unreachable("authentication"), "a role and a password"},
		"a wrong certificate":   {unreachable("tls"), "sslmode"},
		"no such database":      {unreachable("database"), "Name a database"},
		"another network":       {unreachable("not_allowed"), "MUSTER_TARGET_NETWORKS"},
		"nobody knows why":      {unreachable(""), "instance's page says it"},
		"an account of Oracle":  {of("oracle", "authentication"), "an account and a password that the server accepts: neither locked"},
		"SQL Server's TLS":      {of("sqlserver", "tls"), "hostNameInCertificate"},
		"no such service":       {of("oracle", "database"), "a service or a SID"},
	} {
		doc := snapshottest.Rich(report.InstanceScorecard)
		for i := range doc.Checks[:10] {
			doc.Checks[i].Engine = []string{"oracle", "sqlserver"}[i%2]
		}
		test.make(&doc.Instances[0])
		steps := analysis.ToAssess(doc, &doc.Instances[0])
		if len(steps) == 0 != (test.want == "") || len(steps) > 0 && !strings.Contains(steps[0], test.want) {
			t.Errorf("%s: %q, want %q", name, steps, test.want)
		}
	}
}
