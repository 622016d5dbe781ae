package report

import "time"

// StreamType is the stream type of report requests in the reports log.
const StreamType = "report"

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
	MaxAhead      = 5 * time.Minute // a window's end may lie this far ahead and is clamped to now
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
