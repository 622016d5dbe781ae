package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/internal/testing/porttest"
)

// relay is TLS in front of a server that is there, or is not, with a certificate that may
// be another one from one connection to the next.
type relay struct {
	address, to string
	authority   string // PEM file of who signs the certificates
	issuer      *x509.Certificate
	key         *ecdsa.PrivateKey
	shown       atomic.Pointer[tls.Certificate]
	listener    net.Listener
}

// newRelay is a relay that is there, with a certificate for a year.
func newRelay(t testing.TB, to string) *relay {
	t.Helper()
	r := &relay{address: porttest.Address(t), to: to}
	var err error
	if r.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	r.issuer = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"}, NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der := r.signs(t, r.issuer)
	r.authority = fileWith(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	r.shows(t, time.Now().AddDate(1, 0, 0))
	r.open(t)
	return r
}

func (r *relay) signs(t testing.TB, c *x509.Certificate) (der []byte) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, r.issuer, r.key.Public(), r.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// shows has the next connections see a certificate that ends then.
func (r *relay) shows(t testing.TB, until time.Time) {
	t.Helper()
	der := r.signs(t, &x509.Certificate{
		SerialNumber: big.NewInt(until.UnixNano()), Subject: pkix.Name{CommonName: "a server"}, NotBefore: until.AddDate(-1, 0, 0), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	r.shown.Store(&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: r.key})
}

func (r *relay) open(t testing.TB) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	r.listener = tls.NewListener(l, &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return r.shown.Load(), nil },
	})
	t.Cleanup(r.close)
	passOn(r.listener, r.to)
}

func (r *relay) close() { _ = r.listener.Close() }

// passOn hands what comes to a server, until the listener is closed.
func passOn(l net.Listener, to string) {
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer out.Close()
				var once sync.WaitGroup
				once.Add(1)
				go func() {
					defer once.Done()
					_, _ = io.Copy(in, out)
					_ = in.Close()
				}()
				_, _ = io.Copy(out, in)
				_ = out.Close()
				once.Wait()
			}()
		}
	}()
}
