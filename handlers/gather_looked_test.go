package handlers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/domain/fleet"
	"muster/domain/report"
	"muster/handlers/gather/databases"
	"muster/handlers/gather/standing"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/inspection/inspectiontest"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

// looked is a document over servers that Muster assessed itself, with the results that the
// inspectors' tests keep; a scorecard covers the first server.
func looked(t *testing.T, kind report.Kind, engines ...fleet.Engine) snapshot.Document {
	t.Helper()
	known, err := feed.Load()
	if err != nil {
		t.Fatal(err)
	}
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	doc := snapshottest.Empty(kind)
	doc.Checks = checks.Definitions(engines...)
	for n, engine := range engines {
		found := inspectiontest.Read(t, filepath.Join("testdata", "looked", string(engine)+".json"))
		in := snapshot.Instance{
			ID: snapshottest.ID(100 + n), Name: string(engine) + "-01", Engine: string(engine), Version: "as somebody typed it", Active: true, Collected: true,
			CreatedAt: found.Assessment.StartedAt.AddDate(0, -1, 0), Assessment: &found.Assessment,
		}
		var classified []assessment.DatabaseClassification
		for name, run := range found.Classified {
			classified = append(classified, assessment.DatabaseClassification{Database: name, Classification: run})
		}
		databases.Join(&in, classified)
		doc.Instances = append(doc.Instances, in)
		doc.AsOf = found.Assessment.FinishedAt
	}
	standing.Versions(known, &doc)
	d, err := report.Find(kind)
	if err != nil {
		t.Fatal(err)
	}
	dropVerifications(&doc, d.Gathers(report.PartVerifications))
	return snapshot.Normalize(doc)
}

// printed is what a document says; with LOOKED_SAMPLES its file is kept there to look at.
func printed(t *testing.T, name string, doc snapshot.Document) string {
	t.Helper()
	renderer, err := pdf.New(pdf.Build{Version: "1.0.0", Commit: "0123abcd"})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := renderer.Render(&file, doc); err != nil {
		t.Fatal(err)
	}
	directory := os.Getenv("LOOKED_SAMPLES")
	if directory == "" {
		directory = t.TempDir()
	}
	path := filepath.Join(directory, name+".pdf")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tool, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("pdftotext is missing: install poppler-utils to check what the reports say")
	}
	out, err := exec.CommandContext(t.Context(), tool, "-raw", "-enc", "UTF-8", path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// TestDocumentsOfCollectedServers: those of SQL Server and Oracle state the same facts as those of PostgreSQL,
// and nothing that only holds for PostgreSQL or for feeds.
func TestDocumentsOfCollectedServers(t *testing.T) {
	t.Parallel()
	never := []string{"HBA", "pg_hba", "as registered", "feed that assesses", "does not connect to", "an older version classified it and did not look", "pg_monitor", "as a superuser", "may not read SELECT", "sign in locally only", "nobody told"}
	for name, tc := range map[string]struct {
		doc  snapshot.Document
		want []string
	}{
		"security": {looked(t, report.Security, fleet.SQLServer, fleet.Oracle), []string{
			"SQL Server 16.0.4135.4, Developer Edition (64-bit)", "Oracle 19.3.0.0.0, Enterprise Edition", "as a SYSDBA, line by line, on oracle-01:",
			`CORP\dba → ops → sysadmin`, "OLD → TEAM → DBA",
			"the monitoring role C##MUSTER lacks SELECT on SYS.DBA_USERS", "Database away is RESTORING.", `GRANT SELECT ON SYS.DBA_USERS TO "C##MUSTER";`, "CVE appendix",
		}},
		"inventory": {looked(t, report.DataInventory, fleet.SQLServer, fleet.Oracle), []string{
			"oracle-01 Oracle 12 9 75%", "sqlserver-01 SQL Server 12 9 75%", "oracle-01 Oracle HRPDB not encrypted 2", "at rest",
			"Not assessed on 2 databases (oracle-01 / AWAY, sqlserver-01 / away): it could not be read whether their files are encrypted.",
			"3 of 4 sensitive tables are known not to be encrypted at rest", "Controls: sa is disabled",
			"since Muster counts grants on a table of SQL Server and does not follow roles",
		}},
		"scorecard-sqlserver": {looked(t, report.InstanceScorecard, fleet.SQLServer), []string{
			"sqlserver-01 scores", "Install update 16.0.4265", "An update needs a restart; databases stay as they are.", "MS-60", "dbo.log",
		}},
		"scorecard-oracle": {looked(t, report.InstanceScorecard, fleet.Oracle), []string{
			"oracle-01 scores", "Install Release Update 19.32", "OR-16", "APP.V",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := printed(t, name, tc.doc)
			for _, want := range tc.want {
				if !strings.Contains(all, want) {
					t.Errorf("no %q", want)
				}
			}
			for _, not := range never {
				if at := strings.Index(all, not); at >= 0 {
					t.Errorf("says %q: …%s…", not, all[max(0, at-80):min(len(all), at+120)])
				}
			}
		})
	}
}

// TestPostgresVersion: if a feed's assessment gives a major version alone, a stored number does
// not make it a minor version. C12.
func TestPostgresVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		registered string
		assessment *snapshot.Assessment
		want       string // empty: none
	}{
		"registered":                  {"15.18", nil, "15.18"},
		"registered, the major alone": {"15", nil, "15"},
		"the server answered":         {"15", &snapshot.Assessment{VersionNum: 150018, VersionText: "PostgreSQL 15.18 on x86_64"}, "15.18"},
		"the first release":           {"15", &snapshot.Assessment{VersionNum: 150000, VersionText: "PostgreSQL 15.0 on x86_64"}, "15.0"},
		"sent":                        {"15.17", &snapshot.Assessment{Sent: true, VersionNum: 150018, VersionText: "15.18"}, "15.18"},
		"sent, the major alone":       {"14.1", &snapshot.Assessment{Sent: true, VersionText: "15"}, "15"},
		"kept as 15.0 before":         {"15", &snapshot.Assessment{Sent: true, VersionNum: 150000, VersionText: "15"}, "15"},
		"the fleet knows the minor":   {"15.18", &snapshot.Assessment{Sent: true, VersionText: "15"}, "15.18"},
		"nothing that is a version":   {"new", &snapshot.Assessment{Sent: true, VersionText: "newest"}, ""},
	} {
		v, ok := standing.PostgreSQL(&snapshot.Instance{Engine: "postgresql", Version: c.registered, Assessment: c.assessment})
		if ok != (c.want != "") || ok && v.String() != c.want {
			t.Errorf("%s: %s, %t", name, v, ok)
		}
	}
}
