package oidc

import (
	"context"
	"errors"
	"net/http"
	"strings"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Identity is a person whom the provider vouches for. Issuer and Subject are
// theirs for good; everything else about them may change.
type Identity struct {
	Issuer, Subject string

	claims   claims
	client   *http.Client
	provider *gooidc.Provider
	token    *oauth2.Token
}

// VerifiedEmail returns the person's address where the provider says that it is
// theirs, else nothing. It asks the userinfo endpoint where the ID token says
// nothing of an address. Errors: *Refusal.
func (i *Identity) VerifiedEmail(ctx context.Context) (string, error) {
	told := i.claims
	if told.Email == "" && i.provider.UserInfoEndpoint() != "" {
		ctx, cancel := context.WithTimeout(gooidc.ClientContext(ctx, i.client), discoveryTimeout)
		defer cancel()
		answer, err := i.provider.UserInfo(ctx, oauth2.StaticTokenSource(i.token))
		if err != nil {
			return "", refuse(ReasonUnavailable, clipped(err))
		}
		if answer.Subject != i.Subject { // OpenID Connect Core, 5.3.2: else it is not to be used
			return "", refuse(ReasonToken, errors.New("userinfo is about somebody else"))
		}
		told = claims{}
		if err := answer.Claims(&told); err != nil {
			return "", refuse(ReasonToken, errors.New("the claims of userinfo cannot be read"))
		}
	}
	if !bool(told.EmailVerified) || strings.ContainsRune(told.Email, 0) {
		return "", nil
	}
	return told.Email, nil
}
