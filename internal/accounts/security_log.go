package accounts

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Types of a SecurityEntry that this package writes; the API adds "refused".
const (
	SignedIn        = "signedIn"
	SignInRefused   = "signInRefused"
	SignedOut       = "signedOut"
	PasswordChanged = "passwordChanged"
)

// SecurityEntry is one row of the security log.
type SecurityEntry struct {
	ID             int64
	At             time.Time // zero: now
	OrganizationID uuid.UUID // uuid.Nil: nobody could be identified
	MemberID       uuid.UUID
	Type           string
	IP             string
	RequestID      string
	Detail         string
}

// RecordSecurity appends to the security log.
func (s *Store) RecordSecurity(ctx context.Context, e SecurityEntry) error {
	if e.At.IsZero() {
		e.At = s.clock()
	}
	_, err := s.db.ExecContext(ctx, `INSERT INTO security_log (at, organization_id, member_id, type, ip, request_id, detail)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		e.At, orNull(e.OrganizationID), orNull(e.MemberID), e.Type, printable(e.IP), printable(e.RequestID), printable(e.Detail))
	if err != nil {
		return fmt.Errorf("append to the security log: %w", err)
	}
	return nil
}

// SecurityLog returns an organization's entries with an id below before (0: from
// the newest), newest first, at most limit.
func (s *Store) SecurityLog(ctx context.Context, org uuid.UUID, before int64, limit int) ([]SecurityEntry, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	rows, err := s.db.QueryContext(ctx, `SELECT id, at, organization_id, member_id, type, ip, request_id, detail FROM security_log
		WHERE organization_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, org, before, limit)
	if err != nil {
		return nil, fmt.Errorf("read the security log: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	entries := []SecurityEntry{}
	for rows.Next() {
		var e SecurityEntry
		var member uuid.NullUUID
		if err := rows.Scan(&e.ID, &e.At, &e.OrganizationID, &member, &e.Type, &e.IP, &e.RequestID, &e.Detail); err != nil {
			return nil, fmt.Errorf("read the security log: %w", err)
		}
		e.MemberID = member.UUID
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

// printable makes text of what a client sent: PostgreSQL refuses U+0000 and
// invalid UTF-8, and a refusal must still be recorded.
func printable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}
