package pdf_test

import (
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// Servers of other engines that are behind show by how much and since when, the fix and its
// effort; gaps of the feed are named, and no known CVE is no 0.
func TestVersionsOfOtherEnginesArePrinted(t *testing.T) {
	t.Parallel()
	doc := faultless(report.Security)
	day := func(y, m, d int) *time.Time { at := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC); return &at }
	doc.AsOf = *day(2026, 11, 23)
	behind, current := &doc.Instances[0], &doc.Instances[1]
	behind.Name, behind.Engine, current.Name, current.Engine = "erp", "sqlserver", "crm", "sqlserver"
	behind.Release = &snapshot.Release{
		Major: "2022", Latest: "16.0.4265 (CU26)", LatestAt: day(2026, 7, 16), Behind: true, MinorsBehind: 24, EndOfLife: day(2033, 1, 11),
		Target: "16.0.4265 (CU26)", TargetMajor: "2022", TargetEndOfLife: day(2033, 1, 11), Cost: "one package and a restart",
		Longest: &snapshot.LongestSupport{Version: "2025", Build: "17.0.4075.5", EndOfLife: *day(2036, 1, 6), Cost: "Setup in place"},
		CVEGap:  "of its CVEs some are known",
	}
	behind.Release.RegisteredAs = "15.0.2000.5"
	behind.CVEs = []snapshot.InstanceCVE{{ID: "CVE-2026-1", Applies: snapshot.CVEOpen}, {ID: "CVE-2026-2", Applies: snapshot.CVEOpen}}
	current.Release = &snapshot.Release{Major: "2022", Latest: "16.0.4265 (CU26)", LatestAt: day(2026, 7, 16), EndOfLife: day(2033, 1, 11), CVEGap: "of its CVEs some are known"}
	current.CVEs = nil
	doc.Vulnerabilities = []snapshot.Vulnerability{{ID: "CVE-2026-1", CVSS: 8.8, Vector: "CVSS:3.1/AV:N", Title: "a flaw", FixedIn: []string{"15.0.4460.4", "16.0.4240.4"}, Source: "s"},
		{ID: "CVE-2026-2", CVSS: 4.9, Vector: "CVSS:3.1/AV:N", Title: "a lesser one", Component: "Optimizer", FixedIn: []string{"after 16.0.4240"}, Source: "t"}}
	behind.Assessment.VersionText, behind.Assessment.VersionNum, behind.Assessment.Sent = "16.0.4135.4", 0, true
	file, _ := render(t, renderer(t), doc)
	all := strings.Join(words(t, file), " ")
	for _, want := range []string{
		"16.0.4265 (CU26) 24 behind, of 2026-07-16", "then 2025 to 2036-01-06", "Upgrade effort", "one package and a restart.", "2025: 17.0.4075.5 Setup in place.",
		"Known in part on 2 instances", "of its CVEs some are known.", "A dash in a CVE column: none is known.", "none known",
		"Update SQL Server 16.0.4135.4 to 16.0.4265 (CU26)", "Open on erp",
		"registered as 15.0.2000.5", "Contradicted: erp is registered as 15.0.2000.5 and reports 16.0.4135.4.", "OPEN CVES 2†", "a lesser one.", "after 16.0.4240",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
	for _, wrong := range []string{"15.0.4460.4", "a new major version", "Not assessed on 2 instances (crm"} {
		if strings.Contains(all, wrong) {
			t.Errorf("%q is in it", wrong)
		}
	}
}

// TestVersionsNewerThanTriedAreMarked, C26: under the table of versions and in a scorecard's hints,
// whether the feed knows the version or not.
func TestVersionsNewerThanTriedAreMarked(t *testing.T) {
	t.Parallel()
	for kind, want := range map[report.Kind]string{
		report.Security:          "19.0 is newer than the newest tried (18). Checks and measurements may miss what the version changed.",
		report.InstanceScorecard: "PostgreSQL 19.0 is newer than the newest tried (18). Checks and measurements may miss what the version changed.",
	} {
		doc := faultless(kind)
		in := &doc.Instances[0]
		in.Name = "fresh"
		for version, says := range map[string]bool{"19.0": true, "18.4": false} {
			in.Assessment.VersionText, in.Assessment.VersionNum, in.Release = "PostgreSQL "+version+" on x86_64-pc-linux-gnu", 0, nil
			file, _ := render(t, renderer(t), doc)
			if all := strings.Join(words(t, file), " "); strings.Contains(all, want) != says {
				t.Errorf("%s of %s: says %q: %t", kind, version, want, !says)
			}
		}
	}
}
