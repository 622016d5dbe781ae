package postgres_test

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// TestTheServersCertificateIsSeen by every connection, as long as it is valid. With an expired
// one no connection succeeds, and the error says so.
func TestTheServersCertificateIsSeen(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	ends := time.Now().Add(36 * time.Hour).UTC().Truncate(time.Second)
	certify := func(until time.Time) {
		t.Helper()
		if err := os.WriteFile(trusted, server.Certify(t, until), 0o600); err != nil {
			t.Fatal(err)
		}
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
	certify(ends)
	if err := connect(); err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 || !seen[0].Equal(ends) {
		t.Errorf("seen are %v, want %v", seen, ends)
	}
	certify(time.Now().Add(-time.Hour))
	err := connect()
	if err == nil || !strings.Contains(err.Error(), "expired") {
		t.Fatalf("with an expired certificate: %v", err)
	}
	if strings.Contains(err.Error(), "sslrootcert") {
		t.Errorf("it says more than it should: %v", err)
	}
}
