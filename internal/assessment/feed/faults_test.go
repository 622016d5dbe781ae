package feed

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

// how says how a CVE concerns a version, and why; "": it does not.
func how(concerns []snapshot.InstanceCVE, id string) (applies, words string) {
	for _, c := range concerns {
		if c.ID == id {
			return c.Applies, c.Precondition
		}
	}
	return "", ""
}

// TestFault21DumpsConcernTheServer: the server has to be updated as well as pg_dump, and libpq is in the server, too.
func TestFault21DumpsConcernTheServer(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	for _, id := range []string{"CVE-2024-7348", "CVE-2025-12818", "CVE-2026-6477"} {
		v, _ := ParseVersion("15.6")
		applies, words := how(f.Concerns(v, &snapshot.Assessment{Outcome: snapshot.OutcomeComplete}), id)
		if applies != snapshot.CVEUnknown || !strings.Contains(words, "which was not looked at") || strings.Contains(words, "the running server is not exposed") {
			t.Errorf("%s: %s, %s", id, applies, words)
		}
	}
}

// TestFault22AnUpdateAloneDoesNotClose a CVE that needs a script in each database: open below the fixed version, and not
// ruled out above it; no version clears it, and later majors do not have it.
func TestFault22AnUpdateAloneDoesNotClose(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	const id, script = "CVE-2024-4317", "share/fix-CVE-2024-4317.sql"
	for version, want := range map[string]string{
		"15.6": snapshot.CVEOpen, "16.4": snapshot.CVEUnknown, "15.20": snapshot.CVEUnknown, "14.12": snapshot.CVEUnknown, "17.2": "", "18.7": "",
	} {
		v, _ := ParseVersion(version)
		concerns := f.Concerns(v, nil)
		applies, words := how(concerns, id)
		if applies != want || want != "" && !strings.Contains(words, script) {
			t.Errorf("%s: %q, %s", version, applies, words)
		}
		if r := f.Release(v, concerns, november); version == "15.20" && r.Target != "" {
			t.Errorf("%s: an update to %s clears nothing", version, r.Target)
		}
	}
}

// TestFault23MongoDBHasPreconditions and the vendor's score.
func TestFault23MongoDBHasPreconditions(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	_, concerns := f.Judge(fleet.MongoDB, "7.0.12", nil, november)
	if applies, words := how(concerns, "CVE-2025-3085"); applies != snapshot.CVEUnknown || !strings.Contains(words, "revoked certificates") {
		t.Errorf("%s, %s", applies, words)
	}
	for _, v := range f.Vulnerabilities(concerns) {
		if v.ID == "CVE-2025-3085" && v.CVSS != 8.1 {
			t.Errorf("CVSS %.1f", v.CVSS)
		}
	}
}

// TestFault24EachScoreNamesItsSource, and PostgreSQL's are those of the project.
func TestFault24EachScoreNamesItsSource(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	v, _ := ParseVersion("15.6")
	_, mongo := f.Judge(fleet.MongoDB, "7.0.12", nil, november)
	want := map[string]float64{"CVE-2024-10976": 4.2, "CVE-2024-10977": 3.1}
	seen := map[string]bool{}
	for _, v := range f.Vulnerabilities(f.Concerns(v, nil), mongo) {
		if score, named := want[v.ID]; named && v.CVSS != score {
			t.Errorf("%s has %.1f, PostgreSQL says %.1f", v.ID, v.CVSS, score)
		}
		if v.ScoredBy == "" {
			t.Errorf("nobody gave %s its score", v.ID)
		}
		seen[v.ScoredBy] = true
	}
	if !seen["computed from the vector"] || len(seen) < 2 {
		t.Errorf("%v", seen)
	}
}

// TestFault14ExploitedVulnerabilitiesAreMarked with the day on which CISA listed them.
func TestFault14ExploitedVulnerabilitiesAreMarked(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	_, concerns := f.Judge(fleet.MongoDB, "7.0.12", nil, november)
	marked := 0
	for _, v := range f.Vulnerabilities(concerns) {
		if v.ExploitedSince == nil {
			continue
		}
		marked++
		if v.ID != "CVE-2025-14847" || v.ExploitedSince.Format(time.DateOnly) != "2025-12-29" {
			t.Errorf("%s since %s", v.ID, v.ExploitedSince)
		}
	}
	if marked != 1 {
		t.Errorf("%d are marked", marked)
	}
	updated, err := f.With([]Record{recordOf(fleet.MongoDB, "CVE-2026-99999", november, "8.0.0..<8.0.40")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(updated.Vulnerabilities(concerns), func(v snapshot.Vulnerability) bool { return v.ExploitedSince != nil }) {
		t.Error("with an update, none is marked")
	}
	for name, text := range map[string]string{"no day": "id,added,source\nCVE-1-1,soon,x\n", "twice": "id,added,source\nCVE-1-1,2026-01-01,x\nCVE-1-1,2026-01-01,x\n", "no id": "id,added,source\nx,2026-01-01,x\n"} {
		if err := new(Feed).readExploited([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestFault31TheListOfReleasesHasAnEnd, and PostgreSQL 19 is on it, but no version to go to before its first update.
func TestFault31TheListOfReleasesHasAnEnd(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	r, _ := f.Judge(fleet.Oracle, "19.24.0.0.0", nil, november)
	if r.KnownUntil == nil || r.KnownUntil.Format(time.DateOnly) != "2026-08-21" {
		t.Errorf("%+v", r)
	}
	v, _ := ParseVersion("19.0")
	newest := f.Release(v, nil, november)
	if newest == nil || newest.KnownUntil == nil || newest.EndOfLife.Year() != 2031 {
		t.Fatalf("%+v", newest)
	}
	old, _ := ParseVersion("12.22")
	if r := f.Release(old, nil, november); r.Target != "18.7" {
		t.Errorf("go to %s", r.Target)
	}
	if v, _ := ParseVersion("14.25"); !f.Release(v, nil, november).EndOfLife.Equal(time.Date(2026, 11, 12, 0, 0, 0, 0, time.UTC)) {
		t.Error("14 ended on 2026-11-12")
	}
}

// TestFault32TheMajorHasTheNameOfItsReleases: 23.26 is Oracle AI Database 26ai, which 23ai became.
func TestFault32TheMajorHasTheNameOfItsReleases(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	for _, version := range []string{"23.9.0.25.07", "23.26.1.0.0", "23ai", "26ai", "Oracle Database 23ai Free"} {
		if r, _ := f.Judge(fleet.Oracle, version, nil, november); r == nil || r.Major != "26ai" {
			t.Errorf("%s: %+v", version, r)
		}
	}
	if r, _ := f.Judge(fleet.Oracle, "21.12.0.0.0", nil, november); r == nil || r.Target != "26ai" {
		t.Errorf("go to %+v", r)
	}
}
