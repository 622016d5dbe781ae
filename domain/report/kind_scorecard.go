package report

import "time"

// InstanceScorecard is the report on one server over a window of time.
const InstanceScorecard Kind = "InstanceScorecard"

func scorecard() Definition {
	return Definition{
		Name:  InstanceScorecard,
		Title: "Per-Instance Scorecard", Short: "Instance scorecard", PaperTitle: "Per-instance scorecard", FileStem: "scorecard",
		Everything:  "All active instances",
		OneInstance: true,
		Database:    true,
		Window:      31 * 24 * time.Hour,
		Parts: []Part{
			PartOrganization, PartInstances, PartChecks, PartAssessments, PartLogged, PartFirstSeen, PartHead, PartKeys,
			PartHistory, PartExceptions, PartOpenAlerts, PartAlerts, PartScores, PartUtilization, PartTuning, PartServer, PartVulnerabilities, PartVerifications, PartPrevious,
		},
		Verdict: VerdictOnScore,
		Sections: []Section{
			SectionHealth, SectionUtilization, SectionAlerts, SectionRemediation, SectionRecommendations, SectionDetails,
		},
		Companions: []string{FindingsFile, CVEsFile, AccountsFile},
		Comparable: true,
	}
}
