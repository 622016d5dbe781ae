package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"muster/internal/httpapi/signin"
	"muster/internal/oidc"
)

// identityProvider is who signs people in beside passwords; nil where none is
// set. It is not asked anything before somebody signs in.
func (p *process) identityProvider(public *url.URL) (*oidc.Provider, error) {
	if p.cfg.OIDCIssuer == "" {
		return nil, nil
	}
	secret := ""
	if file := p.cfg.OIDCClientSecretFile; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the secret at the identity provider: %w; --oidc-client-secret-file names it", err)
		}
		if secret = strings.TrimSpace(string(text)); secret == "" {
			return nil, fmt.Errorf("%s, which --oidc-client-secret-file names, is empty", file)
		}
	}
	return oidc.New(oidc.Settings{
		Issuer: p.cfg.OIDCIssuer, ClientID: p.cfg.OIDCClientID, ClientSecret: secret,
		RedirectURL: public.JoinPath(signin.OIDCCallback).String(),
		Sealer:      p.key, Now: time.Now,
	}), nil
}
