package feed

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

func feedOf(t *testing.T) *Feed {
	t.Helper()
	f, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func applies(concerns []snapshot.InstanceCVE, id string) string {
	for _, c := range concerns {
		if c.ID == id {
			return c.Applies
		}
	}
	return "absent"
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"15.18": "15.18", "9.6.24": "9.6.24", "18beta1": "", "17rc1": "",
		"15": "15", "9.6": "9.6", "15.0": "15.0", "v15.18": "15.18", "V15": "15", "150018": "15.18", "90624": "9.6.24", "150000": "15.0", // C12
		"PostgreSQL 15.18 (Debian 15.18-0+deb12u1)": "15.18", "Percona Server for PostgreSQL 15.18.1": "15.18", "EnterpriseDB 15.18.0": "15.18",
		"EDB Postgres Advanced Server 15.18.0": "15.18", "psql (PostgreSQL) 15.18": "15.18", "postgres (PostgreSQL) 16": "16", "postgresql 15.18": "15.18",
		"18 beta 1": "", "18-beta1": "", "16.0-rc1": "", "19devel": "", "17alpha1": "", "15x18": "15", "12345": "", "Oracle 19": "", "MySQL 8.0.36": "", "15.18-1.pgdg": "15.18", "": "", "x": "",
		"15.18 (Debian 15.18-0+deb12u1)":                           "15.18",
		"PostgreSQL 16.14 on x86_64-pc-linux-gnu, compiled by gcc": "16.14",
		"99999999999999999999.99999999999999999999":                "",
	} {
		v, ok := ParseVersion(text)
		if ok != (want != "") || ok && v.String() != want {
			t.Errorf("%q is %v, %t, want %q", text, v, ok, want)
		}
	}
	for num, want := range map[int]string{150018: "15.18", 90624: "9.6.24", 100000: "10.0", 180004: "18.4"} {
		if got := VersionOf(num).String(); got != want {
			t.Errorf("%d is %s, want %s", num, got, want)
		}
	}
}

// Each pair stands on both sides of a fixed version.
func TestConcernsEndWithTheFixedVersion(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	for _, test := range []struct{ version, cve, want string }{
		{"15.19", "CVE-2026-6460", snapshot.CVEOpen},
		{"15.20", "CVE-2026-6460", "absent"},
		{"17.11", "CVE-2026-6460", snapshot.CVEOpen},
		{"17.12", "CVE-2026-6460", "absent"},
		{"15.18", "CVE-2026-14664", snapshot.CVEOpen},
		{"15.19", "CVE-2026-14664", "absent"},
		{"9.6.23", "CVE-2021-23214", snapshot.CVEUnknown}, // its precondition cannot be told
		{"9.6.24", "CVE-2021-23214", "absent"},
		{"15.3", "CVE-2023-39418", snapshot.CVEOpen},
		{"14.8", "CVE-2023-39418", "absent"},            // MERGE came with 15, and 14 was in support: the project looked
		{"16.14", "CVE-2026-2007", "absent"},            // fixed in 18 only
		{"12.22", "CVE-2026-6460", snapshot.CVEUnknown}, // out of support since 2024: nobody looked
		{"12.22", "CVE-2024-4317", "absent"},
		{"18.1", "CVE-2024-10976", "absent"}, // newer than every major it names
		{"15.10", "CVE-2025-1094", snapshot.CVENotExploitable},
		{"12.22", "CVE-2025-1094", snapshot.CVENotExploitable}, // client programs, also where nobody looked at the version
		{"12.22", "CVE-2026-2007", "absent"},                   // fixed in 18 only, while 14 to 17 were looked at: it came with 18
		{"12.22", "CVE-2026-6476", "absent"},                   // came with 17
		{"11.22", "CVE-2024-4317", "absent"},                   // came with 14: 13 was in support all of 2024 and is not named
		{"11.22", "CVE-2024-10976", snapshot.CVEUnknown},       // named from 12 on, which ended in that year
	} {
		v, ok := ParseVersion(test.version)
		if !ok {
			t.Fatalf("%q is no version", test.version)
		}
		if got := applies(f.Concerns(v, nil), test.cve); got != test.want {
			t.Errorf("%s on %s is %s, want %s", test.cve, test.version, got, test.want)
		}
	}
}

func TestPreconditionsAreDecidedByTheAssessment(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	v := Version{Major: "15", Minor: 1}
	clean := snapshot.Assessment{
		Outcome: snapshot.OutcomeComplete, VersionText: "PostgreSQL 15.1 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit",
		Roles:   []snapshot.DatabaseRole{{Name: "postgres", Superuser: true, Attributes: []string{"REPLICATION"}}},
		Results: []snapshot.CheckResult{{CheckID: "PG-S11", Status: snapshot.StatusPass}},
	}
	exposed := snapshot.Assessment{
		Outcome: snapshot.OutcomeComplete, VersionText: "PostgreSQL 15.1 on armv7, compiled by gcc, 32-bit",
		Extensions: []snapshot.Extension{{Database: "app", Name: "plperl"}},
		Roles:      []snapshot.DatabaseRole{{Name: "copy", Attributes: []string{"REPLICATION"}}},
		Results:    []snapshot.CheckResult{{CheckID: "PG-S11", Status: snapshot.StatusFail}},
	}
	unread := clean
	unread.Results = []snapshot.CheckResult{
		{CheckID: "PG-S11", Status: snapshot.StatusNotAssessed, ReasonCode: snapshot.ReasonPermissionDenied},
		{CheckID: "PG-S17", Database: "hidden", Status: snapshot.StatusNotAssessed, ReasonCode: snapshot.ReasonDatabaseUnreachable},
	}
	sentClean, sentExposed := clean, exposed
	sentClean.Sent, sentExposed.Sent = true, true
	unreachable := snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable}
	for _, test := range []struct {
		cve, kind                                                       string
		clean, exposed, sentClean, sentExposed, unread, unreachable, no string
	}{
		{"CVE-2026-14670", "extension", snapshot.CVENotExploitable, snapshot.CVEOpen, snapshot.CVEUnknown, snapshot.CVEUnknown, snapshot.CVEUnknown, snapshot.CVEUnknown, snapshot.CVEUnknown},
		{"CVE-2026-6471", "attribute", snapshot.CVENotExploitable, snapshot.CVEOpen, snapshot.CVEUnknown, snapshot.CVEOpen, snapshot.CVENotExploitable, snapshot.CVEUnknown, snapshot.CVEUnknown},
		{"CVE-2026-14677", "build", snapshot.CVENotExploitable, snapshot.CVEOpen, snapshot.CVEUnknown, snapshot.CVEUnknown, snapshot.CVENotExploitable, snapshot.CVEUnknown, snapshot.CVEUnknown},
		{"CVE-2026-6478", "check", snapshot.CVENotExploitable, snapshot.CVEOpen, snapshot.CVENotExploitable, snapshot.CVEOpen, snapshot.CVEUnknown, snapshot.CVEUnknown, snapshot.CVEUnknown},
		{"CVE-2026-14664", "none", snapshot.CVEOpen, snapshot.CVEOpen, snapshot.CVEOpen, snapshot.CVEOpen, snapshot.CVEOpen, snapshot.CVEOpen, snapshot.CVEOpen},
	} {
		got := []string{
			applies(f.Concerns(v, &clean), test.cve), applies(f.Concerns(v, &exposed), test.cve),
			applies(f.Concerns(v, &sentClean), test.cve), applies(f.Concerns(v, &sentExposed), test.cve),
			applies(f.Concerns(v, &unread), test.cve), applies(f.Concerns(v, &unreachable), test.cve), applies(f.Concerns(v, nil), test.cve),
		}
		want := []string{test.clean, test.exposed, test.sentClean, test.sentExposed, test.unread, test.unreachable, test.no}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s (clean, exposed, sent clean, sent exposed, unread, unreachable, none): %s", test.cve, test.kind, diff)
		}
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	day := func(text string) time.Time {
		d, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, test := range []struct {
		version, at, latest, target string
		behind                      int
	}{
		{"15.18", "2026-11-20", "15.20", "15.20", 2},
		{"15.20", "2026-11-20", "15.20", "", 0},
		{"18.7", "2026-11-20", "18.7", "", 0},
		{"14.25", "2026-11-11", "14.25", "", 0},
		{"14.25", "2026-11-12", "14.25", "18.7", 0}, // its last day of support has passed: on to the newest major
		{"9.6.1", "2026-11-20", "9.6.24", "18.7", 23},
	} {
		v, _ := ParseVersion(test.version)
		at := day(test.at)
		r := f.Release(v, f.Concerns(v, nil), at)
		if r == nil {
			t.Fatalf("%s is unknown", test.version)
		}
		if r.Latest != test.latest || r.Target != test.target || r.MinorsBehind != test.behind {
			t.Errorf("%s on %s: %+v, want %+v", test.version, test.at, *r, test)
		}
		if test.target != "" && !r.TargetEndOfLife.After(at.AddDate(0, 11, 0)) {
			t.Errorf("%s on %s: %s is supported until %s", test.version, test.at, r.Target, r.TargetEndOfLife)
		}
	}
	for _, unknown := range []Version{{Major: "20"}, {Major: "8.4"}, {Major: "15", Minor: 21}} {
		if r := f.Release(unknown, nil, day("2026-11-20")); r != nil {
			t.Errorf("%s is known as %+v", unknown, *r)
		}
	}
}

func TestVulnerabilitiesAreListedOnceEach(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	a := f.Concerns(Version{Major: "15", Minor: 18}, nil)
	b := f.Concerns(Version{Major: "18", Minor: 4}, nil)
	got := f.Vulnerabilities(a, b)
	seen := map[string]bool{}
	for _, v := range got {
		if seen[v.ID] || v.Title == "" || strings.ContainsAny(v.Title[len(v.Title)-1:], " ,.") || v.CVSS == 0 {
			t.Errorf("%+v", v)
		}
		seen[v.ID] = true
	}
	for _, c := range append(a, b...) {
		if !seen[c.ID] {
			t.Errorf("%s is missing", c.ID)
		}
	}
}

func TestLoadNamesEveryFault(t *testing.T) {
	t.Parallel()
	const releases = "major,end_of_life,latest\n15,2027-11-11,\n"
	const header = "id,cvss,vector,fixed_in,component,precondition,value,title,source\n"
	for name, test := range map[string]struct{ releases, rows, want string }{
		"valid":        {releases, "CVE-2026-1,8.8,v,15.1,c,,,t,s\n", ""},
		"score":        {releases, "CVE-2026-1,x,v,15.1,c,,,t,s\n", "CVE-2026-1: score"},
		"fixed twice":  {releases, "CVE-2026-1,8.8,v,15.1 15.2,c,,,t,s\n", "fixed in"},
		"nowhere":      {releases, "CVE-2026-1,8.8,v,,c,,,t,s\n", "fixed nowhere"},
		"precondition": {releases, "CVE-2026-1,8.8,v,15.1,c,moon,full,t,s\n", "unknown precondition"},
		"id":           {releases, "X-2026-1,8.8,v,15.1,c,,,t,s\n", "no CVE id"},
		"end of life":  {"major,end_of_life,latest\n15,soon,\n", "CVE-2026-1,8.8,v,15.1,c,,,t,s\n", "major 15"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := embedded()
			files.releases, files.vulnerabilities = []byte(test.releases), []byte(header+test.rows)
			_, err := load(files)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestAMajorAlone has an end of life and no minor: neither how many releases it is behind nor
// which CVEs are open can be told. C12.
func TestAMajorAlone(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	at := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	for text, target := range map[string]bool{"15": false, "9.6": true, "14": true} { // what is over has to be left
		v, ok := ParseVersion(text)
		if !ok {
			t.Fatalf("%q is no version", text)
		}
		concerns := f.Concerns(v, nil)
		r := f.Release(v, concerns, at)
		if len(concerns) != 0 || r == nil || r.EndOfLife == nil || r.MinorsBehind != 0 || r.Latest != "" || !r.CVEsUnknown || r.CVEGap == "" || (r.Target != "") != target {
			t.Errorf("%s: %d CVEs, %+v", text, len(concerns), r)
		}
	}
	if r, _ := f.Judge(fleet.Oracle, "19", nil, at); r == nil || r.Major != "19c" || !r.CVEsUnknown || r.MinorsBehind != 0 {
		t.Errorf("Oracle 19: %+v", r)
	}
	if r, _ := f.Judge(fleet.SQLServer, "16.0", nil, at); r == nil || r.Major != "2022" || !r.CVEsUnknown || r.MinorsBehind != 0 {
		t.Errorf("SQL Server 16.0: %+v", r)
	}
}
