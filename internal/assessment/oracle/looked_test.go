package oracle

import (
	"testing"

	"muster/internal/assessment"
	"muster/internal/assessment/inspection/inspectiontest"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

// TestTheAssessmentUsedInDocumentsIsCurrent: the Inspector's findings on one server are kept for the test that
// makes documents of them.
func TestTheAssessmentUsedInDocumentsIsCurrent(t *testing.T) {
	t.Parallel()
	srv := newServer(t, []string{"1", "CDB$ROOT", "READ WRITE", "0"}, []string{"3", "HRPDB", "READ WRITE", "4194304"}, []string{"4", "AWAY", "MOUNTED", "0"})
	s := srv.answers[service]
	user := func(name, status, maintained string) []string {
		return []string{name, status, "PASSWORD", "11G 12C ", "DEFAULT", maintained, "1795435200000000"}
	}
	s.On(usersSQL, user("SYS", "OPEN", "Y"), user("APP", "OPEN", "N"), user("OLD", "LOCKED", "N"))
	s.On(rolesSQL, []string{"DBA", "NONE", "Y"}, []string{"TEAM", "NONE", "N"})
	s.On(membersSQL, []string{"SYS", "DBA", "YES"}, []string{"TEAM", "DBA", "NO"}, []string{"OLD", "TEAM", "NO"})
	s.On(privilegesSQL, []string{"APP", "SELECT ANY TABLE", "NO"})
	s.On(administratorsSQL, []string{"SYS"})
	s.On(seenSQL, []string{"APP"})
	s.On(of("OR-01"), []string{"OPEN", "SCOTT"})
	s.Fail(of("OR-10"), &servers.Refusal{Code: "ORA-00942", Reason: servers.Denied})
	pdb := srv.answers["HRPDB"]
	pdb.On(tablespacesSQL, []string{"2", "1"})
	pdb.On(of("OR-16"), []string{"VIEW", "APP", "V"})
	pdb.On(tablesSQL, []string{"APP", "PEOPLE", "50000", "8192", "NO", "0", "2", "1"}, []string{"App", "Löhne 🦄", serverstest.Null, serverstest.Null, "NO", "0", "0", "0"})
	pdb.On(columnsSQL, []string{"APP", "PEOPLE", "EMAIL", "VARCHAR2", "100", "", ""}, []string{"APP", "PEOPLE", "BIRTH_DATE", "DATE", "0", "", ""},
		[]string{"App", "Löhne 🦄", "PASSWORD", "VARCHAR2", "20", "", ""})
	inspector := srv.inspector()
	found, _ := inspector.Assess(t.Context(), target)
	looked := inspectiontest.Looked{Assessment: found, Classified: map[string]snapshot.Classification{
		"HRPDB": inspector.Classify(t.Context(), target, "HRPDB", assessment.ClassifyNames),
	}}
	looked.Keep(t, "../../../handlers/testdata/looked/oracle.json", "OR-14")
}
