package servers

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// servicePrincipal is the one way of Entra that Muster signs in by, as the driver names it: an application with a
// secret. Of the others, the machine Muster runs on would decide who signs in, or a person would have to be there.
const servicePrincipal = "ActiveDirectoryServicePrincipal"

// checkEntra says whether a token can be asked for, and sent to nobody else.
func (t *Target) checkEntra() error {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-."
	client, tenant, _ := strings.Cut(t.User, "@")
	switch {
	case client == "" || tenant == "" || strings.Trim(client+tenant, letters) != "" || strings.Contains(tenant, ".."):
		return &DSNError{"an application of Entra is the user client@tenant (%40 in a URL): its client id, and the id or domain of its tenant"}
	case t.Password == "":
		return &DSNError{"it gives no password for the application of Entra"}
	case t.TLS != EncryptTrue && t.TLS != EncryptStrict || t.sqlServer.trust:
		return &DSNError{"the token of an application of Entra is sent only to a server whose certificate is verified: encrypt=true or strict, without trustServerCertificate=true"}
	}
	return nil
}

// directories are where the clouds of Microsoft give out tokens, by how the names of their servers end.
var directories = []struct{ domain, directory, resource string }{
	{".usgovcloudapi.net", "https://login.microsoftonline.us", "https://database.usgovcloudapi.net"},
	{".chinacloudapi.cn", "https://login.partner.microsoftonline.cn", "https://database.chinacloudapi.cn"},
	{"", "https://login.microsoftonline.com", "https://database.windows.net"},
}

// entraToken asks Entra for a token of the application (Microsoft identity platform, client credentials flow); empty:
// the connection string names none. Where it is asked for depends on nothing that a server says. Errors:
// *ConnectionError.
func (t Target) entraToken(ctx context.Context) (string, error) {
	if !t.sqlServer.entra {
		return "", nil
	}
	client, tenant, _ := strings.Cut(t.User, "@")
	directory, resource := "", ""
	for _, d := range directories {
		if strings.HasSuffix(strings.ToLower(t.Host), d.domain) {
			directory, resource = d.directory, d.resource
			break
		}
	}
	if t.reach != nil {
		directory = cmp.Or(t.reach.Directory, directory)
	}
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {t.Password}, "scope": {resource + "/.default"},
	}
	ctx, end := context.WithTimeout(ctx, ConnectTimeout)
	defer end()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, directory+"/"+tenant+"/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", fmt.Errorf("ask for a token: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := t.entraClient().Do(request)
	if err != nil {
		return "", &ConnectionError{Class: ClassTimeout, Sentence: "Microsoft Entra ID (" + directory + ") gave no token: Muster does not reach it."}
	}
	defer func() { _ = answer.Body.Close() }()
	var said struct {
		Token  string `json:"access_token"`
		Errors []int  `json:"error_codes"`
	}
	const most = 1 << 20
	problem := json.NewDecoder(io.LimitReader(answer.Body, most)).Decode(&said)
	if answer.StatusCode == http.StatusOK && problem == nil && said.Token != "" {
		return said.Token, nil
	}
	refused := &ConnectionError{Class: ClassAuthentication, Sentence: fmt.Sprintf("Microsoft Entra ID refused application %q with status %d.", t.User, answer.StatusCode)}
	if len(said.Errors) > 0 {
		refused.Code = fmt.Sprintf("AADSTS%d", said.Errors[0])
		refused.Sentence = fmt.Sprintf("Microsoft Entra ID refused application %q with %s: its client id, tenant or secret is wrong, or the secret has expired.", t.User, refused.Code)
	}
	return "", refused
}

// entraClient posts once, and follows nothing.
func (t Target) entraClient() *http.Client {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.reach != nil {
		config.RootCAs = t.reach.Authorities
	}
	return &http.Client{
		Timeout: ConnectTimeout,
		Transport: &http.Transport{
			// The networks of targets say nothing of it: nobody who registers a server chooses where it is.
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, DisableKeepAlives: true,
			TLSHandshakeTimeout: 5 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("a redirect is not followed") },
	}
}
