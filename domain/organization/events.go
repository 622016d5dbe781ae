package organization

import (
	"time"

	"github.com/google/uuid"
)

// StreamType is the stream type in the organization log; the stream id is the
// organization's id.
const StreamType = "organization"

// Role is what a member may do.
type Role string

// The roles.
const (
	Viewer  Role = "viewer"
	Member  Role = "member"
	Auditor Role = "auditor"
	Admin   Role = "admin"
	// Team sees the servers of their teams, and may do with each what their place in its team says.
	Team Role = "team"
)

// Event is a fact about an organization that people argue about later. Names
// and addresses live outside the log.
type Event interface{ name() string }

// Created says that the organization exists.
type Created struct {
	Demo bool `json:"demo"`
}

// Deleted says that all that was kept for the organization is gone or going, but the log.
type Deleted struct{}

// MemberInvited says who invited whom into which role; once more with every
// new link.
type MemberInvited struct {
	MemberID uuid.UUID `json:"memberId"`
	Role     Role      `json:"role"`
}

// MemberJoined says that the invited member chose a password or came through the
// identity provider, or that the first administrator was set up.
type MemberJoined struct {
	MemberID uuid.UUID `json:"memberId"`
	Role     Role      `json:"role"`
}

// MemberChanged holds role or status as they are from now on.
type MemberChanged struct {
	MemberID uuid.UUID `json:"memberId"`
	Role     Role      `json:"role"`
	Status   string    `json:"status"` // invited, active, disabled
}

// MemberErased says that the member's personal data is gone. Their id stays wherever it was
// recorded, and no longer leads to a name.
type MemberErased struct {
	MemberID uuid.UUID `json:"memberId"`
}

// SettingsChanged says which settings changed from what to what. Of the name,
// which lives outside the log, it says only that it did.
type SettingsChanged struct {
	NameChanged         bool                   `json:"nameChanged,omitempty"`
	ReportRetentionDays *SettingChange[int]    `json:"reportRetentionDays,omitempty"`
	InputsRetentionDays *SettingChange[int]    `json:"inputsRetentionDays,omitempty"`
	PaperSize           *SettingChange[string] `json:"paperSize,omitempty"`
	StatementTexts      *SettingChange[string] `json:"statementTexts,omitempty"`
	SessionDetail       *SettingChange[string] `json:"sessionDetail,omitempty"`
	ExceptionApproval   *SettingChange[string] `json:"exceptionApproval,omitempty"`
	Catalog             *SettingChange[string] `json:"catalog,omitempty"`
	ProtectedTags       *SettingChange[string] `json:"protectedTags,omitempty"`
	DueCritical         *SettingChange[int]    `json:"dueCritical,omitempty"`
	DueHigh             *SettingChange[int]    `json:"dueHigh,omitempty"`
	DueMedium           *SettingChange[int]    `json:"dueMedium,omitempty"`
	DueLow              *SettingChange[int]    `json:"dueLow,omitempty"`
	SilentMinutes       *SettingChange[int]    `json:"silentMinutes,omitempty"`
	VolumePercent       *SettingChange[int]    `json:"volumePercent,omitempty"`
	LockWaitMinutes     *SettingChange[int]    `json:"lockWaitMinutes,omitempty"`
	WraparoundPercent   *SettingChange[int]    `json:"wraparoundPercent,omitempty"`
	AdvisoryLocks       *SettingChange[string] `json:"advisoryLocks,omitempty"`
}

// SettingChange is one setting before and after.
type SettingChange[T any] struct {
	From T `json:"from"`
	To   T `json:"to"`
}

// TokenMinted says that an API or ingest token was made.
type TokenMinted struct {
	TokenID uuid.UUID `json:"tokenId"`
	Kind    string    `json:"kind"` // api, ingest
	Scopes  []string  `json:"scopes"`
}

// TokenRevoked says that a token stopped working.
type TokenRevoked struct {
	TokenID uuid.UUID `json:"tokenId"`
}

// EvidenceStream is the stream type of evidence in the organization log. Each evidence has a
// stream of its own, so earlier programs can still fold the organization's.
const EvidenceStream = "evidence"

// EvidenceMade says that evidence of a control over a period was made. The digest names it;
// what it says stands in it alone.
type EvidenceMade struct {
	CheckID   string    `json:"checkId"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	AsOf      time.Time `json:"asOf"`                // when the logs were read, by the database's clock
	Instances int       `json:"instances,omitempty"` // how many were asked for by id; 0: all
	SHA256    string    `json:"sha256"`              // of the evidence as JSON without white space, hex: the signed data
}

func (Created) name() string         { return "organization.created" }
func (Deleted) name() string         { return "organization.deleted" }
func (SettingsChanged) name() string { return "organization.settings_changed" }
func (MemberInvited) name() string   { return "member.invited" }
func (MemberJoined) name() string    { return "member.joined" }
func (MemberChanged) name() string   { return "member.changed" }
func (MemberErased) name() string    { return "member.erased" }
func (TokenMinted) name() string     { return "token.minted" }
func (TokenRevoked) name() string    { return "token.revoked" }
func (EvidenceMade) name() string    { return "evidence.made" }

// Events returns an empty value of every event of an organization. All are at schema version 1. A
// name that was ever written stays.
func Events() []Event {
	return []Event{
		Created{}, SettingsChanged{}, MemberInvited{}, MemberJoined{}, MemberChanged{}, MemberErased{}, TokenMinted{}, TokenRevoked{},
		Deleted{}, EvidenceMade{}, FindingAssigned{}, FindingTicketed{}, WatchRuleChanged{},
	}
}

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
