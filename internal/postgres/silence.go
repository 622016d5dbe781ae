package postgres

import (
	"net"
	"time"
)

// The time after which a peer that acknowledges nothing is gone. The kernel's own times are two
// hours for a connection that waits and a quarter of an hour for one that has sent something;
// pgx reduces the first to five minutes.
const (
	silentAfter = 5 * time.Second
	probeEvery  = time.Second
	probes      = 5
)

// giveUpSilence has the kernel end a connection whose other end says nothing any more: a
// server that lost its power closes none. A server that works on a statement says nothing
// either, but its kernel answers the probes.
func giveUpSilence(conn *net.TCPConn) {
	_ = conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: silentAfter, Interval: probeEvery, Count: probes})
	limitUnacknowledged(conn, silentAfter+probes*probeEvery)
}
