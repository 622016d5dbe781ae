package pdf

import (
	"fmt"

	"muster/domain/report"
)

// section is one heading of §4.10 and what goes under it.
type section struct {
	title   string
	write   func()
	objects bool // it names every object of a finding
}

// knownSections has every report.Section.
func (b *builder) knownSections() map[report.Section]section {
	return map[report.Section]section{
		report.SectionSummary:     {title: "Summary", write: b.scoped(b.securitySummary)},
		report.SectionVersions:    {title: "Versions and known vulnerabilities", write: b.scoped(b.versions)},
		report.SectionFindings:    {title: "Security findings", write: b.securityFindings, objects: true},
		report.SectionAccounts:    {title: "Privileged accounts", write: b.scoped(b.accounts)},
		report.SectionRemediation: {title: "Remediation plan", write: b.scoped(b.remediation)},
		report.SectionCoverage:    {title: "Coverage and methodology", write: b.coverage},
		report.SectionCVEs:        {title: "CVE appendix", write: b.scoped(b.vulnerabilities)},

		report.SectionHealth:          {title: "Overall health", write: b.health},
		report.SectionUtilization:     {title: "Resource utilization", write: b.utilization},
		report.SectionAlerts:          {title: "Alert history", write: b.alerts},
		report.SectionRecommendations: {title: "Recommendations", write: b.recommendations},
		report.SectionDetails:         {title: "Detailed results", write: b.details, objects: true},

		report.SectionDataSummary:     {title: "Summary", write: b.inventorySummary},
		report.SectionSensitiveTables: {title: "Sensitive tables by category", write: b.sensitiveTables},
		report.SectionEncryption:      {title: "Encryption coverage", write: b.encryption},
		report.SectionWorklist:        {title: "Exceptions worklist", write: b.worklist},
		report.SectionRiskRegister:    {title: "Risk register", write: b.riskRegister},
		report.SectionDataCoverage:    {title: "Coverage and methodology", write: b.inventoryCoverage},
	}
}

// sectionsOf returns the sections of a kind.
func (b *builder) sectionsOf(kind report.Definition) ([]section, error) {
	known := b.knownSections()
	sections := make([]section, len(kind.Sections))
	for i, name := range kind.Sections {
		s, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("%s has the section %q, which nothing writes", kind.Name, name)
		}
		sections[i] = s
	}
	return sections, nil
}

// objectsIn is the title of the section that names every object of a finding.
func (b *builder) objectsIn() string {
	known := b.knownSections()
	for _, name := range b.kind.Sections {
		if s := known[name]; s.objects {
			return s.title
		}
	}
	return ""
}

// front is page 1 by the kind's verdict.
func (b *builder) front() (front, error) {
	switch b.kind.Verdict {
	case report.VerdictOnFindings:
		return b.securityFront(), nil
	case report.VerdictOnScore:
		return b.scorecardFront(), nil
	case report.VerdictOnData:
		return b.inventoryFront(), nil
	}
	return front{}, fmt.Errorf("%s has the verdict %q, of which there are no figures", b.kind.Name, b.kind.Verdict)
}
