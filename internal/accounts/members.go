package accounts

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/postgres/statement"
)

const memberColumns = `id, organization_id, coalesce(email, '') AS email, name, role, status, last_sign_in_at, created_at`

//go:embed sql/members.sql
var listMembers string

// Address is where and to whom a mail goes.
type Address struct {
	Name, Email string
	Role        organization.Role
}

// InsertMember stores a member; hash is empty for an invited one. Errors:
// *Refusal member_exists where the address has an account anywhere in the
// installation.
func (s *Store) InsertMember(ctx context.Context, tx *sqlx.Tx, m Member, hash string) error {
	n, err := statement.Affected(ctx, tx, "store a member", `INSERT INTO members (id, organization_id, email, name, role, status, password_hash, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, nullif($7, ''), $8) ON CONFLICT (email) DO NOTHING`,
		m.ID, m.OrganizationID, normalEmail(m.Email), m.Name, m.Role, m.Status, hash, m.CreatedAt)
	if err != nil || n == 1 {
		return err
	}
	return &Refusal{Code: CodeMemberExists, Detail: "this address has an account already"}
}

// ActivateMember gives an invited member a name, where one is given, and a password.
func (s *Store) ActivateMember(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, name, hash string) (Member, error) {
	return statement.One[Member](ctx, tx, "activate a member", `UPDATE members SET status = 'active', name = coalesce(nullif($2, ''), name), password_hash = $3
		WHERE id = $1 RETURNING `+memberColumns, id, name, hash)
}

// UpdateMember stores a member's role and status and ends their sessions, so
// that the next sign-in gets one of the new kind. Disabling withdraws their
// invitation and revokes their tokens too, API and ingest.
func (s *Store) UpdateMember(ctx context.Context, tx *sqlx.Tx, org, id uuid.UUID, role organization.Role, status string) error {
	err := statement.Exec(ctx, tx, "change a member", `UPDATE members SET role = $3, status = $4 WHERE organization_id = $1 AND id = $2`, org, id, role, status)
	if err == nil {
		err = statement.Exec(ctx, tx, "end the sessions of a member", `DELETE FROM sessions WHERE organization_id = $1 AND member_id = $2`, org, id)
	}
	if err != nil || status != organization.Disabled {
		return err
	}
	err = statement.Exec(ctx, tx, "withdraw an invitation", `DELETE FROM invitations WHERE member_id = (SELECT id FROM members WHERE organization_id = $1 AND id = $2)`, org, id)
	if err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "revoke the tokens of a member", `UPDATE tokens SET revoked_at = $3
		WHERE organization_id = $1 AND member_id = $2 AND revoked_at IS NULL`, org, id, s.clock())
}

// WorkingTokens returns the tokens of a member, API and ingest, that are not revoked.
func (s *Store) WorkingTokens(ctx context.Context, tx *sqlx.Tx, org, member uuid.UUID) ([]uuid.UUID, error) {
	return statement.All[uuid.UUID](ctx, tx, "list working tokens", `SELECT id FROM tokens
		WHERE organization_id = $1 AND member_id = $2 AND revoked_at IS NULL ORDER BY created_at DESC, id DESC`, org, member)
}

// MemberQuery asks for a page of members.
type MemberQuery struct {
	Text       string // part of a name; empty: everybody
	Addresses  bool   // or of an address: for those who may see addresses, others would guess them
	Page, Size int    // pages count from 1
}

// Members returns a page of members by name, then id, and how many there are
// in all, erased ones left out.
func (s *Store) Members(ctx context.Context, org uuid.UUID, q MemberQuery) ([]Member, int64, error) {
	type row struct {
		Member
		Total int64 `db:"total"`
	}
	pattern := ""
	if q.Text != "" {
		pattern = "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(q.Text) + "%"
	}
	rows, err := statement.All[row](ctx, s.db, "list members", listMembers, org, pattern, q.Size, (q.Page-1)*q.Size, q.Addresses)
	if err != nil {
		return nil, 0, err
	}
	members := make([]Member, 0, len(rows))
	for _, r := range rows {
		members = append(members, r.Member)
	}
	if len(rows) > 0 || q.Page == 1 {
		var total int64
		if len(rows) > 0 {
			total = rows[0].Total
		}
		return members, total, nil
	}
	q.Page, q.Size = 1, 1 // past the end: only the count is wanted
	_, total, err := s.Members(ctx, org, q)
	return members, total, err
}

// Member returns one; ok is false where this organization has none of that id,
// or has erased them.
func (s *Store) Member(ctx context.Context, org, id uuid.UUID) (m Member, ok bool, err error) {
	return s.member(ctx, `organization_id = $1 AND id = $2 AND status <> 'erased'`, org, id)
}

// MemberByEmail returns the account of an address.
func (s *Store) MemberByEmail(ctx context.Context, email string) (m Member, ok bool, err error) {
	return s.member(ctx, `email = $1`, normalEmail(email))
}

func (s *Store) member(ctx context.Context, where string, args ...any) (m Member, ok bool, err error) {
	return statement.Find[Member](ctx, s.db, "look up a member", `SELECT `+memberColumns+` FROM members WHERE `+where, args...)
}

// Addresses returns where to mail; disabled, erased and foreign members are absent.
func (s *Store) Addresses(ctx context.Context, org uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]Address, error) {
	return addresses(ctx, s.db, org, ids, organization.Invited, organization.Active)
}

// ConfirmedAddresses is Addresses without the members who have not accepted their invitation yet.
func ConfirmedAddresses(ctx context.Context, q sqlx.QueryerContext, org uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]Address, error) {
	return addresses(ctx, q, org, ids, organization.Active)
}

func addresses(ctx context.Context, q sqlx.QueryerContext, org uuid.UUID, ids []uuid.UUID, statuses ...string) (map[uuid.UUID]Address, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	members, err := statement.All[Member](ctx, q, "look up members", `SELECT `+memberColumns+` FROM members WHERE organization_id = $1 AND id = ANY($2)`, org, ids)
	addresses := make(map[uuid.UUID]Address, len(members))
	for _, m := range members {
		if slices.Contains(statuses, m.Status) {
			addresses[m.ID] = Address{Name: m.Name, Email: m.Email, Role: m.Role}
		}
	}
	return addresses, err
}

// Administrators returns the members who administer an organization now.
func (s *Store) Administrators(ctx context.Context, org uuid.UUID) ([]uuid.UUID, error) {
	return statement.All[uuid.UUID](ctx, s.db, "list administrators", `SELECT id FROM members WHERE organization_id = $1 AND role = 'admin' AND status = 'active' ORDER BY id`, org)
}

// Names returns the names of members of the organization, whatever their status.
// That of an erased member is empty; an unknown one is absent.
func (s *Store) Names(ctx context.Context, org uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return statement.Map[uuid.UUID, string](ctx, s.db, "look up members", `SELECT id, name FROM members WHERE organization_id = $1 AND id = ANY($2)`, org, ids)
}

//go:embed sql/lock_people.sql
var lockPeople string

// EraseMember empties a member's row and deletes their credentials: sessions, API tokens, an
// invitation, known addresses, failed sign-ins and linked identities. The row is written first,
// so a sign-in in progress either sees that or has its session deleted here. Ingest tokens are
// revoked and stay, because the log names them. Their views are deleted too, but shared ones
// stay without an author, because others use them.
func (s *Store) EraseMember(ctx context.Context, tx *sqlx.Tx, org, id uuid.UUID) error {
	address, err := statement.One[string](ctx, tx, "lock a member", `SELECT coalesce(email, '') FROM members WHERE organization_id = $1 AND id = $2 FOR UPDATE`, org, id)
	if err != nil {
		return err
	}
	account := subject("account", address)
	for _, step := range []struct {
		what, query string
		args        []any
	}{
		{"empty a member's row", `UPDATE members SET email = NULL, name = '', password_hash = NULL, last_sign_in_at = NULL, role = 'viewer', status = 'erased'
			WHERE organization_id = $1 AND id = $2`, []any{org, id}},
		{"end the sessions of a member", `DELETE FROM sessions WHERE member_id = $1`, []any{id}},
		{"forget the API tokens of a member", `DELETE FROM tokens WHERE member_id = $1 AND kind = 'api'`, []any{id}},
		{"revoke the ingest tokens of a member", `UPDATE tokens SET revoked_at = $2 WHERE member_id = $1 AND revoked_at IS NULL`, []any{id, s.clock()}},
		{"forget what providers know a member by", `DELETE FROM member_identities WHERE member_id = $1`, []any{id}},
		{"withdraw the invitation of a member", `DELETE FROM invitations WHERE member_id = $1`, []any{id}},
		{"forget failed sign-ins", `DELETE FROM sign_in_failures WHERE kind = 'account' AND substring(subject FOR $2::integer) = $1`,
			[]any{account, len(account)}}, // those at a network that they signed in from follow it with that network's digest
		{"let go of the views that a member shares", `UPDATE views SET member_id = NULL WHERE member_id = $1 AND shared`, []any{id}},
		{"forget the views of a member", `DELETE FROM views WHERE member_id = $1`, []any{id}},
		{"forget where a member signed in from", `DELETE FROM sign_in_addresses WHERE member_id = $1`, []any{id}},
	} {
		if err := statement.Exec(ctx, tx, step.what, step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// LockInvitation makes callers that accept or renew a member's invitation wait until tx ends;
// it does nothing if there is none.
func (s *Store) LockInvitation(ctx context.Context, tx *sqlx.Tx, org, member uuid.UUID) error {
	return statement.Exec(ctx, tx, "lock an invitation", `SELECT FROM invitations WHERE member_id =
		(SELECT id FROM members WHERE organization_id = $1 AND id = $2) FOR UPDATE`, org, member)
}

// LockPeople makes an erasure of these members wait until tx ends, and says whether
// one of them is erased already.
func (s *Store) LockPeople(ctx context.Context, tx *sqlx.Tx, org uuid.UUID, members []uuid.UUID) (erased bool, err error) {
	return statement.One[bool](ctx, tx, "lock members", lockPeople, org, members)
}

// LockActive says whether a member is active, and makes whoever changes or erases them wait until tx ends.
func (s *Store) LockActive(ctx context.Context, tx *sqlx.Tx, org, member uuid.UUID) (active bool, err error) {
	status, _, err := statement.Find[string](ctx, tx, "lock a member", `SELECT status FROM members WHERE organization_id = $1 AND id = $2 FOR SHARE`, org, member)
	return status == organization.Active, err
}
