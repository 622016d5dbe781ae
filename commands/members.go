package commands

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/rule"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

// AddMember adds an active member with a password (command line). Errors:
// *usecase.RuleError, *accounts.Refusal with weak_password or member_exists.
func (s *Service) AddMember(ctx context.Context, actor usecase.Actor, m NewMember) (accounts.Member, usecase.Mark, error) {
	if err := m.check(); err != nil {
		return accounts.Member{}, usecase.Mark{}, err
	}
	hash, err := s.hashOf(ctx, m.Password, actor.OrganizationID, m.Email, m.Name)
	if err != nil {
		return accounts.Member{}, usecase.Mark{}, err
	}
	person := s.person(actor.OrganizationID, m, organization.Active)
	mark, err := s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Join(person.ID, m.Role)
		}, func([]organization.Event) error {
			return s.Accounts.InsertMember(ctx, tx, person, hash)
		})
	})
	return person, mark, err
}

// InviteMember adds an invited member and returns the token of the invitation,
// which works once within 24 hours. Errors: *usecase.RuleError, *accounts.Refusal with
// member_exists.
func (s *Service) InviteMember(ctx context.Context, actor usecase.Actor, m NewMember) (member accounts.Member, token string, expires time.Time, mark usecase.Mark, err error) {
	if err := m.check(); err != nil {
		return accounts.Member{}, "", time.Time{}, usecase.Mark{}, err
	}
	member = s.person(actor.OrganizationID, m, organization.Invited)
	mark, err = s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Invite(member.ID, m.Role), nil
		}, func([]organization.Event) (err error) {
			if err = s.Accounts.InsertMember(ctx, tx, member, ""); err != nil {
				return err
			}
			token, expires, err = s.Accounts.InsertInvitation(ctx, tx, member.ID)
			return err
		})
	})
	return member, token, expires, mark, err
}

// RenewInvitation gives an invited member a new link, which works once within 24
// hours; the old one stops working. Errors: *usecase.NotFoundError, *usecase.RuleError with
// invalid_state.
func (s *Service) RenewInvitation(ctx context.Context, actor usecase.Actor, id uuid.UUID) (member accounts.Member, token string, mark usecase.Mark, err error) {
	mark, err = s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := s.Accounts.LockInvitation(ctx, tx, actor.OrganizationID, id); err != nil {
			return usecase.Mark{}, err
		}
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.InviteAgain(id)
		}, func([]organization.Event) (err error) {
			token, _, err = s.Accounts.InsertInvitation(ctx, tx, id)
			return err
		})
	})
	if err != nil {
		return accounts.Member{}, "", usecase.Mark{}, err
	}
	member, err = s.memberNow(ctx, actor.OrganizationID, id)
	return member, token, mark, err
}

// memberNow is a member after a change; they may have been erased since.
func (s *Service) memberNow(ctx context.Context, org, id uuid.UUID) (accounts.Member, error) {
	member, ok, err := s.Accounts.Member(ctx, org, id)
	if err == nil && !ok {
		err = &usecase.NotFoundError{What: "member"}
	}
	return member, err
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
func (s *Service) AcceptInvitation(ctx context.Context, in AcceptInvitation) (accounts.Member, usecase.Mark, error) {
	invited, err := s.Accounts.InvitedMember(ctx, in.Token)
	if err != nil {
		return accounts.Member{}, usecase.Mark{}, err
	}
	if e := usecase.CheckName("#/name", in.Name); e != nil && in.Name != "" {
		return accounts.Member{}, usecase.Mark{}, usecase.FieldErrors([]rule.Broken{*e})
	}
	hash, err := s.hashOf(ctx, in.Password, invited.OrganizationID, invited.Email, invited.Name, in.Name)
	if err != nil {
		return accounts.Member{}, usecase.Mark{}, err
	}
	actor := usecase.Actor{OrganizationID: invited.OrganizationID, MemberID: invited.ID, RequestID: in.RequestID}
	var member accounts.Member
	mark, err := s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if _, err := s.Accounts.TakeInvitation(ctx, tx, in.Token); err != nil {
			return usecase.Mark{}, err
		}
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Join(invited.ID, invited.Role)
		}, func([]organization.Event) (err error) {
			member, err = s.Accounts.ActivateMember(ctx, tx, invited.ID, in.Name, hash)
			return err
		})
	})
	return member, mark, err
}

// hashOf checks a new password, also against the name of the organization.
func (s *Service) hashOf(ctx context.Context, password string, org uuid.UUID, about ...string) (string, error) {
	o, _, err := s.Accounts.Organization(ctx, org)
	if err != nil {
		return "", err
	}
	return s.Accounts.HashPassword(ctx, password, append(about, o.Name)...)
}

// ChangeMember is what changes about a member; nil stays.
type ChangeMember struct {
	Role   *organization.Role
	Status *string // active, disabled
}

// ChangeMember changes role or status. Either ends the member's sessions;
// disabling withdraws their invitation and revokes their tokens too (API and ingest), at once
// and with an event for each token. Errors:
// *usecase.NotFoundError, *usecase.RuleError with last_admin, invalid_state or invalid_parameter.
func (s *Service) ChangeMember(ctx context.Context, actor usecase.Actor, id uuid.UUID, c ChangeMember) (accounts.Member, usecase.Mark, error) {
	if c.Role != nil && !c.Role.Valid() {
		return accounts.Member{}, usecase.Mark{}, usecase.FieldError("#/role", "invalid_parameter", "is not a role")
	}
	mark, err := s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := s.Accounts.LockInvitation(ctx, tx, actor.OrganizationID, id); err != nil {
			return usecase.Mark{}, err
		}
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			tokens, err := s.Accounts.WorkingTokens(ctx, tx, actor.OrganizationID, id)
			if err != nil {
				return nil, err
			}
			return changeMember(o, id, c, tokens)
		}, func(events []organization.Event) error {
			for _, e := range events {
				if changed, ok := e.(organization.MemberChanged); ok {
					return s.Accounts.UpdateMember(ctx, tx, actor.OrganizationID, id, changed.Role, changed.Status)
				}
			}
			return nil
		})
	})
	if err != nil {
		return accounts.Member{}, usecase.Mark{}, err
	}
	member, err := s.memberNow(ctx, actor.OrganizationID, id)
	return member, mark, err
}

// changeMember decides about the member and, where they are disabled, about
// each of their tokens.
func changeMember(o *organization.Organization, id uuid.UUID, c ChangeMember, tokens []uuid.UUID) ([]organization.Event, error) {
	events, err := o.Change(id, c.Role, c.Status)
	if err != nil || len(events) == 0 || c.Status == nil || *c.Status != organization.Disabled {
		return events, err
	}
	revoked, err := revokeAll(o, tokens)
	return append(events, revoked...), err
}

func revokeAll(o *organization.Organization, tokens []uuid.UUID) ([]organization.Event, error) {
	var events []organization.Event
	for _, token := range tokens {
		revoked, err := o.Revoke(token)
		if err != nil {
			return nil, err
		}
		events = append(events, revoked...)
	}
	return events, nil
}

// EraseMember erases a member: their row is emptied, their credentials are deleted, mails that
// wait for them fail, and the erasure of the inputs documents that name them is queued. It
// cannot be undone. Errors: *usecase.NotFoundError, also for a member who is already erased, *usecase.RuleError
// with last_admin.
//
// forget runs before the append, in the same transaction: other code that stores the member's
// name deletes it there; nil: there is none.
//
// An invitation is locked before the stream, as when it is accepted. The row is locked before
// the reports: see RecordPeople.
func (s *Service) EraseMember(ctx context.Context, actor usecase.Actor, id uuid.UUID, forget func(tx *sqlx.Tx) error) (usecase.Mark, error) {
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := s.Accounts.LockInvitation(ctx, tx, actor.OrganizationID, id); err != nil {
			return usecase.Mark{}, err
		}
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return s.eraseMember(ctx, tx, o, actor.OrganizationID, id)
		}, func([]organization.Event) error {
			if err := s.Accounts.EraseMember(ctx, tx, actor.OrganizationID, id); err != nil {
				return err
			}
			if err := releaseFindings(ctx, tx, actor.OrganizationID, id); err != nil {
				return err
			}
			if err := s.eraseTraces(ctx, tx, actor.OrganizationID, id); err != nil || forget == nil {
				return err
			}
			return forget(tx)
		})
	})
}

// eraseMember decides about the member and about each of their tokens.
func (s *Service) eraseMember(ctx context.Context, tx *sqlx.Tx, o *organization.Organization, org, id uuid.UUID) ([]organization.Event, error) {
	erased, err := o.Erase(id)
	if err != nil {
		return nil, err
	}
	tokens, err := s.Accounts.WorkingTokens(ctx, tx, org, id)
	if err != nil {
		return nil, err
	}
	revoked, err := revokeAll(o, tokens)
	return append(revoked, erased...), err
}

// eraseTraces queues what only a worker can do.
func (s *Service) eraseTraces(ctx context.Context, tx *sqlx.Tx, org, id uuid.UUID) error {
	reports, err := statement.All[uuid.UUID](ctx, tx, "look for reports that name a member",
		`SELECT report_id FROM report_people WHERE organization_id = $1 AND member_id = $2 ORDER BY report_id`, org, id)
	if err != nil {
		return err
	}
	for _, report := range reports {
		if err := s.Jobs.InsertErasure(ctx, tx, org, report); err != nil {
			return err
		}
	}
	return s.Jobs.HastenMails(ctx, tx, org, id)
}

// JoinByIdentity links an identity without a member to the member with the address for which
// the provider vouches. An invited member joins by it, however old the invitation is, because
// the invitation proves nothing that the provider does not. Errors: *accounts.StrangerError.
//
// Two calls at once with one identity wait for each other on the member's row; both find it
// linked.
func (s *Service) JoinByIdentity(ctx context.Context, id accounts.Identity, email string, c accounts.Client) (usecase.Mark, error) {
	known, ok, err := s.Accounts.MemberByEmail(ctx, email)
	if err != nil {
		return usecase.Mark{}, err
	}
	if !ok || email == "" || strings.ContainsFunc(email, becomesASCII) {
		return usecase.Mark{}, &accounts.StrangerError{Reason: accounts.StrangerUnknown}
	}
	actor := usecase.Actor{OrganizationID: known.OrganizationID, MemberID: known.ID, RequestID: c.RequestID}
	mark := usecase.Mark{Log: eventstore.Organization}
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) error {
		// The invitation, the stream, the row: in the order in which an invitation is accepted
		// or a member is erased.
		if err := s.Accounts.LockInvitation(ctx, tx, known.OrganizationID, known.ID); err != nil {
			return err
		}
		if err := usecase.LockStream(ctx, tx, known.OrganizationID); err != nil {
			return err
		}
		member, err := s.Accounts.LinkIdentity(ctx, tx, known.OrganizationID, known.ID, email, id, c)
		if err != nil || member.Status == organization.Active {
			return err
		}
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Join(member.ID, member.Role)
		}, func([]organization.Event) error {
			return s.Accounts.ActivateByIdentity(ctx, tx, member.ID)
		})
		return err
	})
	return mark, err
}

// becomesASCII finds letters such as the Kelvin sign, whose lower case is a plain k. Addresses
// are compared in lower case, and with such a letter another person's address would pass for a
// member's.
func becomesASCII(r rune) bool { return r > unicode.MaxASCII && unicode.ToLower(r) <= unicode.MaxASCII }
