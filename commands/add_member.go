package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

// AddMember adds an active member with a password (command line). Errors:
// *RuleError, *accounts.Refusal with weak_password or member_exists.
func (s *Service) AddMember(ctx context.Context, actor Actor, m NewMember) (accounts.Member, Mark, error) {
	if err := m.check(); err != nil {
		return accounts.Member{}, Mark{}, err
	}
	hash, err := s.hashOf(ctx, m.Password, actor.OrganizationID, m.Email, m.Name)
	if err != nil {
		return accounts.Member{}, Mark{}, err
	}
	var person accounts.Member
	var mark Mark
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		if person, err = s.person(actor.OrganizationID, m, organization.Active); err != nil {
			return err
		}
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Join(person.ID, m.Role)
		}, func([]organization.Event) error {
			return s.Accounts.InsertMember(ctx, tx, person, hash)
		})
		return err
	})
	if err != nil {
		return accounts.Member{}, Mark{}, err
	}
	return person, mark, nil
}

// InviteMember adds an invited member and returns the token of the invitation,
// which works once within 24 hours. Errors: *RuleError, *accounts.Refusal with
// member_exists.
func (s *Service) InviteMember(ctx context.Context, actor Actor, m NewMember) (member accounts.Member, token string, expires time.Time, mark Mark, err error) {
	if err := m.check(); err != nil {
		return accounts.Member{}, "", time.Time{}, Mark{}, err
	}
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		if member, err = s.person(actor.OrganizationID, m, organization.Invited); err != nil {
			return err
		}
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Invite(member.ID, m.Role), nil
		}, func([]organization.Event) (err error) {
			if err = s.Accounts.InsertMember(ctx, tx, member, ""); err != nil {
				return err
			}
			token, expires, err = s.Accounts.InsertInvitation(ctx, tx, member.ID)
			return err
		})
		return err
	})
	if err != nil {
		return accounts.Member{}, "", time.Time{}, Mark{}, err
	}
	return member, token, expires, mark, nil
}

// RenewInvitation gives an invited member a new link, which works once within 24
// hours; the old one stops working. Errors: *NotFoundError, *RuleError with
// invalid_state.
func (s *Service) RenewInvitation(ctx context.Context, actor Actor, id uuid.UUID) (member accounts.Member, token string, mark Mark, err error) {
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		if err := s.Accounts.LockInvitation(ctx, tx, actor.OrganizationID, id); err != nil {
			return err
		}
		var err error
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.InviteAgain(id)
		}, func([]organization.Event) (err error) {
			token, _, err = s.Accounts.InsertInvitation(ctx, tx, id)
			return err
		})
		return err
	})
	if err != nil {
		return accounts.Member{}, "", Mark{}, err
	}
	member, ok, err := s.Accounts.Member(ctx, actor.OrganizationID, id)
	if err == nil && !ok { // erased since
		err = &NotFoundError{What: "member"}
	}
	return member, token, mark, err
}

// AcceptInvitation is what an invited person enters.
type AcceptInvitation struct {
	Token     string
	Name      string // empty: the one they were invited under
	Password  string
	RequestID string
}

// AcceptInvitation makes the invited member active. Errors: *accounts.Refusal with
// invitation_gone or weak_password.
func (s *Service) AcceptInvitation(ctx context.Context, in AcceptInvitation) (accounts.Member, Mark, error) {
	invited, err := s.Accounts.InvitedMember(ctx, in.Token)
	if err != nil {
		return accounts.Member{}, Mark{}, err
	}
	if e := checkName("#/name", in.Name); e != nil && in.Name != "" {
		return accounts.Member{}, Mark{}, fieldErrors([]FieldError{*e})
	}
	hash, err := s.hashOf(ctx, in.Password, invited.OrganizationID, invited.Email, invited.Name, in.Name)
	if err != nil {
		return accounts.Member{}, Mark{}, err
	}
	actor := Actor{OrganizationID: invited.OrganizationID, MemberID: invited.ID, RequestID: in.RequestID}
	var member accounts.Member
	var mark Mark
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		if _, err := s.Accounts.TakeInvitation(ctx, tx, in.Token); err != nil {
			return err
		}
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Join(invited.ID, invited.Role)
		}, func([]organization.Event) (err error) {
			member, err = s.Accounts.ActivateMember(ctx, tx, invited.ID, in.Name, hash)
			return err
		})
		return err
	})
	if err != nil {
		return accounts.Member{}, Mark{}, err
	}
	return member, mark, nil
}

// hashOf checks a new password, also against the name of the organization.
func (s *Service) hashOf(ctx context.Context, password string, org uuid.UUID, about ...string) (string, error) {
	o, _, err := s.Accounts.Organization(ctx, org)
	if err != nil {
		return "", err
	}
	return s.Accounts.HashPassword(ctx, password, append(about, o.Name)...)
}
