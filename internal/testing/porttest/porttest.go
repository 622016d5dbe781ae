package porttest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// The ports from which one is taken. Linux chooses from 32768 on, others from 49152.
const (
	first = 21_000
	count = 11_000
)

// taken are the UDP ports that say which ports are this process's: closed when it ends.
var taken struct {
	sync.Mutex
	marks []net.PacketConn
}

// Free is a port of the loopback interface on which nobody listens, and which no other test gets.
func Free() (int, error) {
	for range count {
		if port := first + rand.IntN(count); take(port) {
			return port, nil
		}
	}
	return 0, errors.New("no port is free for a test")
}

// Address is Free as host:port.
func Address(t testing.TB) string {
	t.Helper()
	port, err := Free()
	if err != nil {
		t.Fatal(err)
	}
	return at(port)
}

// markOf is the UDP port that says that a port is taken. It is none of those given out: Caddy
// listens on UDP, too, at the port of its TCP.
func markOf(port int) int { return port - count }

func at(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// take says whether the port is ours from now on.
func take(port int) bool {
	mark, err := net.ListenPacket("udp", at(markOf(port))) //nolint:noctx // it does not wait
	if err != nil {
		return false
	}
	if !isFree(port) {
		_ = mark.Close()
		return false
	}
	taken.Lock()
	defer taken.Unlock()
	taken.marks = append(taken.marks, mark)
	return true
}

// isFree says whether nobody listens there. No program is started meanwhile: until it runs, it would have our listener, too.
func isFree(port int) bool {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	l, err := net.Listen("tcp", at(port)) //nolint:noctx // it does not wait
	return err == nil && l.Close() == nil
}
