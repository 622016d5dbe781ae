package feed

import (
	"cmp"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	g31 "github.com/pandatix/go-cvss/31"
	g40 "github.com/pandatix/go-cvss/40"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
)

var november = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// Each pair stands on both sides of a bound that the vendor named.
func TestVersionsOfOtherEnginesHaveTheirCVEs(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	for _, test := range []struct {
		engine             fleet.Engine
		version, cve, want string
	}{
		{fleet.SQLServer, "16.0.4240.3", "CVE-2026-26115", snapshot.CVEOpen},
		{fleet.SQLServer, "16.0.4240.4", "CVE-2026-26115", "absent"},
		{fleet.SQLServer, "16.0.1170.4", "CVE-2026-26115", snapshot.CVEOpen},
		{fleet.SQLServer, "16.0.1170.5", "CVE-2026-26115", "absent"}, // security updates alone, which is another branch
		{fleet.SQLServer, "16.0.4003.1", "CVE-2026-26115", snapshot.CVEOpen},
		{fleet.SQLServer, "2022 CU22", "CVE-2026-26115", snapshot.CVEOpen},
		{fleet.SQLServer, "2022 CU24", "CVE-2026-26115", "absent"},
		{fleet.SQLServer, "16.0.4200.1", "CVE-2025-49717", "absent"}, // its record names GDR and CU crosswise; the builds say which is which
		{fleet.SQLServer, "16.0.1139.9", "CVE-2025-49717", snapshot.CVEOpen},
		{fleet.SQLServer, "16.0.1140.6", "CVE-2025-49717", "absent"},
		{fleet.SQLServer, "16.0.4131.1", "CVE-2024-37318", snapshot.CVEUnknown}, // by a driver that somebody has to use
		{fleet.SQLServer, "16.0.4131.2", "CVE-2024-37318", "absent"},
		{fleet.SQLServer, "15.0.2116.1", "CVE-2024-37318", snapshot.CVEUnknown},
		{fleet.SQLServer, "14.0.3505.0", "CVE-2025-47997", snapshot.CVEOpen},
		{fleet.SQLServer, "14.0.3505.1", "CVE-2025-47997", "absent"},
		{fleet.SQLServer, "16.0.1175.0", "CVE-2026-33120", snapshot.CVEOpen},
		{fleet.SQLServer, "16.0.4003.1", "CVE-2026-33120", "absent"}, // its record names the branch of security updates alone
		{fleet.SQLServer, "13.0.6480.3", "CVE-2026-21262", snapshot.CVEOpen},
		{fleet.SQLServer, "13.0.6480.4", "CVE-2026-21262", "absent"},
		{fleet.SQLServer, "13.0.7075.4", "CVE-2026-21262", snapshot.CVEOpen},
		{fleet.SQLServer, "13.0.7075.5", "CVE-2026-21262", "absent"},
		{fleet.SQLServer, "12.0.6449.1", "CVE-2026-21262", snapshot.CVEUnknown}, // out of support since 2024: nobody looked
		{fleet.SQLServer, "12.0.6449.1", "CVE-2026-26116", "absent"},            // came with 2025
		{fleet.SQLServer, "12.0.6449.1", "CVE-2026-20803", "absent"},            // 2017 was in support and has it not
		{fleet.SQLServer, "14.0.3520.4", "CVE-2026-20803", "absent"},
		{fleet.Oracle, "19.31.0.0.0", "CVE-2026-61211", snapshot.CVEOpen},
		{fleet.Oracle, "19.32.0.0.0", "CVE-2026-61211", "absent"},
		{fleet.Oracle, "19.3.0.0.0", "CVE-2026-61211", snapshot.CVEOpen},
		{fleet.Oracle, "21.3.0.0.0", "CVE-2026-61211", "absent"},
		{fleet.Oracle, "23.26.2.0.0", "CVE-2026-61211", snapshot.CVEOpen},
		{fleet.Oracle, "23.26.3.0.0", "CVE-2026-61211", "absent"},
		{fleet.Oracle, "19.31.0.0.0", "CVE-2026-47039", snapshot.CVEUnknown},        // needs the Java VM
		{fleet.Oracle, "19.31.0.0.0", "CVE-2026-47045", snapshot.CVENotExploitable}, // of clients
		{fleet.Oracle, "12.2.0.1.0", "CVE-2026-61211", snapshot.CVEUnknown},
		{fleet.MySQL, "8.0.43", "CVE-2025-53069", snapshot.CVEOpen},
		{fleet.MySQL, "8.0.44", "CVE-2025-53069", "absent"},
		{fleet.MySQL, "8.0.43-34", "CVE-2025-53069", snapshot.CVEOpen},
		{fleet.MySQL, "8.4.6", "CVE-2025-53069", snapshot.CVEOpen},
		{fleet.MySQL, "8.4.7", "CVE-2025-53069", "absent"},
		{fleet.MySQL, "9.4.0", "CVE-2025-53069", snapshot.CVEOpen},
		{fleet.MySQL, "9.5.0", "CVE-2025-53069", "absent"},
		{fleet.MySQL, "5.7.44", "CVE-2025-53069", snapshot.CVEUnknown},
		{fleet.MongoDB, "7.0.34", "CVE-2026-9752", snapshot.CVEOpen},
		{fleet.MongoDB, "7.0.35", "CVE-2026-9752", "absent"},
		{fleet.MongoDB, "8.2.9", "CVE-2026-9752", snapshot.CVEOpen},
		{fleet.MongoDB, "8.2.10", "CVE-2026-9752", "absent"},
		{fleet.MongoDB, "7.0.34", "CVE-2026-9754", "absent"}, // came with 8.2
		{fleet.MongoDB, "4.4.29", "CVE-2026-9754", "absent"}, // and so is not in what is older and was not looked at
	} {
		r, concerns := f.Judge(test.engine, test.version, nil, november)
		if r == nil || r.CVEsUnknown {
			t.Fatalf("%s %s is not known: %+v", test.engine, test.version, r)
		}
		if got := applies(concerns, test.cve); got != test.want {
			t.Errorf("%s on %s %s is %s, want %s", test.cve, test.engine, test.version, got, test.want)
		}
	}
}

// TestAVersionThatMicrosoftKeepsHasNoRelease: Azure's version is that of SQL Server 2014, which is out of support.
func TestAVersionThatMicrosoftKeepsHasNoRelease(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	const version = "12.0.2000.8"
	if r, concerns := f.Judge(fleet.SQLServer, version, &snapshot.Assessment{Edition: "Enterprise Edition (64-bit)"}, november); r == nil || len(concerns) == 0 {
		t.Errorf("SQL Server 2014: %+v, %d CVEs", r, len(concerns))
	}
	if r, concerns := f.Judge(fleet.SQLServer, version, &snapshot.Assessment{Edition: "SQL Azure"}, november); r != nil || len(concerns) > 0 {
		t.Errorf("Azure SQL: %+v, %d CVEs", r, len(concerns))
	}
}

// A version that does not say which build it is has no CVE and is not clean.
func TestAVersionWithoutABuildHasNoKnownCVEs(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	for engine, versions := range map[fleet.Engine][]string{
		fleet.SQLServer: {"2022", "Microsoft SQL Server 2022", "2022 CU99"},
		fleet.Oracle:    {"19c", "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production", "26ai"},
		fleet.MySQL:     {"8.0", "8.0.mysql_aurora.3.05.2"},
		fleet.MongoDB:   {"7.0"},
	} {
		for _, version := range versions {
			r, concerns := f.Judge(engine, version, nil, november)
			if r == nil || !r.CVEsUnknown || r.CVEGap == "" || len(concerns) > 0 || r.Latest != "" {
				t.Errorf("%s %s: %+v, %d CVEs", engine, version, r, len(concerns))
			}
		}
	}
	for _, engine := range []fleet.Engine{fleet.SQLServer, fleet.Oracle, fleet.MySQL, fleet.MongoDB} {
		if f.gapOf(engine) == "" {
			t.Errorf("no gap is named for %s", engine)
		}
	}
	if r, _ := f.Judge(fleet.MySQL, "8.0.36", nil, november); r.CVEsUnknown || r.CVEGap == "" {
		t.Errorf("%+v", r)
	}
}

// packed is a version as one number: plain arithmetic beside what the feed does.
func packed(t *testing.T, version string) int64 {
	t.Helper()
	var n int64
	parts := strings.Split(version, ".")
	for i := range 4 {
		n *= 100_000
		if i < len(parts) {
			part, err := strconv.ParseInt(parts[i], 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			n += part
		}
	}
	return n
}

func unpacked(n int64) string {
	parts := make([]string, 4)
	for i := range parts {
		parts[3-i] = strconv.FormatInt(n%100_000, 10)
		n /= 100_000
	}
	return strings.Join(parts, ".")
}

// Every bound in the table is tried from both sides, and judged again by arithmetic on the
// table's own text. A bound with fewer numbers than a version (19.31) covers all versions that
// begin with it.
func TestEveryBoundMatchesTheTable(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	rows, err := csv.NewReader(strings.NewReader(string(advisoriesCSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	upTo := func(to string) int64 { // the first number that is beyond
		to = strings.TrimPrefix(to, "<")
		parts := strings.Split(to, ".")
		step := int64(1)
		for range 4 - len(parts) {
			step *= 100_000
		}
		return packed(t, to) + step
	}
	tried := 0
	for _, row := range rows[1:] {
		one := f.advisories[slices.IndexFunc(f.advisories, func(a advisory) bool { return a.ID == row[1] && a.engine == fleet.Engine(row[0]) })]
		var bounds []int64
		type interval struct{ from, to int64 }
		var in []interval
		for _, text := range strings.Fields(row[4]) {
			from, to, _ := strings.Cut(text, "..")
			first, fixed := strings.CutPrefix(to, "<")
			end := upTo(to)
			if fixed {
				end = packed(t, first)
			}
			in = append(in, interval{packed(t, from), end})
			bounds = append(bounds, packed(t, from)-1, packed(t, from), end-1, end)
		}
		for _, n := range bounds {
			if n < 0 {
				continue
			}
			want := slices.ContainsFunc(in, func(i interval) bool { return n >= i.from && n < i.to })
			v, ok := parseDotted(unpacked(n))
			if !ok {
				t.Fatal(n)
			}
			tried++
			if got := one.affects(v); got != want {
				t.Errorf("%s %s on %s: %t, by arithmetic %t", row[0], row[1], v, got, want)
			}
		}
	}
	if tried < 4000 {
		t.Errorf("%d bounds were tried", tried)
	}
}

// The scores of the table are those that the vectors give, computed by another library.
func TestScoresMatchTheirVectors(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	all := make([]snapshot.Vulnerability, 0, len(f.advisories)+len(f.vulnerabilities))
	for _, a := range f.advisories {
		all = append(all, a.Vulnerability)
	}
	for _, v := range f.vulnerabilities {
		all = append(all, v.Vulnerability)
	}
	for _, v := range all {
		var got float64
		if strings.HasPrefix(v.Vector, "CVSS:4.0/") {
			c, err := g40.ParseVector(v.Vector)
			if err != nil {
				t.Errorf("%s: %v", v.ID, err)
				continue
			}
			got = c.Score()
		} else {
			c, err := g31.ParseVector(v.Vector)
			if err != nil {
				t.Errorf("%s: %v", v.ID, err)
				continue
			}
			got = c.BaseScore()
		}
		if got != v.CVSS {
			t.Errorf("%s has %.1f, and its vector %s gives %.1f", v.ID, v.CVSS, v.Vector, got)
		}
		if v.Title == "" || v.Source == "" || strings.HasSuffix(v.Title, " ") || len(v.FixedIn) == 0 {
			t.Errorf("%+v", v)
		}
	}
}

// A server behind the latest known build of its major is reported, with the day, the target,
// the effort, and the version with the longest life.
func TestBehindTheLatestKnownBuild(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	for _, test := range []struct {
		engine                       fleet.Engine
		version, latest, of          string
		behind                       bool
		releases                     int
		target, targetMajor, longest string
	}{
		{fleet.SQLServer, "16.0.4249.9", "16.0.4265 (CU26)", "2026-07-16", true, 5, "16.0.4265 (CU26)", "2022", "2025"},
		{fleet.SQLServer, "16.0.4262.1", "16.0.4265 (CU26)", "2026-07-16", true, 1, "", "", "2025"}, // no CVE is known, and it is behind
		{fleet.SQLServer, "16.0.4265.3", "16.0.4265 (CU26)", "2026-07-16", false, 0, "", "", "2025"},
		{fleet.SQLServer, "16.0.9999.1", "16.0.4265 (CU26)", "2026-07-16", false, 0, "", "", "2025"}, // newer than all that is known
		{fleet.SQLServer, "16.0.1165.1", "16.0.1190 (RTM+GDR)", "2026-07-14", true, 4, "16.0.1190 (RTM+GDR)", "2022", "2025"},
		{fleet.SQLServer, "17.0.4065.4", "17.0.4075.5 (CU8)", "2026-08-13", true, 1, "", "", ""}, // none is supported longer
		{fleet.SQLServer, "13.0.6500.1", "13.0.6500 (SP3+GDR)", "2026-07-14", false, 0, "2025", "2025", ""},
		{fleet.SQLServer, "12.0.6449.1", "", "", false, 0, "2025", "2025", ""},
		{fleet.Oracle, "19.24.0.0.0", "19.32", "2026-07-21", true, 8, "19.32", "19c", "26ai"},
		{fleet.Oracle, "19.32.0.0.0", "19.32", "2026-07-21", false, 0, "", "", "26ai"},
		{fleet.Oracle, "23.26.1.0.0", "23.26.3", "2026-07-21", true, 2, "23.26.3", "26ai", ""},
		{fleet.Oracle, "23.9.0.25.07", "23.26.3", "2026-07-21", true, 0, "23.26.3", "26ai", ""}, // how many, nobody counts
		{fleet.Oracle, "21.12.0.0.0", "", "", false, 0, "26ai", "26ai", ""},                     // no build of 21c is known to clear it
		{fleet.MySQL, "8.4.2", "8.4.11", "2026-06-30", true, 9, "8.4.11", "8.4", ""},
		{fleet.MySQL, "8.0.36", "8.0.46", "2026-04-07", true, 10, "8.4", "8.4", ""}, // its end has come
		{fleet.MongoDB, "7.0.12", "7.0.40", "2026-08-11", true, 28, "7.0.40", "7.0", "8.0"},
		{fleet.MongoDB, "8.0.29", "8.0.29", "2026-08-11", false, 0, "", "", ""},
	} {
		r, concerns := f.Judge(test.engine, test.version, nil, november)
		if r == nil {
			t.Fatalf("%s %s is not known", test.engine, test.version)
		}
		longest, of := "", ""
		if r.Longest != nil {
			longest = r.Longest.Version
			if !r.Longest.EndOfLife.After(*r.EndOfLife) || r.Longest.Cost == "" || r.Longest.Build == "" {
				t.Errorf("%s %s: %+v", test.engine, test.version, *r.Longest)
			}
		}
		if r.LatestAt != nil {
			of = r.LatestAt.Format(time.DateOnly)
		}
		if r.Latest != test.latest || of != test.of || r.Behind != test.behind || r.MinorsBehind != test.releases ||
			r.Target != test.target || r.TargetMajor != test.targetMajor || longest != test.longest {
			t.Errorf("%s %s: %+v, of %s, longest %s", test.engine, test.version, *r, of, longest)
		}
		if (r.Target != "") != (r.Cost != "") {
			t.Errorf("%s %s: going to %q costs %q", test.engine, test.version, r.Target, r.Cost)
		}
		if test.target == "" { // nothing to go to, so nothing open; or nobody knows what clears it
			for _, c := range concerns {
				if c.Applies == snapshot.CVEOpen {
					t.Errorf("%s %s has %s and nowhere to go", test.engine, test.version, c.ID)
				}
			}
		} else if v, ok := parseDotted(strings.Fields(cmp.Or(r.TargetBuild, r.Target))[0]); !ok || !f.clears(test.engine, v, pendingOf(concerns)) {
			t.Errorf("%s %s: %s does not clear all", test.engine, test.version, r.Target)
		}
	}
}

// PostgreSQL has the same: the effort of the update, and the version with the longest life.
func TestAdviceForPostgreSQLStatesItsCost(t *testing.T) {
	t.Parallel()
	f := feedOf(t)
	for _, test := range []struct{ version, target, longest string }{
		{"15.18", "15.20", "18.7"}, {"15.20", "", "18.7"}, {"18.6", "18.7", ""}, {"13.23", "18.7", ""},
	} {
		v, _ := ParseVersion(test.version)
		r := f.Release(v, f.Concerns(v, nil), november)
		longest := ""
		if r.Longest != nil {
			longest = r.Longest.Version
		}
		if r.Target != test.target || longest != test.longest || (r.Cost != "") != (test.target != "") {
			t.Errorf("%s: %+v", test.version, *r)
		}
		if major := !strings.HasPrefix(test.target, v.Major+"."); test.target != "" && strings.Contains(r.Cost, "pg_upgrade") != major {
			t.Errorf("%s to %s costs %q", test.version, r.Target, r.Cost)
		}
	}
}

func TestInvalidTablesOfOtherEnginesAreRefused(t *testing.T) {
	t.Parallel()
	const head = "engine,id,cvss,vector,affected,component,precondition,value,title,published,source\n"
	const good = "mysql,CVE-2026-1,5.0,v,8.0.0..8.0.4,c,,,t,2026-01-02,s\n"
	for text, want := range map[string]string{
		good:                                         "",
		good + good:                                  "named twice",
		strings.Replace(good, "mysql", "db2", 1):     "unknown engine",
		strings.Replace(good, "5.0", "11", 1):        "score",
		strings.Replace(good, "8.0.0..", "", 1):      "affected",
		strings.Replace(good, "8.0.4", "7.9", 1):     "affected",
		strings.Replace(good, "8.0.4", "<8.0.0", 1):  "affected",
		strings.Replace(good, "8.0.4", "8.x", 1):     "affected",
		strings.Replace(good, "2026-01-02", "", 1):   "parsing time",
		strings.Replace(good, "8.0.0..8.0.4", "", 1): "affects no version",
	} {
		files := embedded()
		files.advisories = []byte(head + text)
		_, err := load(files)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	for name, change := range map[string]func(*tables){
		"build":    func(t *tables) { t.builds = append(slices.Clone(t.builds), "mysql,8.4,,8.4.x,,2026-01-01,,s\n"...) },
		"cost":     func(t *tables) { t.costs = append(slices.Clone(t.costs), "mysql,edition,words,s\n"...) },
		"coverage": func(t *tables) { t.coverage = append(slices.Clone(t.coverage), "mysql,soon,words,s\n"...) },
	} {
		files := embedded()
		change(&files)
		if _, err := load(files); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
