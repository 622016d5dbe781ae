package sqlserver

import (
	"strings"
	"testing"

	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/inspection"
	"muster/internal/assessment/inspection/inspectiontest"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

// TestTheAssessmentUsedInDocumentsIsCurrent: the Inspector's findings on one server are kept for the test that
// makes documents of them.
func TestTheAssessmentUsedInDocumentsIsCurrent(t *testing.T) {
	t.Parallel()
	srv := newServer(t, row("shop", online, "1", "1", "0"), row("crm", online, "1", "0", "0"), row("away", "RESTORING", "0", serverstest.Null, "0"), row("master", online, "1", "0", "0"))
	violations := func(id string) string {
		return inspection.Query(catalogue.Check{Check: snapshot.Check{ID: id}}, inspection.Violations, "")
	}
	s := srv.sessions[""]
	s.On(violations("MS-66"), []string{"created 2020-01-01", "Northwind"})
	s.On(violations("MS-12"), []string{"is_policy_checked 0", "app"})
	s.On(loginsSQL, []string{"1", "sa", "S", "1", "1"}, []string{"3", "sysadmin", "R", "0", "0"}, []string{"10", "ops", "R", "0", "0"},
		[]string{"11", `CORP\dba`, "U", "0", "0"}, []string{"12", "app", "S", "0", "0"})
	s.On(membersSQL, []string{"1", "3"}, []string{"10", "3"}, []string{"11", "10"})
	s.On(permissionsSQL, []string{"12", "ALTER ANY LOGIN", "GRANT"})
	s.On(seenSQL, []string{"app"})
	for _, name := range []string{"", "shop", "crm"} {
		srv.grant(srv.sessions[name], func(right string) bool {
			return !strings.Contains(right, "CONTROL SERVER") && !strings.HasPrefix(right, "SELECT on msdb")
		})
	}
	srv.sessions["crm"].On(violations("MS-60"), []string{"no index with is_primary_key 1", "dbo", "log"})
	for _, name := range []string{"shop", "crm"} {
		srv.sessions[name].On(tablesSQL, []string{"1", "dbo", "people", "250000", "81920", "1", "0", "0", "0", "2", "1"})
		srv.sessions[name].On(columnsSQL, []string{"1", "email", "nvarchar", "200", "0", "0", "0"}, []string{"1", "code", "decimal", "9", "12", "2", "0"},
			[]string{"1", "password", "varchar", "60", "0", "0", "1"})
		srv.sessions[name].On(sensitivitySQL, []string{"dbo", "people", "code", "National ID", "Confidential", "20"})
	}
	inspector := srv.inspector()
	found, _ := inspector.Assess(t.Context(), servers.Target{})
	looked := inspectiontest.Looked{Assessment: found, Classified: map[string]snapshot.Classification{}}
	for _, name := range []string{"shop", "crm"} {
		looked.Classified[name] = inspector.Classify(t.Context(), servers.Target{}, name, assessment.ClassifyNames)
	}
	looked.Keep(t, "../../../handlers/testdata/looked/sqlserver.json", "MS-19")
}
