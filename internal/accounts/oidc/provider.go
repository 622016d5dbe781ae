package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"muster/internal/concurrency/supervise"
)

// Settings are what an operator sets, and what the package stands on.
type Settings struct {
	Issuer       string // exactly as the provider spells it
	ClientID     string
	ClientSecret string // empty: a public client, which PKCE alone protects
	RedirectURL  string // of the callback, as registered with the provider

	Sealer Sealer
	Now    func() time.Time
}

// Sealer keeps what a browser carries from being read or changed by it;
// *secrets.Ring is one.
type Sealer interface {
	Seal(plaintext, context []byte) ([]byte, error)
	Open(sealed, context []byte) ([]byte, error)
}

// How long things at the provider may take, and how long an answer is good.
const (
	discoveryTimeout = 5 * time.Second
	finishTimeout    = 8 * time.Second // discovery, exchange, keys; then the session is written, within wire.WriteTimeout
	discoveryLife    = time.Hour
	discoveryPause   = 5 * time.Second // after a failure, so that nobody waits for the next one
)

// Provider is the one identity provider of an installation.
type Provider struct {
	Settings
	client *http.Client
	keys   *http.Client // that fetches key sets

	discovery singleflight.Group
	mu        sync.Mutex
	known     *metadata
	failed    error
	failedAt  time.Time
}

// metadata is what discovery told.
type metadata struct {
	at       time.Time
	provider *gooidc.Provider
	keys     gooidc.KeySet
	config   *gooidc.Config
	oauth    oauth2.Config
	// namesIssuer: callbacks carry iss (RFC 9207), and one without it is forged.
	namesIssuer bool
}

// New returns the provider without asking it anything.
func New(s Settings) *Provider {
	client := &http.Client{
		Timeout:       finishTimeout, // of fetching keys, which no request's end cancels
		Transport:     strict{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	keys := *client
	keys.Transport = usableKeys{client.Transport}
	return &Provider{Settings: s, client: client, keys: &keys}
}

// Name is what people know the provider by: the issuer's host.
func (p *Provider) Name() string {
	if u, err := url.Parse(p.Issuer); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return p.Issuer
}

// discovered returns what is known of the provider, and asks it first where that
// is nothing or old. Errors: *Refusal with ReasonUnavailable.
func (p *Provider) discovered(ctx context.Context) (*metadata, error) {
	known, fresh, err := p.remembered()
	if fresh || err != nil {
		return known, err
	}
	asked := p.discovery.DoChan("", func() (any, error) {
		// Not the caller's: who asked first may go away, and others wait too.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discoveryTimeout)
		defer cancel()
		return supervise.Value(func() (*metadata, error) { return p.discover(ctx) })
	})
	select {
	case answer := <-asked:
		if answer.Err != nil {
			return nil, answer.Err
		}
		return answer.Val.(*metadata), nil
	case <-ctx.Done():
		return nil, refuse(ReasonUnavailable, ctx.Err())
	}
}

// remembered returns what the last discovery told: fresh is false where it is
// time for another, err says what the last one failed with a moment ago.
func (p *Provider) remembered() (known *metadata, fresh bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	pausing := p.failed != nil && now.Sub(p.failedAt).Abs() < discoveryPause
	switch {
	case p.known != nil && (pausing || now.Sub(p.known.at).Abs() < discoveryLife):
		return p.known, true, nil
	case pausing:
		return nil, false, p.failed
	}
	return nil, false, nil
}

// discover asks the provider. Where it fails, what was known before is as good
// as it was.
func (p *Provider) discover(ctx context.Context) (*metadata, error) {
	found, err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.failed, p.failedAt = refuse(ReasonUnavailable, clipped(err)), p.Now()
		if p.known != nil {
			return p.known, nil
		}
		return nil, p.failed
	}
	p.known, p.failed = found, nil
	return found, nil
}

func (p *Provider) ask(ctx context.Context) (*metadata, error) {
	found, err := gooidc.NewProvider(gooidc.ClientContext(ctx, p.client), p.Issuer)
	if err != nil {
		return nil, err
	}
	var claims struct {
		Keys        string   `json:"jwks_uri"`
		Algorithms  []string `json:"id_token_signing_alg_values_supported"`
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
		NamesIssuer bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&claims); err != nil {
		return nil, err
	}
	endpoint := found.Endpoint()
	if endpoint.AuthURL == "" || endpoint.TokenURL == "" || claims.Keys == "" {
		return nil, errors.New("the discovery document lacks an endpoint for authorization, tokens or keys")
	}
	endpoint.AuthStyle = p.authStyle(claims.Methods)
	return &metadata{
		at: p.Now(), provider: found, namesIssuer: claims.NamesIssuer,
		keys: gooidc.NewRemoteKeySet(gooidc.ClientContext(context.Background(), p.keys), claims.Keys),
		config: &gooidc.Config{
			ClientID: p.ClientID, SupportedSigningAlgs: asymmetric(claims.Algorithms),
			Now: func() time.Time { return p.Now().Add(-leeway) },
		},
		oauth: oauth2.Config{
			ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: endpoint, RedirectURL: p.RedirectURL,
			Scopes: []string{gooidc.ScopeOpenID, gooidc.ScopeEmail, gooidc.ScopeProfile},
		},
	}, nil
}

// authStyle is how the client names itself. oauth2 would try one way after the
// other, and a provider may count the first as a failure or use the code up.
func (p *Provider) authStyle(supported []string) oauth2.AuthStyle {
	basic := len(supported) == 0 || slices.Contains(supported, "client_secret_basic") // the default of the specification
	if p.ClientSecret != "" && basic {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

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
