package report

// Part is something that a build gathers for a report. handlers knows how; the text is what
// an error calls the part.
type Part string

// The parts of an inputs document. A part that a kind does not name is not read.
const (
	PartOrganization    Part = "the organization"
	PartInstances       Part = "the instances"
	PartChecks          Part = "the checks"
	PartAssessments     Part = "the assessments"
	PartLogged          Part = "the log's word of the assessments"
	PartFirstSeen       Part = "the first sight of findings"
	PartHead            Part = "the log's head"
	PartKeys            Part = "the document of keys"
	PartHistory         Part = "the history of findings"
	PartRisks           Part = "the risks on record"
	PartExceptions      Part = "the exceptions"
	PartOpenAlerts      Part = "the open alerts"
	PartAlerts          Part = "the alerts"
	PartScores          Part = "the scores"
	PartUtilization     Part = "the utilization"
	PartTuning          Part = "the tuning"
	PartServer          Part = "the facts of the server"
	PartVulnerabilities Part = "the vulnerabilities"
	PartVerifications   Part = "the queries that verify findings"
	PartPrevious        Part = "the report before"
	PartAlertRecords    Part = "the log's word of the alerts"
	PartDay             Part = "the day"
	PartServiceRecords  Part = "how servers kept their objectives"
)

// Verdict is the rule by which page 1 sums a report up, with its figures.
type Verdict string

// The verdicts. snapshot/analysis has their words, pdf their figures.
const (
	VerdictOnFindings Verdict = "findings" // by severity, over all instances
	VerdictOnScore    Verdict = "score"    // the health score of one instance
	VerdictOnData     Verdict = "data"     // sensitive tables by risk, then the servers they are on

	// Those of summaries. snapshot/sheets has their words and their figures.
	VerdictOnAlerts  Verdict = "alerts"  // what is open at the end of a window
	VerdictOnDay     Verdict = "day"     // what a day was; its page is the whole report
	VerdictOnService Verdict = "service" // objectives that were missed in a window
)

// Section is one heading after page 1 with what stands under it. pdf has their titles and
// writes them.
type Section string

// The sections of the specification, §4.10.
const (
	SectionSummary         Section = "summary"
	SectionVersions        Section = "versions"
	SectionFindings        Section = "findings"
	SectionAccounts        Section = "accounts"
	SectionRemediation     Section = "remediation"
	SectionCoverage        Section = "coverage"
	SectionCVEs            Section = "cves"
	SectionHealth          Section = "health"
	SectionUtilization     Section = "utilization"
	SectionAlerts          Section = "alerts"
	SectionRecommendations Section = "recommendations"
	SectionDetails         Section = "details"
	SectionDataSummary     Section = "data-summary"
	SectionSensitiveTables Section = "sensitive-tables"
	SectionEncryption      Section = "encryption"
	SectionWorklist        Section = "worklist"
	SectionRiskRegister    Section = "risk-register"
	SectionDataCoverage    Section = "data-coverage"

	// Those of summaries (HTTP contract, §36).
	SectionBalance     Section = "balance"
	SectionAlertTimes  Section = "times"
	SectionNoisiest    Section = "noisiest"
	SectionMuted       Section = "muted"
	SectionTold        Section = "told"
	SectionStood       Section = "stood"
	SectionAlertMethod Section = "alert-method"
	SectionDay         Section = "day" // of a digest: its page

	SectionObjectives    Section = "objectives"
	SectionUptime        Section = "uptime"
	SectionBudget        Section = "budget"
	SectionLatency       Section = "latency"
	SectionStatements    Section = "statements"
	SectionRoom          Section = "room"
	SectionRepair        Section = "repair"
	SectionServiceMethod Section = "service-method"
)
