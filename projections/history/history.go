package history

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
)

// Reader answers from the live generation of the history projection. Every
// query carries the organization. Expiry is judged by the clock given in at,
// not by whether the Expired event has been appended: a Ready row whose
// ExpiresAt is at or before it reads as Expired.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Row is one report request as the history lists it.
type Row struct {
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
	File           *File // once Ready, kept after expiry
	ErrorCode      string
	ErrorMessage   string
	InputsErasedAt *time.Time
	InputsRule     string
	Version        int64 // stream version this row reflects
}

// File is the PDF of a Ready report.
type File struct {
	Name         string
	Key          string
	SizeBytes    int64
	SHA256       string // hex
	Pages        int
	InputsSHA256 string
	InputsKey    string
	Renderer     report.Renderer
	Witness      report.Witness
}

// Recipient is one recipient with the state of their mail.
type Recipient struct {
	MemberID  uuid.UUID
	Delivery  string // pending, sent, failed
	SMTPCode  int    // 0: none
	MessageID string
	At        *time.Time
}

// Query selects a page of one kind's history.
type Query struct {
	Organization uuid.UUID
	Kind         report.Kind
	Statuses     []report.Status // empty: all; judged as of at
	Page         int             // 1-based
	Size         int
}

// Page returns the rows newest first (created desc, id desc) and how many there are in all.
func (r *Reader) Page(ctx context.Context, q Query, at time.Time) (rows []Row, total int64, err error) {
	panic("not yet")
}

// Get returns one report; ok is false where this organization has none of that id.
func (r *Reader) Get(ctx context.Context, organization, id uuid.UUID, at time.Time) (row Row, ok bool, err error) {
	panic("not yet")
}

// Recipients returns the recipients of one report in the order they were added.
func (r *Reader) Recipients(ctx context.Context, organization, id uuid.UUID) ([]Recipient, error) {
	panic("not yet")
}

// FindPDF returns the report whose PDF has this SHA-256 (hex).
func (r *Reader) FindPDF(ctx context.Context, organization uuid.UUID, sha256 string, at time.Time) (row Row, ok bool, err error) {
	panic("not yet")
}

// Exports lists what member requested or receives and is Queued, Building or
// Ready, newest first, older than before (uuid.Nil: from the newest), and how
// many Ready ones are newer than what the member last marked as seen.
func (r *Reader) Exports(ctx context.Context, organization, member, before uuid.UUID, limit int, at time.Time) (rows []Row, unseen int64, err error) {
	panic("not yet")
}

// MarkSeen remembers that member has seen every export up to and including
// upTo; ok is false where upTo is unknown to the organization.
func (r *Reader) MarkSeen(ctx context.Context, organization, member, upTo uuid.UUID) (ok bool, err error) {
	panic("not yet")
}
