package sqlserver

import (
	"slices"
	"strings"
	"testing"

	"muster/internal/assessment"
	"muster/internal/engine/sqlserver"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// TestF25GraphTablesAreSampled without the columns that SQL Server keeps for itself in them.
func TestF25GraphTablesAreSampled(t *testing.T) {
	t.Parallel()
	srv := newServer(t, row("shop", online, "1", "0", "0"))
	s := srv.sessions["shop"]
	const hex = "_0A1B2C3D4E5F60718293A4B5C6D7E8F9"
	s.On(tablesSQL, []string{"1", "dbo", "follows", "10", "8192", "1", "0", "0", "0", "0", "0"})
	s.On(columnsSQL, []string{"1", "graph_id" + hex, "bigint", "8", "19", "0", "0"}, []string{"1", "$edge_id" + hex, "nvarchar", "2000", "0", "0", "0"},
		[]string{"1", "from_obj_id" + hex, "int", "4", "10", "0", "0"}, []string{"1", "to_id" + hex, "bigint", "8", "19", "0", "0"}, []string{"1", "graph_id", "bigint", "8", "19", "0", "0"})
	s.On(sensitivitySQL)
	s.On(`select top (200) left(convert(nvarchar(4000), [$edge_id`+hex+`]), 256), left(convert(nvarchar(4000), [graph_id]), 256) from [dbo].[follows]`, []string{"{}", "1"})
	run := srv.inspector().Classify(t.Context(), servers.Target{}, "shop", assessment.ClassifyValues)
	if run.TablesSampled != 1 || len(run.FailedTables) != 0 || run.ColumnsSeen != 2 {
		t.Errorf("%+v", run)
	}
}

func TestColumnsAreClassifiedByLabelNameAndValue(t *testing.T) {
	t.Parallel()
	srv := newServer(t, row("shop", online, "1", "0", "0"))
	s := srv.sessions["shop"]
	s.On(tablesSQL, []string{"1", "dbo", "people", "50000", "8192", "1", "0", "0", "0", "2", "1"}, []string{"2", "dbo", "hidden", "10", "8192", "1", "0", "0", "1", "0", "0"},
		[]string{"3", "x]y", "🦄", "10", "8192", "1", "0", "0", "0", "0", "0"})
	s.On(columnsSQL, []string{"1", "email", "nvarchar", "200", "0", "0", "0"}, []string{"1", "note", "nvarchar", "-1", "0", "0", "0"}, []string{"1", "code", "decimal", "9", "12", "2", "0"},
		[]string{"1", "password", "varchar", "60", "0", "0", "1"}, []string{"2", "phone", "varchar", "20", "0", "0", "0"}, []string{"3", "e]mail", "varchar", "20", "0", "0", "0"})
	s.On(sensitivitySQL, []string{"dbo", "people", "code", "National ID", "Confidential", "20"}, []string{"dbo", "people", "note", "Our own", "Secret", "40"})
	people := `select top (200) left(convert(nvarchar(4000), [email]), 256), left(convert(nvarchar(4000), [note]), 256), left(convert(nvarchar(4000), [code]), 256) from [dbo].[people]`
	s.On(people+" tablesample system (8.000000 percent)", []string{"ada@example.com", "DE89370400440532013000", "1"}, []string{"bob@example.org", "GB82WEST12345698765432", "2"})
	s.On(`select top (200) left(convert(nvarchar(4000), [e]]mail]), 256) from [x]]y].[🦄]`, []string{"x"})
	run := srv.inspector().Classify(t.Context(), servers.Target{}, "shop", assessment.ClassifyValues)
	if run.Status != snapshot.ClassificationPartial || run.TablesSeen != 3 || run.TablesSampled != 2 || run.ColumnsSeen != 6 ||
		!strings.Contains(run.Reason, "1 of 3 tables") || !strings.Contains(run.Reason, "1 columns have a label of an information type") {
		t.Errorf("%+v", run)
	}
	if len(run.FailedTables) != 1 || run.FailedTables[0].Reason != "A security policy hides rows of it, and does not say so." {
		t.Errorf("%+v", run.FailedTables)
	}
	var got []string
	for _, table := range run.Tables {
		for _, c := range table.Columns {
			got = append(got, table.Name+"."+c.Name+" "+c.DataType+" "+c.InfoType+" "+c.Confidence)
		}
	}
	for _, want := range []string{"people.email nvarchar(100) E-mail Certain", "people.note nvarchar(max) IBAN Certain", "people.password varchar(60) Password / secret High"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	if i := slices.IndexFunc(got, func(s string) bool {
		return strings.HasPrefix(s, "people.code decimal(12,2) ") && strings.HasSuffix(s, "Certain")
	}); i < 0 {
		t.Errorf("a label does not count: %q", got)
	}
	if people := run.Tables[slices.IndexFunc(run.Tables, func(t snapshot.ClassifiedTable) bool { return t.Name == "people" })]; !people.PublicAccess || people.Grantees != 2 || people.EstimatedRows != 50000 {
		t.Errorf("%+v", people)
	}
	srv.grant(s, func(right string) bool { return right != sqlserver.ViewLabels })
	if run := srv.inspector().Classify(t.Context(), servers.Target{}, "shop", assessment.ClassifyNames); run.Status != snapshot.ClassificationPartial ||
		!strings.Contains(run.Reason, "GRANT VIEW ANY SENSITIVITY CLASSIFICATION TO [muster];") {
		t.Errorf("labels that may be hidden: %+v", run)
	}
	s.Fail(sensitivitySQL, &servers.Refusal{Reason: servers.Absent})
	if run := srv.inspector().Classify(t.Context(), servers.Target{}, "shop", assessment.ClassifyNames); run.Status != snapshot.ClassificationCompleted {
		t.Errorf("before 2019: %+v", run)
	}
	srv.grant(s, func(string) bool { return false })
	if run := srv.inspector().Classify(t.Context(), servers.Target{}, "shop", assessment.ClassifyNames); run.Status != snapshot.ClassificationFailed ||
		!strings.Contains(run.Reason, "GRANT VIEW ANY DEFINITION") {
		t.Errorf("tables that may be hidden: %+v", run)
	}
	if run := srv.inspector().Classify(t.Context(), servers.Target{}, "shop", assessment.ClassifyOff); run.Status != snapshot.ClassificationOff {
		t.Errorf("%+v", run)
	}
}
