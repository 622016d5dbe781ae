package servers_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/servers"
	"muster/internal/servers/tnstest"
)

const (
	roleQuestion     = "SELECT SYS_CONTEXT('USERENV', 'DATABASE_ROLE') FROM dual"
	identityQuestion = "SELECT TO_CHAR(d.dbid), d.db_unique_name || '/' || SYS_CONTEXT('USERENV', 'CON_NAME'),"
)

// member is a database of a pair of Data Guard.
func member(t *testing.T, name, role string, o tnstest.Options) *tnstest.Listener {
	l := tnstest.Start(t, o)
	plays(l, name, role)
	return l
}

func plays(l *tnstest.Listener, name, role string) {
	l.Answer(roleQuestion, tnstest.Answer{Columns: 1, Rows: [][]string{{role}}})
	l.Answer(identityQuestion, tnstest.Answer{Columns: 3, Rows: [][]string{{"4711", name + "/ORDERS", strings.ToLower(role)}}})
}

// pairOf is a connection string with the addresses of both.
func pairOf(members ...*tnstest.Listener) string {
	addresses := ""
	for _, l := range members {
		addresses += l.Address("tcp")
	}
	return "oracle://C%23%23WATCHER:secret@(DESCRIPTION=(FAILOVER=on)(ADDRESS_LIST=" + addresses + ")(CONNECT_DATA=(SERVICE_NAME=orders)))"
}

// TestF30APairOfDataGuard: of several addresses, the primary's is used, in whichever order they stand, and after a
// failover the other one, which is the same server to Muster.
func TestF30APairOfDataGuard(t *testing.T) {
	t.Parallel()
	east, west := member(t, "EAST", "PRIMARY", tnstest.Options{}), member(t, "WEST", "PHYSICAL STANDBY", tnstest.Options{})
	var before servers.Identity
	for i, dsn := range []string{pairOf(east, west), pairOf(west, east), fmt.Sprintf("oracle://u:p@/orders?host=127.0.0.1:%d,127.0.0.1:%d", west.Port(), east.Port())} {
		target := oracle(t, new(servers.Reach), dsn)
		s, err := target.Open(t.Context(), target.Database, time.Minute)
		if err != nil {
			t.Fatal(dsn, err)
		}
		is, err := target.Identify(t.Context(), s)
		if err != nil || is.System != "4711" || is.Process != "ORDERS" || is.Role != servers.RolePrimary {
			t.Errorf("%+v, %v", is, err)
		}
		if before = is; i > 0 {
			s.Close(t.Context())
			continue
		}
		// Both change their roles, in the middle of a round.
		plays(east, "EAST", "PHYSICAL STANDBY")
		plays(west, "WEST", "PRIMARY")
		east.CutAll()
		if _, err := servers.Query(t.Context(), s, 1, roleQuestion); err == nil || !s.Closed() {
			t.Errorf("the session is on a server that has left: %v", err)
		}
		if s, err = target.Open(t.Context(), target.Database, time.Minute); err != nil {
			t.Fatal(err)
		}
		after, err := target.Identify(t.Context(), s)
		if err != nil || after.Moved(before) || !after.Same(before) {
			t.Errorf("%+v is not %+v: %v", after, before, err)
		}
		if asked := west.Asked(); len(asked) == 0 || strings.Contains(strings.Join(east.Asked(), ""), "nothing") {
			t.Error("the new primary was not asked")
		}
		s.Close(t.Context())
		plays(east, "EAST", "PRIMARY")
		plays(west, "WEST", "PHYSICAL STANDBY")
	}
}

// TestF30APairWithoutAPrimary says of each address why it was not used, and tries a wrong password once.
func TestF30APairWithoutAPrimary(t *testing.T) {
	t.Parallel()
	standby := member(t, "WEST", "PHYSICAL STANDBY", tnstest.Options{})
	mounted := member(t, "EAST", "", tnstest.Options{Refuse: 12514})
	silent := tnstest.Start(t, tnstest.Options{})
	silent.Answer(roleQuestion, tnstest.Answer{Columns: 1, Error: 1013})
	down := "(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT=1))"
	for name, test := range map[string]struct {
		dsn     string
		class   string
		parts   []string
		another *tnstest.Listener
	}{
		"two standbys":         {pairOf(standby, standby), servers.ClassDatabase, []string{"None of the 2 addresses of 127.0.0.1:"}, nil},
		"one, and no service":  {pairOf(standby, mounted), servers.ClassDatabase, []string{"is not a primary. The other address: The listener at", "ORA-12514"}, nil},
		"one does not say":     {pairOf(silent, standby), servers.ClassDatabase, []string{"is not a primary. The other address: ", "does not say whether it is a primary."}, nil},
		"no service anywhere":  {pairOf(mounted, mounted), servers.ClassDatabase, []string{"ORA-12514"}, nil},
		"one down, no service": {strings.Replace(pairOf(mounted), "ADDRESS_LIST=", "ADDRESS_LIST="+down, 1), servers.ClassDatabase, []string{"ORA-12514"}, nil},
		"a wrong password":     {pairOf(member(t, "EAST", "", tnstest.Options{Login: 1017}), standby), servers.ClassAuthentication, []string{"ORA-01017"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := oracle(t, new(servers.Reach), test.dsn)
			_, err := target.Open(t.Context(), target.Database, time.Minute)
			for _, part := range test.parts {
				unreachedBy(t, err, test.class, part)
			}
		})
	}
	wrong, other := member(t, "EAST", "", tnstest.Options{Login: 1017}), member(t, "WEST", "", tnstest.Options{Login: 1017})
	target := oracle(t, new(servers.Reach), pairOf(wrong, other))
	if _, err := target.Open(t.Context(), target.Database, time.Minute); err == nil || wrong.Came() != 1 || other.Came() != 0 {
		t.Errorf("a wrong password was tried at %d and %d servers: %v", wrong.Came(), other.Came(), err)
	}
}

// TestF30AWalletInTheConnectionString: a listener that asks for a client certificate lets in who has the wallet, made
// by the commands of the documentation. The wallet's authority vouches for the listener, too.
func TestF30AWalletInTheConnectionString(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	in := t.TempDir()
	openssl := func(args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "openssl", args...)
		cmd.Dir = in
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(strings.Join(args, " "), err)
		}
		return out
	}
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(in, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("server.ext", "subjectAltName=IP:127.0.0.1\n")
	write("client.ext", "extendedKeyUsage=clientAuth\n")
	openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=Oracle's authority", "-days", "2")
	for _, of := range []string{"server", "client"} {
		openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", of+".key", "-out", of+".csr", "-subj", "/CN="+of)
		openssl("x509", "-req", "-in", of+".csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", of+".ext", "-out", of+".crt")
	}
	openssl("pkcs12", "-export", "-in", "client.crt", "-inkey", "client.key", "-certfile", "ca.crt", "-passout", "pass:w4llet", "-out", "ewallet.p12")
	wallet := openssl("pkcs12", "-in", "ewallet.p12", "-nodes", "-passin", "pass:w4llet")
	sealed := openssl("pkcs12", "-in", "ewallet.p12", "-passin", "pass:w4llet", "-passout", "pass:w4llet")
	certificate, err := tls.LoadX509KeyPair(filepath.Join(in, "server.crt"), filepath.Join(in, "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(filepath.Join(in, "ca.crt"))
	clients := x509.NewCertPool()
	if err != nil || !clients.AppendCertsFromPEM(authority) {
		t.Fatal(err)
	}
	asks := func(version uint16) *tnstest.Listener {
		return tnstest.Start(t, tnstest.Options{TLS: &tls.Config{
			Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: version, MaxVersion: version,
		}})
	}
	l := asks(tls.VersionTLS13)
	for encoding, text := range map[string]string{
		"as base64 prints it": url.QueryEscape(base64.StdEncoding.EncodeToString(wallet)), "unescaped": base64.StdEncoding.EncodeToString(wallet),
		"for URLs": base64.RawURLEncoding.EncodeToString(wallet),
	} {
		target := oracle(t, new(servers.Reach), l.DSN("wallet="+text))
		s, err := target.Open(t.Context(), target.Database, time.Minute)
		if err != nil || target.TLS != servers.TLSVerifyFull {
			t.Fatal(encoding, target.TLS, err)
		}
		s.Close(t.Context())
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		target := oracle(t, new(servers.Reach), asks(version).DSN("sslmode=require"))
		_, err = target.Open(t.Context(), target.Database, time.Minute)
		unreachedBy(t, err, servers.ClassTLS, "asks for a client certificate")
		unreachedBy(t, err, servers.ClassTLS, ", or give a client certificate with wallet=…")
	}
	for _, content := range []string{string(sealed), string(authority), "-----BEGIN ", "\xa1\xf8N secret", string(wallet[:len(wallet)/2])} {
		dsn := l.DSN("wallet=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(content))))
		if _, err := new(servers.Reach).Target("oracle", dsn); err == nil || !strings.Contains(err.Error(), "openssl pkcs12 -in ewallet.p12 -nodes | base64 -w0") {
			t.Errorf("%.40q: %v", content, err)
		}
	}
	if _, err := new(servers.Reach).Target("oracle", l.DSN("sslmode=disable&wallet="+base64.RawURLEncoding.EncodeToString(wallet))); err == nil {
		t.Error("a wallet without TLS")
	}
}
