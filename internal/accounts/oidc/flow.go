package oidc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// FlowLife is how long a person has between Start and Finish.
const FlowLife = 10 * time.Minute

// longestReturn keeps the sealed flow within what browsers keep of a cookie,
// 4,096 bytes with its name.
const longestReturn = 2000

// flow is what must be remembered between Start and Finish.
type flow struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	ReturnTo string    `json:"r"`
	Expires  time.Time `json:"e"`
}

// context binds a sealed flow to the provider and the client that it is for:
// under other settings it cannot be opened.
func (s Settings) context() []byte {
	return []byte("oidc flow\x00" + s.Issuer + "\x00" + s.ClientID)
}

func (p *Provider) seal(f flow) (string, error) {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false) // & would become six bytes, and a query has many
	if err := encoder.Encode(f); err != nil {
		return "", fmt.Errorf("write a flow: %w", err)
	}
	sealed, err := p.Sealer.Seal(plain.Bytes(), p.context())
	if err != nil {
		return "", fmt.Errorf("seal a flow: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// open returns the flow that a browser kept. Errors: *Refusal with ReasonExpired.
func (p *Provider) open(cookie string) (flow, error) {
	var f flow
	if cookie == "" {
		return f, refuse(ReasonExpired, errors.New("the browser has no flow"))
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return f, refuse(ReasonExpired, errors.New("the flow is not one of ours"))
	}
	plain, err := p.Sealer.Open(sealed, p.context())
	if err != nil {
		return f, refuse(ReasonExpired, err)
	}
	if err := json.Unmarshal(plain, &f); err != nil {
		return f, refuse(ReasonExpired, errors.New("the flow is another version's"))
	}
	if !p.Now().Before(f.Expires) {
		return f, refuse(ReasonExpired, fmt.Errorf("the flow ended at %s", f.Expires.Format(time.RFC3339)))
	}
	return f, nil
}

// LocalPath reports whether a browser that follows text stays on this site: a
// path from its root, as browsers spell one, of at most 2,000 bytes. Backslashes
// are refused because browsers read them as slashes.
func LocalPath(text string) bool {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || len(text) > longestReturn {
		return false
	}
	for _, b := range []byte(text) {
		if b <= ' ' || b > '~' || b == '\\' {
			return false
		}
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil
}
