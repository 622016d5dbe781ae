package measure

import (
	"cmp"
	"context"
	"time"

	"muster/internal/servers"
)

const (
	// certificateEvery is how often a server is asked for its certificate.
	certificateEvery = time.Hour
	// certificateWithin is how long it may take to present one.
	certificateWithin = 15 * time.Second
)

// certificate is what is known of the certificate that a server presents.
type certificate struct {
	opened, asked time.Time // the connection whose certificate it was first, and when the server was asked last
	end           time.Time
	answer        chan time.Time // of the run that asks; nil: none does
	stop          func()         // ends that run
}

// certificateEnd is when the server's certificate ends; known is false without TLS. A connection keeps the certificate
// that it began with, and it may be weeks old: once an hour another one is opened to see what the server presents
// now. That is a run of its own, because a server may hang in TLS, and a later look takes its answer. If that fails, the
// last known end stays.
func (s *Server) certificateEnd(ctx context.Context, at time.Time) (end time.Time, known bool) {
	first, known := servers.CertificateEnd(s.line.Session)
	if !known {
		return time.Time{}, false
	}
	c := &s.presents
	select {
	case end, answered := <-c.answer:
		if c.answer = nil; answered {
			c.end = end
		}
	default:
	}
	if !c.opened.Equal(s.opened) {
		c.opened, c.asked, c.end = s.opened, at, first
	} else if c.answer == nil && at.Sub(c.asked).Abs() >= certificateEvery {
		c.asked = at
		s.askForCertificate(ctx)
	}
	return c.end, true
}

// askForCertificate opens another connection beside the looks. Its answer is closed without an end if that fails.
func (s *Server) askForCertificate(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, certificateWithin)
	answer, target, database := make(chan time.Time, 1), s.target, cmp.Or(s.line.database, s.target.Database)
	s.presents.answer, s.presents.stop = answer, stop
	s.beside.Go(func() error {
		defer stop()
		defer close(answer)
		other, err := s.openAt(ctx, target, database, func() {})
		if err != nil {
			return nil //nolint:nilerr // the last known end stays
		}
		if end, known := servers.CertificateEnd(other); known {
			answer <- end
		}
		other.Close(ctx)
		return nil
	})
}

// Settle waits for what goes on beside the looks.
func (s *Server) Settle() { s.beside.Join() }
