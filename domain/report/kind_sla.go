package report

import "time"

// PerformanceSLA is the report on how any number of servers kept their objectives over a window of time.
const PerformanceSLA Kind = "PerformanceSla"

func performanceSLA() Definition {
	return Definition{
		Name:  PerformanceSLA,
		Title: "Performance & SLA Summary", Short: "Performance & SLA", PaperTitle: "Performance and SLA", FileStem: "performance-sla",
		Everything: "Whole organization",
		Window:     92 * 24 * time.Hour,
		Parts:      []Part{PartOrganization, PartServiceRecords, PartHead, PartKeys},
		Verdict:    VerdictOnService,
		Sections: []Section{
			SectionObjectives, SectionUptime, SectionBudget, SectionLatency, SectionStatements, SectionRoom, SectionRepair, SectionServiceMethod,
		},
		Companions: []string{SLAFile},
	}
}
