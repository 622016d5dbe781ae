package report

// Security is the report on findings, vulnerabilities and accounts of any number of servers.
const Security Kind = "Security"

func security() Definition {
	return Definition{
		Name:  Security,
		Title: "Security Report", Short: "Security", PaperTitle: "Security report", FileStem: "security",
		Everything: "All active instances",
		Parts: []Part{
			PartOrganization, PartInstances, PartChecks, PartAssessments, PartLogged, PartFirstSeen, PartHead, PartKeys,
			PartHistory, PartExceptions, PartOpenAlerts, PartVulnerabilities, PartVerifications, PartPrevious,
		},
		CheckDomain: "Security",
		Verdict:     VerdictOnFindings,
		Sections: []Section{
			SectionSummary, SectionVersions, SectionFindings, SectionAccounts, SectionRemediation, SectionCoverage, SectionCVEs,
		},
		Companions: []string{FindingsFile, CVEsFile, AccountsFile},
		Comparable: true,
	}
}
