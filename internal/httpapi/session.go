package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
)

// sessionAge is the cookie's Max-Age: a session idles for as long.
const sessionAge = 12 * time.Hour

const sessionPath = "/api/v1/session"

func (s *server) GetSession(ctx context.Context, _ api.GetSessionRequestObject) (api.GetSessionResponseObject, error) {
	if c := callOf(ctx); c.principal != nil {
		shown, err := s.session(ctx, *c.principal)
		return api.GetSession200JSONResponse(shown), err
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
func (s *server) session(ctx context.Context, p accounts.Principal) (api.Session, error) {
	o, err := s.organization(ctx, p.Organization)
	if err != nil {
		return api.Session{}, err
	}
	callOf(ctx).markDemo(p.Organization) // who has just signed in did not pass the gate as such
	member, can, method, expires := showMember(p.Member, p.Member.Role), texts(p.Permissions()), p.Method, p.ExpiresAt.UTC()
	member.Email = p.Member.Email // everybody may see their own
	return api.Session{Authenticated: true, Member: &member, Organization: &o, Permissions: &can, AuthMethod: &method, ExpiresAt: &expires}, nil
}

func (s *server) SignIn(ctx context.Context, r api.SignInRequestObject) (api.SignInResponseObject, error) {
	token, principal, err := s.Accounts.SignIn(ctx, r.Body.Email, r.Body.Password, client(ctx))
	if err != nil {
		return nil, err
	}
	if err := s.handOut(ctx, token); err != nil {
		return nil, err
	}
	shown, err := s.session(ctx, principal)
	return api.SignIn200JSONResponse(shown), err
}

// enter opens a session for a member who has just proven who they are.
func (s *server) enter(ctx context.Context, m accounts.Member) (api.Session, error) {
	token, principal, err := s.Accounts.StartSession(ctx, m.ID, accounts.MethodPassword, client(ctx))
	if err != nil {
		return api.Session{}, err
	}
	if err := s.handOut(ctx, token); err != nil {
		return api.Session{}, err
	}
	return s.session(ctx, principal)
}

// handOut gives the browser its new session and ends the one that it had:
// nobody goes on under a cookie that was there before they signed in.
func (s *server) handOut(ctx context.Context, token string) error {
	s.setCookie(ctx, token)
	before, err := callOf(ctx).request.Cookie(s.cookieName())
	if err != nil { // there was none
		return nil //nolint:nilerr // and that is all it says
	}
	return s.Accounts.SignOut(ctx, before.Value, client(ctx))
}

func (s *server) SignOut(ctx context.Context, _ api.SignOutRequestObject) (api.SignOutResponseObject, error) {
	c := callOf(ctx)
	if c.token != "" {
		if err := s.Accounts.SignOut(ctx, c.token, client(ctx)); err != nil {
			return nil, err
		}
	}
	s.setCookie(ctx, "")
	c.header.Set("Clear-Site-Data", `"cache"`)
	return api.SignOut204Response{}, nil
}

func (s *server) ListSessions(ctx context.Context, _ api.ListSessionsRequestObject) (api.ListSessionsResponseObject, error) {
	who := caller(ctx)
	sessions, err := s.Accounts.Sessions(ctx, who.Member.ID)
	if err != nil {
		return nil, err
	}
	items := make([]api.SessionEntry, 0, len(sessions))
	for _, e := range sessions {
		items = append(items, api.SessionEntry{
			Id: e.ID, Current: e.ID == who.ID, CreatedAt: e.CreatedAt.UTC(), LastSeenAt: e.LastSeenAt.UTC(), ExpiresAt: e.ExpiresAt.UTC(),
			Ip: text(e.IP), UserAgent: text(e.UserAgent),
		})
	}
	return api.ListSessions200JSONResponse{Items: items}, nil
}

func (s *server) RevokeSession(ctx context.Context, r api.RevokeSessionRequestObject) (api.RevokeSessionResponseObject, error) {
	ok, err := s.Accounts.RevokeSession(ctx, caller(ctx), r.SessionId, client(ctx))
	if err != nil || !ok {
		return nil, errors.Join(err, missingUnless(ok, "session"))
	}
	return api.RevokeSession204Response{}, nil
}

func (s *server) RevokeOtherSessions(ctx context.Context, _ api.RevokeOtherSessionsRequestObject) (api.RevokeOtherSessionsResponseObject, error) {
	if err := s.Accounts.RevokeOtherSessions(ctx, caller(ctx), client(ctx)); err != nil {
		return nil, err
	}
	return api.RevokeOtherSessions204Response{}, nil
}

func (s *server) ChangePassword(ctx context.Context, r api.ChangePasswordRequestObject) (api.ChangePasswordResponseObject, error) {
	err := s.Accounts.ChangePassword(ctx, caller(ctx), r.Body.CurrentPassword, r.Body.NewPassword, client(ctx))
	if err != nil {
		return nil, fieldOf(fieldOf(err, "weak_password", "#/newPassword"), "invalid_credentials", "#/currentPassword")
	}
	return api.ChangePassword204Response{}, nil
}

func (s *server) GetSetup(ctx context.Context, _ api.GetSetupRequestObject) (api.GetSetupResponseObject, error) {
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

func (s *server) SetUp(ctx context.Context, r api.SetUpRequestObject) (api.SetUpResponseObject, error) {
	member, mark, err := s.Commands.SetUp(ctx, commands.SetUp{
		Token: r.Body.SetupToken, Email: r.Body.Email, Name: r.Body.Name, Password: r.Body.Password,
		OrganizationName: r.Body.OrganizationName, Demo: value(r.Body.Demo), RequestID: callOf(ctx).requestID,
	})
	if err != nil {
		return nil, fieldOf(err, "weak_password", "#/password")
	}
	s.settle(ctx, mark)
	if value(r.Body.Demo) { // serve fills by itself a demo that was there already
		if err := s.fillDemo(ctx, member.OrganizationID); err != nil {
			return nil, err
		}
	}
	shown, err := s.enter(ctx, member)
	return api.SetUp201JSONResponse{Body: shown, Headers: api.SetUp201ResponseHeaders{Location: sessionPath}}, err
}

// fillDemo has an organization filled in the background if it is a demo.
func (s *server) fillDemo(ctx context.Context, organization uuid.UUID) error {
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
	return &problem{Code: code, Detail: sentence(refusal.Detail),
		Fields: []api.FieldError{{In: api.Body, Pointer: &pointer, Code: code, Detail: refusal.Detail}}}
}

// cookieName: a browser keeps a __Host- cookie only where it is Secure, and
// a Secure one over plain HTTP only from its own machine. Chromium drops it
// silently from http://<address in the network>, and the sign-in loops; so an
// operator who insists on plain HTTP there gets another name, and a banner.
func (s *server) cookieName() string { return s.cookiePrefix() + "muster_session" }

func (s *server) cookiePrefix() string {
	if s.insecureCookie() {
		return ""
	}
	return "__Host-"
}

func (s *server) insecureCookie() bool {
	if !s.InsecureCookies || s.PublicURL.Scheme == "https" {
		return false
	}
	switch s.PublicURL.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return false
	}
	return true
}

// setCookie hands the session out, or (empty) takes it back.
func (s *server) setCookie(ctx context.Context, token string) {
	c := http.Cookie{
		Name: s.cookieName(), Value: token, Path: "/", Secure: !s.insecureCookie(), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(sessionAge.Seconds()),
	}
	if token == "" {
		c.MaxAge = -1
	}
	callOf(ctx).header.Add("Set-Cookie", c.String())
}
