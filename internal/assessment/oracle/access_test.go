package oracle

import (
	"errors"
	"os"
	"testing"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/servers/documented"
	"muster/internal/servers/serverstest"
)

func TestQueriesReadDocumentedColumns(t *testing.T) {
	t.Parallel()
	documented.Files(t, fleet.Oracle, os.DirFS("sql"))
}

// TestARefusalNamesTheGrants of every view that the check reads, and nothing else is one.
func TestARefusalNamesTheGrants(t *testing.T) {
	t.Parallel()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range c.Of(fleet.Oracle) {
		if check.Query == "" {
			continue
		}
		s := serverstest.New("ORCL")
		s.Fail(inspection.Query(check, inspection.Violations, ""), &servers.Refusal{Engine: fleet.Oracle, Code: "ORA-00942", Reason: servers.Denied})
		s.Fail(inspection.Query(check, inspection.Inapplicable, ""), &servers.Refusal{Engine: fleet.Oracle, Code: "ORA-00942", Reason: servers.Denied})
		results, grants := inspection.Look{Session: s, Server: access{account: "C##MUSTER"}, Account: "C##MUSTER"}.Run(t.Context(), []catalogue.Check{check})
		if got := results[0]; got.Status != snapshot.StatusNotAssessed || got.ReasonCode != snapshot.ReasonPermissionDenied || len(grants) != len(check.LeastRights()) {
			t.Errorf("%s: %+v with %d grants", check.ID, got, len(grants))
		}
	}
	check, _ := c.Check("OR-06")
	want := `GRANT SELECT ON SYS.DBA_ROLE_PRIVS TO "C##MUSTER";`
	if got := (access{account: "C##MUSTER"}).Refused(check, &servers.Refusal{Reason: servers.Denied}); got[0].Statement != want || len(got) != 2 {
		t.Errorf("%+v, want %s", got, want)
	}
	if got := (access{account: "C##MUSTER"}).Refused(check, &servers.Refusal{Reason: servers.Absent}); got != nil {
		t.Errorf("a column that is not there asks for %+v", got)
	}
}

func TestParametersAreReadOnce(t *testing.T) {
	t.Parallel()
	s := serverstest.New("ORCL")
	s.On(parametersSQL, []string{"O7_DICTIONARY_ACCESSIBILITY", "FALSE"}, []string{"remote_listener", serverstest.Null})
	got, err := readParameters(t.Context(), s)
	if err != nil || len(got) != 2 || got["o7_dictionary_accessibility"] != "FALSE" {
		t.Errorf("%v, %v", got, err)
	}
	if value, there := got["remote_listener"]; !there || value != "" {
		t.Error("an empty parameter is not there")
	}
	s.Fail(parametersSQL, errors.New("cut"))
	if _, err := readParameters(t.Context(), s); err == nil {
		t.Error("no error")
	}
}
