package report

import "time"

// LongestMonth is a month of 31 days with the hour that the clocks of a zone are put back.
const LongestMonth = 31*24*time.Hour + time.Hour

// AlertsSummary is the report on the alerts of any number of servers over a window of time.
const AlertsSummary Kind = "AlertsSummary"

func alertsSummary() Definition {
	return Definition{
		Name:  AlertsSummary,
		Title: "Alerts Summary", Short: "Alerts summary", PaperTitle: "Alerts summary", FileStem: "alerts-summary",
		Everything: "Whole organization",
		Window:     LongestMonth,
		Parts:      []Part{PartOrganization, PartAlertRecords, PartHead, PartKeys},
		Verdict:    VerdictOnAlerts,
		Sections: []Section{
			SectionBalance, SectionAlertTimes, SectionNoisiest, SectionMuted, SectionTold, SectionStood, SectionAlertMethod,
		},
		Companions: []string{AlertsFile},
	}
}
