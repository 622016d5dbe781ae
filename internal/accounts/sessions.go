package accounts

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// How long a session lives, and how often its use is written down.
const (
	SessionIdle     = 12 * time.Hour
	SessionAbsolute = 7 * 24 * time.Hour
	touchEvery      = time.Minute

	// MaxSessions is how many of one member's go on; the one that was used
	// longest ago makes room.
	MaxSessions = 20
)

// userAgentRoom bounds what a browser may make us keep.
const userAgentRoom = 256

//go:embed sql/principal_of_session.sql
var principalOfSession string

// Session is one signed-in browser.
type Session struct {
	ID         uuid.UUID `db:"id"`
	CreatedAt  time.Time `db:"created_at"`
	LastSeenAt time.Time `db:"last_seen_at"`
	ExpiresAt  time.Time `db:"expires_at"` // absolute
	IP         string    `db:"ip"`
	UserAgent  string    `db:"user_agent"`
}

//go:embed sql/start_session.sql
var startSessionSQL string

// StartSession opens a session for a member who has just proven who they are:
// method is MethodPassword (also behind a setup link or an invitation) or
// MethodOIDC.
func (s *Store) StartSession(ctx context.Context, member uuid.UUID, method string, c Client) (token string, p Principal, err error) {
	now := s.clock()
	token, digest := secret()
	id, err := uuid.NewV7()
	if err != nil {
		return "", Principal{}, err
	}
	if len(c.UserAgent) > userAgentRoom {
		c.UserAgent = c.UserAgent[:userAgentRoom]
	}
	_, err = s.db.ExecContext(ctx, startSessionSQL,
		id, digest, now, now.Add(SessionAbsolute), printable(c.IP), printable(c.UserAgent), member, method,
		subject("ip", Network(c.IP)), now.Add(-addressKnown), now.Add(-SessionAbsolute), MaxSessions-1)
	if err != nil {
		return "", Principal{}, fmt.Errorf("start a session: %w", err)
	}
	if p, err = s.SessionPrincipal(ctx, token); err != nil {
		return "", Principal{}, err
	}
	return token, p, s.RecordSecurity(ctx, SecurityEntry{
		OrganizationID: p.Organization.ID, MemberID: member, Type: SignedIn, IP: c.IP, RequestID: c.RequestID, Detail: method,
	})
}

// SessionPrincipal returns who a session cookie belongs to. Errors: *Refusal
// unauthenticated, session_expired.
func (s *Store) SessionPrincipal(ctx context.Context, token string) (Principal, error) {
	var row struct {
		SessionID    uuid.UUID    `db:"session_id"`
		Method       string       `db:"method"`
		LastSeenAt   time.Time    `db:"last_seen_at"`
		ExpiresAt    time.Time    `db:"expires_at"`
		Member       Member       `db:"member"`
		Organization Organization `db:"organization"`
	}
	err := s.db.GetContext(ctx, &row, principalOfSession, digestOf(token))
	if errors.Is(err, sql.ErrNoRows) {
		return Principal{}, &Refusal{Code: CodeUnauthenticated, Detail: "sign in first"}
	}
	if err != nil {
		return Principal{}, fmt.Errorf("look up a session: %w", err)
	}
	now := s.clock()
	ends := row.LastSeenAt.Add(SessionIdle)
	if row.ExpiresAt.Before(ends) {
		ends = row.ExpiresAt
	}
	if !now.Before(ends) {
		return Principal{}, &Refusal{Code: CodeSessionExpired, Detail: "the session has ended, sign in again"}
	}
	if now.Sub(row.LastSeenAt) >= touchEvery {
		_, err := s.db.ExecContext(ctx, `UPDATE sessions SET last_seen_at = greatest(last_seen_at, $2) WHERE id = $1`, row.SessionID, now)
		if err != nil {
			return Principal{}, fmt.Errorf("touch a session: %w", err)
		}
		if ends = now.Add(SessionIdle); row.ExpiresAt.Before(ends) {
			ends = row.ExpiresAt
		}
	}
	return Principal{
		Member: row.Member, Organization: row.Organization, Method: row.Method, ID: row.SessionID, ExpiresAt: ends.UTC(),
	}, nil
}

// SignOut ends the session of this token, if there is one.
func (s *Store) SignOut(ctx context.Context, token string, c Client) error {
	var row struct {
		Organization uuid.UUID `db:"organization_id"`
		Member       uuid.UUID `db:"member_id"`
	}
	err := s.db.GetContext(ctx, &row, `DELETE FROM sessions WHERE token_hash = $1 RETURNING organization_id, member_id`, digestOf(token))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return s.RecordSecurity(ctx, SecurityEntry{
		OrganizationID: row.Organization, MemberID: row.Member, Type: SignedOut, IP: c.IP, RequestID: c.RequestID,
	})
}

// Sessions returns a member's live sessions, newest first.
func (s *Store) Sessions(ctx context.Context, member uuid.UUID) ([]Session, error) {
	now := s.clock()
	sessions := []Session{}
	err := s.db.SelectContext(ctx, &sessions, `SELECT id, created_at, last_seen_at, expires_at, ip, user_agent FROM sessions
		WHERE member_id = $1 AND expires_at > $2 AND last_seen_at > $3 ORDER BY created_at DESC, id DESC`,
		member, now, now.Add(-SessionIdle))
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return sessions, nil
}

// RevokeSession ends one of the member's own; ok is false where there is none of that id.
func (s *Store) RevokeSession(ctx context.Context, p Principal, session uuid.UUID, c Client) (ok bool, err error) {
	result, err := s.db.ExecContext(ctx, `DELETE FROM sessions WHERE member_id = $1 AND id = $2`, p.Member.ID, session)
	if err != nil {
		return false, fmt.Errorf("revoke a session: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	return true, s.recordRevoked(ctx, p, "one", c)
}

// RevokeOtherSessions ends all of the member's sessions but their present one.
func (s *Store) RevokeOtherSessions(ctx context.Context, p Principal, c Client) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM sessions WHERE member_id = $1 AND id <> $2`, p.Member.ID, p.ID)
	if err != nil {
		return fmt.Errorf("revoke other sessions: %w", err)
	}
	return s.recordRevoked(ctx, p, "all others", c)
}

func (s *Store) recordRevoked(ctx context.Context, p Principal, which string, c Client) error {
	return s.RecordSecurity(ctx, SecurityEntry{
		OrganizationID: p.Organization.ID, MemberID: p.Member.ID, Type: SessionsRevoked, IP: c.IP, RequestID: c.RequestID, Detail: which,
	})
}

// SessionOwner returns whose live session a token is, without using it: ok is
// false where it is nobody's. It is for requests that are refused before anybody
// is let in.
func (s *Store) SessionOwner(ctx context.Context, token string) (org, member uuid.UUID, ok bool, err error) {
	var row struct {
		Organization uuid.UUID `db:"organization_id"`
		Member       uuid.UUID `db:"member_id"`
	}
	now := s.clock()
	err = s.db.GetContext(ctx, &row, `SELECT organization_id, member_id FROM sessions
		WHERE token_hash = $1 AND expires_at > $2 AND last_seen_at > $3`, digestOf(token), now, now.Add(-SessionIdle))
	if errors.Is(err, sql.ErrNoRows) {
		return uuid.Nil, uuid.Nil, false, nil
	}
	if err != nil {
		return uuid.Nil, uuid.Nil, false, fmt.Errorf("look up whose session it is: %w", err)
	}
	return row.Organization, row.Member, true, nil
}
