package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// leeway is how long ago a token may have expired by our clock.
const leeway = time.Minute

// longestSubject is the specification's limit, in bytes.
const longestSubject = 255

// Start begins a flow that will lead to returnTo, a LocalPath. It returns where
// the browser goes, and the sealed flow, which the browser keeps for FlowLife.
// Errors: *Refusal with ReasonUnavailable.
func (p *Provider) Start(ctx context.Context, returnTo string) (location, cookie string, err error) {
	known, err := p.discovered(ctx)
	if err != nil {
		return "", "", err
	}
	f := flow{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		ReturnTo: returnTo, Expires: p.Now().Add(FlowLife).UTC().Truncate(time.Second),
	}
	if cookie, err = p.seal(f); err != nil {
		return "", "", err
	}
	return known.oauth.AuthCodeURL(f.State, gooidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), cookie, nil
}

// Callback is what the provider has the browser bring back.
type Callback struct {
	Code, State string
	Issuer      string // iss, RFC 9207
	Error       string
}

// Finish ends a flow: it returns who the provider says has signed in, and where
// they were going. Errors: *Refusal; ReasonMismatch leaves the flow as it is, any
// other ends it.
func (p *Provider) Finish(ctx context.Context, cookie string, c Callback) (who *Identity, returnTo string, err error) {
	ctx, cancel := context.WithTimeout(gooidc.ClientContext(ctx, p.client), finishTimeout)
	defer cancel()
	f, err := p.open(cookie)
	if err != nil {
		return nil, "", err
	}
	if !same(f.State, c.State) {
		return nil, "", refuse(ReasonMismatch, errors.New("the state is another flow's"))
	}
	known, err := p.discovered(ctx)
	if err != nil {
		return nil, "", err
	}
	if c.Issuer != p.Issuer && (c.Issuer != "" || known.namesIssuer) {
		return nil, "", refuse(ReasonMismatch, errors.New("the callback names another issuer"))
	}
	switch {
	case c.Error == "access_denied":
		return nil, "", refuse(ReasonDenied, errors.New("the provider answers access_denied"))
	case c.Error != "":
		return nil, "", refuse(ReasonProvider, errors.New("the provider answers "+errorCode(c.Error)))
	case c.Code == "":
		return nil, "", refuse(ReasonProvider, errors.New("the provider answers with neither code nor error"))
	}
	token, err := known.oauth.Exchange(ctx, c.Code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return nil, "", refusedExchange(err)
	}
	if who, err = p.verify(ctx, known, token, f.Nonce); err != nil {
		return nil, "", err
	}
	return who, f.ReturnTo, nil
}

// verify holds the ID token against what it must be (OpenID Connect Core,
// 3.1.3.7). go-oidc checks signature, issuer, audience and expiry.
func (p *Provider) verify(ctx context.Context, known *metadata, token *oauth2.Token, nonce string) (*Identity, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, refuse(ReasonToken, errors.New("the provider answers without an ID token"))
	}
	keys := &askedKeys{KeySet: known.keys}
	verified, err := gooidc.NewVerifier(p.Issuer, keys, known.config).Verify(ctx, raw)
	if err != nil && keys.unreachable {
		return nil, refuse(ReasonUnavailable, clipped(err))
	}
	if err != nil {
		return nil, refuse(ReasonToken, clipped(err))
	}
	var claims claims
	if err := verified.Claims(&claims); err != nil {
		return nil, refuse(ReasonToken, errors.New("the claims of the ID token cannot be read"))
	}
	var wrong string
	switch {
	case !same(verified.Nonce, nonce):
		wrong = "the nonce is another flow's"
	case claims.AuthorizedParty != "" && claims.AuthorizedParty != p.ClientID:
		wrong = "it was issued to another client"
	case claims.AuthorizedParty == "" && len(verified.Audience) > 1:
		wrong = "it is for several clients and does not say to which it was issued"
	case verified.Subject == "" || len(verified.Subject) > longestSubject || strings.ContainsRune(verified.Subject, 0):
		wrong = fmt.Sprintf("its subject has %d bytes, or U+0000 among them", len(verified.Subject))
	case verified.AccessTokenHash != "" && verified.VerifyAccessToken(token.AccessToken) != nil:
		wrong = "it belongs to another access token"
	}
	if wrong != "" {
		return nil, refuse(ReasonToken, errors.New(wrong))
	}
	return &Identity{
		Issuer: p.Issuer, Subject: verified.Subject, claims: claims,
		client: p.client, provider: known.provider, token: token,
	}, nil
}

// same compares secrets without telling how far they agree; nothing is the same
// as an empty one.
func same(ours, theirs string) bool {
	return ours != "" && subtle.ConstantTimeCompare([]byte(ours), []byte(theirs)) == 1
}

// claims are those of an ID token, or of userinfo, that go-oidc leaves to us.
type claims struct {
	AuthorizedParty string `json:"azp"`
	Email           string `json:"email"`
	EmailVerified   truth  `json:"email_verified"`
}

// truth is a boolean that some providers write as a string; anything else is false.
type truth bool

// UnmarshalJSON implements json.Unmarshaler.
func (t *truth) UnmarshalJSON(text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*t = truth(value == true || value == "true")
	return nil
}

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
