package timestamp_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	rfc3161 "github.com/digitorus/timestamp"

	"muster/internal/timestamp"
)

// authority is a CA with a certificate for time stamps, which OpenSSL makes them with.
type authority struct {
	dir      string
	ca, cert *x509.Certificate
	key      *ecdsa.PrivateKey
}

// term is how long an authority's certificate is valid, from and to.
type term struct{ from, to time.Time }

func now() term { return term{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} }

func newAuthority(t testing.TB, of term, usages ...x509.ExtKeyUsage) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	caKey := newKey(t)
	a.ca = certify(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test CA"}, NotBefore: of.from.AddDate(-1, 0, 0), NotAfter: of.to.AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, nil, caKey, caKey)
	a.key = newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Test TSA"}, NotBefore: of.from, NotAfter: of.to, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if usages != nil {
		template.ExtKeyUsage = usages // not critical
	} else {
		template.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: []byte("\x30\x0a\x06\x08\x2b\x06\x01\x05\x05\x07\x03\x08")}}
	}
	a.cert = certify(t, template, a.ca, a.key, caKey)
	a.write(t, "ca.pem", "CERTIFICATE", a.ca.Raw)
	a.write(t, "tsa.pem", "CERTIFICATE", a.cert.Raw)
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, "tsa.key", "PRIVATE KEY", key)
	config := strings.ReplaceAll(`
[ tsa ]
default_tsa = here
[ here ]
serial = DIR/serial
signer_cert = DIR/tsa.pem
certs = DIR/ca.pem
signer_key = DIR/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = DIGESTS
accuracy = secs:1
ess_cert_id_chain = no
ess_cert_id_alg = sha256
`, "DIR", a.dir)
	for name, digests := range map[string]string{"tsa.conf": "sha256, sha512", "refusing.conf": "sha512"} {
		if err := os.WriteFile(filepath.Join(a.dir, name), []byte(strings.ReplaceAll(config, "DIGESTS", digests)), 0o600); err != nil {
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

func (a *authority) write(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *authority) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.ca)
	return pool
}

// reply is what `openssl ts` answers to a question.
func (a *authority) reply(t testing.TB, config string, query []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	asked, answer := filepath.Join(dir, "query"), filepath.Join(dir, "reply")
	if err := os.WriteFile(asked, query, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("openssl", "ts", "-reply", "-config", filepath.Join(a.dir, config), "-queryfile", asked, "-out", answer).CombinedOutput(); err != nil {
		t.Fatalf("openssl ts -reply: %v\n%s", err, out)
	}
	content, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// byLibrary is an answer that OpenSSL refuses to give, with what the certificate is.
func (a *authority) byLibrary(t testing.TB, query []byte, at time.Time, change func(*rfc3161.Timestamp)) []byte {
	t.Helper()
	request, err := rfc3161.ParseRequest(query)
	if err != nil {
		t.Fatal(err)
	}
	stamp := rfc3161.Timestamp{
		HashAlgorithm: request.HashAlgorithm, HashedMessage: request.HashedMessage, Time: at, Nonce: request.Nonce,
		Policy: asn1.ObjectIdentifier{1, 2, 3, 4, 1}, AddTSACertificate: true,
	}
	if change != nil {
		change(&stamp)
	}
	answer, err := stamp.CreateResponseWithOpts(a.cert, a.key, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// serve is a service that answers so.
func serve(t testing.TB, answer http.HandlerFunc) timestamp.Service {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return timestamp.Service{URL: server.URL + "/tsr"}
}

// answering is a service of the usual form, with an answer that follows from the question.
func answering(t testing.TB, answer func(query []byte) []byte) timestamp.Service {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		query, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/timestamp-query" {
			t.Errorf("%s %s: %v", r.Method, r.Header.Get("Content-Type"), err)
		}
		w.Header().Set("Content-Type", "application/timestamp-reply")
		_, _ = w.Write(answer(query))
	})
}

var digest = func() []byte {
	sum := sha256.Sum256([]byte("a signature"))
	return sum[:]
}()

// The service is OpenSSL's, and so is the judge of the token.
func TestATokenOfOpenSSLHoldsForUsAndForOpenSSL(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, now())
	before := time.Now().Add(-time.Second)
	token, err := answering(t, func(query []byte) []byte { return a.reply(t, "tsa.conf", query) }).Stamp(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	stamped, err := timestamp.Verify(token, digest, a.roots())
	if err != nil {
		t.Fatal(err)
	}
	if stamped.At.Before(before) || stamped.At.After(time.Now()) || !stamped.Signer.Equal(a.cert) {
		t.Errorf("got %s by %s", stamped.At, stamped.Signer.Subject)
	}
	path := filepath.Join(a.dir, "token.der")
	if err := os.WriteFile(path, token, 0o600); err != nil {
		t.Fatal(err)
	}
	verify := func(digest []byte) (string, error) {
		out, err := exec.Command("openssl", "ts", "-verify", "-digest", hex.EncodeToString(digest), "-in", path, "-token_in", "-CAfile", filepath.Join(a.dir, "ca.pem")).CombinedOutput()
		return string(out), err
	}
	if out, err := verify(digest); err != nil || !strings.Contains(out, "Verification: OK") {
		t.Errorf("openssl ts -verify: %v\n%s", err, out)
	}
	other := sha256.Sum256(nil)
	if out, err := verify(other[:]); err == nil {
		t.Errorf("openssl ts -verify takes it for another digest: %s", out)
	}
}

func TestBadDaysOfAService(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, now())
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	elsewhere.Close()
	good := func(query []byte) []byte { return a.reply(t, "tsa.conf", query) }
	page := func(status int, kind, text string) timestamp.Service {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		})
	}
	library := func(change func(*rfc3161.Timestamp)) timestamp.Service {
		return answering(t, func(query []byte) []byte { return a.byLibrary(t, query, time.Now(), change) })
	}
	var unavailable *timestamp.UnavailableError
	var refused *timestamp.RefusedError
	var token *timestamp.TokenError
	for name, test := range map[string]struct {
		service timestamp.Service
		want    any
		says    string
	}{
		"away": {timestamp.Service{URL: elsewhere.URL}, &unavailable, "connection refused"},
		"hangs": {serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body) // a server sees that its client went only when it has read
			<-r.Context().Done()
		}), &unavailable, "deadline exceeded"},
		"500":  {page(500, "text/plain", "no"), &unavailable, "500 Internal Server Error"},
		"HTML": {page(200, "text/html; charset=utf-8", "<html>"), &unavailable, "text/html"},
		"a redirect": {serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}), &unavailable, "307"},
		"too large":      {answering(t, func([]byte) []byte { return make([]byte, timestamp.MaxSize+1) }), &unavailable, "more than 16384 bytes"},
		"no ASN.1":       {answering(t, func([]byte) []byte { return []byte("hello") }), &token, "not one of RFC 3161"},
		"refused":        {answering(t, func(query []byte) []byte { return a.reply(t, "refusing.conf", query) }), &refused, "status 2"},
		"another's":      {answering(t, func(query []byte) []byte { return good(bytes.Replace(query, digest, make([]byte, 32), 1)) }), &token, "another digest"},
		"an old answer":  {answering(t, func(query []byte) []byte { return good(otherNonce(query)) }), &token, "nonce"},
		"no nonce":       {library(func(s *rfc3161.Timestamp) { s.Nonce = nil }), &token, "nonce"},
		"no certificate": {library(func(s *rfc3161.Timestamp) { s.AddTSACertificate = false }), &token, "no certificate"},
		"no token":       {answering(t, func([]byte) []byte { return []byte{0x30, 5, 0x30, 3, 2, 1, 0} }), &token, "there is none"},
		"a bit changed": {answering(t, func(query []byte) []byte {
			answer := good(query)
			answer[len(answer)-3] ^= 1 // of the signature
			return answer
		}), &token, "does not hold"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "hangs" {
				ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
			}
			got, err := test.service.Stamp(ctx, digest)
			if got != nil || !errors.As(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %d bytes, %v; want %q", len(got), err, test.says)
			}
		})
	}
}

// otherNonce is a question with another nonce: an INTEGER before certReq, the last three
// bytes.
func otherNonce(query []byte) []byte {
	changed := bytes.Clone(query)
	changed[len(changed)-4] ^= 1
	return changed
}

func TestGrantedWithModificationsIsTaken(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, now())
	token, err := answering(t, func(query []byte) []byte {
		answer := a.byLibrary(t, query, time.Now(), nil)
		changed := bytes.Replace(answer, []byte{0x30, 3, 2, 1, 0}, []byte{0x30, 3, 2, 1, 1}, 1)
		if bytes.Equal(answer, changed) {
			t.Error("the status is not where it was thought")
		}
		return changed
	}).Stamp(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := timestamp.Verify(token, digest, a.roots()); err != nil {
		t.Error(err)
	}
}

func TestWhoMayStampTimeAndWhen(t *testing.T) {
	t.Parallel()
	query, err := (&rfc3161.Request{HashAlgorithm: crypto.SHA256, HashedMessage: digest, Certificates: true}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // in which it is the year 2000, when these tokens are made
		day := time.Now()
		ended := newAuthority(t, term{day.AddDate(-1, 0, 0), day.AddDate(1, 0, 0)})
		a, other := newAuthority(t, now()), newAuthority(t, now())
		servers := newAuthority(t, now(), x509.ExtKeyUsageServerAuth)
		both := newAuthority(t, now(), x509.ExtKeyUsageTimeStamping, x509.ExtKeyUsageServerAuth)
		var tokens [][]byte
		tests := []struct {
			name  string
			by    *authority
			at    time.Time
			roots *x509.CertPool
			says  string // empty: it holds
		}{
			{"its own CA", a, day, a.roots(), ""},
			{"no CA is asked for", a, day, nil, ""},
			{"another CA of the same name", a, day, other.roots(), "certificate signed by unknown authority"},
			{"within a term that has ended since", ended, day, ended.roots(), ""},
			{"after its term", ended, day.AddDate(1, 0, 1), ended.roots(), "was not valid"},
			{"before its term, no CA asked for", ended, day.AddDate(-1, 0, -1), nil, "was not valid"},
			{"a certificate of a web server", servers, day, servers.roots(), "time stamps alone"},
			{"a certificate for that too", both, day, nil, "time stamps alone"},
		}
		for _, test := range tests {
			var r struct{ Status, Token asn1.RawValue }
			if _, err := asn1.Unmarshal(test.by.byLibrary(t, query, test.at, nil), &r); err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, r.Token.FullBytes)
		}
		time.Sleep(20 * 365 * 24 * time.Hour) // it is 2019, and all these certificates have ended
		for i, test := range tests {
			_, err := timestamp.Verify(tokens[i], digest, test.roots)
			var not *timestamp.TokenError
			switch {
			case test.says == "" && err != nil:
				t.Errorf("%s: %v", test.name, err)
			case test.says != "" && (!errors.As(err, &not) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("%s: got %v, want %q", test.name, err, test.says)
			}
		}
	})
}

// A token made to be slow is not.
func TestHostileTokensTakeNoLonger(t *testing.T) {
	t.Parallel()
	for name, token := range map[string][]byte{
		"lengths without an end": bytes.Repeat([]byte{0x30, 0x80}, timestamp.MaxSize/2),
		"the same, with ends":    append(bytes.Repeat([]byte{0x30, 0x80}, timestamp.MaxSize/4), make([]byte, timestamp.MaxSize/2)...),
		"too large":              make([]byte, timestamp.MaxSize+1),
		"nothing":                nil,
	} {
		var not *timestamp.TokenError
		if _, err := timestamp.Verify(token, digest, nil); !errors.As(err, &not) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzVerify: no panic, whatever a file brings as its token.
func FuzzVerify(f *testing.F) {
	a := newAuthority(f, now())
	query, err := (&rfc3161.Request{HashAlgorithm: crypto.SHA256, HashedMessage: digest, Certificates: true}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	var r struct{ Status, Token asn1.RawValue }
	if _, err := asn1.Unmarshal(a.reply(f, "tsa.conf", query), &r); err != nil {
		f.Fatal(err)
	}
	f.Add(r.Token.FullBytes)
	f.Add([]byte{0x30, 0x80, 0x30, 0x80})
	f.Add(bytes.Repeat([]byte{0x30, 0x80}, timestamp.MaxSize/2))
	f.Fuzz(func(t *testing.T, token []byte) {
		if _, err := timestamp.Verify(token, digest, a.roots()); err == nil && !bytes.Equal(token, r.Token.FullBytes) {
			t.Logf("another form of the token holds, too: %x", token)
		}
	})
}
