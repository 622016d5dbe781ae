package httpapi

import (
	"context"
	"strings"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
)

func (s *server) ListMembers(ctx context.Context, r api.ListMembersRequestObject) (api.ListMembersResponseObject, error) {
	who := caller(ctx)
	page, size := or(r.Params.Page, 1), or(r.Params.PageSize, defaultPageSize)
	members, total, err := s.Accounts.Members(ctx, who.Organization.ID, value(r.Params.Q), page, size)
	if err != nil {
		return nil, err
	}
	items := make([]api.Member, 0, len(members))
	for _, m := range members {
		items = append(items, showMember(m, who.Member.Role))
	}
	return api.ListMembers200JSONResponse{Items: items, Page: paged(ctx, page, size, total)}, nil
}

// showMember is a member as somebody of that role sees them.
func showMember(m accounts.Member, to organization.Role) api.Member {
	shown := api.Member{Id: m.ID, Name: m.Name, Email: m.Email, Role: string(m.Role), Status: m.Status, LastSignInAt: utc(m.LastSignInAt)}
	if !to.SeesAddresses() {
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

func (s *server) InviteMember(ctx context.Context, r api.InviteMemberRequestObject) (api.InviteMemberResponseObject, error) {
	member, token, _, mark, err := s.Commands.InviteMember(ctx, actor(ctx), commands.NewMember{
		Email: r.Body.Email, Name: r.Body.Name, Role: organization.Role(r.Body.Role),
	})
	if err != nil {
		return nil, err
	}
	s.settle(ctx, mark)
	return api.InviteMember201JSONResponse{
		Headers: api.InviteMember201ResponseHeaders{Location: "/api/v1/members/" + member.ID.String()},
		Body: api.Invited{
			Member:    showMember(member, organization.Admin),
			InviteUrl: s.PublicURL.JoinPath("invitation").String() + "#" + token, // the fragment never reaches a server's log
		},
	}, nil
}

func (s *server) AcceptInvitation(ctx context.Context, r api.AcceptInvitationRequestObject) (api.AcceptInvitationResponseObject, error) {
	member, mark, err := s.Commands.AcceptInvitation(ctx, r.Token, r.Body.Name, r.Body.Password)
	if err != nil {
		return nil, fieldOf(err, "weak_password", "#/password")
	}
	s.settle(ctx, mark)
	session, err := s.enter(ctx, member)
	if err != nil {
		return nil, err
	}
	return api.AcceptInvitation201JSONResponse{Body: session, Headers: api.AcceptInvitation201ResponseHeaders{Location: sessionPath}}, nil
}

func (s *server) GetOrganization(ctx context.Context, _ api.GetOrganizationRequestObject) (api.GetOrganizationResponseObject, error) {
	shown, err := s.organization(ctx, caller(ctx).Organization)
	if err != nil {
		return nil, err
	}
	return s.tagged(ctx, "o", shown)
}

func (s *server) organization(ctx context.Context, o accounts.Organization) (api.Organization, error) {
	started, err := s.Fleet.MonitoringStartedAt(ctx, o.ID)
	return api.Organization{
		Id: o.ID, Name: o.Name, TimeZone: o.TimeZone, ReportRetentionDays: o.ReportRetentionDays,
		InputsRetentionDays: o.InputsRetentionDays, PaperSize: o.PaperSize, Demo: o.Demo, MonitoringStartedAt: utc(started),
	}, err
}

func (s *server) ChangeOrganization(ctx context.Context, r api.ChangeOrganizationRequestObject) (api.ChangeOrganizationResponseObject, error) {
	panic("not yet")
}

func (s *server) ChangeMember(ctx context.Context, r api.ChangeMemberRequestObject) (api.ChangeMemberResponseObject, error) {
	panic("not yet")
}

func (s *server) EraseMember(ctx context.Context, r api.EraseMemberRequestObject) (api.EraseMemberResponseObject, error) {
	panic("not yet")
}

func (s *server) RenewInvitation(ctx context.Context, r api.RenewInvitationRequestObject) (api.RenewInvitationResponseObject, error) {
	panic("not yet")
}
