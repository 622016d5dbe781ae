package catalogue

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/domain/fleet"
)

func TestReferencesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Reference{
		"cis-pg17 5.3":            {SourceCIS, "CIS PostgreSQL 17 Benchmark 1.1.0", "5.3", "https://www.cisecurity.org/cis-benchmarks"},
		"stig-ms22 V-271302":      {SourceSTIG, "DISA STIG Microsoft SQL Server 2022 Instance V1R4", "V-271302", "https://public.cyber.mil/stigs/"},
		"pci 8.3.2":               {SourcePCI, "PCI DSS 4.0.1", "8.3.2", "https://www.pcisecuritystandards.org/document_library/"},
		"iso A.8.24":              {SourceISO, "ISO/IEC 27001:2022 Annex A", "A.8.24", "https://www.iso.org/standard/27001"},
		"pg-cve CVE-2018-1058":    {SourceVendor, "PostgreSQL security advisories", "CVE-2018-1058", "https://www.postgresql.org/support/security/CVE-2018-1058/"},
		"pg-docs auth-password":   {SourceVendor, "PostgreSQL 15 documentation", "auth-password", "https://www.postgresql.org/docs/15/auth-password.html"},
		"ms-docs t-sql/x/grant":   {SourceVendor, "SQL Server 2022 documentation", "grant", "https://learn.microsoft.com/en-us/sql/t-sql/x/grant?view=sql-server-ver16"},
		"CIS PostgreSQL 5.3":      {},
		"cis-pg17":                {},
		"https://www.pgaudit.org": {},
	} {
		if got, ok := cited(text); got != want || ok != (want != Reference{}) {
			t.Errorf("%s: %+v %t, want %+v", text, got, ok, want)
		}
	}
}

// TestEveryReferenceHasSourceVersionAndID, and readers of its engine can follow it.
func TestEveryReferenceHasSourceVersionAndID(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	engine := map[string]fleet.Engine{"cis-pg17": fleet.PostgreSQL, "stig-pg": fleet.PostgreSQL, "pg-docs": fleet.PostgreSQL, "pg-cve": fleet.PostgreSQL,
		"cis-ms19": fleet.SQLServer, "stig-ms22": fleet.SQLServer, "ms-docs": fleet.SQLServer,
		"cis-oracle19": fleet.Oracle, "stig-oracle12": fleet.Oracle, "oracle-refrn": fleet.Oracle}
	used := map[string]int{}
	for _, check := range c.Checks() {
		if len(check.Cited()) != len(check.References) || len(check.References) == 0 {
			t.Errorf("%s: %d of %d references are read", check.ID, len(check.Cited()), len(check.References))
		}
		for _, r := range check.Cited() {
			if r.Source == "" || r.Version == "" || r.ID == "" || r.URL == "" || strings.Contains(r.URL, "%") {
				t.Errorf("%s: %+v", check.ID, r)
			}
		}
		for _, text := range check.References {
			key, _, _ := strings.Cut(text, " ")
			used[key]++
			if of := engine[key]; of != "" && string(of) != check.Engine {
				t.Errorf("%s of %s refers to %s", check.ID, check.Engine, text)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(editions)) {
		t.Logf("%4d %s", used[key], editions[key].version)
		if used[key] == 0 {
			t.Errorf("nothing refers to %s", key)
		}
	}
}

// TestVerifyNamesACompleteObject, or there is none: a part of a name would seem to be gone.
func TestVerifyNamesACompleteObject(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	index, _ := c.Check("PG-C04")
	for _, object := range []string{"", "a\uFFFDb", "public.very_long… #0a1b2c3d"} {
		if got := index.Verify(object); got != "" {
			t.Errorf("%q is verified by %s", object, got)
		}
	}
	if rule, _ := c.Check("PG-S30"); rule.Verify("PostgreSQL 12") != "" {
		t.Error("a rule is verified by a query")
	}
}
