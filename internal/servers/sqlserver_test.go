package servers_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

// TestF5ThePortOfANamedInstance: both sentences that people meet who have a named instance say how it gets a port
// that stays. The default port is no named instance's.
func TestF5ThePortOfANamedInstance(t *testing.T) {
	t.Parallel()
	const static = "a fixed port in SQL Server Configuration Manager"
	for _, dsn := range []string{"sqlserver://u:secret@db01/SQL;EXPRESS", `sqlserver://u:secret@db01\SQLEXPRESS`} {
		if _, err := servers.Parse(fleet.SQLServer, dsn); err == nil || !strings.Contains(err.Error(), static) {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	for dsn, says := range map[string]bool{"sqlserver://u:secret@127.0.0.1:1": true, "sqlserver://u:secret@127.0.0.213": false} {
		target, err := new(servers.Reach).Target(fleet.SQLServer, dsn)
		if err != nil {
			t.Fatal(err)
		}
		_, err = target.Open(t.Context(), "", time.Minute)
		refused, ok := errors.AsType[*servers.ConnectionError](err)
		if !ok || refused.Class != servers.ClassRefused {
			t.Fatalf("%s: %v", dsn, err)
		}
		if strings.Contains(refused.Sentence, static) != says {
			t.Errorf("%s: %s", dsn, refused.Sentence)
		}
	}
}

func TestParseSQLServer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ dsn, address, problem string }{
		"everything": {
			"sqlserver://u:p@db01:1444?database=app&encrypt=strict&trustServerCertificate=false&hostNameInCertificate=x&applicationIntent=ReadOnly",
			"db01:1444", "",
		},
		"defaults":           {"sqlserver://u@db01", "db01:1433", ""},
		"IPv6":               {"sqlserver://u@[2001:db8::1]:1444/", "[2001:db8::1]:1444", ""},
		"capitals":           {"sqlserver://u@db01?Encrypt=TRUE&TRUSTSERVERCERTIFICATE=True", "db01:1433", ""},
		"escaped":            {"sqlserver://u%40x:p%40ss%2Fword@db01", "db01:1433", ""},
		"a named instance":   {"sqlserver://u:p@db01/SQLEXPRESS", `db01\SQLEXPRESS`, ""},
		"no instance":        {"sqlserver://u:secret@db01/a/b", "", "by its port"},
		"port and instance":  {"sqlserver://u:secret@db01:1433/SQLEXPRESS", "", "one of them is enough"},
		"readable, instance": {"sqlserver://u:secret@db01/SQLEXPRESS?encrypt=disable", "", "anybody on the way"},
		"with a backslash":   {`sqlserver://u:secret@db01\SQLEXPRESS`, "", "by its port"},
		"another scheme":     {"mssql://u:secret@db01", "", "sqlserver://"},
		"of ADO":             {"server=db01;user id=u;password=secret", "", "sqlserver://"},
		"no host":            {"sqlserver://u:secret@", "", "no host"},
		"no user":            {"sqlserver://db01", "", "no user"},
		"Windows":            {`sqlserver://CORP%5Cu:secret@db01`, "db01:1433", ""},
		"Windows, no domain": {`sqlserver://%5Cu:secret@db01`, "", "DOMAIN"},
		"Windows, itself":    {`sqlserver://CORP%5Cu@db01`, "", "no password"},
		"Windows, an emoji":  {`sqlserver://CORP%5Cu:secret%F0%9F%98%80@db01`, "", "emoji"},
		"Windows, strict":    {`sqlserver://CORP%5Cu:secret@db01?encrypt=strict&trustServerCertificate=true`, "", "does not go with it"},
		"Kerberos":           {"sqlserver://u:secret@db01?authenticator=krb5", "", "Kerberos is not accepted"},
		"Entra":              {"sqlserver://1-2%40t.example:secret@db01?fedauth=activedirectoryserviceprincipal", "db01:1433", ""},
		"Entra, of a person": {"sqlserver://u:secret@db01?fedauth=ActiveDirectoryDefault", "", "not one of ActiveDirectoryServicePrincipal"},
		"Entra, no tenant":   {"sqlserver://1-2:secret@db01?fedauth=ActiveDirectoryServicePrincipal", "", "client@tenant"},
		"Entra, a path":      {"sqlserver://1-2%40t%2F..%2Fx:secret@db01?fedauth=ActiveDirectoryServicePrincipal", "", "client@tenant"},
		"Entra, no secret":   {"sqlserver://1-2%40t@db01?fedauth=ActiveDirectoryServicePrincipal", "", "no password for the application"},
		"Entra, to anybody":  {"sqlserver://1-2%40t:secret@db01?fedauth=ActiveDirectoryServicePrincipal&trustServerCertificate=true", "", "certificate is verified"},
		"Entra, readable":    {"sqlserver://1-2%40t:secret@db01?fedauth=ActiveDirectoryServicePrincipal&encrypt=disable", "", "certificate is verified"},
		"it may pause":       {"sqlserver://u:secret@db01?letPause=true", "db01:1433", ""},
		"it may pause now":   {"sqlserver://u:secret@db01?letPause=now", "", "not one of true, false"},
		"a file":             {"sqlserver://u:secret@db01?certificate=/etc/x.pem", "", `"certificate" is not accepted`},
		"a failover partner": {"sqlserver://u:secret@db01?failoverpartner=db02", "", `"failoverpartner" is not accepted`},
		"another host":       {"sqlserver://u:secret@db01?server=db02", "", `"server" is not accepted`},
		"a new password":     {"sqlserver://u:secret@db01?change+password=x", "", `"change password" is not accepted`},
		"login only":         {"sqlserver://u:secret@db01?encrypt=false", "db01:1433", ""},
		"strict, and trust":  {"sqlserver://u:secret@db01?encrypt=strict&trustservercertificate=true", "", "does not go with it"},
		"trust":              {"sqlserver://u:secret@db01?trustservercertificate=yes", "", "true, false"},
		"twice":              {"sqlserver://u:secret@db01?database=a&Database=b", "", "twice"},
		"two hosts":          {"sqlserver://u:secret@db01,db02", "", "more than one host"},
		"port":               {"sqlserver://u:secret@db01:0", "", "port"},
		"zero byte":          {"sqlserver://u:secret%00@db01", "", "zero byte"},
		"malformed":          {"sqlserver://u:sec%zzret@db01", "", "not a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, err := servers.Parse(fleet.SQLServer, test.dsn)
			var malformed *servers.DSNError
			switch {
			case test.address != "" && (err != nil || target.Address() != test.address):
				t.Errorf("%s, %v", target.Address(), err)
			case test.address == "" && (!errors.As(err, &malformed) || !strings.Contains(err.Error(), test.problem)):
				t.Errorf("got %v, want %q", err, test.problem)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("the error repeats the password: %v", err)
			}
		})
	}
}

// authority signs a certificate for a name and 127.0.0.1.
func authority(t *testing.T, name string) (*x509.CertPool, *tls.Config) {
	t.Helper()
	return authorityOf(t, name, func(*x509.Certificate) {})
}

// authorityOf signs a certificate that is changed.
func authorityOf(t *testing.T, name string, change func(*x509.Certificate)) (*x509.CertPool, *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	return pool, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// offering is a server's TLS with something else about it.
func offering(config *tls.Config, change func(*tls.Config)) *tls.Config {
	config = config.Clone()
	change(config)
	return config
}

// cutHandshake ends the connection once the client has said hello.
func cutHandshake(c *tls.Config) {
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) { return nil, hello.Conn.Close() }
}

// withNegativeSerial is a certificate with another serial number, which no library makes.
func withNegativeSerial(t *testing.T, of tls.Certificate) []byte {
	t.Helper()
	var c struct {
		Signed    asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(of.Certificate[0], &c); err != nil {
		t.Fatal(err)
	}
	signed := bytes.Replace(c.Signed.FullBytes, []byte{asn1.TagInteger, 1, 1}, []byte{asn1.TagInteger, 1, 0x81}, 1)
	digest := sha256.Sum256(signed)
	signature, err := of.PrivateKey.(crypto.Signer).Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	c.Signed, c.Signature = asn1.RawValue{FullBytes: signed}, asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}
	der, err := asn1.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// TestACertificateWithANegativeSerialNumber lets us in where the connection string trusts any: SQL Server 2017 to 2022
// sign one for themselves at about every second start.
func TestACertificateWithANegativeSerialNumber(t *testing.T) {
	t.Parallel()
	_, config := authorityOf(t, "SSL_Self_Signed_Fallback", func(*x509.Certificate) {})
	config.Certificates[0].Certificate[0] = withNegativeSerial(t, config.Certificates[0])
	for _, strict := range []bool{false, true} {
		stub := tdstest.Start(t, tdstest.Options{TLS: config, Strict: strict})
		if _, err := openSQLServer(t, new(servers.Reach), stub, map[bool]string{false: "trustServerCertificate=true", true: "encrypt=strict"}[strict], ""); (err == nil) == strict {
			t.Errorf("strict %t: %v", strict, err)
		} else if strict && !strings.Contains(err.Error(), "does not know the authority") {
			t.Error(err)
		}
	}
}

// TestOnlyTheLoginIsEncrypted with encrypt=false: the password does not cross the network readable, what follows does.
func TestOnlyTheLoginIsEncrypted(t *testing.T) {
	t.Parallel()
	_, config := authority(t, "db01.example")
	stub := tdstest.Start(t, tdstest.Options{TLS: config})
	stub.Answer("SELECT 'in the clear'", tdstest.Answer{Rows: [][]any{{"yes"}}})
	s, err := openSQLServer(t, new(servers.Reach), stub, "encrypt=false&trustServerCertificate=true", "")
	if err != nil {
		t.Fatal(err)
	}
	if row, err := servers.Row(t.Context(), s, 1, "SELECT 'in the clear'"); err != nil || row[0] != "yes" {
		t.Errorf("%v, %v", row, err)
	}
	open := tdstest.Start(t, tdstest.Options{})
	if _, err := openSQLServer(t, new(servers.Reach), open, "encrypt=disable", ""); err != nil || open.Readable(open.Password) != 1 {
		t.Errorf("with encrypt=disable the password crossed readable %d times, %v", open.Readable(open.Password), err)
	}
	if stub.Readable("SELECT 'in the clear'") == 0 || stub.Readable(stub.Password) != 0 {
		t.Errorf("the statement crossed readable %d times, the password %d times", stub.Readable("SELECT 'in the clear'"), stub.Readable(stub.Password))
	}
}

// openSQLServer opens a session on a stub.
func openSQLServer(t *testing.T, reach *servers.Reach, s *tdstest.Server, parameters, database string) (servers.Session, error) {
	t.Helper()
	target, err := reach.Target(fleet.SQLServer, s.DSN(parameters))
	if err != nil {
		t.Fatal(err)
	}
	session, err := target.Open(t.Context(), database, time.Minute)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	return session, nil
}

// TestSQLServerSessions over every kind of encryption: the sent values arrive as text, names
// with an emoji in the login too.
func TestSQLServerSessions(t *testing.T) {
	t.Parallel()
	trusted, config := authority(t, "db01.example")
	const odd = `a]b"c'd 😀 ` + "`;--"
	for name, test := range map[string]struct {
		options    tdstest.Options
		parameters string
	}{
		"TLS":                     {tdstest.Options{TLS: config}, ""},
		"TLS, of another name":    {tdstest.Options{TLS: config}, "hostNameInCertificate=db01.example"},
		"TLS, not verified":       {tdstest.Options{TLS: config}, "trustServerCertificate=true"},
		"strict":                  {tdstest.Options{TLS: config, Strict: true}, "encrypt=strict"},
		"none":                    {tdstest.Options{}, "encrypt=disable"},
		"none, but it demands it": {tdstest.Options{TLS: config}, "encrypt=disable"},
		"readers":                 {tdstest.Options{}, "encrypt=disable&applicationIntent=ReadOnly"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.options.Databases = []string{odd}
			stub := tdstest.Start(t, test.options)
			stub.Answer("-- values", tdstest.Answer{Rows: [][]any{
				{int64(-7), 0.5, true, odd, nil, ""}, {int64(1) << 60, 1e21, false, "x", nil, nil},
			}})
			s, err := openSQLServer(t, &servers.Reach{Authorities: trusted}, stub, test.parameters, odd)
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for range 2 {
				err = s.Each(t.Context(), servers.Statement{Columns: 6, Text: "-- values\nSELECT 1"}, func(row [][]byte) error {
					null := row[4] == nil && row[3] != nil
					rows = append(rows, strings.Join([]string{string(row[0]), string(row[1]), string(row[2]), string(row[3]), map[bool]string{true: "NULL"}[null]}, "|"))
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if want := []string{"-7|0.5|1|" + odd + "|NULL", "1152921504606846976|1000000000000000000000|0|x|NULL"}; !slices.Equal(rows, append(want, want...)) {
				t.Errorf("%q", rows)
			}
			login := stub.Logins()[0]
			if login.Database != odd || s.Database() != odd || login.Application != servers.ApplicationName || login.Host != "" || login.ReadOnly != (name == "readers") {
				t.Errorf("%+v", login)
			}
			if settings := stub.Settings(); len(settings) != 2 || !strings.Contains(settings[0], "LOCK_TIMEOUT 500") {
				t.Errorf("%q", settings)
			}
			if _, err := servers.Query(t.Context(), s, 5, "-- values\n"); err == nil {
				t.Error("other columns than asked for")
			}
		})
	}
}

// TestRefusedLoginsOfSQLServer each have their class and a sentence, without the server's
// words, the password or a name that only the server gave.
func TestRefusedLoginsOfSQLServer(t *testing.T) {
	t.Parallel()
	trusted, config := authority(t, "db01.example")
	_, unknown := authority(t, "db01.example")
	_, expired := authorityOf(t, "db01.example", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	plain := "encrypt=disable"
	for name, test := range map[string]struct {
		options            tdstest.Options
		parameters, class  string
		database, sentence string
	}{
		"wrong password":         {options: tdstest.Options{Refuse: &tdstest.LoginFailed}, class: servers.ClassAuthentication, sentence: "wrong name or password"},
		"locked":                 {options: tdstest.Options{Refuse: &tdstest.LoginLocked}, class: servers.ClassAuthentication, sentence: "is locked"},
		"expired":                {options: tdstest.Options{Refuse: &tdstest.PasswordExpired}, class: servers.ClassAuthentication, sentence: "has expired"},
		"to be changed":          {options: tdstest.Options{Refuse: &tdstest.PasswordMust}, class: servers.ClassAuthentication, sentence: "must be changed"},
		"no such database":       {database: "nowhere", class: servers.ClassDatabase, sentence: `connect to database "nowhere"`},
		"recovering":             {options: tdstest.Options{Refuse: &tdstest.Recovering}, class: servers.ClassDatabase, sentence: "restored or recovered"},
		"restoring":              {options: tdstest.Options{Refuse: &tdstest.Restoring}, class: servers.ClassDatabase, sentence: "restored or recovered"},
		"offline":                {options: tdstest.Options{Refuse: &tdstest.Offline}, class: servers.ClassDatabase, sentence: "offline"},
		"a secondary":            {options: tdstest.Options{Refuse: &tdstest.NotReadable}, class: servers.ClassDatabase, sentence: "secondary replica"},
		"full":                   {options: tdstest.Options{Refuse: &tdstest.Error{Number: 17809, Text: "hunter2"}}, class: servers.ClassRefused, sentence: "there are too many"},
		"a firewall":             {options: tdstest.Options{Refuse: &tdstest.Error{Number: 40615, Text: "hunter2"}}, class: servers.ClassRefused, sentence: "firewall"},
		"an error of its own":    {options: tdstest.Options{Refuse: &tdstest.Error{Number: 50123, Text: "hunter2"}}, class: servers.ClassDatabase, sentence: "error 50123"},
		"an unknown authority":   {options: tdstest.Options{TLS: unknown}, parameters: "encrypt=true", class: servers.ClassTLS, sentence: "does not know the authority"},
		"strict, likewise":       {options: tdstest.Options{TLS: unknown, Strict: true}, parameters: "encrypt=strict", class: servers.ClassTLS, sentence: "does not know the authority"},
		"another name":           {options: tdstest.Options{TLS: config}, parameters: "hostNameInCertificate=db02.example", class: servers.ClassTLS, sentence: "is for another host name"},
		"TLS 1.1":                {options: tdstest.Options{TLS: offering(config, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })}, parameters: "encrypt=true", class: servers.ClassTLS, sentence: "Enable TLS 1.2 there"},
		"an odd cipher":          {options: tdstest.Options{TLS: offering(config, func(c *tls.Config) { c.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_RC4_128_SHA} })}, parameters: "encrypt=true", class: servers.ClassTLS, sentence: "no cipher in common"},
		"cut in the handshake":   {options: tdstest.Options{TLS: offering(config, cutHandshake)}, parameters: "encrypt=true", class: servers.ClassTLS, sentence: "broke off the TLS handshake"},
		"an expired certificate": {options: tdstest.Options{TLS: expired}, parameters: "encrypt=true", class: servers.ClassTLS, sentence: "it has expired"},
		"no client certificate":  {options: tdstest.Options{TLS: offering(config, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }), Strict: true}, parameters: "encrypt=strict", class: servers.ClassTLS, sentence: "asks for a client certificate"},
		"a private endpoint":     {options: tdstest.Options{Refuse: &tdstest.Error{Number: 47073, Text: "hunter2"}}, class: servers.ClassRefused, sentence: "private endpoint"},
		"a virtual network":      {options: tdstest.Options{Refuse: &tdstest.Error{Number: 40914, Text: "hunter2"}}, class: servers.ClassRefused, sentence: "firewall"},
		"a logon trigger":        {options: tdstest.Options{Refuse: &tdstest.Error{Number: 17892, Text: "hunter2"}}, class: servers.ClassAuthentication, sentence: "logon trigger"},
		"no TLS there":           {parameters: "encrypt=true", class: servers.ClassTLS, sentence: "TLS is off there"},
		"no strict TLS there":    {options: tdstest.Options{TLS: config}, parameters: "encrypt=strict", class: servers.ClassTLS, sentence: "encrypt=strict"},
		"HTTP":                   {options: tdstest.Options{Banner: "HTTP/1.1 400 hunter2\r\n\r\n"}, class: servers.ClassDatabase, sentence: "not as a SQL Server"},
		"SSH":                    {options: tdstest.Options{Banner: "SSH-2.0-hunter2\r\n"}, class: servers.ClassDatabase, sentence: "not as a SQL Server"},
		"MySQL":                  {options: tdstest.Options{Banner: "\x4a\x00\x00\x00\x0ahunter2"}, class: servers.ClassDatabase, sentence: "not as a SQL Server"},
		"a greeting that panics": {options: tdstest.Options{Banner: "\x04\x01\x00\x0e\x00\x00\x01\x00\x01\x00\x05\x00\x00\xff"}, class: servers.ClassDatabase, sentence: "not as a SQL Server"},
		"cut at once":            {options: tdstest.Options{Banner: "\x04"}, class: servers.ClassDatabase, sentence: "broke off"},
		"silent":                 {options: tdstest.Options{Silent: true}, class: servers.ClassTimeout, sentence: "did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stub := tdstest.Start(t, test.options)
			if test.parameters == "" {
				test.parameters = plain
			}
			target, err := (&servers.Reach{Authorities: trusted}).Target(fleet.SQLServer, stub.DSN(test.parameters))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if test.options.Silent {
				ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
			}
			defer cancel()
			_, err = target.Open(ctx, test.database, time.Minute)
			var refused *servers.ConnectionError
			if !errors.As(err, &refused) || refused.Class != test.class || !strings.Contains(refused.Sentence, test.sentence) {
				t.Fatalf("got %v, want %s: … %s …", err, test.class, test.sentence)
			}
			for _, secret := range []string{target.Password, "hunter2", "Login failed", "@"} {
				if strings.Contains(refused.Sentence, secret) {
					t.Errorf("the sentence holds %q: %s", secret, refused.Sentence)
				}
			}
		})
	}
	target, err := new(servers.Reach).Target(fleet.SQLServer, "sqlserver://u:p@127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	var refused *servers.ConnectionError
	if _, err := target.Open(t.Context(), "", time.Minute); !errors.As(err, &refused) || refused.Class != servers.ClassRefused {
		t.Errorf("where nobody listens: %v", err)
	}
}

// TestRedirectsOfSQLServer are followed as those of gateways and listeners are: to where the Reach leads, and
// once.
func TestRedirectsOfSQLServer(t *testing.T) {
	t.Parallel()
	in := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	second := tdstest.Start(t, tdstest.Options{})
	second.Answer("-- who", tdstest.Answer{Rows: [][]any{{"second"}}})
	outside, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = outside.Close() })
	knocks := make(chan struct{}, 1)
	go func() {
		if conn, err := outside.Accept(); err == nil {
			knocks <- struct{}{}
			_ = conn.Close()
		}
	}()
	for name, test := range map[string]struct {
		to    *net.TCPAddr
		class string
	}{
		"inside":     {to: second.Addr()},
		"outside":    {to: outside.Addr().(*net.TCPAddr), class: servers.ClassNotAllowed},
		"in circles": {class: servers.ClassRefused},
	} {
		first := tdstest.Start(t, tdstest.Options{RouteTo: test.to})
		if test.to == nil {
			first.RouteTo = first.Addr()
		}
		s, err := openSQLServer(t, &servers.Reach{Networks: in}, first, "encrypt=disable", "")
		var refused *servers.ConnectionError
		switch {
		case test.class != "":
			if !errors.As(err, &refused) || refused.Class != test.class || strings.Contains(refused.Sentence, "127.0.0.2") {
				t.Errorf("%s: %v", name, err)
			}
			if n := len(first.Logins()); n > 2 {
				t.Errorf("%s: our password was sent %d times", name, n)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if row, err := servers.Row(t.Context(), s, 1, "-- who\n"); err != nil || row[0] != "second" {
				t.Errorf("%s: %q, %v", name, row, err)
			}
		}
	}
	if len(knocks) > 0 {
		t.Error("a server outside was dialled")
	}
}
