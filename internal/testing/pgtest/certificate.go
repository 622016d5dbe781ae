package pgtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Certify gives the server a certificate of 127.0.0.1 that ends at a time, signed by itself, and returns it. It
// waits until new connections are shown it.
func (s *Server) Certify(t testing.TB, until time.Time) (certificate []byte) {
	t.Helper()
	der, key, err := selfSigned(until)
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err == nil {
		err = errors.Join(s.write("server.crt", certificate), s.write("server.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	}
	if err != nil {
		t.Fatal(err)
	}
	admin := Connect(t, s.Superuser())
	admin.MustExec(`ALTER SYSTEM SET ssl = on`)
	admin.MustExec(`SELECT pg_reload_conf()`)
	_ = admin.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		shown, err := s.shows(t)
		if err == nil && shown.Equal(&x509.Certificate{Raw: der}) {
			return certificate
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not show its new certificate: %v", err)
		}
	}
}

// shows is the certificate that the server shows a new connection.
func (s *Server) shows(t testing.TB) (*x509.Certificate, error) {
	conn, err := pgconn.Connect(t.Context(), strings.Replace(s.TCPURL(Superuser, "postgres"), "sslmode=disable", "sslmode=require", 1))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(t.Context()) }()
	secure, ok := conn.Conn().(*tls.Conn)
	if !ok {
		return nil, errors.New("without TLS")
	}
	return secure.ConnectionState().PeerCertificates[0], nil
}

// write makes a file of the data directory.
func (s *Server) write(name string, content []byte) error {
	path := filepath.Join(s.Dir(), name)
	return errors.Join(os.WriteFile(path, content, 0o600), s.account.Own(path))
}

func selfSigned(until time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "a server"}, NotBefore: until.AddDate(0, -1, 0), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	if certificate, err = x509.CreateCertificate(rand.Reader, template, template, private.Public(), private); err != nil {
		return nil, nil, err
	}
	key, err = x509.MarshalPKCS8PrivateKey(private)
	return certificate, key, err
}
