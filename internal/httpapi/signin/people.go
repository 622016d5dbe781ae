package signin

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/mail"
	"muster/internal/mail/sent"
	"muster/internal/postgres/statement"
	"muster/internal/text/pageaddress"
)

const membersPath = "/api/v1/members/"

func (s *MemberRoutes) ListMembers(ctx context.Context, r api.ListMembersRequestObject) (api.ListMembersResponseObject, error) {
	who := wire.Caller(ctx)
	page, size := wire.Or(r.Params.Page, 1), wire.Or(r.Params.PageSize, wire.DefaultPageSize)
	members, total, err := s.Accounts.Members(ctx, who.Organization.ID, accounts.MemberQuery{
		Text: wire.Value(r.Params.Q), Addresses: who.SeesAddresses(), Page: page, Size: size,
	})
	if err != nil {
		return nil, err
	}
	items := wire.List(members, func(m accounts.Member) api.Member { return showMember(m, who.SeesAddresses()) })
	return api.ListMembers200JSONResponse{Items: items, Page: wire.Paged(ctx, page, size, total)}, nil
}

// showMember is a member, with the address or with what is left of it.
func showMember(m accounts.Member, address bool) api.Member {
	shown := api.Member{Id: m.ID, Name: m.Name, Email: m.Email, Role: string(m.Role), Status: m.Status, LastSignInAt: wire.UTC(m.LastSignInAt)}
	if !address {
		shown.Email = masked(m.Email)
	}
	return shown
}

// masked leaves enough of an address to tell two people of one name apart.
func masked(email string) string {
	name, host, ok := strings.Cut(email, "@")
	if !ok || name == "" {
		return "***"
	}
	first := []rune(name)[0]
	return string(first) + "***@" + host
}

func (s *MemberRoutes) InviteMember(ctx context.Context, r api.InviteMemberRequestObject) (api.InviteMemberResponseObject, error) {
	member, token, _, mark, err := s.Commands.InviteMember(ctx, wire.Actor(ctx), commands.NewMember{
		Email: r.Body.Email, Name: r.Body.Name, Role: organization.Role(r.Body.Role),
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.InviteMember201JSONResponse{
		Headers: api.InviteMember201ResponseHeaders{Location: membersPath + member.ID.String()},
		Body:    s.invited(ctx, member, token),
	}, nil
}

// invited mails a member their link, and shows both; the fragment never reaches a server's log.
func (s *MemberRoutes) invited(ctx context.Context, m accounts.Member, token string) api.Invited {
	shown := api.Invited{Member: showMember(m, true), InviteUrl: pageaddress.Link(s.PublicURL.String(), pageaddress.Invitation) + "#" + token}
	if s.Mail == nil {
		return shown
	}
	// The link is there whatever becomes of the mail, and whether or not the caller still waits.
	ctx, cancel := wire.Asking(ctx)
	defer cancel()
	err := s.mailInvitation(ctx, m, shown.InviteUrl)
	if shown.Mailed = err == nil; err != nil {
		said := "The e-mail could not be sent."
		var failed *mail.DeliveryError
		if errors.As(err, &failed) {
			said = failed.Reason()
		}
		shown.MailError = &said
		s.Log.WarnContext(ctx, "an invitation was not mailed", "member", m.ID, "error", err)
	}
	return shown
}

func (s *MemberRoutes) mailInvitation(ctx context.Context, m accounts.Member, link string) error {
	caller := wire.Caller(ctx)
	message, err := s.Composer.ComposeInvitation(mail.Invitation{
		OrganizationID: caller.Organization.ID, MemberID: m.ID, Organization: caller.Organization.Name, Demo: caller.Organization.Demo,
		Inviter: caller.Member.Name, Link: link,
	}, mail.Address{Name: m.Name, Email: m.Email})
	if err != nil {
		return err
	}
	_, err = s.Mail.Send(ctx, message)
	return err
}

func (s *MemberRoutes) AcceptInvitation(ctx context.Context, r api.AcceptInvitationRequestObject) (api.AcceptInvitationResponseObject, error) {
	member, mark, err := s.Commands.AcceptInvitation(ctx, commands.AcceptInvitation{
		Token: r.Token, Name: r.Body.Name, Password: r.Body.Password, RequestID: wire.CallOf(ctx).RequestID,
	})
	if err != nil {
		return nil, fieldOf(err, "weak_password", "#/password")
	}
	wire.Settle(ctx, s.Waiter, mark)
	session, err := s.enter(ctx, member)
	if err != nil {
		return nil, err
	}
	return api.AcceptInvitation201JSONResponse{Body: session, Headers: api.AcceptInvitation201ResponseHeaders{Location: sessionPath}}, nil
}

func (s *MemberRoutes) RenewInvitation(ctx context.Context, r api.RenewInvitationRequestObject) (api.RenewInvitationResponseObject, error) {
	member, token, mark, err := s.Commands.RenewInvitation(ctx, wire.Actor(ctx), r.MemberId)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.RenewInvitation201JSONResponse{
		Headers: api.RenewInvitation201ResponseHeaders{Location: membersPath + member.ID.String()},
		Body:    s.invited(ctx, member, token),
	}, nil
}

// ChangeMember ends the member's sessions, and so perhaps the caller's: this
// answer is then the last one that it gets.
func (s *MemberRoutes) ChangeMember(ctx context.Context, r api.ChangeMemberRequestObject) (api.ChangeMemberResponseObject, error) {
	member, mark, err := s.Commands.ChangeMember(ctx, wire.Actor(ctx), r.MemberId, commands.ChangeMember{
		Role: (*organization.Role)(r.Body.Role), Status: (*string)(r.Body.Status),
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	if mark.Position > 0 {
		s.leave(ctx, r.MemberId)
	}
	return api.ChangeMember200JSONResponse(showMember(member, true)), nil
}

//go:embed sql/forget_answers.sql
var forgetAnswers string

func (s *MemberRoutes) EraseMember(ctx context.Context, r api.EraseMemberRequestObject) (api.EraseMemberResponseObject, error) {
	mark, err := s.Commands.EraseMember(ctx, wire.Actor(ctx), r.MemberId, func(tx *sqlx.Tx) error {
		if err := sent.ForgetMember(ctx, tx, wire.Actor(ctx).OrganizationID, r.MemberId); err != nil {
			return err
		}
		return statement.Exec(ctx, tx, "forget answers that name a member", forgetAnswers, r.MemberId)
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	s.leave(ctx, r.MemberId)
	return api.EraseMember204Response{}, nil
}

// leave takes the cookie back from a caller who has just ended their own session.
func (s *MemberRoutes) leave(ctx context.Context, member uuid.UUID) {
	if c := wire.CallOf(ctx); c.Token != "" && c.Principal.Member.ID == member {
		s.Cookies.SetSession(ctx, "")
	}
}
