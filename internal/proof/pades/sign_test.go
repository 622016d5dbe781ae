package pades_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/proof/pades"
	"muster/internal/report/snapshot/snapshottest"
)

// What others say of a signed report of each kind: poppler's pdfsig, pdfdetach and
// pdftotext, OpenSSL and qpdf.
func TestOtherProgramsAcceptSignedReports(t *testing.T) {
	t.Parallel()
	s := p256(t)
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			base := rendered()[kind]
			file := s.sign(t, base)
			if !bytes.HasPrefix(file, base) {
				t.Error("the base is no prefix of the signed file")
			}
			path := stored(t, "signed.pdf", file)
			said, _ := run(t, "pdfsig", path)
			for _, want := range []string{
				"Signature #1:", "- Signature Field Name: Muster", "Muster, Räte & Söhne", "- Signing Hash Algorithm: SHA-256",
				"- Signature Type: ETSI.CAdES.detached", "- Total document signed", "- Signature Validation: Signature is Valid.",
			} {
				if !strings.Contains(said, want) {
					t.Errorf("pdfsig does not say %q:\n%s", want, said)
				}
			}
			if strings.Contains(said, "Signature #2") {
				t.Errorf("pdfsig sees more than one signature:\n%s", said)
			}
			if said, status := run(t, "qpdf", "--check", path); status != 0 || !strings.Contains(said, "No syntax or stream encoding errors found") {
				t.Errorf("qpdf (exit %d): %s", status, said)
			}
			detached := filepath.Join(t.TempDir(), "detached.json")
			if said, _ := run(t, "pdfdetach", "-list", path); !strings.Contains(said, "1 embedded files\n1: proof.json") {
				t.Errorf("pdfdetach lists %s", said)
			}
			run(t, "pdfdetach", "-save", "1", "-o", detached, path)
			if got, err := os.ReadFile(detached); err != nil || !bytes.Equal(got, proof) {
				t.Errorf("pdfdetach gives %q, %v; want %q", got, err, proof)
			}
			if was, is := text(t, base), text(t, file); was != is || was == "" {
				t.Error("the text of the signed file is not that of its base")
			}
			opensslAgrees(t, file, s.cert)
		})
	}
}

// text is what pdftotext reads.
func text(t *testing.T, file []byte) string {
	t.Helper()
	need(t, "pdftotext")
	cmd := exec.Command("pdftotext", "-layout", "-", "-")
	cmd.Stdin = bytes.NewReader(file)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// opensslAgrees holds OpenSSL's judgement of the CMS over the covered ranges, and over
// ranges with a byte changed.
func opensslAgrees(t *testing.T, file []byte, trusted *x509.Certificate) {
	t.Helper()
	r, err := pades.Split(file)
	if err != nil {
		t.Fatal(err)
	}
	cms := stored(t, "signature.der", r.CMS)
	ca := stored(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.Raw}))
	content := bytes.Join(r.Covered[:], nil)
	verify := func() (string, int) {
		return run(t, "openssl", "cms", "-verify", "-binary", "-cades", "-inform", "DER", "-in", cms, "-content", stored(t, "content", content), "-CAfile", ca, "-purpose", "any", "-attime", "1795518330", "-out", os.DevNull)
	}
	if said, status := verify(); status != 0 || !strings.Contains(said, "CAdES Verification successful") {
		t.Errorf("openssl cms -verify (exit %d): %s", status, said)
	}
	content[100] ^= 1
	if said, status := verify(); status == 0 {
		t.Errorf("openssl cms -verify takes other bytes: %s", said)
	}
	// PAdES has the time in /M, and no signing-time.
	if said, _ := run(t, "openssl", "cms", "-cmsout", "-print", "-inform", "DER", "-in", cms); strings.Contains(said, "signingTime") || !strings.Contains(said, "signingCertificateV2") {
		t.Errorf("the signed attributes are not those of PAdES:\n%s", said)
	}
}

func TestASignedReportLooksLikeItsBase(t *testing.T) {
	t.Parallel()
	need(t, "pdftoppm")
	base := rendered()[report.DataInventory]
	pictures := func(file []byte) []byte {
		cmd := exec.Command("pdftoppm", "-r", "40", "-l", "4", "-gray", "-")
		cmd.Stdin = bytes.NewReader(file)
		out, err := cmd.Output()
		if err != nil || len(out) == 0 {
			t.Fatal(err)
		}
		return out
	}
	if !bytes.Equal(pictures(base), pictures(p256(t).sign(t, base))) {
		t.Error("the pages of the signed file look otherwise")
	}
}

func TestSplitReturnsTheSignedBytes(t *testing.T) {
	t.Parallel()
	s := p256(t)
	for _, base := range [][]byte{
		rendered()[report.Security], rendered()[report.InstanceScorecard], rendered()[report.DataInventory],
		render(snapshottest.Empty(report.Security)), render(snapshottest.Hostile(report.Security)), // one page without annotations, and all that names can hold
	} {
		for _, attachment := range [][]byte{proof, nil, []byte("\n%%EOF\n%muster-signed-1\n"), bytes.Repeat([]byte{0, '>', '\n'}, 9000)} {
			u := s.update()
			u.Attachment = attachment
			file, err := pades.Sign(context.Background(), base, u)
			if err != nil {
				t.Fatal(err)
			}
			r, err := pades.Split(file)
			if err != nil {
				t.Fatal(err)
			}
			if sha256.Sum256(r.Base) != sha256.Sum256(base) || !bytes.Equal(r.Proof, attachment) || !r.At.Equal(at) {
				t.Errorf("got a base of %d bytes, a proof of %d, at %s", len(r.Base), len(r.Proof), r.At)
			}
			signature, err := r.Verify([]*x509.Certificate{p256(t).cert, s.cert})
			if err != nil {
				t.Fatal(err)
			}
			if !signature.Certificate.Equal(s.cert) || !signature.At.Equal(at) || signature.Token != nil {
				t.Errorf("got %+v", signature)
			}
			again, err := pades.Sign(context.Background(), base, u)
			if err != nil || !bytes.Equal(file, again) {
				t.Error("signed again, the file is another one: ", err)
			}
		}
	}
}

func TestChainsAndRSAKeysSign(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ca, leaf := p256(t), newSigner(t, key)
	u := leaf.update()
	u.Chain = append(u.Chain, ca.cert)
	file, err := pades.Sign(context.Background(), rendered()[report.Security], u)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pades.Split(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Verify([]*x509.Certificate{leaf.cert}); err != nil {
		t.Error(err)
	}
	if said, _ := run(t, "pdfsig", stored(t, "rsa.pdf", file)); !strings.Contains(said, "Signature is Valid") {
		t.Error(said)
	}
}

func TestTheTimeStampIsOverTheSignature(t *testing.T) {
	t.Parallel()
	s := p256(t)
	u := s.update()
	var asked []byte
	token := []byte{0x30, 3, 2, 1, 7} // DER; internal/proof/timestamp judges tokens
	u.Stamp = func(_ context.Context, digest []byte) ([]byte, error) {
		asked = digest
		return token, nil
	}
	file, err := pades.Sign(context.Background(), rendered()[report.Security], u)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pades.Split(file)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := r.Verify([]*x509.Certificate{s.cert})
	if err != nil {
		t.Fatal(err)
	}
	if over := sha256.Sum256(signature.Value); !bytes.Equal(over[:], asked) || !bytes.Equal(signature.Token, token) {
		t.Errorf("asked for a stamp on %x, the signature has %x and the token %x", asked, over, signature.Token)
	}

	away := errors.New("away")
	for name, stamp := range map[string]func(context.Context, []byte) ([]byte, error){
		"away":      func(context.Context, []byte) ([]byte, error) { return nil, away },
		"too large": func(context.Context, []byte) ([]byte, error) { return make([]byte, pades.MaxToken+1), nil },
	} {
		u.Stamp = stamp
		file, err := pades.Sign(context.Background(), rendered()[report.Security], u)
		var failed *pades.StampError
		if !errors.As(err, &failed) || file != nil || name == "away" && !errors.Is(err, away) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	t.Parallel()
	s, other, base := p256(t), p256(t), rendered()[report.Security]
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		base   []byte
		change func(*pades.Update)
		want   any
	}{
		"a base that is signed":         {s.sign(t, base), nil, new(*pades.BaseError)},
		"a base that is cut off":        {base[:len(base)-1], nil, new(*pades.BaseError)},
		"a base of another program":     {[]byte("%PDF-1.4\n%%EOF\n"), nil, new(*pades.BaseError)},
		"nothing":                       {nil, nil, new(*pades.BaseError)},
		"another's certificate":         {base, func(u *pades.Update) { u.Chain[0] = other.cert }, new(*pades.KeyError)},
		"no certificate":                {base, func(u *pades.Update) { u.Chain = nil }, new(*pades.KeyError)},
		"a key that no reader verifies": {base, func(u *pades.Update) { *u = newSigner(t, edwards).update() }, new(*pades.KeyError)},
		"a year without a form in PDF":  {base, func(u *pades.Update) { u.At = u.At.AddDate(9000, 0, 0) }, new(*pades.KeyError)},
	} {
		u := s.update()
		if test.change != nil {
			test.change(&u)
		}
		if _, err := pades.Sign(context.Background(), test.base, u); !errors.As(err, test.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The largest report there is in tests, 1.3 MB. Goal for 3 MB: less than 50 ms each.
func BenchmarkSignLargest(b *testing.B) {
	s, base := p256(b), render(snapshottest.Huge(26_000))
	b.SetBytes(int64(len(base)))
	for b.Loop() {
		s.sign(b, base)
	}
}

func BenchmarkSplitAndVerifyLargest(b *testing.B) {
	s := p256(b)
	file := s.sign(b, render(snapshottest.Huge(26_000)))
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		r, err := pades.Split(file)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Verify([]*x509.Certificate{s.cert}); err != nil {
			b.Fatal(err)
		}
	}
}
