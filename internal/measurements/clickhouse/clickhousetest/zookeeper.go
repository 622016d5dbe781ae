package clickhousetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/porttest"
)

// zooKeeperJar is where Debian's zookeeper has its program.
const zooKeeperJar = "/usr/share/java/zookeeper.jar"

// ZooKeeper starts Debian's ZooKeeper, which replicas agree by, for the test, and returns
// its port. The test is skipped where that or java is not installed.
func ZooKeeper(t testing.TB) int {
	t.Helper()
	java, err := exec.LookPath("java")
	if _, missing := os.Stat(zooKeeperJar); err != nil || missing != nil {
		t.Skip("zookeeper is not installed: Debian has it as zookeeper")
	}
	port, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := pgtest.MkdirTemp("zookeeper")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "zoo.cfg")
	text := fmt.Sprintf("tickTime=1000\ndataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n", dir, port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// It ends with its standard input's other end, which this process holds.
	cmd := exec.Command("/bin/sh", "-c", `"$@" </dev/null & cat >/dev/null; kill -KILL $!; rm -rf "$DIR"`, "sh", //nolint:noctx // see above
		java, "-Xmx128m", "-Dzookeeper.forceSync=no", "-cp", zooKeeperJar, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "DIR="+dir)
	held, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = held.Close()
		_ = cmd.Wait()
	})
	within, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !serves(within, port) {
		if pause.For(within, interval) != nil {
			t.Fatal("ZooKeeper does not serve")
		}
	}
	return port
}

// serves says whether ZooKeeper does, which takes connections before, and drops them or
// leaves them without an answer.
func serves(ctx context.Context, port int) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("srvr")); err != nil {
		return false
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	said, _ := io.ReadAll(conn) // it resets the connection when it has answered
	return bytes.Contains(said, []byte("Mode: standalone"))
}
