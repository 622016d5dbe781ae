package timestamptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Authority is a CA with a certificate for time stamps, which OpenSSL makes them with.
type Authority struct {
	Dir      string // ca.pem, tsa.pem, tsa.Key, tsa.conf, and refusing.conf, which takes no SHA-256
	CA, Cert *x509.Certificate
	Key      *ecdsa.PrivateKey

	replies sync.Mutex // openssl reads and writes the file of serial numbers without a lock
}

// Term is how long an authority's certificate is valid.
type Term struct{ From, To time.Time }

// Now is an hour before and after.
func Now() Term { return Term{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} }

// New returns an authority whose certificate is for time stamps alone, or for other uses.
func New(t testing.TB, of Term, usages ...x509.ExtKeyUsage) *Authority {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is missing: install it to get time stamps")
	}
	a := &Authority{Dir: t.TempDir()}
	caKey := newKey(t)
	a.CA = certify(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test CA"}, NotBefore: of.From.AddDate(-1, 0, 0), NotAfter: of.To.AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, nil, caKey, caKey)
	a.Key = newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Test TSA"}, NotBefore: of.From, NotAfter: of.To, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if usages != nil {
		template.ExtKeyUsage = usages // not critical
	} else {
		template.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: []byte("\x30\x0a\x06\x08\x2b\x06\x01\x05\x05\x07\x03\x08")}}
	}
	a.Cert = certify(t, template, a.CA, a.Key, caKey)
	a.write(t, "ca.pem", "CERTIFICATE", a.CA.Raw)
	a.write(t, "tsa.pem", "CERTIFICATE", a.Cert.Raw)
	key, err := x509.MarshalPKCS8PrivateKey(a.Key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, "tsa.Key", "PRIVATE KEY", key)
	config := strings.ReplaceAll(`
[ tsa ]
default_tsa = here
[ here ]
serial = DIR/serial
signer_cert = DIR/tsa.pem
certs = DIR/ca.pem
signer_key = DIR/tsa.Key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = DIGESTS
accuracy = secs:1
ess_cert_id_chain = no
ess_cert_id_alg = sha256
`, "DIR", a.Dir)
	for name, digests := range map[string]string{"tsa.conf": "sha256, sha512", "refusing.conf": "sha512"} {
		if err := os.WriteFile(filepath.Join(a.Dir, name), []byte(strings.ReplaceAll(config, "DIGESTS", digests)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func certify(t testing.TB, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (a *Authority) write(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.Dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Roots are those that trust it.
func (a *Authority) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.CA)
	return pool
}

// Reply is what `openssl ts` answers to a question by a configuration in Dir.
func (a *Authority) Reply(t testing.TB, config string, query []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	asked, answer := filepath.Join(dir, "query"), filepath.Join(dir, "reply")
	if err := os.WriteFile(asked, query, 0o600); err != nil {
		t.Fatal(err)
	}
	a.replies.Lock()
	defer a.replies.Unlock()
	if out, err := exec.CommandContext(t.Context(), "openssl", "ts", "-reply", "-config", filepath.Join(a.Dir, config), "-queryfile", asked, "-out", answer).CombinedOutput(); err != nil {
		t.Fatalf("openssl ts -reply: %v\n%s", err, out)
	}
	content, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// CAFile is the path of the CA's certificate, PEM.
func (a *Authority) CAFile() string { return filepath.Join(a.Dir, "ca.pem") }

// Serve answers questions over HTTP as OpenSSL does, and returns its address.
func (a *Authority) Serve(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/timestamp-reply")
		_, _ = w.Write(a.Reply(t, "tsa.conf", query))
	}))
	t.Cleanup(server.Close)
	return server.URL
}
