package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/organization"
	"muster/domain/team"
	"muster/internal/postgres/statement"
)

// Organization is one tenant's settings.
type Organization struct {
	ID                  uuid.UUID `db:"id"`
	Name                string    `db:"name"`
	TimeZone            string    `db:"time_zone"`
	ReportRetentionDays int       `db:"report_retention_days"`
	InputsRetentionDays int       `db:"inputs_retention_days"`
	PaperSize           string    `db:"paper_size"`         // A4, Letter
	StatementTexts      string    `db:"statement_texts"`    // off, normalized
	SessionDetail       string    `db:"session_detail"`     // off, on
	ExceptionApproval   string    `db:"exception_approval"` // any, another
	Catalog             string    `db:"catalog"`            // all, specification
	ProtectedTags       string    `db:"protected_tags"`     // organization.JoinKeys
	DueCritical         int       `db:"due_days_critical"`
	DueHigh             int       `db:"due_days_high"`
	DueMedium           int       `db:"due_days_medium"`
	DueLow              int       `db:"due_days_low"`
	SilentMinutes       int       `db:"watch_silent_minutes"`
	VolumePercent       int       `db:"watch_volume_percent"`
	LockWaitMinutes     int       `db:"watch_lock_wait_minutes"`
	WraparoundPercent   int       `db:"watch_wraparound_percent"`
	AdvisoryLocks       string    `db:"watch_advisory_locks"` // off, on
	Demo                bool      `db:"demo"`
	CreatedAt           time.Time `db:"created_at"`
}

// Settings returns what an administrator may change.
func (o Organization) Settings() organization.Settings {
	return organization.Settings{
		Name: o.Name, ReportRetentionDays: o.ReportRetentionDays, InputsRetentionDays: o.InputsRetentionDays, PaperSize: o.PaperSize,
		StatementTexts: o.StatementTexts, SessionDetail: o.SessionDetail, ExceptionApproval: o.ExceptionApproval,
		Catalog: o.Catalog, ProtectedTags: o.ProtectedTags,
		DueDays: organization.DueDays{Critical: o.DueCritical, High: o.DueHigh, Medium: o.DueMedium, Low: o.DueLow},
		Watch: organization.Watch{
			SilentMinutes: o.SilentMinutes, VolumePercent: o.VolumePercent,
			LockWaitMinutes: o.LockWaitMinutes, WraparoundPercent: o.WraparoundPercent, AdvisoryLocks: o.AdvisoryLocks,
		},
	}
}

// Member is a person in one organization.
type Member struct {
	ID             uuid.UUID         `db:"id"`
	OrganizationID uuid.UUID         `db:"organization_id"`
	Email          string            `db:"email"` // lower case; empty once erased
	Name           string            `db:"name"`
	Role           organization.Role `db:"role"`
	Status         string            `db:"status"` // invited, active, disabled, erased
	LastSignInAt   *time.Time        `db:"last_sign_in_at"`
	CreatedAt      time.Time         `db:"created_at"`
}

// How a principal proved who they are.
const (
	MethodPassword = "password"
	MethodOIDC     = "oidc" // an identity provider vouched for them
	MethodToken    = "token"
	MethodIngest   = "ingest"
)

// Principal is who makes a request, and with what.
type Principal struct {
	Member       Member // zero for an ingest token
	Organization Organization
	Method       string               // password, oidc, token, ingest
	ID           uuid.UUID            // session or token id
	Scopes       []organization.Scope // nil: a session, everything the role allows
	InstanceIDs  []uuid.UUID          // ingest token: only these; nil: all
	World        team.World           // of somebody with the role team; nil: the whole organization
	ExpiresAt    time.Time
}

// Scope is what the principal sees of the organization's servers.
func (p Principal) Scope() fleet.Scope {
	if p.World == nil {
		return fleet.Scope{}
	}
	return fleet.Scope{Filtered: true, Instances: p.World.Instances()}
}

// SeesAddresses reports whether the principal sees members' addresses. Somebody with the role team
// does not, whatever their teams let them do.
func (p Principal) SeesAddresses() bool { return p.World == nil && p.Member.Role.SeesAddresses() }

// Can reports whether the principal holds a scope: the rights of the member's current role,
// within the token's scopes. The scope admin stands for all of them.
func (p Principal) Can(scope organization.Scope) bool {
	within := slices.Contains(p.Scopes, scope) || slices.Contains(p.Scopes, organization.ScopeAdmin)
	allows := p.Member.Role.Allows(scope) || p.World != nil && scope == organization.ScopeAuditRead // of their servers
	switch p.Method {
	case MethodIngest:
		return scope == organization.ScopeIngestWrite && within
	case MethodToken:
		return within && allows
	}
	return allows
}

// Permissions returns every scope the principal holds, in the contract's order.
func (p Principal) Permissions() []organization.Scope {
	return slices.DeleteFunc(organization.Scopes(), func(s organization.Scope) bool { return !p.Can(s) })
}

// Client is where a request comes from.
type Client struct {
	IP        string
	UserAgent string
	RequestID string
}

// Entry is what the security log keeps of what a member does, or what happens to them,
// from there.
func (c Client) Entry(org, member uuid.UUID, entryType, detail string) SecurityEntry {
	return SecurityEntry{OrganizationID: org, MemberID: member, Type: entryType, IP: c.IP, RequestID: c.RequestID, Detail: detail}
}

// Store keeps organizations, members, passwords, sessions, tokens, invitations and setup links.
type Store struct {
	db      *sqlx.DB
	now     func() time.Time
	hashing hashing

	touchAgain atomic.Int64 // when a use is written down again, after one that could not be; Unix, ns

	// Unthrottled: nobody waits after failed sign-ins, for load tests on one's own machine
	// (MUSTER_RATE_LIMITS=off).
	Unthrottled bool
}

// New returns the store on db with the given clock.
func New(db *sqlx.DB, now func() time.Time) *Store {
	return &Store{db: db, now: now, hashing: newHashing()}
}

// clock is now in what PostgreSQL keeps: UTC, microseconds.
func (s *Store) clock() time.Time { return instant.Cut(s.now()) }

// secret returns 32 random bytes as text, and the digest that is kept of them.
func secret() (text string, digest []byte) {
	b := make([]byte, 32)
	rand.Read(b)
	text = base64.RawURLEncoding.EncodeToString(b)
	return text, digestOf(text)
}

func digestOf(text string) []byte {
	d := sha256.Sum256([]byte(text))
	return d[:]
}

// arrayOf scans an array that a query returns as JSON: database/sql knows no
// arrays, and pgx's own scanner sets up every type there is at each use.
type arrayOf[T any] []T

// Scan implements sql.Scanner.
func (a *arrayOf[T]) Scan(src any) error {
	if src == nil {
		*a = nil
		return nil
	}
	return statement.ScanJSON(src, (*[]T)(a))
}

const organizationColumns = `id, name, time_zone, report_retention_days, inputs_retention_days, paper_size, statement_texts, session_detail, exception_approval, catalog,
	protected_tags, due_days_critical, due_days_high, due_days_medium, due_days_low,
	watch_silent_minutes, watch_volume_percent, watch_lock_wait_minutes, watch_wraparound_percent, watch_advisory_locks, demo, created_at`

// InsertOrganization stores an organization with default settings and returns it. Those
// of the demo show all there is to show.
func (s *Store) InsertOrganization(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, name string, demo bool) (Organization, error) {
	return statement.One[Organization](ctx, tx, "store an organization", `INSERT INTO organizations (id, name, demo, statement_texts, created_at)
		VALUES ($1, $2, $3, CASE WHEN $3 THEN 'normalized' ELSE 'off' END, $4)
		RETURNING `+organizationColumns, id, name, demo, s.clock())
}

// Organization returns one.
func (s *Store) Organization(ctx context.Context, id uuid.UUID) (o Organization, ok bool, err error) {
	return statement.Find[Organization](ctx, s.db, "look up an organization", `SELECT `+organizationColumns+` FROM organizations WHERE id = $1`, id)
}

// What an organization decided to keep.
const (
	keepsTexts  = `SELECT statement_texts = 'normalized' FROM organizations WHERE id = $1`
	keepsPeople = `SELECT session_detail = 'on' FROM organizations WHERE id = $1`
)

// decided is what an organization decided; false if there is none.
func decided(ctx context.Context, q sqlx.QueryerContext, query string, id uuid.UUID) (bool, error) {
	keeps, _, err := statement.Find[bool](ctx, q, "ask what an organization keeps", query, id)
	return keeps, err
}

// KeepsTexts reports whether an organization keeps the texts of statements.
func (s *Store) KeepsTexts(ctx context.Context, id uuid.UUID) (bool, error) {
	return decided(ctx, s.db, keepsTexts, id)
}

// HoldsTexts is KeepsTexts, and locks the setting until tx ends.
func (s *Store) HoldsTexts(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (bool, error) {
	return decided(ctx, tx, keepsTexts+` FOR SHARE`, id)
}

// KeepsPeople reports whether an organization keeps users, applications and clients of sessions.
func (s *Store) KeepsPeople(ctx context.Context, id uuid.UUID) (bool, error) {
	return decided(ctx, s.db, keepsPeople, id)
}

// HoldsPeople is KeepsPeople, and locks the setting until tx ends.
func (s *Store) HoldsPeople(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (bool, error) {
	return decided(ctx, tx, keepsPeople+` FOR SHARE`, id)
}

// HoldsApproval returns who may grant exceptions, and locks the setting until tx ends.
func (s *Store) HoldsApproval(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (approval string, err error) {
	approval, _, err = statement.Find[string](ctx, tx, "hold who may grant exceptions", `SELECT exception_approval FROM organizations WHERE id = $1 FOR SHARE`, id)
	return approval, err
}

// HoldsProtectedTags returns the keys of the tags that only administrators set, and locks them
// until tx ends.
func (s *Store) HoldsProtectedTags(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) ([]string, error) {
	keys, _, err := statement.Find[string](ctx, tx, "hold which tags are protected", `SELECT protected_tags FROM organizations WHERE id = $1 FOR SHARE`, id)
	return organization.SplitKeys(keys), err
}

// LockOrganization returns an organization and locks its row for writes until tx ends. Sign-ins
// continue meanwhile, because a session only refers to the row.
func (s *Store) LockOrganization(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (Organization, error) {
	return statement.One[Organization](ctx, tx, "lock an organization", `SELECT `+organizationColumns+` FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, id)
}

// UpdateSettings stores an organization's settings and returns it.
func (s *Store) UpdateSettings(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, is organization.Settings) (Organization, error) {
	return statement.One[Organization](ctx, tx, "store the settings of an organization", `UPDATE organizations SET name = $2, report_retention_days = $3, inputs_retention_days = $4, paper_size = $5,
			watch_silent_minutes = $6, watch_volume_percent = $7, watch_lock_wait_minutes = $8, watch_wraparound_percent = $9, statement_texts = $10, exception_approval = $11,
			protected_tags = $12, due_days_critical = $13, due_days_high = $14, due_days_medium = $15, due_days_low = $16, session_detail = $17,
			watch_advisory_locks = $18, catalog = $19
		WHERE id = $1 RETURNING `+organizationColumns,
		id, is.Name, is.ReportRetentionDays, is.InputsRetentionDays, is.PaperSize,
		is.Watch.SilentMinutes, is.Watch.VolumePercent, is.Watch.LockWaitMinutes, is.Watch.WraparoundPercent, is.StatementTexts, is.ExceptionApproval,
		is.ProtectedTags, is.DueDays.Critical, is.DueDays.High, is.DueDays.Medium, is.DueDays.Low, is.SessionDetail, is.Watch.AdvisoryLocks, is.Catalog)
}

// Organizations returns all, oldest first.
func (s *Store) Organizations(ctx context.Context) ([]Organization, error) {
	return statement.All[Organization](ctx, s.db, "list organizations", `SELECT `+organizationColumns+` FROM organizations ORDER BY created_at, id`)
}

// OrganizationNamed returns the oldest organization with that name, uuid.Nil if there is none.
func (s *Store) OrganizationNamed(ctx context.Context, tx *sqlx.Tx, name string) (id uuid.UUID, err error) {
	id, _, err = statement.Find[uuid.UUID](ctx, tx, "look up an organization", `SELECT id FROM organizations WHERE name = $1 ORDER BY created_at, id LIMIT 1`, name)
	return id, err
}

// Refusal says why a sign-in was refused, or why an account or a view was not created or changed.
type Refusal struct {
	Code       string // one of the Code constants
	Detail     string // for the person refused; says nothing they may not know
	RetryAfter time.Duration
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Detail }

// Codes of a Refusal, as in the contract, §1.5 and §1.6.
const (
	CodeUnauthenticated    = "unauthenticated"
	CodeSessionExpired     = "session_expired"
	CodeTokenExpired       = "token_expired"
	CodeTokenRevoked       = "token_revoked"
	CodeInvalidCredentials = "invalid_credentials"
	CodeLoginThrottled     = "login_throttled" // with RetryAfter
	CodeWeakPassword       = "weak_password"
	CodeMemberExists       = "member_exists"
	CodeTeamExists         = "team_exists"
	CodeSetupClosed        = "setup_closed"    // an administrator exists
	CodeSetupLinkGone      = "forbidden"       // unknown, used, or older than 30 minutes
	CodeInvitationGone     = "invitation_gone" // 410: unknown, used, or older than 24 h
	CodeTooManyViews       = "too_many_views"
	CodeNameTaken          = "invalid_name"
	CodeNotYourView        = "forbidden"
	CodeNobodysView        = "invalid_state"
)
