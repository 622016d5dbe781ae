package catalogue

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/servers/documented"
)

// queries are the queries of a check, by their names.
func (c Check) queries() map[string]string {
	all := map[string]string{"query": c.Query, "population": c.Population, "measure": c.Measure, "unreadable": c.Unreadable, "inapplicable": c.Inapplicable}
	maps.DeleteFunc(all, func(_, query string) bool { return query == "" })
	return all
}

// TestQueriesReadDocumentedColumns: each query of SQL Server and Oracle reads columns that the vendor
// documents, and gives the evidence and the parts of its object.
func TestQueriesReadDocumentedColumns(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []fleet.Engine{fleet.SQLServer, fleet.Oracle} {
		views, err := documented.Load(engine)
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range c.Of(engine) {
			for called, query := range check.queries() {
				q, faults := views.Read(check.ID+" "+called, 1, query)
				for _, fault := range faults {
					t.Error(fault)
				}
				want := 1
				if called == "query" {
					want += len(check.Object.Parts())
				}
				if q.Columns != want {
					t.Errorf("%s %s: %d columns, want %d", check.ID, called, q.Columns, want)
				}
			}
		}
	}
}

// TestPrintedReadsMatchTheQueries, and so do the printed grants.
func TestPrintedReadsMatchTheQueries(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	settings := map[fleet.Engine]string{fleet.SQLServer: "sys.configurations", fleet.Oracle: "v$parameter"}
	for _, engine := range []fleet.Engine{fleet.SQLServer, fleet.Oracle} {
		views, err := documented.Load(engine)
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range c.Of(engine) {
			if check.Query == "" {
				continue
			}
			read := map[string]map[string]bool{}
			for called, query := range check.queries() {
				q, _ := views.Read(called, 1, query)
				for view, columns := range q.Reads {
					if view == settings[engine] || view == "dual" {
						continue
					}
					if read[view] == nil {
						read[view] = map[string]bool{}
					}
					for _, column := range columns {
						read[view][column] = true
					}
				}
			}
			said := map[string]bool{}
			for _, r := range check.Reads {
				name := strings.ToLower(r.Name)
				switch {
				case r.Setting() && !strings.Contains(check.Query, "'"+r.Name+"'"):
					t.Errorf("%s reads %s, and its query does not", check.ID, r.Name)
				case r.Kind != ReadView:
					continue
				}
				said[name] = true
				columns := strings.Split(strings.ToLower(strings.Join(r.Columns, ",")), ",")
				slices.Sort(columns)
				if got := slices.Sorted(maps.Keys(read[name])); !slices.Equal(got, columns) {
					t.Errorf("%s reads %s %v, its queries %v", check.ID, name, columns, got)
				}
			}
			for view := range read {
				if !said[view] {
					t.Errorf("%s does not say that it reads %s", check.ID, view)
				}
			}
		}
	}
}
