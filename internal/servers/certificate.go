package servers

import (
	"crypto/tls"
	"time"
)

// CertificateEnd is when the certificate ends that a server presented on a session; known is false without TLS, and
// where a session does not tell.
func CertificateEnd(s Session) (end time.Time, known bool) {
	p, ok := s.(*postgresSession)
	if !ok {
		return time.Time{}, false
	}
	conn, ok := p.conn.Conn().(*tls.Conn)
	if !ok || len(conn.ConnectionState().PeerCertificates) == 0 {
		return time.Time{}, false
	}
	return conn.ConnectionState().PeerCertificates[0].NotAfter, true
}
