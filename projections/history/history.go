package history

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
)

// ReportRow is one report request as the history lists it.
type ReportRow struct {
	ID             uuid.UUID
	OrganizationID uuid.UUID
	Kind           report.Kind
	Status         report.Status // as of at
	Scope          report.Scope
	ScopeLabel     string
	RequesterID    uuid.UUID
	RecipientIDs   []uuid.UUID // in the order they were added
	CreatedAt      time.Time
	StartedAt      *time.Time
	FinishedAt     *time.Time
	ExpiresAt      *time.Time
	File           *ReportFile // once Ready, kept after expiry
	ErrorCode      string
	ErrorMessage   string
	InputsErasedAt *time.Time
	InputsRule     string
	Version        int64 // stream version this row reflects
}

// ReportFile is the PDF of a Ready report.
type ReportFile struct {
	Name         string          `json:"name"`
	Key          string          `json:"key"`
	SizeBytes    int64           `json:"sizeBytes"`
	SHA256       string          `json:"sha256"` // hex
	Pages        int             `json:"pages"`
	InputsSHA256 string          `json:"inputsSha256"`
	InputsKey    string          `json:"inputsKey"`
	Renderer     report.Renderer `json:"renderer"`
	Witness      report.Witness  `json:"witness"`
}

// Recipient is one recipient with the state of their mail.
type Recipient struct {
	MemberID  uuid.UUID  `db:"member_id"`
	Delivery  string     `db:"delivery"`  // pending, sent, failed
	SMTPCode  int        `db:"smtp_code"` // 0: none
	MessageID string     `db:"message_id"`
	At        *time.Time `db:"delivered_at"`

	receives bool // false for a member who asked when all places were taken
}
