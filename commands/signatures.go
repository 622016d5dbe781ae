package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/domain/report"
	"muster/internal/accounts"
)

// RequestReport queues a report, or adds the caller to an identical one that
// is Queued or Building. Errors: *RuleError with every broken rule.
func (s *Service) RequestReport(ctx context.Context, actor Actor, r RequestReport) (RequestedReport, error) {
	panic("not yet")
}

// The life of a build. Each of these runs in the caller's transaction and must
// be called last in it: from its append to the commit the log's head row is
// locked. A fact that is already recorded yields no event and a Mark with
// position 0. Errors: *NotFoundError, *report.TransitionError.

// StartBuild records that worker took the request: BuildStarted where it was
// Queued, BuildResumed with reason where it was Building already.
func (s *Service) StartBuild(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, worker string, attempt int, reason string) (Mark, error) {
	panic("not yet")
}

// CompleteStep records a finished step of the build.
func (s *Service) CompleteStep(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, step report.StepCompleted) (Mark, error) {
	panic("not yet")
}

// MarkReady records the finished file and releases the claim. RecipientIDs (with
// whoever joined meanwhile) and ExpiresAt are set here, from RetentionSeconds.
// finish runs before the append with the event as it will be recorded: it
// inserts the mail, expiry and erasure jobs and finishes the build job, so that
// everybody locks jobs before the log. It does not run where this Ready is
// recorded already.
func (s *Service) MarkReady(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, ready report.Ready, finish func(report.Ready) error) (Mark, error) {
	panic("not yet")
}

// MarkFailed ends a request with a code and a sentence, and releases its
// claim. One that never started goes through Building.
func (s *Service) MarkFailed(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, failed report.Failed) (Mark, error) {
	panic("not yet")
}

// MarkExpired records that the retention window has elapsed. Before it has,
// the answer is a *report.NotDueError with the time to come back.
func (s *Service) MarkExpired(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID) (Mark, error) {
	panic("not yet")
}

// RecordMail records what became of one recipient's mail: a report.EmailSent
// or a report.EmailFailed.
func (s *Service) RecordMail(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, outcome report.Event) (Mark, error) {
	panic("not yet")
}

// RecordDownload records that the actor fetched the file, once an hour.
func (s *Service) RecordDownload(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	panic("not yet")
}

// RecordInputsErased records that the inputs document was deleted by rule.
func (s *Service) RecordInputsErased(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, rule string) (Mark, error) {
	panic("not yet")
}

// RegisterInstance makes an instance known. With an empty ExternalID the new
// id is also its external id.
func (s *Service) RegisterInstance(ctx context.Context, actor Actor, r RegisterInstance) (uuid.UUID, Mark, error) {
	panic("not yet")
}

// RegisterInstanceTx is RegisterInstance in the caller's transaction, last in
// it, under an id the caller made (uuid.Nil: a new one): so that its
// credentials are kept together with it.
func (s *Service) RegisterInstanceTx(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, r RegisterInstance) (uuid.UUID, Mark, error) {
	panic("not yet")
}

// ChangeInstance changes what is not nil. Errors: *NotFoundError, *RuleError.
func (s *Service) ChangeInstance(ctx context.Context, actor Actor, id uuid.UUID, c ChangeInstance) (Mark, error) {
	panic("not yet")
}

// RemoveInstance takes an instance and its databases out of every list and
// count; their history stays. Errors: *NotFoundError.
func (s *Service) RemoveInstance(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	panic("not yet")
}

// RecordFleet takes in a batch, all or nothing; sent again it changes nothing
// and returns the same ids. Errors: *RuleError, *ForbiddenError.
func (s *Service) RecordFleet(ctx context.Context, actor Actor, items []FleetItem) ([]FleetIDs, Mark, error) {
	panic("not yet")
}

// RecordDatabases takes in what a collector found on an instance: new ones are
// registered, those that are gone are removed. Errors: *NotFoundError.
func (s *Service) RecordDatabases(ctx context.Context, actor Actor, instance uuid.UUID, found []FleetDatabase) (map[string]uuid.UUID, Mark, error) {
	panic("not yet")
}

// NewMember is a person to be added.
type NewMember struct {
	Email    string
	Name     string
	Role     organization.Role
	Password string // empty for an invitation
}

// CreateOrganization makes a further organization; admin may be nil, and then
// a setup link makes its first administrator.
func (s *Service) CreateOrganization(ctx context.Context, name string, demo bool, admin *NewMember) (accounts.Organization, *accounts.Member, Mark, error) {
	panic("not yet")
}

// EnsureAdmin makes organization and administrator where the installation has
// no administrator at all, and says whether it did. Replicas may call it together.
func (s *Service) EnsureAdmin(ctx context.Context, organizationName, email, password string) (created bool, err error) {
	panic("not yet")
}

// SetUp is what a person enters behind a setup link.
type SetUp struct {
	Token            string
	Email            string
	Name             string
	Password         string
	OrganizationName string
	Demo             bool
}

// SetUp makes the first administrator. Errors: *accounts.Refusal with
// setup_closed or weak_password, *RuleError.
func (s *Service) SetUp(ctx context.Context, in SetUp) (accounts.Member, Mark, error) {
	panic("not yet")
}

// AddMember adds an active member with a password (command line).
func (s *Service) AddMember(ctx context.Context, actor Actor, m NewMember) (accounts.Member, Mark, error) {
	panic("not yet")
}

// InviteMember adds an invited member and returns the token of the invitation.
// Errors: *accounts.Refusal member_exists, *RuleError.
func (s *Service) InviteMember(ctx context.Context, actor Actor, m NewMember) (member accounts.Member, token string, expires time.Time, mark Mark, err error) {
	panic("not yet")
}

// AcceptInvitation makes the invited member active. Errors: *accounts.Refusal
// with invitation_gone or weak_password.
func (s *Service) AcceptInvitation(ctx context.Context, token, name, password string) (accounts.Member, Mark, error) {
	panic("not yet")
}

// ChangeMember is what changes about a member; nil stays.
type ChangeMember struct {
	Role   *organization.Role
	Status *string // active, disabled
}

// ChangeMember changes role or status; disabling ends sessions and tokens at
// once, a changed role ends sessions. Errors: *NotFoundError,
// *organization.LastAdminError.
func (s *Service) ChangeMember(ctx context.Context, actor Actor, id uuid.UUID, c ChangeMember) (accounts.Member, Mark, error) {
	panic("not yet")
}

// MintToken makes an API or ingest token; its secret is returned only here.
// Scopes beyond by are refused. Errors: *ForbiddenError, *RuleError.
func (s *Service) MintToken(ctx context.Context, by accounts.Principal, requestID string, t accounts.NewToken) (accounts.Token, string, Mark, error) {
	panic("not yet")
}

// RevokeToken ends a token. A member revokes their own, an administrator any
// of the organization. Errors: *NotFoundError.
func (s *Service) RevokeToken(ctx context.Context, by accounts.Principal, requestID string, kind string, id uuid.UUID) (Mark, error) {
	panic("not yet")
}
