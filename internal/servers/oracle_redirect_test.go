package servers_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/internal/servers"
	"muster/internal/servers/tnstest"
)

// TestARedirectOfAListenerIsChecked: a cluster's listener names the address of a node, and
// anybody's could name one in the network that Muster runs in.
func TestARedirectOfAListenerIsChecked(t *testing.T) {
	t.Parallel()
	node := tnstest.Start(t, tnstest.Options{})
	within := &servers.Reach{
		Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			if name == "inside.example.com" {
				return []netip.Addr{netip.MustParseAddr("127.0.0.2")}, nil
			}
			return nil, fmt.Errorf("no such host %q", name)
		},
	}
	elsewhere := fmt.Sprint(node.Port())
	for name, test := range map[string]struct {
		to              string
		class, sentence string
	}{
		"a network that is excluded": {"(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.2)(PORT=" + elsewhere + "))", servers.ClassNotAllowed, "sends us on"},
		"a name that leads there":    {"(ADDRESS=(PROTOCOL=tcp)(HOST=inside.example.com)(PORT=" + elsewhere + "))", servers.ClassNotAllowed, "sends us on"},
		"the cloud's metadata":       {"(ADDRESS=(PROTOCOL=tcp)(HOST=169.254.169.254)(PORT=80))", servers.ClassNotAllowed, "sends us on"},
		"no address":                 {"(ADDRESS=(PROTOCOL=ipc)(KEY=x))", servers.ClassDatabase, "not as an Oracle listener"},
		"port zero":                  {"(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT=0))", servers.ClassDatabase, "not as an Oracle listener"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := tnstest.Start(t, tnstest.Options{Redirect: test.to})
			target := oracle(t, within, l.DSN(""))
			_, err := target.Open(t.Context(), target.Database, time.Second)
			unreachedBy(t, err, test.class, test.sentence)
			for _, theirs := range []string{"127.0.0.2", "inside.example.com", "169.254"} {
				if err != nil && strings.Contains(err.Error(), theirs) {
					t.Errorf("the sentence names the address: %v", err)
				}
			}
		})
	}
	t.Run("a node", func(t *testing.T) {
		t.Parallel()
		l := tnstest.Start(t, tnstest.Options{Redirect: node.Address("tcp")})
		target := oracle(t, within, l.DSN(""))
		s, err := target.Open(t.Context(), target.Database, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		s.Close(t.Context())
	})
	t.Run("round and round", func(t *testing.T) {
		t.Parallel()
		itself := tnstest.Start(t, tnstest.Options{})
		itself.Redirect = itself.Address("tcp")
		unreached(t, oracle(t, within, itself.DSN("")), servers.ClassDatabase, "not as an Oracle listener")
		if came := itself.Came(); came != 4 {
			t.Errorf("it was dialled %d times", came)
		}
	})
	t.Run("without TLS", func(t *testing.T) {
		t.Parallel()
		secured := httptest.NewTLSServer(nil)
		t.Cleanup(secured.Close)
		plain := tnstest.Start(t, tnstest.Options{})
		l := tnstest.Start(t, tnstest.Options{TLS: secured.TLS, Redirect: plain.Address("tcp")})
		unreached(t, oracle(t, within, l.DSN("sslmode=require")), servers.ClassTLS, "without TLS")
		if heard := plain.Heard(); len(heard) > 0 {
			t.Errorf("it heard %q", heard)
		}
	})
	t.Run("to TLS", func(t *testing.T) {
		t.Parallel()
		secured := httptest.NewTLSServer(nil)
		t.Cleanup(secured.Close)
		tcps := tnstest.Start(t, tnstest.Options{TLS: secured.TLS})
		l := tnstest.Start(t, tnstest.Options{Redirect: tcps.Address("tcps")})
		target := oracle(t, within, l.DSN(""))
		s, err := target.Open(t.Context(), target.Database, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		s.Close(t.Context())
	})
}

// TestTheCertificateOfAListener: sslmode=verify-full takes one of a known authority for the
// host that is dialled, and no other; also of the node that a listener sends us on to.
func TestTheCertificateOfAListener(t *testing.T) {
	t.Parallel()
	trusted, config := authority(t, "db01.example")
	_, unknown := authority(t, "db01.example")
	reach := &servers.Reach{Authorities: trusted, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	node := func(config *tls.Config, host string) tnstest.Options {
		to := tnstest.Start(t, tnstest.Options{TLS: config})
		return tnstest.Options{TLS: config, Redirect: tnstest.Address("tcps", host, to.Port())}
	}
	strange := node(unknown, "127.0.0.1")
	strange.TLS = config
	for name, test := range map[string]struct {
		options         tnstest.Options
		host            string
		class, sentence string
	}{
		"known, for the name":      {tnstest.Options{TLS: config}, "db01.example", "", ""},
		"known, for the address":   {tnstest.Options{TLS: config}, "127.0.0.1", "", ""},
		"known, for another name":  {tnstest.Options{TLS: config}, "db02.example", servers.ClassTLS, "another host name"},
		"unknown":                  {tnstest.Options{TLS: unknown}, "db01.example", servers.ClassTLS, "does not know the authority"},
		"on to a node":             {node(config, "db01.example"), "127.0.0.1", "", ""},
		"on to another name":       {node(config, "db02.example"), "127.0.0.1", servers.ClassTLS, "another host name"},
		"on to an unknown node":    {strange, "127.0.0.1", servers.ClassTLS, "does not know the authority"},
		"on to a node without TLS": {tnstest.Options{TLS: config, Redirect: tnstest.Start(t, tnstest.Options{}).Address("tcp")}, "127.0.0.1", servers.ClassTLS, "without TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := tnstest.Start(t, test.options)
			dsn := strings.Replace(l.DSN("sslmode=verify-full"), "127.0.0.1", test.host, 1)
			target := oracle(t, reach, dsn)
			s, err := target.Open(t.Context(), target.Database, time.Second)
			if test.class != "" {
				unreachedBy(t, err, test.class, test.sentence)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Close(t.Context())
		})
	}
}
