package servers

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/testing/pgtest"
)

// TestWhichAddressesAreAllowed judges addresses and dials none.
func TestWhichAddressesAreAllowed(t *testing.T) {
	t.Parallel()
	narrow := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, test := range []struct {
		networks []netip.Prefix
		want     bool
		written  []string
	}{
		{nil, true, []string{
			"10.0.0.5", "192.168.1.1", "127.0.0.1", "::1", "203.0.113.5", "fd00::1", "2001:db8::1",
			"::ffff:10.0.0.5", "64:ff9b::a00:5",
		}},
		{nil, false, []string{
			"169.254.169.254", "fe80::1", "fe80::1%eth0", "224.0.0.1", "239.1.2.3", "ff02::1", "ff01::1", "0.0.0.0", "::",
			"::ffff:169.254.169.254", "::ffff:0.0.0.0", "::ffff:224.0.0.1", "64:ff9b::a9fe:a9fe",
		}},
		{narrow, true, []string{"10.0.0.5", "::ffff:10.1.2.3", "fd00::1", "fd00::1%eth0"}},
		{narrow, false, []string{
			"127.0.0.1", "::1", "11.0.0.1", "192.168.1.1", "203.0.113.5", "2001:db8::1", "::ffff:127.0.0.1", "169.254.1.1",
			"64:ff9b::a00:5",
		}},
		{[]netip.Prefix{netip.MustParsePrefix("169.254.0.0/16")}, true, []string{"169.254.7.7"}}, // who lists it wants it
	} {
		r := &Reach{Networks: test.networks}
		for _, text := range test.written {
			if got := r.allows(netip.MustParseAddr(text)); got != test.want {
				t.Errorf("with the networks %v, %s is allowed: %t", test.networks, text, got)
			}
		}
	}
	if new(Reach).allows(netip.Addr{}) {
		t.Error("an address that is none is allowed")
	}
}

// door counts its visitors, and lets nobody in.
type door struct{ knocks atomic.Int64 }

func (d *door) at(t *testing.T, network, address string) net.Addr {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			d.knocks.Add(1)
			_ = conn.Close()
		}
	}()
	return listener.Addr()
}

// TestOnlyTheCheckedAddressIsDialed has two listeners on one port, one of which is in
// the networks: 127.0.0.2, and not 127.0.0.3.
func TestOnlyTheCheckedAddressIsDialed(t *testing.T) {
	t.Parallel()
	const in, out = "127.0.0.2", "127.0.0.3"
	for name, test := range map[string]struct {
		host    string   // in the URL
		answers []string // of the resolver, one a lookup
		allowed bool
	}{
		"an address":                         {host: in, allowed: true},
		"an address outside":                 {host: out},
		"IPv4 written as IPv6":               {host: "[::ffff:" + in + "]", allowed: true},
		"IPv4 outside written as IPv6":       {host: "[::ffff:" + out + "]"},
		"a name":                             {host: "db01.example", answers: []string{in}, allowed: true},
		"a name outside":                     {host: "db01.example", answers: []string{out}},
		"a name that is mapped":              {host: "db01.example", answers: []string{"::ffff:" + out}},
		"a name with an address of each":     {host: "db01.example", answers: []string{out + " " + in}, allowed: true},
		"a name that means another later":    {host: "db01.example", answers: []string{in, out, out}, allowed: true},
		"a number, as getaddrinfo reads it":  {host: "2130706435", answers: []string{out}},
		"octal digits, likewise":             {host: "0177.0.0.3", answers: []string{out}},
		"an abbreviation, likewise":          {host: "127.3", answers: []string{out}},
		"localhost, which the networks lack": {host: "localhost", answers: []string{"127.0.0.1 ::1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var inside, outside door
			port := inside.at(t, "tcp", in+":0").(*net.TCPAddr).Port
			outside.at(t, "tcp", net.JoinHostPort(out, strconv.Itoa(port)))
			lookups := 0
			reach := &Reach{Networks: []netip.Prefix{netip.MustParsePrefix(in + "/32")}, Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
				if lookups == len(test.answers) {
					t.Fatalf("lookup %d of %s", lookups+1, host)
				}
				var found []netip.Addr
				for _, a := range strings.Fields(test.answers[lookups]) {
					found = append(found, netip.MustParseAddr(a))
				}
				lookups++
				return found, nil
			}}
			target, err := reach.Target(fleet.PostgreSQL, "postgres://u:p@"+test.host+":"+strconv.Itoa(port)+"/d?sslmode=prefer")
			if err != nil {
				t.Fatal(err)
			}
			_, err = target.Open(t.Context(), "d", StatementTimeout)
			var refused *ConnectionError
			if !errors.As(err, &refused) || (refused.Class == ClassNotAllowed) == test.allowed {
				t.Errorf("got %v", err)
			}
			if n := outside.knocks.Load(); n != 0 {
				t.Errorf("%s was dialled %d times", out, n)
			}
			if n := inside.knocks.Load(); (n > 0) != test.allowed {
				t.Errorf("%s was dialled %d times", in, n)
			}
			if lookups > 1 {
				t.Errorf("the name was looked up %d times for one connection", lookups)
			}
		})
	}
}

// TestTheDialedAddressIsChecked: whatever names an address, the dialler
// judges it once more.
func TestTheDialedAddressIsChecked(t *testing.T) {
	t.Parallel()
	var outside, socket door
	dir := t.TempDir()
	socket.at(t, "unix", filepath.Join(dir, ".s.PGSQL.5432"))
	reach := &Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}}
	for network, address := range map[string]string{
		"tcp": outside.at(t, "tcp", "127.0.0.3:0").String(), "unix": filepath.Join(dir, ".s.PGSQL.5432"),
	} {
		if _, err := reach.dialer().DialContext(t.Context(), network, address); !errors.Is(err, errNotDialled) {
			t.Errorf("%s %s: %v", network, address, err)
		}
	}
	if outside.knocks.Load()+socket.knocks.Load() != 0 {
		t.Error("it was dialled")
	}
}

func TestSocketsAreOnlyForTheInstallation(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "muster-door") // a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var socket door
	socket.at(t, "unix", filepath.Join(dir, ".s.PGSQL.5432"))
	connect := func(target Target, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		_, err = target.Open(t.Context(), "d", StatementTimeout)
		var refused *ConnectionError
		if !errors.As(err, &refused) {
			t.Fatalf("got %v", err)
		}
		return refused.Class
	}
	dsn := "postgres://u@/d?sslmode=disable&host=" + dir
	if class := connect(new(Reach).Target(fleet.PostgreSQL, dsn)); class != ClassNotAllowed || socket.knocks.Load() != 0 {
		t.Errorf("class %s, %d connections", class, socket.knocks.Load())
	}
	if class := connect(Parse(fleet.PostgreSQL, "postgres://u@127.0.0.1:1/d")); class != ClassNotAllowed {
		t.Errorf("a description of a target was connected to: %s", class)
	}
	if class := connect(new(Reach).OwnTarget(fleet.PostgreSQL, dsn)); class == ClassNotAllowed || socket.knocks.Load() == 0 {
		t.Errorf("the installation's own: class %s, %d connections", class, socket.knocks.Load())
	}
}

// TestMustersOwnServerIsNoTarget also where one side may not read the name of its
// cluster. The revocation holds in the test's own database alone.
func TestMustersOwnServerIsNoTarget(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	var name string
	if err := db.Get(&name, `SELECT current_database()`); err != nil {
		t.Fatal(err)
	}
	for _, server := range []*pgtest.Server{pgtest.Shared(t), pgtest.Watched(t)} {
		pgtest.Connect(t, server.Superuser()).MustExec(`CREATE ROLE outsider LOGIN`)
	}
	db.MustExec(`REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`)
	ours, theirs := pgtest.Shared(t), pgtest.Watched(t)
	outsider := pgtest.Connect(t, ours.TCPURL("outsider", name))
	for who, from := range map[string]*sqlx.DB{"a superuser": db, "a role that may not read the name": outsider} {
		own, err := ReadOwnServer(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if (own.system == "") != (from == outsider) {
			t.Errorf("as %s our server is %q", who, own.system)
		}
		for dsn, want := range map[string]string{
			ours.TCPURL(pgtest.Superuser, "postgres"):   ClassNotAllowed,
			ours.TCPURL("outsider", name):               ClassNotAllowed, // who may not read it there
			theirs.TCPURL(pgtest.Superuser, "postgres"): "",
			theirs.TCPURL("outsider", "postgres"):       "",
		} {
			target, err := (&Reach{Own: own}).Target(fleet.PostgreSQL, dsn)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := target.Open(t.Context(), target.Database, StatementTimeout)
			class := ""
			var refused *ConnectionError
			if errors.As(err, &refused) {
				class = refused.Class
			} else if err == nil {
				conn.Close(t.Context())
			}
			if class != want {
				t.Errorf("Muster on %s, a target as %s in %s: %v", who, target.User, target.Database, err)
			}
		}
	}
}

// What each sslmode promises, as libpq does: whether TLS is tried, in which order, and
// what of the certificate is looked at.
func TestTLSModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"disable": "plain", "allow": "plain, any certificate", "prefer": "any certificate, plain", "": "any certificate, plain",
		"require": "any certificate", "verify-ca": "its issuer", "verify-full": "its issuer and name",
	} {
		target, err := parsePostgreSQL("postgres://u:p@db01:6432/app?sslmode=" + mode)
		if mode == "" {
			target, err = parsePostgreSQL("postgres://u:p@db01:6432/app")
		}
		if err != nil {
			t.Fatal(err)
		}
		config, err := target.config("other")
		if err != nil {
			t.Fatal(err)
		}
		ways := []*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}
		var got []string
		for _, way := range append(ways, config.Fallbacks...) {
			switch c := way.TLSConfig; {
			case way.Host != "db01" || way.Port != 6432:
				t.Errorf("%s goes to %s:%d", mode, way.Host, way.Port)
			case c == nil:
				got = append(got, "plain")
			case c.ServerName != "db01":
				t.Errorf("%s asks for %s", mode, c.ServerName)
			case !c.InsecureSkipVerify:
				got = append(got, "its issuer and name")
			case c.VerifyPeerCertificate != nil:
				got = append(got, "its issuer")
			default:
				got = append(got, "any certificate")
			}
		}
		if all := strings.Join(got, ", "); all != want || config.Database != "other" || config.User != "u" || config.Password != "p" {
			t.Errorf("sslmode %q: %s, want %s", mode, all, want)
		}
	}
}
