package mail_test

import (
	"strings"
	"testing"

	"muster/internal/mail"
)

// TestFault07AMailCountsNoUnassessedFindings as open, and says what is known without an assessment. Of assessed
// servers it has severities and the overdue findings.
func TestFault07AMailCountsNoUnassessedFindings(t *testing.T) {
	t.Parallel()
	for want, found := range map[string]mail.Findings{
		" (nothing assessed, 53 open CVEs, CVSS up to 9.8)": {Looked: &mail.Looked{Instances: 1, OpenCVEs: 53, WorstCVSS: 9.8}},
		" (nothing assessed, 1 open CVE, CVSS 8.8)":         {Looked: &mail.Looked{Instances: 1, OpenCVEs: 1, WorstCVSS: 8.8}},
		" (nothing assessed)":                               {Looked: &mail.Looked{Instances: 1}},
		" (0 open)":                                         {Looked: &mail.Looked{Instances: 1, Assessed: 1}},
		" (120 open (2 critical, 62 high), 43 overdue, 247 open CVEs, CVSS up to 9.9, 3 of 14 servers not assessed)": {
			Open: 120, Looked: &mail.Looked{Instances: 14, Assessed: 11, Critical: 2, High: 62, Overdue: 43, OpenCVEs: 247, WorstCVSS: 9.9},
		},
	} {
		n := notice()
		n.Findings = &found
		m := compose(t, n, ana)
		if !strings.HasSuffix(m.Subject, want) {
			t.Errorf("%q, want it to end with %q", m.Subject, want)
		}
		whole, err := m.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if found.Looked.Assessed == 0 && strings.Contains(string(whole), "0 open") {
			t.Errorf("%q says 0 open of what nobody looked at", m.Subject)
		}
	}
}
