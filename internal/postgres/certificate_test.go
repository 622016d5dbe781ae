package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/postgres"
	"muster/internal/process/unixonly"
	"muster/internal/testing/pgtest"
)

// TestTheServersCertificateIsSeen by every connection, as long as it is valid. With an expired
// one no connection succeeds, and the error says so.
func TestTheServersCertificateIsSeen(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	admin := pgtest.Connect(t, server.Superuser())
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	ends := time.Now().Add(36 * time.Hour).UTC().Truncate(time.Second)
	certify := func(until time.Time) {
		t.Helper()
		certificate, key := certificate(t, until)
		inServersName(t, server.Dir(), "server.crt", certificate)
		inServersName(t, server.Dir(), "server.key", key)
		if err := os.WriteFile(trusted, certificate, 0o600); err != nil {
			t.Fatal(err)
		}
		admin.MustExec(`ALTER SYSTEM SET ssl = on`)
		admin.MustExec(`SELECT pg_reload_conf()`)
	}
	var seen []time.Time
	connect := func() error {
		url := strings.Replace(server.TCPURL(pgtest.Superuser, "postgres"), "sslmode=disable", "sslmode=verify-full&sslrootcert="+trusted, 1)
		_, pool, err := postgres.Connect(t.Context(), url, postgres.PoolOptions{Name: "test", Met: func(s tls.ConnectionState) error {
			seen = append(seen, s.PeerCertificates[0].NotAfter.UTC())
			return nil
		}})
		if err == nil {
			pool.Close()
		}
		return err
	}
	// A reload is done some time after it was asked for.
	until := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	certify(ends)
	until("nobody is let in", func() bool { return connect() == nil })
	if len(seen) == 0 || !seen[0].Equal(ends) {
		t.Errorf("seen are %v, want %v", seen, ends)
	}
	certify(time.Now().Add(-time.Hour))
	var err error
	until("somebody is let in", func() bool {
		err = connect()
		return err != nil && strings.Contains(err.Error(), "expired")
	})
	if strings.Contains(err.Error(), "sslrootcert") {
		t.Errorf("it says more than it should: %v", err)
	}
}

// certificate is one of 127.0.0.1, signed by itself, and its key.
func certificate(t *testing.T, until time.Time) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "a server"}, NotBefore: until.AddDate(0, -1, 0), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// inServersName writes a file that the server may read.
func inServersName(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	err := os.WriteFile(path, content, 0o600)
	if err == nil && os.Geteuid() == 0 {
		var info os.FileInfo
		if info, err = os.Stat(dir); err == nil {
			uid, gid, _ := unixonly.Owner(info)
			err = os.Chown(path, int(uid), int(gid))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
