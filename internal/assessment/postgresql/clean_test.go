package postgresql

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

const strictHBA = "local all all scram-sha-256\n" +
	"host all postgres all reject\n" + // in front of all that would let a superuser in
	"host all all 127.0.0.1/32 scram-sha-256\n" +
	"hostssl shop all 10.1.0.0/16 scram-sha-256\n"

// clean is a server that passes, with TLS on, and how its superuser reaches it.
func clean(t *testing.T) (server *pgtest.Server, dsn string) {
	t.Helper()
	server = pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{
		"log_connections": "on", "log_disconnections": "on", "log_statement": "ddl", "log_line_prefix": "%m [%-6p] %u@%d %h ",
		"authentication_timeout": "60", "idle_in_transaction_session_timeout": "10min", "statement_timeout": "60s",
		"track_io_timing": "on", "log_replication_commands": "on", "logging_collector": "on",
		"log_timezone": "UTC", "ssl_ciphers": "HIGH:!aNULL:!kRSA", "unix_socket_permissions": "0700",
	}})
	certify(t, server)
	// Any library with the name will do: the check only asks that one is loaded.
	library := filepath.Join(value(t, server.Superuser(), `SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR'`), "auto_explain.so")
	code, err := os.ReadFile(library) //nolint:gosec // PostgreSQL's own
	if err != nil {
		t.Fatal(err)
	}
	placeFile(t, server, "pgaudit.so", code)
	logs := filepath.Join(filepath.Dir(server.Dir()), "logs") // outside the data directory
	placeDirectory(t, server, logs)
	run(t, server.Superuser(), "ALTER ROLE postgres PASSWORD 'superuser-password';\n"+
		"ALTER SYSTEM SET dynamic_library_path = '"+server.Dir()+":$libdir';\n"+
		"ALTER SYSTEM SET shared_preload_libraries = pg_stat_statements, pgaudit, passwordcheck, auth_delay;\nALTER SYSTEM SET ssl = on;\n"+
		"ALTER SYSTEM SET log_directory = '"+logs+"';\n")
	appendTo(t, filepath.Join(server.Dir(), "postgresql.conf"), "auth_delay.milliseconds = 1\npgaudit.log = 'ddl, write'\n")
	server.Restart(t)
	writeHBA(t, server, server.Superuser(), strictHBA)
	return server, strings.Replace(server.Superuser(), "postgres@", "postgres:superuser-password@", 1)
}

func writeHBA(t *testing.T, server *pgtest.Server, dsn, rules string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(server.Dir(), "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dsn, "SELECT pg_reload_conf();\n")
}

// certify gives the server an unsigned certificate for 127.0.0.1.
func certify(t *testing.T, server *pgtest.Server) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	placeFile(t, server, "server.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	placeFile(t, server, "server.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// placeFile puts a file into the data directory, with the directory's owner.
func placeFile(t *testing.T, server *pgtest.Server, name string, content []byte) {
	t.Helper()
	path := filepath.Join(server.Dir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	own(t, server, path)
}

// own gives what lies at the path to the owner of the data directory.
func own(t *testing.T, server *pgtest.Server, path string) {
	t.Helper()
	info, err := os.Stat(server.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// Two functions with many arguments that differ in the last one are two objects.
func TestLongNamesStayDifferent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", snapshot.Characters)
	if got := snapshot.CutName(long); got != long {
		t.Errorf("what fits became %q", got)
	}
	a, b := snapshot.CutName(long+"a"), snapshot.CutName(long+"b")
	if a == b || utf8.RuneCountInString(a) != snapshot.Characters || !strings.HasPrefix(a, long[:100]) {
		t.Errorf("%q and %q", a, b)
	}
}
