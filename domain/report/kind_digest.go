package report

import "time"

// DailyDigest is the report on one day of any number of servers, on one page or two.
const DailyDigest Kind = "DailyDigest"

func dailyDigest() Definition {
	return Definition{
		Name:  DailyDigest,
		Title: "Daily Operations Digest", Short: "Daily digest", PaperTitle: "Daily digest", FileStem: "digest",
		Everything: "Whole organization",
		Window:     25 * time.Hour, // a day on which clocks go back
		Daily:      true,
		Parts:      []Part{PartOrganization, PartInstances, PartHead, PartKeys, PartDay},
		Verdict:    VerdictOnDay,
		Sections:   []Section{SectionDay},
		Companions: []string{DigestFile},
	}
}
