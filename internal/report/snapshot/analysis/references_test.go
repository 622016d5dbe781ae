package analysis_test

import (
	"testing"

	"muster/internal/report/snapshot/analysis"
)

func TestLinksOfReferences(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"CVE-2024-10979":                            "https://www.cve.org/CVERecord?id=CVE-2024-10979",
		"RFC 5802":                                  "https://www.rfc-editor.org/rfc/rfc5802",
		"CIS PostgreSQL 17 Benchmark 1.1.0, 6.8":    "https://www.cisecurity.org/cis-benchmarks",
		"DISA STIG Oracle Database 12c V1R12, V-1":  "https://public.cyber.mil/stigs/",
		"PCI DSS 4.0.1, 8.3.6":                      "https://www.pcisecuritystandards.org/document_library/",
		"ISO/IEC 27001:2022 Annex A, 8.5":           "https://www.iso.org/standard/27001",
		"https://www.postgresql.org/docs/15/x.html": "https://www.postgresql.org/docs/15/x.html",
		"CISO":                "",
		"javascript:alert(1)": "",
		"https:":              "",
		"postgresql.org/docs": "",
		"":                    "",
	} {
		if got := analysis.Address(reference); got != want {
			t.Errorf("%q leads to %q, want %q", reference, got, want)
		}
	}
}
