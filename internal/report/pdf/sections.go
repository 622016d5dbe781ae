package pdf

import (
	"fmt"

	"muster/domain/report"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/daily"
	"muster/internal/report/pdf/inventory"
	"muster/internal/report/pdf/scorecard"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/sheets"
	"muster/internal/report/snapshot/day"
)

// section is one heading of §4.10 and what goes under it.
type section struct {
	title   string
	write   func()
	objects bool // it names every object of a finding
}

// knownSections has every report.Section.
func knownSections(b *blocks.Builder) map[report.Section]section {
	return map[report.Section]section{
		report.SectionSummary:     {title: "Summary", write: b.Scoped(func() { sections.SecuritySummary(b) })},
		report.SectionVersions:    {title: "Versions and known vulnerabilities", write: b.Scoped(func() { sections.Versions(b) })},
		report.SectionFindings:    {title: "Security findings", write: func() { sections.SecurityFindings(b) }, objects: true},
		report.SectionAccounts:    {title: "Privileged accounts", write: b.Scoped(func() { sections.Accounts(b) })},
		report.SectionRemediation: {title: "Remediation plan", write: b.Scoped(func() { sections.Remediation(b) })},
		report.SectionCoverage:    {title: "Coverage and methodology", write: func() { sections.Coverage(b) }},
		report.SectionCVEs:        {title: "CVE appendix", write: b.Scoped(func() { sections.Vulnerabilities(b) })},

		report.SectionHealth:          {title: "Overall health", write: func() { scorecard.Health(b) }},
		report.SectionUtilization:     {title: "Resource utilization", write: func() { scorecard.Utilization(b) }},
		report.SectionAlerts:          {title: "Alert history", write: func() { scorecard.Alerts(b) }},
		report.SectionRecommendations: {title: "Recommendations", write: func() { scorecard.Recommendations(b) }},
		report.SectionDetails:         {title: "Detailed results", write: func() { scorecard.Details(b) }, objects: true},

		report.SectionDataSummary:     {title: "Summary", write: func() { inventory.Summary(b) }},
		report.SectionSensitiveTables: {title: "Sensitive tables by category", write: func() { inventory.SensitiveTables(b) }},
		report.SectionEncryption:      {title: "Encryption coverage", write: func() { inventory.Encryption(b) }},
		report.SectionWorklist:        {title: "Exceptions worklist", write: func() { inventory.Worklist(b) }},
		report.SectionRiskRegister:    {title: "Risk register", write: func() { inventory.RiskRegister(b) }},
		report.SectionDataCoverage:    {title: "Coverage and methodology", write: func() { inventory.Coverage(b) }},

		report.SectionBalance:     {title: "Balance", write: sheets.Write(b, report.SectionBalance)},
		report.SectionAlertTimes:  {title: "Time to acknowledge and resolve", write: sheets.Write(b, report.SectionAlertTimes)},
		report.SectionNoisiest:    {title: "Noisiest rules and servers", write: sheets.Write(b, report.SectionNoisiest)},
		report.SectionMuted:       {title: "Muted and accepted, by whom", write: sheets.Write(b, report.SectionMuted)},
		report.SectionTold:        {title: "Told and not told", write: sheets.Write(b, report.SectionTold)},
		report.SectionStood:       {title: "As it stood at the end", write: sheets.Write(b, report.SectionStood)},
		report.SectionAlertMethod: {title: "Method", write: sheets.Write(b, report.SectionAlertMethod)},
		report.SectionDay:         {title: "The day", write: func() { daily.Write(b, day.PageOf(*b.Doc.Day)) }},

		report.SectionObjectives:    {title: "Objectives and windows", write: sheets.Write(b, report.SectionObjectives)},
		report.SectionUptime:        {title: "Up, down, unknown", write: sheets.Write(b, report.SectionUptime)},
		report.SectionBudget:        {title: "Budget left and what used it", write: sheets.Write(b, report.SectionBudget)},
		report.SectionLatency:       {title: "Latency", write: sheets.Write(b, report.SectionLatency)},
		report.SectionStatements:    {title: "The statements that cost most", write: sheets.Write(b, report.SectionStatements)},
		report.SectionRoom:          {title: "Room and growth", write: sheets.Write(b, report.SectionRoom)},
		report.SectionRepair:        {title: "Detection and repair", write: sheets.Write(b, report.SectionRepair)},
		report.SectionServiceMethod: {title: "Method", write: sheets.Write(b, report.SectionServiceMethod)},
	}
}

// sectionsOf returns the sections of a kind.
func sectionsOf(b *blocks.Builder, kind report.Definition) ([]section, error) {
	known := knownSections(b)
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
func objectsIn(b *blocks.Builder) string {
	known := knownSections(b)
	for _, name := range b.Kind.Sections {
		if s := known[name]; s.objects {
			return s.title
		}
	}
	return ""
}

// front is page 1 by the kind's verdict.
func front(b *blocks.Builder) (blocks.Front, error) {
	switch b.Kind.Verdict {
	case report.VerdictOnFindings:
		return sections.SecurityFront(b), nil
	case report.VerdictOnScore:
		return scorecard.Front(b), nil
	case report.VerdictOnData:
		return inventory.Front(b), nil
	case report.VerdictOnAlerts, report.VerdictOnService:
		return sheets.Front(b), nil
	case report.VerdictOnDay:
		return blocks.Front{}, nil // composeDay has none
	}
	return blocks.Front{}, fmt.Errorf("%s has the verdict %q, of which there are no figures", b.Kind.Name, b.Kind.Verdict)
}

// composeDay lays out a digest, whose page 1 is its only section.
func composeDay(b *blocks.Builder) error {
	if b.Doc.Day == nil {
		return fmt.Errorf("%s has no day in its inputs", b.Kind.Name)
	}
	sections, err := sectionsOf(b, b.Kind)
	if err != nil {
		return err
	}
	for _, s := range sections {
		s.write()
	}
	b.HowToCheck()
	b.Furniture()
	return nil
}

// compose lays out the whole report. The error says that the kind asks for something
// that this program cannot print.
func compose(b *blocks.Builder) error {
	if b.Kind.Verdict == report.VerdictOnDay {
		return composeDay(b)
	}
	sections, err := sectionsOf(b, b.Kind)
	if err != nil {
		return err
	}
	b.Objects = objectsIn(b)
	front, err := front(b)
	if err != nil {
		return err
	}
	b.Cover(front, len(sections))
	b.Paper.EndAbove(blocks.PageMargin.Bottom + b.More)
	b.Paper.NewPage()
	for _, s := range sections {
		b.Heading(s.title)
		s.write()
	}
	b.HowToCheck()
	b.Contents()
	b.Furniture()
	return nil
}
