package accounts

import (
	"context"
	_ "embed"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/statement"
)

//go:embed sql/lock_people.sql
var lockPeople string

// EraseMember empties a member's row and forgets what they signed in with:
// sessions, API tokens, an invitation, where they signed in from, failed sign-ins
// and what identity providers know them by. The row is written first, so that a sign-in that is
// under way either sees it or has its session deleted here. Ingest tokens are
// the organization's and go on.
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
		{"forget the tokens of a member", `DELETE FROM tokens WHERE member_id = $1 AND kind = 'api'`, []any{id}},
		{"forget what providers know a member by", `DELETE FROM member_identities WHERE member_id = $1`, []any{id}},
		{"withdraw the invitation of a member", `DELETE FROM invitations WHERE member_id = $1`, []any{id}},
		{"forget failed sign-ins", `DELETE FROM sign_in_failures WHERE kind = 'account' AND substring(subject FOR $2::integer) = $1`,
			[]any{account, len(account)}}, // those at a network that they signed in from follow it with that network's digest
		{"forget where a member signed in from", `DELETE FROM sign_in_addresses WHERE member_id = $1`, []any{id}},
	} {
		if err := statement.Exec(ctx, tx, step.what, step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// LockInvitation makes whoever accepts or renews a member's invitation wait until
// tx ends; nothing where they have none.
func (s *Store) LockInvitation(ctx context.Context, tx *sqlx.Tx, org, member uuid.UUID) error {
	return statement.Exec(ctx, tx, "lock an invitation", `SELECT FROM invitations WHERE member_id =
		(SELECT id FROM members WHERE organization_id = $1 AND id = $2) FOR UPDATE`, org, member)
}

// LockPeople makes an erasure of these members wait until tx ends, and returns
// those who are erased already.
func (s *Store) LockPeople(ctx context.Context, tx *sqlx.Tx, org uuid.UUID, members []uuid.UUID) (erased []uuid.UUID, err error) {
	type lockedMember struct {
		ID     uuid.UUID `db:"id"`
		Erased bool      `db:"erased"`
	}
	locked, err := statement.All[lockedMember](ctx, tx, "lock members", lockPeople, org, members)
	if err != nil {
		return nil, err
	}
	for _, m := range locked {
		if m.Erased {
			erased = append(erased, m.ID)
		}
	}
	return erased, nil
}
