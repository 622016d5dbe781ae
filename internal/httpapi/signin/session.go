package signin

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/organization"
	"muster/domain/team"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

const sessionPath = "/api/v1/session"

func (s *MemberRoutes) GetSession(ctx context.Context, _ api.GetSessionRequestObject) (api.GetSessionResponseObject, error) {
	if c := wire.CallOf(ctx); c.Principal != nil {
		return api.GetSession200JSONResponse(s.session(ctx, *c.Principal)), nil
	}
	required, err := s.Accounts.SetupRequired(ctx)
	if err != nil {
		return nil, err
	}
	shown, password := api.Session{SetupRequired: &required}, true
	shown.PasswordLogin, shown.Providers = &password, s.providers()
	return api.GetSession200JSONResponse(shown), nil
}

// session is what a signed-in caller is told of themselves.
func (s *MemberRoutes) session(ctx context.Context, p accounts.Principal) api.Session {
	var side wire.Side
	if p.Member.Role == organization.Team { // who has just signed in did not pass the gate as such
		err := wire.EnterWorld(ctx, s.Fleet, func(ctx context.Context) ([]accounts.Team, error) { return s.Accounts.Teams(ctx, p.Organization.ID) }, &p)
		if side.Lacks(ctx, err, "servers") {
			p.World = team.World{}
		}
	}
	o := s.organization(ctx, p.Organization, p.Scope())
	wire.CallOf(ctx).MarkDemo(p.Organization)
	member, can, method, expires := showMember(p.Member, true), wire.Strings(p.Permissions()), p.Method, p.ExpiresAt.UTC()
	if p.World != nil {
		member.Role = string(organization.Team)
	}
	goes := api.Outbox
	if s.Mail != nil {
		goes = api.Server
	}
	shown := api.Session{Mail: &goes, Authenticated: true, Member: &member, Organization: &o, Permissions: &can, AuthMethod: &method, ExpiresAt: &expires}
	servers, err := s.servers(ctx, p)
	if !side.Lacks(ctx, err, "servers") {
		shown.Servers = servers
	}
	told, err := s.alertsTold(ctx, p)
	if !side.Lacks(ctx, err, "alertsTold") {
		shown.AlertsTold = told
	}
	missing := side.Unavailable()
	shown.Unavailable = &missing
	return shown
}

func (s *MemberRoutes) SignIn(ctx context.Context, r api.SignInRequestObject) (api.SignInResponseObject, error) {
	token, principal, err := s.Accounts.SignIn(ctx, r.Body.Email, r.Body.Password, wire.Client(ctx))
	if err != nil {
		return nil, err
	}
	if err := s.handOut(ctx, token); err != nil {
		return nil, err
	}
	return api.SignIn200JSONResponse(s.session(ctx, principal)), nil
}

// enter opens a session for a member who has just proven who they are.
func (s *MemberRoutes) enter(ctx context.Context, m accounts.Member) (api.Session, error) {
	token, principal, err := s.Accounts.StartSession(ctx, m.ID, accounts.MethodPassword, wire.Client(ctx))
	if err != nil {
		return api.Session{}, err
	}
	if err := s.handOut(ctx, token); err != nil {
		return api.Session{}, err
	}
	return s.session(ctx, principal), nil
}

// handOut gives the browser its new session and ends the one that it had:
// nobody goes on under a cookie that was there before they signed in.
func (s *MemberRoutes) handOut(ctx context.Context, token string) error {
	s.Cookies.SetSession(ctx, token)
	before, err := wire.CallOf(ctx).Request.Cookie(s.Cookies.Session())
	if err != nil { // there was none
		return nil //nolint:nilerr // and that is all it says
	}
	return s.Accounts.SignOut(ctx, before.Value, wire.Client(ctx))
}

func (s *MemberRoutes) SignOut(ctx context.Context, _ api.SignOutRequestObject) (api.SignOutResponseObject, error) {
	c := wire.CallOf(ctx)
	if c.Token != "" {
		if err := s.Accounts.SignOut(ctx, c.Token, wire.Client(ctx)); err != nil {
			return nil, err
		}
	}
	s.Cookies.SetSession(ctx, "")
	c.Header.Set("Clear-Site-Data", `"cache"`)
	return api.SignOut204Response{}, nil
}

func (s *MemberRoutes) ListSessions(ctx context.Context, _ api.ListSessionsRequestObject) (api.ListSessionsResponseObject, error) {
	who := wire.Caller(ctx)
	sessions, err := s.Accounts.Sessions(ctx, who.Member.ID)
	if err != nil {
		return nil, err
	}
	items := wire.List(sessions, func(e accounts.Session) api.SessionEntry {
		return api.SessionEntry{
			Id: e.ID, Current: e.ID == who.ID, CreatedAt: e.CreatedAt.UTC(), LastSeenAt: e.LastSeenAt.UTC(), ExpiresAt: e.ExpiresAt.UTC(),
			Ip: wire.Optional(e.IP), UserAgent: wire.Optional(e.UserAgent),
		}
	})
	return api.ListSessions200JSONResponse{Items: items}, nil
}

func (s *MemberRoutes) RevokeSession(ctx context.Context, r api.RevokeSessionRequestObject) (api.RevokeSessionResponseObject, error) {
	ok, err := s.Accounts.RevokeSession(ctx, wire.Caller(ctx), r.SessionId, wire.Client(ctx))
	return api.RevokeSession204Response{}, wire.Found(ok, err, "session")
}

func (s *MemberRoutes) RevokeOtherSessions(ctx context.Context, _ api.RevokeOtherSessionsRequestObject) (api.RevokeOtherSessionsResponseObject, error) {
	return api.RevokeOtherSessions204Response{}, s.Accounts.RevokeOtherSessions(ctx, wire.Caller(ctx), wire.Client(ctx))
}

func (s *MemberRoutes) ChangePassword(ctx context.Context, r api.ChangePasswordRequestObject) (api.ChangePasswordResponseObject, error) {
	err := s.Accounts.ChangePassword(ctx, wire.Caller(ctx), r.Body.CurrentPassword, r.Body.NewPassword, wire.Client(ctx))
	return api.ChangePassword204Response{}, fieldOf(fieldOf(err, "weak_password", "#/newPassword"), "invalid_credentials", "#/currentPassword")
}

func (s *MemberRoutes) GetSetup(ctx context.Context, _ api.GetSetupRequestObject) (api.GetSetupResponseObject, error) {
	required, err := s.Accounts.SetupRequired(ctx)
	if err != nil || !required {
		return api.GetSetup200JSONResponse{}, err
	}
	there, err := s.Accounts.Organizations(ctx)
	answer := api.GetSetup200JSONResponse{Required: true, OrganizationExists: len(there) > 0}
	if answer.OrganizationExists {
		answer.Demo = there[0].Demo
	}
	return answer, err
}

func (s *MemberRoutes) SetUp(ctx context.Context, r api.SetUpRequestObject) (api.SetUpResponseObject, error) {
	member, mark, err := s.Commands.SetUp(ctx, commands.SetUp{
		Token: r.Body.SetupToken, Email: r.Body.Email, Name: r.Body.Name, Password: r.Body.Password,
		OrganizationName: r.Body.OrganizationName, Demo: wire.Value(r.Body.Demo), RequestID: wire.CallOf(ctx).RequestID,
	})
	if err != nil {
		return nil, fieldOf(err, "weak_password", "#/password")
	}
	wire.Settle(ctx, s.Waiter, mark)
	if wire.Value(r.Body.Demo) { // serve fills by itself a demo that was there already
		if err := s.fillDemo(ctx, member.OrganizationID); err != nil {
			return nil, err
		}
	}
	shown, err := s.enter(ctx, member)
	return api.SetUp201JSONResponse{Body: shown, Headers: api.SetUp201ResponseHeaders{Location: sessionPath}}, err
}

// fillDemo has an organization filled in the background if it is a demo.
func (s *MemberRoutes) fillDemo(ctx context.Context, organization uuid.UUID) error {
	o, ok, err := s.Accounts.Organization(ctx, organization)
	if err == nil && ok && o.Demo {
		s.FillDemo(o)
	}
	return err
}

// fieldOf points at the member of the body that a refusal is about.
func fieldOf(err error, code, pointer string) error {
	var refusal *accounts.Refusal
	if !errors.As(err, &refusal) || refusal.Code != code {
		return err
	}
	return &wire.Problem{Code: code, Detail: wire.Sentence(refusal.Detail),
		Fields: []api.FieldError{{In: api.Body, Pointer: &pointer, Code: code, Detail: refusal.Detail}}}
}
