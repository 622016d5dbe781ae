package accounts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
)

// Refusal says why somebody was not let in, or an account was not made.
type Refusal struct {
	Code       string // one of the Code constants
	Detail     string
	RetryAfter time.Duration // login_throttled
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Detail }

// Codes of a Refusal, as in the contract, §1.5 and §1.6.
const (
	CodeUnauthenticated    = "unauthenticated"
	CodeSessionExpired     = "session_expired"
	CodeTokenExpired       = "token_expired"
	CodeTokenRevoked       = "token_revoked"
	CodeInvalidCredentials = "invalid_credentials"
	CodeLoginThrottled     = "login_throttled"
	CodeWeakPassword       = "weak_password"
	CodeMemberExists       = "member_exists"
	CodeSetupClosed        = "setup_closed"
	CodeInvitationGone     = "invitation_gone" // 410: used, or older than 24 h
)

// Client is where a request comes from.
type Client struct {
	IP        string
	UserAgent string
	RequestID string
}

// Session is one signed-in browser.
type Session struct {
	ID         uuid.UUID
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
	IP         string
	UserAgent  string
}

// Token is an API or ingest token without its secret.
type Token struct {
	ID             uuid.UUID
	Kind           string // api, ingest
	OrganizationID uuid.UUID
	MemberID       uuid.UUID
	Name           string
	Prefix         string
	Scopes         []organization.Scope
	InstanceIDs    []uuid.UUID
	CreatedAt      time.Time
	ExpiresAt      time.Time
	RevokedAt      *time.Time
	LastUsedAt     *time.Time
	LastUsedIP     string
}

// NewToken is a token to be minted.
type NewToken struct {
	Kind        string // api, ingest
	Name        string
	Scopes      []organization.Scope // api only
	InstanceIDs []uuid.UUID          // ingest only; nil: the organization
	ExpiresAt   time.Time            // zero: 90 days
}

// Address is where and to whom a mail goes.
type Address struct{ Name, Email string }

// SecurityEntry is one row of the security log.
type SecurityEntry struct {
	ID             int64
	At             time.Time
	OrganizationID uuid.UUID // uuid.Nil: nobody could be identified
	MemberID       uuid.UUID
	Type           string // signedIn, signInRefused, signedOut, refused, passwordChanged, sessionRevoked
	IP             string
	RequestID      string
	Detail         string
}

// SignIn checks a password and opens a session. Unknown, invited and disabled
// accounts take the same time and get the same answer as a wrong password.
// Errors: *Refusal invalid_credentials, login_throttled.
func (s *Store) SignIn(ctx context.Context, email, password string, c Client) (token string, p Principal, err error) {
	panic("not yet")
}

// StartSession opens a session for a member who has just proven who they are
// (setup, invitation).
func (s *Store) StartSession(ctx context.Context, member uuid.UUID, c Client) (token string, p Principal, err error) {
	panic("not yet")
}

// SessionPrincipal returns who a session cookie belongs to. Errors: *Refusal
// unauthenticated, session_expired.
func (s *Store) SessionPrincipal(ctx context.Context, token string) (Principal, error) {
	panic("not yet")
}

// TokenPrincipal returns who a bearer token belongs to. Errors: *Refusal
// unauthenticated, token_expired, token_revoked.
func (s *Store) TokenPrincipal(ctx context.Context, token, ip string) (Principal, error) {
	panic("not yet")
}

// SignOut ends the session of this token, if there is one.
func (s *Store) SignOut(ctx context.Context, token string, c Client) error { panic("not yet") }

// Sessions returns a member's live sessions, newest first.
func (s *Store) Sessions(ctx context.Context, member uuid.UUID) ([]Session, error) { panic("not yet") }

// RevokeSession ends one of the member's own; ok is false where there is none of that id.
func (s *Store) RevokeSession(ctx context.Context, member, session uuid.UUID) (ok bool, err error) {
	panic("not yet")
}

// RevokeOtherSessions ends all of the member's sessions but keep.
func (s *Store) RevokeOtherSessions(ctx context.Context, member, keep uuid.UUID) error {
	panic("not yet")
}

// ChangePassword sets a new password and ends the other sessions. Errors:
// *Refusal invalid_credentials, login_throttled, weak_password.
func (s *Store) ChangePassword(ctx context.Context, p Principal, current, next string, c Client) error {
	panic("not yet")
}

// SetPassword sets a password without the old one (command line) and ends all
// sessions; ok is false where no such account exists.
func (s *Store) SetPassword(ctx context.Context, email, password string) (ok bool, err error) {
	panic("not yet")
}

// SetupRequired reports that the installation has no administrator.
func (s *Store) SetupRequired(ctx context.Context) (bool, error) { panic("not yet") }

// NewSetupToken makes a link that works once within 30 minutes and makes the
// first administrator, in organization or (uuid.Nil) in a new one. Errors:
// *Refusal setup_closed.
func (s *Store) NewSetupToken(ctx context.Context, organization uuid.UUID) (token string, expires time.Time, err error) {
	panic("not yet")
}

// Members returns a page of members by name, then id, and how many there are; q narrows by
// a substring of name or address.
func (s *Store) Members(ctx context.Context, organization uuid.UUID, q string, page, size int) ([]Member, int64, error) {
	panic("not yet")
}

// Member returns one; ok is false where this organization has none of that id.
func (s *Store) Member(ctx context.Context, organization, id uuid.UUID) (m Member, ok bool, err error) {
	panic("not yet")
}

// MemberByEmail returns the account of an address.
func (s *Store) MemberByEmail(ctx context.Context, email string) (m Member, ok bool, err error) {
	panic("not yet")
}

// Receivable returns those ids that are invited or active members of the organization.
func (s *Store) Receivable(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	panic("not yet")
}

// Addresses returns where to mail; disabled and foreign members are absent.
func (s *Store) Addresses(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]Address, error) {
	panic("not yet")
}

// Names returns the names of members of the organization, whatever their status.
func (s *Store) Names(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	panic("not yet")
}

// Organization returns one.
func (s *Store) Organization(ctx context.Context, id uuid.UUID) (o Organization, ok bool, err error) {
	panic("not yet")
}

// Organizations returns all, oldest first.
func (s *Store) Organizations(ctx context.Context) ([]Organization, error) { panic("not yet") }

// Tokens returns the tokens of a kind, newest first: of one member, or
// (uuid.Nil) of the whole organization.
func (s *Store) Tokens(ctx context.Context, organization, member uuid.UUID, kind string) ([]Token, error) {
	panic("not yet")
}

// RecordSecurity appends to the security log.
func (s *Store) RecordSecurity(ctx context.Context, e SecurityEntry) error { panic("not yet") }

// SecurityLog returns an organization's entries with an id below before (0: from
// the newest), newest first.
func (s *Store) SecurityLog(ctx context.Context, organization uuid.UUID, before int64, limit int) ([]SecurityEntry, error) {
	panic("not yet")
}

// Can reports whether the principal holds a scope: what the member's role
// allows, within the token's scopes. admin holds every one.
func (p Principal) Can(scope organization.Scope) bool { panic("not yet") }

// Permissions returns every scope the principal holds, in the contract's order.
func (p Principal) Permissions() []organization.Scope { panic("not yet") }
