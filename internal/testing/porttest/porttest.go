package porttest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
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

// isFree says whether nobody listens there. It asks, and does not listen itself: a program that is being started
// would have the listener, too, until it runs.
func isFree(port int) bool {
	conn, err := net.DialTimeout("tcp", at(port), time.Second) //nolint:noctx // it does not wait long
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
