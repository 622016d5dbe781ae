package accounts

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// The lifetimes of the links that create an account.
const (
	SetupLinkLife  = 30 * time.Minute
	InvitationLife = 24 * time.Hour
)

const noAdministrator = `SELECT NOT EXISTS (SELECT FROM members WHERE role = 'admin' AND status = 'active')`

// SetupRequired reports that the installation has no administrator.
func (s *Store) SetupRequired(ctx context.Context) (required bool, err error) {
	return statement.One[bool](ctx, s.db, "look for an administrator", noAdministrator)
}

// LockSetup is SetupRequired for a caller about to create the first administrator: until tx
// ends no other caller passes here.
func (s *Store) LockSetup(ctx context.Context, tx *sqlx.Tx) (required bool, err error) {
	if err := statement.Exec(ctx, tx, "lock the setup gate", `SELECT FROM setup_gate FOR UPDATE`); err != nil {
		return false, err
	}
	return statement.One[bool](ctx, tx, "look for an administrator", noAdministrator)
}

// NewSetupToken makes a link that works once within 30 minutes and makes the
// first administrator, in organization or (uuid.Nil) in a new one. Errors:
// *Refusal setup_closed.
func (s *Store) NewSetupToken(ctx context.Context, org uuid.UUID) (token string, expires time.Time, err error) {
	token, digest := secret()
	now := s.clock()
	expires = now.Add(SetupLinkLife)
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		required, err := s.LockSetup(ctx, tx)
		if err != nil {
			return err
		}
		if !required {
			return setupClosed()
		}
		if err := statement.Exec(ctx, tx, "delete old setup links", `DELETE FROM setup_links WHERE expires_at < $1`, now); err != nil {
			return err
		}
		return statement.Exec(ctx, tx, "store a setup link", `INSERT INTO setup_links (token_hash, organization_id, created_at, expires_at) VALUES ($1, $2, $3, $4)`,
			digest, orNull(org), now, expires)
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return token, expires, nil
}

// TakeSetupToken uses a setup link up and returns its organization (uuid.Nil: a new one has to
// be created). Errors: *Refusal with CodeSetupClosed or CodeSetupLinkGone.
func (s *Store) TakeSetupToken(ctx context.Context, tx *sqlx.Tx, token string) (org uuid.UUID, err error) {
	required, err := s.LockSetup(ctx, tx)
	if err != nil {
		return uuid.Nil, err
	}
	if !required {
		return uuid.Nil, setupClosed()
	}
	id, ok, err := statement.Find[uuid.NullUUID](ctx, tx, "use a setup link", `UPDATE setup_links SET used_at = $2 WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2
		RETURNING organization_id`, digestOf(token), s.clock())
	if err == nil && !ok {
		err = &Refusal{Code: CodeSetupLinkGone, Detail: "this setup link is unknown, used or older than 30 minutes"}
	}
	return id.UUID, err
}

func setupClosed() error {
	return &Refusal{Code: CodeSetupClosed, Detail: "this installation has an administrator; ask them for an invitation"}
}

// InsertInvitation makes the invitation of a member; an older one of theirs
// stops working.
func (s *Store) InsertInvitation(ctx context.Context, tx *sqlx.Tx, member uuid.UUID) (token string, expires time.Time, err error) {
	token, digest := secret()
	now := s.clock()
	expires = now.Add(InvitationLife)
	err = statement.Exec(ctx, tx, "store an invitation", `INSERT INTO invitations (member_id, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (member_id) DO UPDATE SET token_hash = $2, created_at = $3, expires_at = $4, used_at = NULL`, member, digest, now, expires)
	if err != nil {
		return "", time.Time{}, err
	}
	return token, expires, nil
}

// InvitedMember returns whom an invitation is for, without using it up. Errors:
// *Refusal with CodeInvitationGone.
func (s *Store) InvitedMember(ctx context.Context, token string) (Member, error) {
	m, ok, err := s.member(ctx, `status = 'invited' AND id = (SELECT member_id FROM invitations
		WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2)`, digestOf(token), s.clock())
	if err == nil && !ok {
		err = invitationGone()
	}
	return m, err
}

// TakeInvitation uses an invitation up and returns whom it is for. Errors:
// *Refusal with CodeInvitationGone.
func (s *Store) TakeInvitation(ctx context.Context, tx *sqlx.Tx, token string) (Member, error) {
	m, ok, err := statement.Find[Member](ctx, tx, "use an invitation", `WITH taken AS (
			UPDATE invitations SET used_at = $2 WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2 RETURNING member_id)
		SELECT `+memberColumns+` FROM members WHERE id = (SELECT member_id FROM taken) AND status = 'invited'`, digestOf(token), s.clock())
	if err == nil && !ok {
		err = invitationGone()
	}
	return m, err
}

func invitationGone() error {
	return &Refusal{Code: CodeInvitationGone, Detail: "this invitation is unknown, used or older than 24 hours"}
}
