package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"muster/internal/testing/porttest"
)

// Pool is a database as PgBouncer offers it. The password of a user is its name; the server
// itself asks for none.
type Pool struct {
	Mode     string // session, transaction, statement
	Database string
	Forced   string // the user of every connection to the server; empty: whoever signs in
	Users    []string
	Size     int // connections to the server by user
}

// Pooler starts a PgBouncer in front of the server that ends with the test, and returns
// where it listens. It skips the test where PgBouncer is not installed.
func (s *Server) Pooler(t testing.TB, p Pool) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // no directory of an ordinary user's PATH
		if _, err := os.Stat(program); err != nil {
			t.Skip("pgbouncer is not installed: Debian has it as pgbouncer")
		}
	}
	port, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	forced := ""
	if p.Forced != "" {
		forced = " user=" + p.Forced
	}
	var users bytes.Buffer
	for _, user := range append([]string{p.Forced}, p.Users...) {
		if user != "" {
			fmt.Fprintf(&users, "%q %q\n", user, user)
		}
	}
	list := s.keep(t, fmt.Sprintf("users-%d.txt", port), users.String())
	config := s.keep(t, fmt.Sprintf("pgbouncer-%d.ini", port), fmt.Sprintf(`[databases]
%s = host=127.0.0.1 port=%d dbname=%s%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = plain
auth_file = %s
pool_mode = %s
default_pool_size = %d
`, p.Database, s.port, p.Database, forced, port, list, p.Mode, p.Size))
	cmd := s.account.Command(t.Context(), program, config)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var reason error
	go func() {
		defer close(ended)
		reason = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("PgBouncer said:\n%s", log.String())
		}
	})
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for end := time.Now().Add(startPatience); ; {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
			return address
		}
		select {
		case <-ended:
			t.Fatalf("PgBouncer ended: %v\n%s", reason, log.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatal("PgBouncer takes no connections")
		}
	}
}

// PooledURL is a connection string through a Pooler.
func PooledURL(address, user, database string) string {
	return (&url.URL{Scheme: "postgres", User: url.UserPassword(user, user), Host: address, Path: "/" + database, RawQuery: "sslmode=disable"}).String()
}

// keep writes a file that the server's account may read.
func (s *Server) keep(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), s.account.Own(path)); err != nil {
		t.Fatal(err)
	}
	return path
}
