package accounts

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// Types of a SecurityEntry. The audit list shows them among the names of the
// events; docs/auditors.md explains them.
const (
	SignedIn          = "signedIn"        // detail: how
	SignInRefused     = "signInRefused"   // a wrong password, or an account that may not
	SignInThrottled   = "signInThrottled" // after too many of those; once an hour
	SignedOut         = "signedOut"
	IdentityLinked    = "identityLinked"  // a member has a further way to sign in; detail: the issuer
	SessionsRevoked   = "sessionsRevoked" // detail: one, others
	PasswordChanged   = "passwordChanged"
	PasswordReset     = "passwordReset"
	TokenFirstUsed    = "tokenFirstUsed"   // detail: the token's id
	Refused           = "refused"          // detail: role, scope or origin, and the route; once an hour
	AssistantRead     = "assistantRead"    // detail: the tool and the token's id; once an hour
	RebuildRequested  = "rebuildRequested" // detail: the projection, or the report
	DeadLetterRetried = "deadLetterRetried"
	DeadLetterDropped = "deadLetterDropped"
	EventsExported    = "eventsExported"
	FileAltered       = "fileAltered" // a stored file is not the recorded one; detail: the report and the file
	KeysRotated       = "keysRotated"
	KeysRevoked       = "keysRevoked"      // detail: which, from when on, and why
	UnmarkedAccepted  = "unmarkedAccepted" // detail: up to where
	BackupMade        = "backupMade"
	BackupRestored    = "backupRestored"
)

// CommandLine is the component of actions at the machine itself, where nobody signs in.
const CommandLine = "command line"

// How long the log keeps IP addresses, how many older ones an entry clears, and how many
// entries unknown callers make in an hour.
const (
	addressesKept      = 400 * 24 * time.Hour
	addressesForgotten = 10
	nobodysEntries     = 1024
)

//go:embed sql/record_security.sql
var recordSecurity string

//go:embed sql/forget_addresses.sql
var forgetAddresses string

// SecurityEntry is one row of the security log.
type SecurityEntry struct {
	ID             int64
	At             time.Time // zero: now
	OrganizationID uuid.UUID `db:"organization_id"` // uuid.Nil: nobody could be identified
	MemberID       uuid.UUID `db:"member_id"`
	Type           string
	IP             string
	RequestID      string `db:"request_id"`
	Detail         string
	Component      string // of what no request did: CommandLine
	Once           bool   // one such entry of the person, type and detail an hour is enough
}

// RecordSecurity appends to the security log, and empties some addresses that it
// has kept for long enough.
func (s *Store) RecordSecurity(ctx context.Context, e SecurityEntry) error {
	if err := s.record(ctx, s.db, e); err != nil {
		return err
	}
	return s.forgetAddresses(ctx)
}

// record appends to the security log.
func (s *Store) record(ctx context.Context, db sqlx.ExecerContext, e SecurityEntry) error {
	if e.At.IsZero() {
		e.At = s.clock()
	}
	return statement.Exec(ctx, db, "append to the security log", recordSecurity, e.At, orNull(e.OrganizationID), orNull(e.MemberID), e.Type,
		printable(e.IP), printable(e.RequestID), printable(e.Detail), e.Component, e.once())
}

func (s *Store) forgetAddresses(ctx context.Context) error {
	return statement.Exec(ctx, s.db, "forget addresses in the security log", forgetAddresses, s.clock().Add(-addressesKept), addressesForgotten)
}

// RecordSystem appends what was done to the whole installation on the command
// line: one entry in each organization, whose auditors could not see it otherwise.
func (s *Store) RecordSystem(ctx context.Context, entryType, detail string) error {
	return statement.Exec(ctx, s.db, "append to the security log", `INSERT INTO security_log (at, organization_id, type, ip, request_id, detail, component)
		SELECT $1, id, $2, '', '', $3, $4 FROM organizations`, s.clock(), entryType, printable(detail), CommandLine)
}

// RecordOperation appends what was done on the command line to one organization,
// or (uuid.Nil) to all of them.
func (s *Store) RecordOperation(ctx context.Context, org uuid.UUID, entryType, detail string) error {
	if org == uuid.Nil {
		return s.RecordSystem(ctx, entryType, detail)
	}
	return s.RecordSecurity(ctx, SecurityEntry{OrganizationID: org, Type: entryType, Detail: detail, Component: CommandLine})
}

// once is the key under which an entry is recorded once an hour. Unknown callers share a
// limited number of them, so they cannot fill the disk.
func (e SecurityEntry) once() []byte {
	if !e.Once {
		return nil
	}
	whose := e.MemberID.String()
	if e.MemberID == uuid.Nil {
		place := digestOf(Network(e.IP))
		whose = fmt.Sprint((int(place[0])<<8 | int(place[1])) % nobodysEntries)
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%d", e.OrganizationID, whose, e.Type, e.Detail, e.At.Truncate(time.Hour).Unix()))
	return key[:]
}

// Network is what one person can be assumed to have of addresses: one of IPv4,
// 64 bits of IPv6. What is no address is returned as it is.
func Network(ip string) string {
	address, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	prefix, err := address.Prefix(64)
	if err != nil {
		return ip
	}
	return prefix.String()
}

// printable makes text of what a client sent: PostgreSQL refuses U+0000 and
// invalid UTF-8, and a refusal must still be recorded.
func printable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}

var (
	//go:embed sql/security_log.sql
	listSecurity string
	//go:embed sql/security_log_by_type.sql
	listSecurityByType string
	//go:embed sql/security_log_by_member.sql
	listSecurityByMember string
)

// SecurityQuery selects entries of an organization. Empty lists and zero times
// do not narrow.
type SecurityQuery struct {
	Organization uuid.UUID
	From, To     time.Time // from inclusive, to exclusive
	Members      []uuid.UUID
	Types        []string
	Before       *SecurityPlace // nil: from the newest
	Limit        int
}

// SecurityPlace is the place of an entry in the list, which is ordered by time and then by id:
// the clocks of two processes may differ from the order of ids.
type SecurityPlace struct {
	At time.Time
	ID int64
}

// latest is behind every entry.
var latest = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// SecurityLog returns the entries that the query selects, newest first.
func (s *Store) SecurityLog(ctx context.Context, q SecurityQuery) ([]SecurityEntry, error) {
	if q.To.IsZero() {
		q.To = latest
	}
	before := SecurityPlace{At: latest}
	if q.Before != nil {
		before = *q.Before
	}
	// Each filter has its query and its index: one query for all of them reads every entry if
	// none has the type.
	query, args := listSecurity, []any{q.Organization, q.From, q.To, before.At, before.ID, q.Limit}
	switch {
	case len(q.Members) > 0:
		query, args = listSecurityByMember, append(args, q.Members, q.Types)
	case len(q.Types) > 0:
		query, args = listSecurityByType, append(args, q.Types)
	}
	return statement.All[SecurityEntry](ctx, s.db, "read the security log", query, args...)
}
