//go:build !linux

package postgres

import (
	"net"
	"time"
)

// limitUnacknowledged does nothing where the kernel has no such limit.
func limitUnacknowledged(*net.TCPConn, time.Duration) {}
