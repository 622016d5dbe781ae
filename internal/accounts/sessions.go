package accounts

import (
	"context"
	_ "embed"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// How long a session lives, and how often its use is written down.
const (
	SessionIdle     = 12 * time.Hour
	SessionAbsolute = 7 * 24 * time.Hour

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
	err = statement.Exec(ctx, s.db, "start a session", startSessionSQL,
		id, digest, now, now.Add(SessionAbsolute), printable(c.IP), printable(c.UserAgent), member, method,
		subject("ip", Network(c.IP)), now.Add(-addressKnown), now.Add(-SessionAbsolute), MaxSessions-1)
	if err != nil {
		return "", Principal{}, err
	}
	if p, err = s.SessionPrincipal(ctx, token); err != nil {
		return "", Principal{}, err
	}
	return token, p, s.RecordSecurity(ctx, c.Entry(p.Organization.ID, member, SignedIn, method))
}

// SessionPrincipal returns who a session cookie belongs to. Errors: *Refusal
// unauthenticated, session_expired.
func (s *Store) SessionPrincipal(ctx context.Context, token string) (Principal, error) {
	type signedIn struct {
		SessionID    uuid.UUID    `db:"session_id"`
		Method       string       `db:"method"`
		LastSeenAt   time.Time    `db:"last_seen_at"`
		ExpiresAt    time.Time    `db:"expires_at"`
		Member       Member       `db:"member"`
		Organization Organization `db:"organization"`
	}
	row, ok, err := statement.Find[signedIn](ctx, s.db, "look up a session", principalOfSession, digestOf(token))
	if err == nil && !ok {
		err = &Refusal{Code: CodeUnauthenticated, Detail: "sign in first"}
	}
	if err != nil {
		return Principal{}, err
	}
	now := s.clock()
	ends := slices.MinFunc([]time.Time{row.LastSeenAt.Add(SessionIdle), row.ExpiresAt}, time.Time.Compare)
	if !now.Before(ends) {
		return Principal{}, &Refusal{Code: CodeSessionExpired, Detail: "the session has ended, sign in again"}
	}
	if now.Sub(row.LastSeenAt) >= touchEvery {
		err := s.touch(ctx, func(ctx context.Context) error {
			return statement.Exec(ctx, s.db, "touch a session", `UPDATE sessions SET last_seen_at = greatest(last_seen_at, $2) WHERE id = $1`, row.SessionID, now)
		})
		if err != nil {
			return Principal{}, err
		}
		ends = slices.MinFunc([]time.Time{now.Add(SessionIdle), row.ExpiresAt}, time.Time.Compare)
	}
	return Principal{
		Member: row.Member, Organization: row.Organization, Method: row.Method, ID: row.SessionID, ExpiresAt: ends.UTC(),
	}, nil
}

// sessionOwner is whose a session is.
type sessionOwner struct {
	Organization uuid.UUID `db:"organization_id"`
	Member       uuid.UUID `db:"member_id"`
}

// SignOut ends the session of this token, if there is one.
func (s *Store) SignOut(ctx context.Context, token string, c Client) error {
	row, ok, err := statement.Find[sessionOwner](ctx, s.db, "sign out", `DELETE FROM sessions WHERE token_hash = $1 RETURNING organization_id, member_id`, digestOf(token))
	if err != nil || !ok {
		return err
	}
	return s.RecordSecurity(ctx, c.Entry(row.Organization, row.Member, SignedOut, ""))
}

// Sessions returns a member's live sessions, newest first.
func (s *Store) Sessions(ctx context.Context, member uuid.UUID) ([]Session, error) {
	now := s.clock()
	return statement.All[Session](ctx, s.db, "list sessions", `SELECT id, created_at, last_seen_at, expires_at, ip, user_agent FROM sessions
		WHERE member_id = $1 AND expires_at > $2 AND last_seen_at > $3 ORDER BY created_at DESC, id DESC`,
		member, now, now.Add(-SessionIdle))
}

// RevokeSession ends one of the member's own; ok is false if there is none with that id.
func (s *Store) RevokeSession(ctx context.Context, p Principal, session uuid.UUID, c Client) (ok bool, err error) {
	n, err := statement.Affected(ctx, s.db, "revoke a session", `DELETE FROM sessions WHERE member_id = $1 AND id = $2`, p.Member.ID, session)
	if err != nil || n == 0 {
		return false, err
	}
	return true, s.RecordSecurity(ctx, c.Entry(p.Organization.ID, p.Member.ID, SessionsRevoked, "one"))
}

// RevokeOtherSessions ends all of the member's sessions but their present one.
func (s *Store) RevokeOtherSessions(ctx context.Context, p Principal, c Client) error {
	err := statement.Exec(ctx, s.db, "revoke other sessions", `DELETE FROM sessions WHERE member_id = $1 AND id <> $2`, p.Member.ID, p.ID)
	if err != nil {
		return err
	}
	return s.RecordSecurity(ctx, c.Entry(p.Organization.ID, p.Member.ID, SessionsRevoked, "all others"))
}

// EndSessions signs everybody of the installation out. A restored backup would
// bring back sessions that were revoked since it was made.
func (s *Store) EndSessions(ctx context.Context, q sqlx.ExtContext) error {
	return statement.Exec(ctx, q, "end all sessions", `DELETE FROM sessions`)
}

// SessionOwner returns the owner of a live session's token, without using it; ok is false if
// there is none. It is for requests that are refused before authentication.
func (s *Store) SessionOwner(ctx context.Context, token string) (org, member uuid.UUID, ok bool, err error) {
	now := s.clock()
	row, ok, err := statement.Find[sessionOwner](ctx, s.db, "look up whose session it is", `SELECT organization_id, member_id FROM sessions
		WHERE token_hash = $1 AND expires_at > $2 AND last_seen_at > $3`, digestOf(token), now, now.Add(-SessionIdle))
	return row.Organization, row.Member, ok, err
}
