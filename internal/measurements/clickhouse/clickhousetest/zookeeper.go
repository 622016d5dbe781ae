package clickhousetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"muster/internal/pause"
	"muster/internal/pgtest"
)

// zooKeeperJar is where Debian's zookeeper has its program.
const zooKeeperJar = "/usr/share/java/zookeeper.jar"

// ZooKeeper starts Debian's ZooKeeper, which replicas agree by, for the test, and returns
// its port. The test is skipped where that or java is not installed.
func ZooKeeper(t testing.TB) (port int) {
	t.Helper()
	java, err := exec.LookPath("java")
	if _, missing := os.Stat(zooKeeperJar); err != nil || missing != nil {
		t.Skip("zookeeper is not installed: Debian has it as zookeeper")
	}
	ports, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := pgtest.MkdirTemp("zookeeper")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "zoo.cfg")
	text := fmt.Sprintf("tickTime=1000\ndataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n", dir, ports[0])
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
	for {
		conn, err := (&net.Dialer{}).DialContext(within, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0])))
		if err == nil {
			_ = conn.Close()
			return ports[0]
		}
		if pause.For(within, interval) != nil {
			t.Fatalf("ZooKeeper does not answer: %v", err)
		}
	}
}
