package timestamp_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/digitorus/pkcs7"
	rfc3161 "github.com/digitorus/timestamp"

	"muster/internal/proof/timestamp"
	"muster/internal/proof/timestamp/timestamptest"
)

// byLibrary is an answer that OpenSSL refuses to give, with what the certificate is.
func byLibrary(t testing.TB, a *timestamptest.Authority, query []byte, at time.Time, change func(*rfc3161.Timestamp)) []byte {
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
	answer, err := stamp.CreateResponseWithOpts(a.Cert, a.Key, crypto.SHA256)
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
func TestATokenOfOpenSSLIsValidForBoth(t *testing.T) {
	t.Parallel()
	a := timestamptest.New(t, timestamptest.Now())
	before := time.Now().Add(-time.Second)
	token, err := timestamp.Service{URL: a.Serve(t)}.Stamp(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	stamped, err := timestamp.Verify(token, digest, a.Roots())
	if err != nil {
		t.Fatal(err)
	}
	if stamped.At.Before(before) || stamped.At.After(time.Now()) || !stamped.Signer.Equal(a.Cert) {
		t.Errorf("got %s by %s", stamped.At, stamped.Signer.Subject)
	}
	path := filepath.Join(a.Dir, "token.der")
	if err := os.WriteFile(path, token, 0o600); err != nil {
		t.Fatal(err)
	}
	verify := func(digest []byte) (string, error) {
		out, err := exec.Command("openssl", "ts", "-verify", "-digest", hex.EncodeToString(digest), "-in", path, "-token_in", "-CAfile", a.CAFile()).CombinedOutput()
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

func TestFaultsOfAService(t *testing.T) {
	t.Parallel()
	a := timestamptest.New(t, timestamptest.Now())
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	elsewhere.Close()
	good := func(query []byte) []byte { return a.Reply(t, "tsa.conf", query) }
	page := func(status int, kind, text string) timestamp.Service {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		})
	}
	library := func(change func(*rfc3161.Timestamp)) timestamp.Service {
		return answering(t, func(query []byte) []byte { return byLibrary(t, a, query, time.Now(), change) })
	}
	unavailable, refused, token := is[*timestamp.UnavailableError], is[*timestamp.RefusedError], is[*timestamp.TokenError]
	for name, test := range map[string]struct {
		service timestamp.Service
		want    func(error) bool
		says    string
	}{
		"away": {timestamp.Service{URL: elsewhere.URL}, unavailable, "connection refused"},
		"hangs": {serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body) // a server sees that its client went only when it has read
			<-r.Context().Done()
		}), unavailable, "deadline exceeded"},
		"500":  {page(500, "text/plain", "no"), unavailable, "500 Internal Server Error"},
		"HTML": {page(200, "text/html; charset=utf-8", "<html>"), unavailable, "text/html"},
		"a redirect": {serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}), unavailable, "307"},
		"too large":      {answering(t, func([]byte) []byte { return make([]byte, timestamp.MaxSize+1) }), unavailable, "more than 16384 bytes"},
		"no ASN.1":       {answering(t, func([]byte) []byte { return []byte("hello") }), token, "not one of RFC 3161"},
		"refused":        {answering(t, func(query []byte) []byte { return a.Reply(t, "refusing.conf", query) }), refused, "status 2"},
		"another's":      {answering(t, func(query []byte) []byte { return good(bytes.Replace(query, digest, make([]byte, 32), 1)) }), token, "another digest"},
		"an old answer":  {answering(t, func(query []byte) []byte { return good(otherNonce(query)) }), token, "nonce"},
		"no nonce":       {library(func(s *rfc3161.Timestamp) { s.Nonce = nil }), token, "nonce"},
		"no certificate": {library(func(s *rfc3161.Timestamp) { s.AddTSACertificate = false }), token, "no certificate"},
		"no token":       {answering(t, func([]byte) []byte { return []byte{0x30, 5, 0x30, 3, 2, 1, 0} }), token, "there is none"},
		"a bit changed": {answering(t, func(query []byte) []byte {
			answer := good(query)
			answer[len(answer)-3] ^= 1 // of the signature
			return answer
		}), token, "does not hold"},
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
			if got != nil || !test.want(err) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %d bytes, %v; want %q", len(got), err, test.says)
			}
		})
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
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
	a := timestamptest.New(t, timestamptest.Now())
	token, err := answering(t, func(query []byte) []byte {
		answer := byLibrary(t, a, query, time.Now(), nil)
		changed := bytes.Replace(answer, []byte{0x30, 3, 2, 1, 0}, []byte{0x30, 3, 2, 1, 1}, 1)
		if bytes.Equal(answer, changed) {
			t.Error("the status is not where it was thought")
		}
		return changed
	}).Stamp(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := timestamp.Verify(token, digest, a.Roots()); err != nil {
		t.Error(err)
	}
}

func TestOnlyAValidTimeStampCertificateIsAccepted(t *testing.T) {
	t.Parallel()
	query, err := (&rfc3161.Request{HashAlgorithm: crypto.SHA256, HashedMessage: digest, Certificates: true}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // in which it is the year 2000, when these tokens are made
		day := time.Now()
		ended := timestamptest.New(t, timestamptest.Term{From: day.AddDate(-1, 0, 0), To: day.AddDate(1, 0, 0)})
		a, other := timestamptest.New(t, timestamptest.Now()), timestamptest.New(t, timestamptest.Now())
		servers := timestamptest.New(t, timestamptest.Now(), x509.ExtKeyUsageServerAuth)
		both := timestamptest.New(t, timestamptest.Now(), x509.ExtKeyUsageTimeStamping, x509.ExtKeyUsageServerAuth)
		var tokens [][]byte
		tests := []struct {
			name  string
			by    *timestamptest.Authority
			at    time.Time
			roots *x509.CertPool
			says  string // empty: it holds
		}{
			{"its own CA", a, day, a.Roots(), ""},
			{"no CA is asked for", a, day, nil, ""},
			{"another CA of the same name", a, day, other.Roots(), "certificate signed by unknown authority"},
			{"within a term that has ended since", ended, day, ended.Roots(), ""},
			{"after its term", ended, day.AddDate(1, 0, 1), ended.Roots(), "was not valid"},
			{"before its term, no CA asked for", ended, day.AddDate(-1, 0, -1), nil, "was not valid"},
			{"a certificate of a web server", servers, day, servers.Roots(), "time stamps alone"},
			{"a certificate for that too", both, day, nil, "time stamps alone"},
		}
		for _, test := range tests {
			var r struct{ Status, Token asn1.RawValue }
			if _, err := asn1.Unmarshal(byLibrary(t, test.by, query, test.at, nil), &r); err != nil {
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

// RFC 3161 wants the signer's certificate among what is signed, by SHA-1 or, of RFC 5816,
// by another digest.
func TestTheTokenHasToBindItsCertificate(t *testing.T) {
	t.Parallel()
	a, other := timestamptest.New(t, timestamptest.Now()), timestamptest.New(t, timestamptest.Now())
	token, err := timestamp.Service{URL: a.Serve(t)}.Stamp(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	good, err := pkcs7.Parse(token)
	if err != nil {
		t.Fatal(err)
	}
	sha1Of, sha256Of, sha512Of := sha1.Sum(a.Cert.Raw), sha256.Sum256(a.Cert.Raw), sha512.Sum512(a.Cert.Raw)
	others1, others256 := sha1.Sum(other.Cert.Raw), sha256.Sum256(other.Cert.Raw)
	type id struct{ Hash []byte }
	type idV2 struct {
		Algorithm pkix.AlgorithmIdentifier
		Hash      []byte
	}
	v1, v2 := asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	sha512ID := pkix.AlgorithmIdentifier{Algorithm: pkcs7.OIDDigestAlgorithmSHA512}
	for name, test := range map[string]struct {
		attribute asn1.ObjectIdentifier // nil: none
		value     any
		holds     bool
	}{
		"SHA-256":               {v2, struct{ Certificates []id }{[]id{{sha256Of[:]}}}, true},
		"SHA-512":               {v2, struct{ Certificates []idV2 }{[]idV2{{sha512ID, sha512Of[:]}}}, true},
		"SHA-1":                 {v1, struct{ Certificates []id }{[]id{{sha1Of[:]}}}, true},
		"none":                  {nil, nil, false},
		"another's, by SHA-256": {v2, struct{ Certificates []id }{[]id{{others256[:]}}}, false},
		"another's, by SHA-1":   {v1, struct{ Certificates []id }{[]id{{others1[:]}}}, false},
		"a digest nobody knows": {v2, struct{ Certificates []idV2 }{[]idV2{{pkix.AlgorithmIdentifier{Algorithm: v1}, sha256Of[:]}}}, false},
		"an empty list":         {v2, struct{ Certificates []id }{}, false},
	} {
		data, err := pkcs7.NewSignedData(good.Content)
		if err != nil {
			t.Fatal(err)
		}
		data.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
		data.SetContentType(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4})
		var extra []pkcs7.Attribute
		if test.attribute != nil {
			extra = append(extra, pkcs7.Attribute{Type: test.attribute, Value: test.value})
		}
		if err := data.AddSigner(a.Cert, a.Key, pkcs7.SignerInfoConfig{ExtraSignedAttributes: extra}); err != nil {
			t.Fatal(err)
		}
		made, err := data.Finish()
		if err != nil {
			t.Fatal(err)
		}
		_, err = timestamp.Verify(made, digest, nil)
		if test.holds != (err == nil) || err != nil && !strings.Contains(err.Error(), "does not bind") {
			t.Errorf("%s: got %v", name, err)
		}
	}
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
	a := timestamptest.New(f, timestamptest.Now())
	query, err := (&rfc3161.Request{HashAlgorithm: crypto.SHA256, HashedMessage: digest, Certificates: true}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	var r struct{ Status, Token asn1.RawValue }
	if _, err := asn1.Unmarshal(a.Reply(f, "tsa.conf", query), &r); err != nil {
		f.Fatal(err)
	}
	f.Add(r.Token.FullBytes)
	f.Add([]byte{0x30, 0x80, 0x30, 0x80})
	f.Add(bytes.Repeat([]byte{0x30, 0x80}, timestamp.MaxSize/2))
	f.Fuzz(func(t *testing.T, token []byte) {
		if _, err := timestamp.Verify(token, digest, a.Roots()); err == nil && !bytes.Equal(token, r.Token.FullBytes) {
			t.Logf("another form of the token holds, too: %x", token)
		}
	})
}
