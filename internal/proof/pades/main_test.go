package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/proof/pades"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

var kinds = []report.Kind{report.Security, report.InstanceScorecard, report.DataInventory}

// at is when everything in these tests is signed.
var at = time.Date(2026, 11, 23, 11, 5, 30, 0, time.UTC)

// rendered is a report of each kind, by the renderer, once a run.
var rendered = sync.OnceValue(func() map[report.Kind][]byte {
	all := map[report.Kind][]byte{}
	for _, kind := range kinds {
		all[kind] = render(snapshottest.Rich(kind))
	}
	return all
})

func render(doc snapshot.Document) []byte {
	r, err := pdf.New(pdf.Build{Version: "1.0.0", Commit: "0123abcd"})
	if err != nil {
		panic(err)
	}
	var out bytes.Buffer
	if _, err := r.Render(&out, doc); err != nil {
		panic(err)
	}
	return out.Bytes()
}

var proof = []byte(`{"format":"muster-proof-1","report":{"kind":"Security"},"text":"endstream endobj %%EOF <Ünïcode>"}` + "\n")

// signer is a key and the certificate that it made for itself.
type signer struct {
	key  crypto.Signer
	cert *x509.Certificate
}

func newSigner(t testing.TB, key crypto.Signer) signer {
	t.Helper()
	number, err := rand.Int(rand.Reader, big.NewInt(1<<60)) // NSS mixes up two of one number
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "Muster, Räte & Söhne"},
		NotBefore: at.AddDate(0, 0, -1), NotAfter: at.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signer{key, cert}
}

func p256(t testing.TB) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newSigner(t, key)
}

func (s signer) update() pades.Update {
	return pades.Update{Attachment: proof, Key: s.key, Chain: []*x509.Certificate{s.cert}, At: at}
}

func (s signer) sign(t testing.TB, base []byte) []byte {
	t.Helper()
	return signWith(t, base, s.update())
}

func signWith(t testing.TB, base []byte, u pades.Update) []byte {
	t.Helper()
	file, err := pades.Sign(context.Background(), base, u)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// run is what a tool says, whatever its exit status.
func run(t testing.TB, tool string, args ...string) (said string, status int) {
	t.Helper()
	need(t, tool)
	out, err := exec.Command(tool, args...).CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok { //nolint:errorlint // exec returns it bare
		t.Fatal(err)
	}
	if err != nil {
		status = err.(*exec.ExitError).ExitCode() //nolint:errorlint // as above
	}
	return string(out), status
}

// need skips a test where a tool is not installed.
func need(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool, " is missing: install it to hear what it says of signed reports")
		}
	}
}

// stored is the path of a file with this content.
func stored(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
