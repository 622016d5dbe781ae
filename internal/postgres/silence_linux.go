package postgres

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged ends a connection once what was sent stays unacknowledged for that
// long: probes are for connections that wait, and nothing else stops the kernel from
// sending again.
func limitUnacknowledged(conn *net.TCPConn, limit time.Duration) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return // it is closed, which whoever writes is told
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
	})
}
