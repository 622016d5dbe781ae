package pades_test

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/proof/pades"
)

// attack is something done to a signed file, what it is told as, and what pdfsig says of
// it, where pdfsig sees it at all.
type attack struct {
	name   string
	file   []byte
	fault  pades.Fault
	pdfsig string
}

// attacks are made by who has a file but not the key.
func attacks(t testing.TB, s signer) []attack {
	base, other := rendered()[report.Security], rendered()[report.InstanceScorecard]
	file, otherFile := s.sign(t, base), s.sign(t, other)
	replaced := func(old, by string) []byte {
		changed := bytes.Replace(file, []byte(old), []byte(by), 1)
		if bytes.Equal(changed, file) {
			t.Fatalf("%q is not in the file", old)
		}
		return changed
	}
	flipped := func(at int) []byte {
		changed := bytes.Clone(file)
		changed[at] ^= 1
		return changed
	}
	cut := func(n int) []byte { return file[:len(file)-n] }
	// A signed file whose signature's digits are those of another.
	moved := func(to, from []byte) []byte {
		changed := bytes.Clone(to)
		pattern := regexp.MustCompile(`/Contents <[0-9a-f]+>`)
		at, digits := pattern.FindIndex(to), pattern.Find(from)
		copy(changed[at[0]:at[1]], digits)
		return changed
	}
	u := s.update()
	u.Attachment = bytes.Replace(proof, []byte("Security"), []byte("Inventory"), 1)
	withOtherProof := signWith(t, base, u)
	updated := updatedAgain(file)
	gap := regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) (\d+)\]`).FindSubmatch(file)
	ranges := string(gap[0])
	spaced := func(numbers string) string {
		return fmt.Sprintf("%-*s", len(ranges)+15, "/ByteRange ["+numbers+"]")[:len(ranges)]
	}
	forger := p256(t)
	forged := forger.sign(t, base)
	at := bytes.Index(file, []byte("\n/Contents <"))
	at += bytes.IndexByte(file[at:], '<') + 1 // the signature's first digit
	return []attack{
		{"a byte of a page in the base", flipped(2000), pades.Altered, "Digest Mismatch"},
		{"a byte of the base's table of references", flipped(len(base) - 300), pades.Altered, "Digest Mismatch"},
		{"the proof's text, as long as before", replaced(`"kind":"Security"`, `"kind":"Unsecure"`), pades.Malformed, "Digest Mismatch"},
		{"the time in /M", replaced("/M (D:20261123", "/M (D:20261122"), pades.Malformed, "Digest Mismatch"},
		{"both times", bytes.ReplaceAll(file, []byte("(D:20261123110530Z)"), []byte("(D:20261122110530Z)")), pades.Altered, "Digest Mismatch"},
		{"the update stripped", base, pades.NoUpdate, "does not contain any signatures"},
		{"a second update", updated, pades.AfterSignature, "Not total document signed"},
		{"a signed file on top of a signed one", append(bytes.Clone(file), file[len(base):]...), pades.AfterSignature, ""},
		{"a space at the end", append(bytes.Clone(file), ' '), pades.AfterSignature, "Not total document signed"},
		{"the end cut off", cut(7), pades.Malformed, ""},
		{"half of the update cut off", cut((len(file) - len(base)) / 2), pades.Malformed, ""},
		{"another report's signature", moved(file, otherFile), pades.Altered, "Digest Mismatch"},
		{"another report's update", append(bytes.Clone(base), otherFile[len(other):]...), pades.Malformed, ""},
		{"another report's proof, with offsets computed anew", moved(withOtherProof, file), pades.Altered, "Digest Mismatch"},
		{"the byte range enlarged", replaced(ranges, spaced(fmt.Sprintf("0 %s %s %s9", gap[1], gap[2], gap[3]))), pades.NotCovered, ""},
		{"the byte range shrunk", replaced(ranges, spaced(fmt.Sprintf("0 %s %s %d", gap[1], gap[2], 99))), pades.NotCovered, ""},
		{"the byte range of the base alone", replaced(ranges, spaced(fmt.Sprintf("0 %d %s %s", len(base), gap[2], gap[3]))), pades.NotCovered, ""},
		{"signed by somebody else under the same name", forged, pades.Untrusted, "Signature is Valid"},
		{"the signature's value", func() []byte {
			changed := bytes.Clone(file)
			der, _ := hex.DecodeString(string(changed[at : at+1000]))
			end := 2*(int(der[2])<<8|int(der[3])) + 8 // the last byte of the CMS is the signature's
			changed[at+end-1] = "1032547698badcfe"[strings.IndexByte("0123456789abcdef", changed[at+end-1])]
			return changed
		}(), pades.Forged, "Signature is Invalid"},
		{"something in the room behind the signature", func() []byte {
			changed := bytes.Clone(file)
			changed[bytes.IndexByte(changed[at:], '>')+at-1] = '1'
			return changed
		}(), pades.Malformed, "Signature is Valid"},
		{"upper-case digits in the signature", func() []byte {
			changed := bytes.Clone(file)
			copy(changed[at:], bytes.ToUpper(changed[at:at+200]))
			return changed
		}(), pades.Malformed, "Signature is Valid"},
		{"no signature in the room", func() []byte {
			changed := bytes.Clone(file)
			end := at + bytes.IndexByte(changed[at:], '>')
			copy(changed[at:end], bytes.Repeat([]byte("0"), end-at))
			return changed
		}(), pades.NotASignature, ""},
		{"a PNG", []byte("\x89PNG\r\n"), pades.NotPDF, ""},
		{"nothing", nil, pades.NotPDF, ""},
	}
}

// updatedAgain is a file with another update, as any program writes one.
func updatedAgain(file []byte) []byte {
	last := file[bytes.LastIndex(file, []byte("trailer\n")):]
	of := func(pattern string) string { return string(regexp.MustCompile(pattern).FindSubmatch(last)[1]) }
	size := of(`/Size (\d+)`)
	object := size + " 0 obj\n<</Type /EmbeddedFile /Length 2>>\nstream\n{}\nendstream\nendobj\n"
	return fmt.Appendf(bytes.Clone(file), "%sxref\n%s 1\n%010d 00000 n \ntrailer\n<<\n/Size %s0\n/Root %s 0 R\n/Prev %s\n>>\nstartxref\n%d\n%%%%EOF\n",
		object, size, len(file), size, of(`/Root (\d+)`), of(`startxref\n(\d+)`), len(file)+len(object))
}

// judge is what Muster says of a file.
func judge(file []byte, trusted ...*x509.Certificate) (pades.Fault, error) {
	r, err := pades.Split(file)
	if err == nil {
		_, err = r.Verify(trusted)
	}
	var split *pades.SplitError
	var signature *pades.SignatureError
	switch {
	case errors.As(err, &split):
		return split.Fault, err
	case errors.As(err, &signature):
		return signature.Fault, err
	}
	return "", err
}

func TestAttacksAreDetected(t *testing.T) {
	t.Parallel()
	s := p256(t)
	for _, a := range attacks(t, s) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			fault, err := judge(a.file, s.cert)
			if fault != a.fault {
				t.Errorf("told as %q (%v), want %q", fault, err, a.fault)
			}
			said, _ := run(t, "pdfsig", stored(t, "attack.pdf", a.file))
			if !strings.Contains(said, a.pdfsig) {
				t.Errorf("pdfsig does not say %q:\n%s", a.pdfsig, said)
			}
			t.Logf("%-50s  muster: %v\n  pdfsig: %s", a.name, err, summary(said))
		})
	}
}

// summary is the lines of pdfsig's answer that judge.
func summary(said string) string {
	var lines []string
	for _, line := range strings.Split(said, "\n") {
		if strings.Contains(line, "document signed") || strings.Contains(line, "Signature Validation") || strings.Contains(line, "does not contain") || strings.Contains(line, "Error") {
			lines = append(lines, strings.Trim(line, " -"))
		}
	}
	return strings.Join(lines, " | ")
}

// The signed part of a file to which somebody added something is still at hand.
func TestTheSignedPartIsKnownBelowALaterUpdate(t *testing.T) {
	t.Parallel()
	s := p256(t)
	base := rendered()[report.Security]
	r, err := pades.Split(append(s.sign(t, base), "anything"...))
	var split *pades.SplitError
	if !errors.As(err, &split) || split.Fault != pades.AfterSignature {
		t.Fatal(err)
	}
	if _, err := r.Verify([]*x509.Certificate{s.cert}); err != nil || !bytes.Equal(r.Base, base) {
		t.Error("the signed part is not there: ", err)
	}
}

func TestACertificateOutOfItsTermDoesNotSign(t *testing.T) {
	t.Parallel()
	s := p256(t)
	u := s.update()
	u.At = s.cert.NotAfter.AddDate(0, 0, 1)
	if fault, err := judge(signWith(t, rendered()[report.Security], u), s.cert); fault != pades.OutsideTerm {
		t.Error(err)
	}
}

// FuzzSplit: no panic, and what is taken is what Sign would have written.
func FuzzSplit(f *testing.F) {
	s := p256(f)
	for _, a := range attacks(f, s) {
		f.Add(a.file)
	}
	f.Add(s.sign(f, rendered()[report.Security]))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := pades.Split(file)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(file, r.Base) || len(r.Covered[0])+len(r.Covered[1])+2*len(r.CMS)+2 > len(file) {
			t.Errorf("a base of %d bytes and ranges of %d and %d in %d", len(r.Base), len(r.Covered[0]), len(r.Covered[1]), len(file))
		}
		_, _ = r.Verify([]*x509.Certificate{s.cert})
	})
}

// A file made to be slow is not: 8 MB of each.
func TestHostileFilesTakeNoLonger(t *testing.T) {
	t.Parallel()
	const size = 8 << 20
	head := "%PDF-1.7\n%%EOF\n%muster-signed-1\n"
	for name, file := range map[string]string{
		"first lines of updates":   "%PDF-1.7\n" + strings.Repeat("%%EOF\n%muster-signed-1\n", size/23),
		"a huge size":              head + "/Params <</Size 9999999999",
		"angle brackets":           head + "/Params <</Size 1>>/ModDate (D:1Z) stream\n1 /Name <" + strings.Repeat("<", size),
		"an object without an end": strings.Repeat("1 0 obj\n", size/8) + head,
		"DER within DER":           head + strings.Repeat("30", size/2),
	} {
		if fault, err := judge([]byte(file)); fault != pades.Malformed && fault != pades.NotPDF {
			t.Errorf("%s: told as %q, %v", name, fault, err)
		}
	}
}
