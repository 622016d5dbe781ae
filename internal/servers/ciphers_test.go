package servers_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"muster/internal/servers"
	"muster/internal/servers/tdstest"
	"muster/internal/servers/tnstest"
)

// TestF31ServersWithTheKeyExchangeOfRSA and nothing else, such as Oracle 12.2, Amazon RDS and Windows Server 2012, get a
// session.
func TestF31ServersWithTheKeyExchangeOfRSA(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "db01"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AddCert(certificate)
	for _, suite := range []uint16{tls.TLS_RSA_WITH_AES_256_CBC_SHA, tls.TLS_RSA_WITH_AES_128_GCM_SHA256} {
		config := &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{suite},
		}
		target := oracle(t, &servers.Reach{Authorities: known}, tnstest.Start(t, tnstest.Options{TLS: config}).DSN("sslmode=verify-full"))
		s, err := target.Open(t.Context(), target.Database, time.Minute)
		if err != nil {
			t.Fatal(tls.CipherSuiteName(suite), err)
		}
		s.Close(t.Context())
		if s, err = openSQLServer(t, &servers.Reach{Authorities: known}, tdstest.Start(t, tdstest.Options{TLS: config}), "", ""); err != nil {
			t.Fatal(tls.CipherSuiteName(suite), err)
		}
		s.Close(t.Context())
	}
}
