package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
)

// answerLimit is more than any provider has to say, in bytes.
const answerLimit = 1 << 20

// strict reads answers up to the limit. Of what a provider is asked with GET
// (discovery, keys, userinfo) only 200 is an answer; anything else fails, without
// the page that came with it: nobody knows what it says about whom.
type strict struct{ http.RoundTripper }

func (s strict) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodGet && response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("the provider answers %s", response.Status)
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, answerLimit), response.Body}
	return response, nil
}

// askedKeys tells a signature that is wrong from keys that could not be fetched:
// go-oidc reports both as one kind of error.
type askedKeys struct {
	gooidc.KeySet
	unreachable bool
}

// VerifySignature implements gooidc.KeySet.
func (k *askedKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, token)
	var request *url.Error
	k.unreachable = errors.As(err, &request) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	return payload, err
}

// asymmetric leaves out algorithms under which a token is signed with nothing, or
// with what the client knows too. Nothing left is RS256 (go-oidc's default),
// which every provider has.
func asymmetric(announced []string) []string {
	known := []string{
		gooidc.RS256, gooidc.RS384, gooidc.RS512, gooidc.PS256, gooidc.PS384, gooidc.PS512,
		gooidc.ES256, gooidc.ES384, gooidc.ES512, gooidc.EdDSA,
	}
	return slices.DeleteFunc(slices.Clone(announced), func(a string) bool { return !slices.Contains(known, a) })
}
