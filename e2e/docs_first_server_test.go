package e2e

import (
	"regexp"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/internal/engine/live"
	"muster/internal/servers"
	docs "muster/internal/servers/documented"
)

// TestTheGuideToTheFirstServer is followed as a DBA would: each platform has its place, each command prints a script,
// each connection string is accepted, and each query to ask before reads what the engine's documentation has.
func TestTheGuideToTheFirstServer(t *testing.T) {
	t.Parallel()
	text := readText(t, "docs/first-server.md")
	sections := map[fleet.Engine][]string{
		fleet.SQLServer:  {"On your own machines", "Azure SQL Database", "Azure SQL Managed Instance", "Amazon RDS", "Google Cloud SQL"},
		fleet.Oracle:     {"On your own machines", "OCI Base Database", "Amazon RDS for Oracle", "Autonomous Database"},
		fleet.PostgreSQL: {"your own machines", "Amazon RDS, Aurora", "Google Cloud SQL", "Azure Flexible Server", "Supabase", "Neon"},
	}
	titles := map[fleet.Engine]string{fleet.SQLServer: "SQL Server", fleet.Oracle: "Oracle", fleet.PostgreSQL: "PostgreSQL"}
	for engine, platforms := range sections {
		_, section, found := strings.Cut(text, "\n## "+titles[engine]+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found {
			t.Fatalf("%s has no section", engine)
		}
		for _, platform := range platforms {
			if !regexp.MustCompile(`(?m)^(### .*|\| )` + platform).MatchString(section) {
				t.Errorf("%s: nothing is said of %s", engine, platform)
			}
		}
		if strings.Contains(section, "Grants: `muster") && !strings.Contains(section, "--engine "+string(engine)) {
			t.Errorf("%s: its grants are printed for another engine", engine)
		}
	}
	for _, command := range regexp.MustCompile(`muster agent grants --engine (\w+)(?: --version (\w+))?`).FindAllStringSubmatch(text, -1) {
		if script, err := live.Grants(fleet.Engine(command[1]), command[2], ""); err != nil || !strings.Contains(script, "GRANT ") {
			t.Errorf("%s: %v", command[0], err)
		}
	}
	holdConnections(t, text)
	holdQuestions(t, text)
}

// holdConnections parses the connection strings of the guide, with something for each place that a reader fills in.
func holdConnections(t *testing.T, text string) {
	t.Helper()
	fill := strings.NewReplacer("<password>", "p", "<secret>", "s", "description=…", "description=(address=(protocol=tcps)(host=h)(port=1522))(connect_data=(service_name=s))")
	schemes := map[string]fleet.Engine{"sqlserver": fleet.SQLServer, "oracle": fleet.Oracle, "postgres": fleet.PostgreSQL}
	written := regexp.MustCompile("`((sqlserver|oracle|postgres)://[^`]+)`").FindAllStringSubmatch(text, -1)
	if len(written) < 7 {
		t.Errorf("only %d connection strings were found", len(written))
	}
	for _, one := range written {
		if _, err := servers.Parse(schemes[one[2]], fill.Replace(one[1])); err != nil {
			t.Errorf("%s: %v", one[1], err)
		}
	}
}

// holdQuestions looks each query of the guide up in the documentation of its engine.
func holdQuestions(t *testing.T, text string) {
	t.Helper()
	_, ours, _ := strings.Cut(text, "\n## SQL Server\n")
	sqlServer, oracle, _ := strings.Cut(ours, "\n## Oracle\n")
	oracle, _, _ = strings.Cut(oracle, "\n## PostgreSQL\n")
	for engine, section := range map[fleet.Engine]string{fleet.SQLServer: sqlServer, fleet.Oracle: oracle} {
		views, err := docs.Load(engine)
		if err != nil {
			t.Fatal(err)
		}
		queries := regexp.MustCompile("`(SELECT [^`]+)`").FindAllStringSubmatch(section, -1)
		if len(queries) < 3 {
			t.Errorf("%s: only %d queries were found", engine, len(queries))
		}
		for _, query := range queries {
			for _, fault := range views.Check("docs/first-server.md", 1, query[1]) {
				t.Errorf("%s: %s", query[1], fault)
			}
		}
	}
}
