package postgres

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/testing/longtest"
	"muster/internal/testing/porttest"
)

// alone makes the test binary one in a network of its own.
const alone = "TEST_POSTGRES_ALONE"

// TestLongASilentServerIsGivenUp: the network between two ends is taken away, which closes
// nothing. A connection that waits for an answer gets an error after ten seconds, and so does
// one that has sent something.
func TestLongASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	longtest.Only(t)
	if os.Getenv(alone) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=yes")
		porttest.Alone(cmd)
		out, err := cmd.CombinedOutput()
		if porttest.NotAlone(err) {
			t.Skipf("this machine gives no process a network of its own: %v", err)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	loopback(t, unix.IFF_UP)
	waits, sends := pair(t), pair(t)
	loopback(t, 0)
	began := time.Now()
	if _, err := sends.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	const latest = silentAfter + probes*probeEvery + 5*time.Second
	for name, conn := range map[string]*net.TCPConn{"waits": waits, "has sent something": sends} {
		_ = conn.SetReadDeadline(began.Add(latest))
		_, err := conn.Read(make([]byte, 1))
		if took := time.Since(began); err == nil || errors.Is(err, os.ErrDeadlineExceeded) || took < silentAfter {
			t.Errorf("who %s is told %v after %s", name, err, took)
		}
	}
}

// loopback sets the flags of the interface lo.
func loopback(t *testing.T, flags uint16) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	request, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	request.SetUint16(flags)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		t.Fatal(err)
	}
}

// pair returns an end that gives up silence, whose other end never says anything.
func pair(t *testing.T) *net.TCPConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), other.Close() })
	giveUpSilence(conn.(*net.TCPConn))
	return conn.(*net.TCPConn)
}
