package report

// DataInventory is the report on sensitive data in the databases of any number of servers.
const DataInventory Kind = "DataInventory"

func inventory() Definition {
	return Definition{
		Name:  DataInventory,
		Title: "Data Inventory", Short: "Data inventory", PaperTitle: "Data inventory", FileStem: "data-inventory",
		Everything: "Whole organization",
		Parts: []Part{
			PartOrganization, PartInstances, PartChecks, PartAssessments, PartLogged, PartHead, PartKeys,
			PartRisks, PartExceptions, PartVulnerabilities, PartPrevious,
		},
		Classified:  true,
		CheckDomain: "Security", // the ways into a table
		Verdict:     VerdictOnData,
		Sections: []Section{
			SectionDataSummary, SectionSensitiveTables, SectionEncryption, SectionWorklist, SectionRiskRegister, SectionDataCoverage,
		},
		Companions: []string{InventoryFile},
	}
}
