package sent

import (
	"context"
	_ "embed" // the query
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// Mail is a mail about a report.
type Mail struct {
	OrganizationID uuid.UUID `db:"organization_id"`
	ReportID       uuid.UUID `db:"report_id"`
	MemberID       uuid.UUID `db:"member_id"`
	RequesterID    uuid.UUID `db:"requester_id"`
	To             string    `db:"sent_to"` // the address at that time
	Subject        string    `db:"subject"`
	SentAt         time.Time `db:"sent_at"` // set by Keep, by the database's clock
	Message        []byte    `db:"message"` // RFC 5322
	// Of Message, set by About and To.
	SizeBytes int64  `db:"size_bytes"`
	SHA256    string `db:"sha256"` // hex
}

// Keep keeps a mail in the transaction that records that it was sent. One to the same
// member takes the place of the one before.
func Keep(ctx context.Context, tx *sqlx.Tx, m Mail) error {
	return statement.Exec(ctx, tx, "keep a mail", `INSERT INTO report_mails (organization_id, report_id, member_id, requester_id, sent_to, subject, message)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (report_id, member_id) DO UPDATE SET sent_to = excluded.sent_to, subject = excluded.subject, sent_at = now(), message = excluded.message`,
		m.OrganizationID, m.ReportID, m.MemberID, m.RequesterID, m.To, m.Subject, m.Message)
}

//go:embed sql/about.sql
var aboutQuery string

// About returns the mails about a report of an organization, in no order and without
// their bytes.
func About(ctx context.Context, q sqlx.QueryerContext, organization, report uuid.UUID) ([]Mail, error) {
	return statement.All[Mail](ctx, q, "read the mails about a report", aboutQuery, organization, report, nil)
}

// To returns the mail about a report of an organization to one member; ok is false where
// none is kept.
func To(ctx context.Context, q sqlx.QueryerContext, organization, report, member uuid.UUID) (m Mail, ok bool, err error) {
	return statement.Find[Mail](ctx, q, "read a mail about a report", aboutQuery, organization, report, member)
}

// Forget deletes the mails about a report.
func Forget(ctx context.Context, q sqlx.ExecerContext, organization, report uuid.UUID) error {
	return statement.Exec(ctx, q, "forget the mails about a report", `DELETE FROM report_mails WHERE organization_id = $1 AND report_id = $2`, organization, report)
}

// ForgetMember deletes the mails that name a member.
func ForgetMember(ctx context.Context, tx *sqlx.Tx, organization, member uuid.UUID) error {
	return statement.Exec(ctx, tx, "forget the mails that name a member",
		`DELETE FROM report_mails WHERE organization_id = $1 AND (member_id = $2 OR requester_id = $2)`, organization, member)
}
