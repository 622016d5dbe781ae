package wire

import (
	"net/url"
	"testing"
)

func TestCookieOverPlainHTTP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scheme, host string
		insecure     bool
		name         string
	}{
		{"https", "muster.example", true, "__Host-muster_session"},
		{"http", "localhost:8080", true, "__Host-muster_session"},
		{"http", "10.0.0.7:8080", false, "__Host-muster_session"},
		{"http", "10.0.0.7:8080", true, "muster_session"},
	} {
		at := Cookies{PublicURL: &url.URL{Scheme: c.scheme, Host: c.host}, Insecure: c.insecure}
		if got := at.Session(); got != c.name {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
