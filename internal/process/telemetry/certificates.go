package telemetry

import (
	"crypto/tls"
	"maps"
	"slices"
	"sync"
	"time"
)

// Certificates are those that a process signs with or meets, and until when each is good.
// The zero value knows none.
type Certificates struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// Know notes until when a certificate is good.
func (c *Certificates) Know(certificate string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = make(map[string]time.Time)
	}
	c.until[certificate] = until
}

// Met is for the VerifyConnection of a tls.Config: it notes the expiry date of the server's own
// certificate. A server that cannot be trusted never gets there, so the earlier date of an
// expired certificate stays. A nil receiver notes nothing.
func (c *Certificates) Met(certificate string) func(tls.ConnectionState) error {
	if c == nil {
		return nil
	}
	return func(server tls.ConnectionState) error {
		if len(server.PeerCertificates) > 0 {
			c.Know(certificate, server.PeerCertificates[0].NotAfter)
		}
		return nil
	}
}

// Left is for how many seconds each is good.
func (c *Certificates) Left(now time.Time) []Reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	var readings []Reading
	for _, certificate := range slices.Sorted(maps.Keys(c.until)) {
		readings = append(readings, Reading{Labels: []string{certificate}, Value: c.until[certificate].Sub(now).Seconds()})
	}
	return readings
}
