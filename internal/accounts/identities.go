package accounts

import (
	"context"
	_ "embed"
	"errors"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/postgres/statement"
)

// Identity is a person as an identity provider knows them, for good: their
// address may change, and may be another's later.
type Identity struct{ Issuer, Subject string }

// StrangerError says that an identity opens no account. The person gets the same answer for
// every Reason: the Reason is for the security log, where administrators read what to do about
// it.
type StrangerError struct {
	Reason string
	Member Member // the account it is about; zero: there is none
}

// Reasons of a StrangerError.
const (
	StrangerUnknown  = "unknown"          // no account is linked, and none has the address
	StrangerDisabled = "disabled"         // the account may not be used
	StrangerOther    = "another identity" // the address is of an account that is linked to somebody else at the provider
)

func (e *StrangerError) Error() string { return "no account is open to this identity: " + e.Reason }

// SignInByIdentity opens a session for the active member whose identity this is.
// Errors: *StrangerError.
func (s *Store) SignInByIdentity(ctx context.Context, id Identity, c Client) (token string, p Principal, err error) {
	member, ok, err := s.member(ctx, `id = (SELECT member_id FROM member_identities WHERE issuer = $1 AND subject = $2)`, id.Issuer, id.Subject)
	if err != nil {
		return "", Principal{}, err
	}
	if !ok {
		return "", Principal{}, &StrangerError{Reason: StrangerUnknown}
	}
	if member.Status == organization.Active {
		token, p, err = s.StartSession(ctx, member.ID, MethodOIDC, c)
	}
	var gone *Refusal // they were disabled just now
	if member.Status != organization.Active || errors.As(err, &gone) {
		return "", Principal{}, &StrangerError{Reason: StrangerDisabled, Member: member}
	}
	return token, p, err
}

//go:embed sql/link_identity.sql
var linkIdentity string

// LinkIdentity links the identity to the member, who must still have the address for which the
// provider vouches, writes that to the security log, and returns the member. It changes nothing
// if they are linked already. Errors: *StrangerError.
func (s *Store) LinkIdentity(ctx context.Context, tx *sqlx.Tx, org, member uuid.UUID, email string, id Identity, c Client) (Member, error) {
	m, ok, err := statement.Find[Member](ctx, tx, "lock a member", `SELECT `+memberColumns+` FROM members WHERE organization_id = $1 AND id = $2 AND email = $3 FOR UPDATE`,
		org, member, normalEmail(email))
	switch {
	case err != nil:
		return Member{}, err
	case !ok:
		return Member{}, &StrangerError{Reason: StrangerUnknown}
	}
	if m.Status != organization.Active && m.Status != organization.Invited {
		return Member{}, &StrangerError{Reason: StrangerDisabled, Member: m}
	}
	type linked struct {
		New    bool `db:"new"`
		Theirs bool `db:"theirs"`
	}
	now := s.clock()
	link, err := statement.One[linked](ctx, tx, "link an identity", linkIdentity, id.Issuer, id.Subject, org, member, now)
	if err != nil {
		return Member{}, err
	}
	switch {
	case !link.Theirs:
		return Member{}, &StrangerError{Reason: StrangerOther, Member: m}
	case link.New:
		e := c.Entry(org, member, IdentityLinked, id.Issuer)
		e.At = now
		err = s.record(ctx, tx, e)
	}
	return m, err
}

// ActivateByIdentity makes an invited member active who has no password, and
// uses their invitation up.
func (s *Store) ActivateByIdentity(ctx context.Context, tx *sqlx.Tx, member uuid.UUID) error {
	if err := statement.Exec(ctx, tx, "activate a member", `UPDATE members SET status = 'active' WHERE id = $1`, member); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "use an invitation", `UPDATE invitations SET used_at = $2 WHERE member_id = $1 AND used_at IS NULL`, member, s.clock())
}

// ThrottleAddress refuses while the address has to wait after failed sign-ins.
// Errors: *Refusal login_throttled.
func (s *Store) ThrottleAddress(ctx context.Context, c Client) error {
	return s.throttle(ctx, nil, subject("ip", Network(c.IP)))
}

// RefuseIdentity counts a sign-in at a provider that came to nothing against the
// address, and writes it to the security log. about is the account that it
// concerns; zero: none.
func (s *Store) RefuseIdentity(ctx context.Context, about Member, reason string, c Client) error {
	e := c.Entry(about.OrganizationID, about.ID, SignInRefused, MethodOIDC+": "+reason)
	e.Once = about.ID == uuid.Nil
	return s.refuse(ctx, nil, subject("ip", Network(c.IP)), e)
}
