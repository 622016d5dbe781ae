package porttest

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// asOther makes the test binary another process that takes a port and keeps it.
const asOther = "TEST_PORTTEST_OTHER"

func TestMain(m *testing.M) {
	if os.Getenv(asOther) == "" {
		os.Exit(m.Run())
	}
	port, err := Free()
	if err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString(strconv.Itoa(port) + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestAPortBelongsToOneProcess until that ends: neither it nor another one gets the port again,
// though nobody listens on it.
func TestAPortBelongsToOneProcess(t *testing.T) {
	t.Parallel()
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), asOther+"=yes")
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if take(port) {
		t.Errorf("port %d is given out twice", port)
	}
	_ = stdin.Close()
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
	if !take(port) {
		t.Errorf("port %d stays with a process that has ended", port)
	}
	if take(port) {
		t.Errorf("port %d is given out twice by one process", port)
	}
}

// TestAPortIsOutsideTheKernelsRange, which gives those to connections.
func TestAPortIsOutsideTheKernelsRange(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Skip("only Linux says which ports the kernel chooses from")
	}
	least, err := strconv.Atoi(strings.Fields(string(text))[0])
	if err != nil {
		t.Fatal(err)
	}
	if least < first+count {
		t.Skipf("this machine's kernel chooses from %d on: its own ports may be given to connections", least)
	}
	for range 100 {
		if port, err := Free(); err != nil || port < first || port >= first+count {
			t.Fatalf("port %d, %v", port, err)
		}
	}
}

// TestAPortOfAnotherProgram has a listener and no mark.
func TestAPortOfAnotherProgram(t *testing.T) {
	t.Parallel()
	port, err := Free()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", at(port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	taken.Lock()
	for _, mark := range taken.marks {
		if mark.LocalAddr().(*net.UDPAddr).Port == markOf(port) {
			_ = mark.Close()
		}
	}
	taken.Unlock()
	if take(port) {
		t.Errorf("port %d has a listener", port)
	}
}

// TestAPortIsFreeBesideAStart of a program: until that runs, it has what its parent had open.
func TestAPortIsFreeBesideAStart(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for t.Context().Err() == nil {
			_ = exec.CommandContext(t.Context(), "true").Run()
		}
	}()
	t.Cleanup(func() { <-ended })
	for range 500 {
		port, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", at(port))
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}

// TestTheUDPPortIsFree, too: Caddy listens there for HTTP/3.
func TestTheUDPPortIsFree(t *testing.T) {
	t.Parallel()
	conn, err := net.ListenPacket("udp", Address(t))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if markOf(first+count-1) >= first {
		t.Errorf("the mark of %d is a port that is given out", first+count-1)
	}
}
