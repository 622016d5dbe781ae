package report

import "time"

// StreamType is the stream type of report requests in the reports log.
const StreamType = "report"

// Kind is what a report is about.
type Kind string

// The report kinds, spelt as on the wire.
const (
	Security          Kind = "Security"
	InstanceScorecard Kind = "InstanceScorecard"
	DataInventory     Kind = "DataInventory"
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{Security, InstanceScorecard, DataInventory} }

// Title is what the catalog page calls a kind.
func (k Kind) Title() string {
	switch k {
	case Security:
		return "Security Report"
	case InstanceScorecard:
		return "Per-Instance Scorecard"
	case DataInventory:
		return "Data Inventory"
	}
	return string(k)
}

// Status is where a report request stands.
type Status string

// The states of a report request, spelt as on the wire.
const (
	StatusQueued   Status = "Queued"
	StatusBuilding Status = "Building"
	StatusReady    Status = "Ready"
	StatusFailed   Status = "Failed"
	StatusExpired  Status = "Expired"
)

// Limits of the specification, §8.
const (
	MaxRecipients = 20 // including the requester
	MaxInstances  = 100
	MaxScorecard  = 31 * 24 * time.Hour
	MaxAhead      = 5 * time.Minute // a scorecard's to may lie this far ahead and is clamped to now
)

// Codes of a Failed report.
const (
	CodeNoCompletedClassification = "no_completed_classification"
	CodeFactsAltered              = "facts_altered" // an assessment is not the one that the log recorded
	CodeGenerationFailed          = "generation_failed"
	CodeGenerationTimeout         = "generation_timeout"
	CodeSourceUnavailable         = "source_unavailable"
	CodeRenderFailed              = "render_failed"
	CodeAbandoned                 = "abandoned"
)
