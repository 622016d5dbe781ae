package signin

import (
	"context"
	"errors"

	"muster/internal/accounts"
	"muster/internal/accounts/oidc"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// providerID names the one identity provider that an installation may have.
const providerID = "sso"

// OIDCCallback is the path to which the provider sends people back, as it must be
// registered there.
const OIDCCallback = "/auth/oidc/" + providerID + "/callback"

// Reasons that the sign-in page is given beside those of package oidc. An address that
// the provider does not vouch for is answered before anybody looks whether it has an
// account.
const (
	ReasonNoAccount  = "no_account"
	ReasonUnverified = "email_not_verified"
	ReasonThrottled  = "throttled"
)

// provider is the generated type, which has no name.
type provider = struct {
	Id       string `json:"id"`
	Name     string `json:"name"`
	StartUrl string `json:"startUrl"`
}

// providers are what the sign-in page offers beside passwords.
func (s *MemberRoutes) providers() *[]provider {
	offered := []provider{}
	if s.OIDC != nil {
		offered = append(offered, provider{Id: providerID, Name: s.OIDC.Name(), StartUrl: "/auth/oidc/" + providerID + "/start"})
	}
	return &offered
}

func (s *MemberRoutes) isProvider(id string) error {
	if s.OIDC == nil || id != providerID {
		return &wire.Problem{Code: "not_found", Detail: "There is no identity provider with that id."}
	}
	return nil
}

func (s *MemberRoutes) StartOIDC(ctx context.Context, r api.StartOIDCRequestObject) (api.StartOIDCResponseObject, error) {
	if err := s.isProvider(r.Provider); err != nil {
		return nil, err
	}
	returnTo := "/"
	if r.Params.ReturnTo != nil {
		returnTo = *r.Params.ReturnTo
	}
	if !oidc.LocalPath(returnTo) {
		return nil, wire.BadParameter(api.Query, "returnTo", "invalid_parameter", "must be a path of this site")
	}
	location, flow, err := s.OIDC.Start(ctx, returnTo)
	if err != nil {
		location, err = s.turnedAway(ctx, err)
	} else {
		s.Cookies.SetFlow(ctx, flow)
	}
	return api.StartOIDC302Response{Headers: api.StartOIDC302ResponseHeaders{Location: location}}, err
}

func (s *MemberRoutes) FinishOIDC(ctx context.Context, r api.FinishOIDCRequestObject) (api.FinishOIDCResponseObject, error) {
	if err := s.isProvider(r.Provider); err != nil {
		return nil, err
	}
	location, err := s.finish(ctx, oidc.Callback{
		Code: wire.Value(r.Params.Code), State: wire.Value(r.Params.State), Issuer: wire.Value(r.Params.Iss), Error: wire.Value(r.Params.Error),
	})
	if err != nil {
		location, err = s.turnedAway(ctx, err)
	}
	return api.FinishOIDC302Response{Headers: api.FinishOIDC302ResponseHeaders{Location: location}}, err
}

// finish signs in whom the provider vouches for, and returns where they were going.
func (s *MemberRoutes) finish(ctx context.Context, c oidc.Callback) (returnTo string, err error) {
	if err := s.Accounts.ThrottleAddress(ctx, wire.Client(ctx)); err != nil {
		return "", err
	}
	flow := ""
	if cookie, err := wire.CallOf(ctx).Request.Cookie(s.Cookies.Flow()); err == nil {
		flow = cookie.Value
	}
	who, returnTo, err := s.OIDC.Finish(ctx, flow, c)
	if reasonOf(err) != oidc.ReasonMismatch {
		s.Cookies.SetFlow(ctx, "")
	}
	if err != nil {
		return "", err
	}
	token, principal, err := s.signInByIdentity(ctx, who)
	if err != nil {
		return "", err
	}
	if err := s.handOut(ctx, token); err != nil {
		return "", err
	}
	wire.CallOf(ctx).MarkDemo(principal.Organization)
	return returnTo, nil
}

// signInByIdentity opens a session for the member whose identity this is, and
// links it first where it comes for the first time.
func (s *MemberRoutes) signInByIdentity(ctx context.Context, who *oidc.Identity) (string, accounts.Principal, error) {
	id := accounts.Identity{Issuer: who.Issuer, Subject: who.Subject}
	token, principal, err := s.Accounts.SignInByIdentity(ctx, id, wire.Client(ctx))
	var stranger *accounts.StrangerError
	if !errors.As(err, &stranger) || stranger.Reason != accounts.StrangerUnknown {
		return token, principal, err
	}
	email, err := who.VerifiedEmail(ctx)
	if err != nil {
		return "", accounts.Principal{}, err
	}
	if email == "" {
		return "", accounts.Principal{}, errUnverified
	}
	mark, err := s.Commands.JoinByIdentity(ctx, id, email, wire.Client(ctx))
	if err != nil {
		return "", accounts.Principal{}, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return s.Accounts.SignInByIdentity(ctx, id, wire.Client(ctx))
}

var errUnverified = errors.New("the provider vouches for no address")

// turnedAway returns the sign-in page with the reason why somebody is not let in,
// and records it; an error that is no refusal comes back.
func (s *MemberRoutes) turnedAway(ctx context.Context, err error) (location string, _ error) {
	var (
		throttled *accounts.Refusal
		stranger  *accounts.StrangerError
	)
	reason, record := reasonOf(err), ""
	about := accounts.Member{}
	if reason != "" && reason != oidc.ReasonDenied && reason != oidc.ReasonExpired {
		s.Log.WarnContext(ctx, "sign-in at the identity provider came to nothing", "error", err)
	}
	switch {
	case errors.As(err, &throttled) && throttled.Code == accounts.CodeLoginThrottled:
		reason = ReasonThrottled
	case errors.As(err, &stranger):
		reason, record, about = ReasonNoAccount, stranger.Reason, stranger.Member
	case errors.Is(err, errUnverified):
		reason, record = ReasonUnverified, "no verified address"
	case reason == oidc.ReasonMismatch || reason == oidc.ReasonCode || reason == oidc.ReasonToken:
		record = reason // what an honest browser and an honest provider do not send
	case reason == "":
		return "", err
	}
	if record != "" {
		if err := s.Accounts.RefuseIdentity(ctx, about, record, wire.Client(ctx)); err != nil {
			return "", err
		}
	}
	return "/?signIn=failed&reason=" + reason, nil
}

// reasonOf is the reason of an oidc.Refusal; empty: it is none.
func reasonOf(err error) string {
	var refusal *oidc.Refusal
	if errors.As(err, &refusal) {
		return refusal.Reason
	}
	return ""
}
