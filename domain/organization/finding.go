package organization

import "github.com/google/uuid"

// FindingStream is the stream type of findings in the organization log: what people decide about
// one. The stream id is the finding's id, which is made from what the finding is about.
const FindingStream = "finding"

// AboutFinding says which finding an event is about, for whoever reads it when the finding is gone.
type AboutFinding struct {
	InstanceID uuid.UUID `json:"instanceId"`
	CheckID    string    `json:"checkId"`
}

// FindingAssigned says who is to close a finding from now on.
type FindingAssigned struct {
	AboutFinding
	AssigneeID *uuid.UUID `json:"assigneeId"` // null: nobody
}

// FindingTicketed says that a finding got another ticket, or has none any more. Its URL is what
// people wrote, and lives outside the log.
type FindingTicketed struct {
	AboutFinding
	Linked bool `json:"linked"` // false: there is none any more
}

func (FindingAssigned) name() string { return "finding.assigned" }
func (FindingTicketed) name() string { return "finding.ticketed" }
