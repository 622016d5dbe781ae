package measure

import (
	"cmp"
	"context"
	"time"

	"muster/internal/servers"
)

// certificateEvery is how often a server is asked for its certificate.
const certificateEvery = time.Hour

// certificate is what is known of the certificate that a server presents.
type certificate struct {
	opened, asked time.Time // the connection whose certificate it was first, and when the server was asked last
	end           time.Time
}

// certificateEnd is when the server's certificate ends; known is false without TLS. A connection keeps the certificate
// that it began with, and it may be weeks old: once an hour another one is opened to see what the server presents
// now. If that fails, the last known end stays.
func (s *Server) certificateEnd(ctx context.Context, at time.Time) (end time.Time, known bool) {
	first, known := servers.CertificateEnd(s.line.Session)
	if !known {
		return time.Time{}, false
	}
	if c := &s.presents; !c.opened.Equal(s.opened) {
		*c = certificate{opened: s.opened, asked: at, end: first}
	} else if at.Sub(c.asked).Abs() >= certificateEvery {
		c.asked = at
		if other, err := s.openIn(ctx, cmp.Or(s.line.database, s.target.Database)); err == nil {
			if end, known := servers.CertificateEnd(other); known {
				c.end = end
			}
			other.Close(ctx)
		}
	}
	return s.presents.end, true
}
