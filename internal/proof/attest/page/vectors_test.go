package page

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
	"muster/internal/proof/pades"
	"muster/internal/report/pdf/typeset"
)

var update = flag.Bool("update", false, "make the vectors anew")

const vectorsDir = "testdata/vectors"

// unread is in place of the step of a vector whose proof cannot be read.
const unread = "proof"

// vector is a file to check, with the files beside it.
type vector struct {
	Name    string         `json:"name"`
	Verdict attest.Verdict `json:"verdict"`
	Step    string         `json:"step"` // the first that does not hold; empty: all do
	Proof   bool           `json:"proof"`
	Keys    string         `json:"keys"`          // name of the file of keys
	Now     *time.Time     `json:"now,omitempty"` // by the verifier's clock; nil: not read

	file  []byte
	proof []byte
}

// signer is a key for PDFs and its certificate.
type signer struct {
	key  crypto.Signer
	cert *x509.Certificate
}

var signedAt = time.Date(2026, 11, 23, 11, 5, 30, 0, time.UTC)

func newSigner(t *testing.T, key crypto.Signer) signer {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1790), Subject: pkix.Name{CommonName: "Muster, Räte & Söhne"}, NotBefore: signedAt.AddDate(0, 0, -7), NotAfter: signedAt.AddDate(70, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	return signer{key, cert}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s signer) sign(t *testing.T, base, proof []byte) []byte {
	t.Helper()
	file, err := pades.Sign(t.Context(), base, pades.Update{Attachment: proof, Key: s.key, Chain: []*x509.Certificate{s.cert}, At: signedAt})
	must(t, err)
	return file
}

// signOn signs by a clock that says so.
func (s signer) signOn(t *testing.T, base, proof []byte, at time.Time) []byte {
	t.Helper()
	file, err := pades.Sign(t.Context(), base, pades.Update{Attachment: proof, Key: s.key, Chain: []*x509.Certificate{s.cert}, At: at})
	must(t, err)
	return file
}

func (s signer) signStamped(t *testing.T, base, proof []byte, service tsa) []byte {
	t.Helper()
	file, err := pades.Sign(t.Context(), base, pades.Update{
		Attachment: proof, Key: s.key, Chain: []*x509.Certificate{s.cert}, At: signedAt,
		Stamp: func(_ context.Context, digest []byte) ([]byte, error) { return service.stamp(t, digest), nil },
	})
	must(t, err)
	return file
}

// tsa is OpenSSL's time stamp service.
type tsa string

const tsaSettings = `[tsa]
default_tsa = own
[own]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
ess_cert_id_alg = sha256
[ext]
extendedKeyUsage = critical,timeStamping
`

func newTSA(t *testing.T) tsa {
	t.Helper()
	dir := tsa(t.TempDir())
	must(t, os.WriteFile(filepath.Join(string(dir), "tsa.cnf"), []byte(tsaSettings), 0o600))
	must(t, os.WriteFile(filepath.Join(string(dir), "serial"), []byte("01\n"), 0o600))
	dir.openssl(t, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "tsa.key", "-out", "tsa.pem", "-days", "9000", "-subj", "/CN=Example TSA",
		"-addext", "extendedKeyUsage=critical,timeStamping")
	return dir
}

func (dir tsa) openssl(t *testing.T, args ...string) {
	t.Helper()
	run := exec.Command("openssl", args...)
	run.Dir = string(dir)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
}

// stamp is a token over a digest.
func (dir tsa) stamp(t *testing.T, digest []byte) []byte {
	t.Helper()
	dir.openssl(t, "ts", "-query", "-digest", hex.EncodeToString(digest), "-sha256", "-cert", "-out", "query")
	dir.openssl(t, "ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query", "-inkey", "tsa.key", "-signer", "tsa.pem", "-token_out", "-out", "token")
	return read(t, filepath.Join(string(dir), "token"))
}

// paper is a small file of the renderer.
func paper(t *testing.T, title, keywords string) []byte {
	t.Helper()
	d := typeset.NewPaper(typeset.LoadFonts(), "A4", typeset.Margin{Left: 54, Right: 54, Top: 54, Bottom: 54})
	d.NewPage()
	d.Page().Fill(10, 10, 20, 20, 0)
	var out bytes.Buffer
	must(t, d.Paint(&out, typeset.Info{Title: title, Keywords: keywords, Created: signedAt}))
	return out.Bytes()
}

// scene is two installations and what the first made.
type scene struct {
	t             *testing.T
	ours, theirs  *attesttest.Installation
	pdf           signer
	base, another []byte
	proof         attest.Proof
	all           []vector
}

func (s *scene) encoded(change func(p *attest.Proof)) []byte {
	s.t.Helper()
	p := s.proof
	p.Inclusion = append([][]byte{}, p.Inclusion...)
	if change != nil {
		change(&p)
	}
	text, err := p.Encode()
	must(s.t, err)
	return text
}

func (s *scene) add(name string, verdict attest.Verdict, step string, file, proof []byte, keys ...string) {
	v := vector{Name: name, Verdict: verdict, Step: step, Keys: strings.Join(append(keys, "ours")[:1], ""), Proof: proof != nil, file: file, proof: proof}
	s.all = append(s.all, v)
}

func replaced(t *testing.T, file []byte, old, by string) []byte {
	t.Helper()
	changed := bytes.Replace(file, []byte(old), []byte(by), 1)
	if bytes.Equal(changed, file) {
		t.Fatalf("%q is not in the file", old)
	}
	return changed
}

// vectors makes all of them, and the documents of keys.
func vectors(t *testing.T) (all []vector, keys map[string]attest.Keys) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	forger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	s := &scene{t: t, ours: attesttest.New(t, "ours"), theirs: attesttest.New(t, "theirs"), pdf: newSigner(t, key), base: paper(t, "one", ""), another: paper(t, "two", "")}
	old := newSigner(t, rsaKey)
	s.ours.PDFKeys = []attest.Key{attest.PDFKey([]*x509.Certificate{s.pdf.cert}, signedAt), attest.PDFKey([]*x509.Certificate{old.cert}, signedAt)}
	s.proof = s.ours.Prove(s.base, 700, 1000)
	proof := s.encoded(nil)
	file := s.pdf.sign(t, s.base, proof)
	other, err := s.ours.Prove(s.another, 700, 1000).Encode()
	must(t, err)

	s.add("signed", attest.Holds, "", file, nil)
	s.add("signed, and a proof beside it", attest.Holds, "", file, proof)
	s.add("base with its proof", attest.Holds, "", s.base, proof)
	s.add("signed with RSA", attest.Holds, "", old.sign(t, s.base, proof), nil)
	s.add("an unknown cosignature", attest.Holds, "", s.base, s.encoded(func(p *attest.Proof) { p.Checkpoint += "— witness.example AAAAAAECAwQ=\n" }))
	one := s.ours.Prove(s.base, 1, 1)
	alone, err := one.Encode()
	must(t, err)
	s.add("a log of one event", attest.Holds, "", s.base, alone)

	tsa := newTSA(t)
	imprint := s.proof.Attestation.Imprint()
	s.add("a time stamp", attest.Holds, "", s.base, s.encoded(func(p *attest.Proof) { p.Attestation.Timestamp = tsa.stamp(t, imprint[:]) }))
	s.add("a time stamp of something else", attest.Holds, "", s.base, s.encoded(func(p *attest.Proof) { p.Attestation.Timestamp = tsa.stamp(t, make([]byte, 32)) }))
	s.add("a time stamp that was changed", attest.Holds, "", s.base, s.encoded(func(p *attest.Proof) {
		p.Attestation.Timestamp = tsa.stamp(t, imprint[:])
		p.Attestation.Timestamp[len(p.Attestation.Timestamp)-1] ^= 1
	}))
	s.add("a time stamp with another time", attest.Holds, "", s.base, s.encoded(func(p *attest.Proof) {
		p.Attestation.Timestamp = tsa.stamp(t, imprint[:])
		at := bytes.Index(p.Attestation.Timestamp, []byte("\x18\x0f20")) // a GeneralizedTime
		p.Attestation.Timestamp[at+5] ^= 1
	}))
	s.add("a time stamp in the signature", attest.Holds, "", s.pdf.signStamped(t, s.base, proof, tsa), nil)

	flipped := bytes.Clone(file)
	flipped[60] ^= 1
	s.add("a byte of the base", attest.Contradicted, attest.StepFile, flipped, nil)
	s.add("another report", attest.Contradicted, attest.StepFile, s.another, proof)
	s.add("the proof of another report beside it", attest.Contradicted, attest.StepFile, file, other)
	s.add("a space at the end", attest.Contradicted, attest.StepSignature, append(bytes.Clone(file), ' '), nil)
	s.add("a second update", attest.Contradicted, attest.StepSignature, append(bytes.Clone(file), file[len(s.base):]...), nil)
	s.add("the end cut off", attest.Contradicted, attest.StepSignature, file[:len(file)-7], nil)
	rewritten(t, s, file, proof)
	companions(s)
	doubles(s)
	s.add("the proof in it", attest.Contradicted, attest.StepSignature, replaced(t, file, `"kind":"Security"`, `"kind":"Securitx"`), nil)
	s.add("the time in it", attest.Contradicted, attest.StepSignature, bytes.ReplaceAll(file, []byte("(D:20261123110530Z)"), []byte("(D:20261122110530Z)")), nil)
	s.add("the byte range", attest.Contradicted, attest.StepSignature, replaced(t, file, "/ByteRange [0 ", "/ByteRange [1 "), nil)
	s.add("another key of the same name and number", attest.Contradicted, attest.StepSignature, signer{forger, newSigner(t, forger).cert}.sign(t, s.base, proof), nil)
	revisions, err := pades.Split(file)
	must(t, err)
	digits := hex.EncodeToString(revisions.CMS)
	last := "0" // the last digit of the signature's value
	if strings.HasSuffix(digits, "0") {
		last = "1"
	}
	s.add("the value of the signature", attest.Contradicted, attest.StepSignature, replaced(t, file, digits, digits[:len(digits)-1]+last), nil)
	s.add("the event", attest.Contradicted, attest.StepEvent, s.base, s.encoded(func(p *attest.Proof) { p.Event.Data = strings.Replace(p.Event.Data, `"pages":12`, `"pages":13`, 1) }))
	s.add("an event that is no ready", attest.Contradicted, attest.StepEvent, s.base, s.encoded(func(p *attest.Proof) { p.Event.Type = "report.queued" }))
	s.add("when it was recorded", attest.Contradicted, attest.StepEvent, s.base, s.encoded(func(p *attest.Proof) { p.Event.RecordedAt = p.Event.RecordedAt.Add(time.Microsecond) }))
	s.add("a lie that was signed into the file", attest.Contradicted, attest.StepEvent, s.pdf.sign(t, s.base, s.encoded(func(p *attest.Proof) { p.Report.InputsSHA256 = strings.Repeat("ab", 32) })), nil)
	s.add("its place", attest.Contradicted, attest.StepInclusion, s.base, s.encoded(func(p *attest.Proof) { p.Event.Position++ }))
	s.add("no place", attest.Contradicted, attest.StepInclusion, s.base, s.encoded(func(p *attest.Proof) { p.Event.Position = 0 }))
	s.add("a hash of the inclusion", attest.Contradicted, attest.StepInclusion, s.base, s.encoded(func(p *attest.Proof) { p.Inclusion[3] = make([]byte, 32) }))
	s.add("too short an inclusion", attest.Contradicted, attest.StepInclusion, s.base, s.encoded(func(p *attest.Proof) { p.Inclusion = p.Inclusion[1:] }))
	s.add("the size of the tree", attest.Contradicted, attest.StepCheckpoint, s.base, s.encoded(func(p *attest.Proof) { p.Checkpoint = strings.Replace(p.Checkpoint, "\n1000\n", "\n1001\n", 1) }))
	s.add("the checkpoint of another log", attest.Contradicted, attest.StepCheckpoint, s.base, s.encoded(func(p *attest.Proof) { p.Origin = s.theirs.Origin }))
	s.add("a note without signatures", attest.Contradicted, attest.StepCheckpoint, s.base, s.encoded(func(p *attest.Proof) { p.Checkpoint, _, _ = strings.Cut(p.Checkpoint, "—") }))
	s.add("the kind", attest.Contradicted, attest.StepAttestation, s.base, s.encoded(func(p *attest.Proof) { p.Report.Kind = "DataInventory" }))
	s.add("the attestation", attest.Contradicted, attest.StepAttestation, s.base, s.encoded(func(p *attest.Proof) { p.Attestation.Signature = make([]byte, 64) }))

	s.add("base without a proof", attest.CannotTell, attest.StepFile, s.base, nil)
	s.add("no PDF", attest.CannotTell, attest.StepFile, []byte("hello"), nil)
	s.add("a proof in it that is none", attest.CannotTell, attest.StepFile, s.pdf.sign(t, s.base, []byte(`{"format":"x"}`)), nil)
	s.add("the keys of another installation", attest.CannotTell, attest.StepCheckpoint, file, nil, "theirs")
	s.add("keys without that of the log", attest.CannotTell, attest.StepCheckpoint, file, nil, "without log")
	s.add("keys without that of reports", attest.CannotTell, attest.StepAttestation, file, nil, "without report")
	s.add("keys without that of PDFs", attest.CannotTell, attest.StepSignature, file, nil, "without pdf")

	recorded := s.proof.Event.RecordedAt
	at := func(name string, verdict attest.Verdict, step string, now time.Time) {
		s.add(name, verdict, step, s.base, proof)
		s.all[len(s.all)-1].Now = &now
	}
	at("checked by a clock that is an hour behind", attest.Holds, "", recorded.Add(-time.Hour))
	at("checked a year later", attest.Holds, "", recorded.AddDate(1, 0, 0))
	at("recorded the day after tomorrow", attest.Contradicted, attest.StepEvent, recorded.AddDate(0, 0, -2))
	s.ours.Late = 48 * time.Hour
	late, err := s.ours.Prove(s.base, 700, 1000).Encode()
	must(t, err)
	s.ours.Late = 0
	s.add("recorded two days after it happened", attest.Contradicted, attest.StepEvent, s.base, late)
	s.add("signed two days after it was recorded", attest.Contradicted, attest.StepSignature, s.pdf.signOn(t, s.base, proof, recorded.AddDate(0, 0, 2)), nil)
	s.add("signed two days before it was recorded", attest.Contradicted, attest.StepSignature, s.pdf.signOn(t, s.base, proof, recorded.AddDate(0, 0, -2)), nil)
	s.add("signed an hour before it was recorded", attest.Holds, "", s.pdf.signOn(t, s.base, proof, recorded.Add(-time.Hour)), nil)

	keys = map[string]attest.Keys{"ours": s.ours.Keys(), "theirs": s.theirs.Keys()}
	s.lifetimes(file, proof, keys)
	for _, use := range []attest.Use{attest.UseLog, attest.UseReport, attest.UsePDF} {
		var left attest.Keys
		for _, k := range keys["ours"].Keys {
			if k.Use != use {
				left.Keys = append(left.Keys, k)
			}
		}
		keys["without "+string(use)] = left
	}
	return s.all, keys
}

// lifetimes adds what each end and beginning of a key makes of what it signed.
func (s *scene) lifetimes(file, proof []byte, keys map[string]attest.Keys) {
	recorded := s.proof.Event.RecordedAt
	changed := func(use attest.Use, change func(k *attest.Key)) attest.Keys {
		all := attest.Keys{Keys: slices.Clone(keys["ours"].Keys)}
		for i := range all.Keys {
			if all.Keys[i].Use == use || use == "" {
				change(&all.Keys[i])
			}
		}
		return all
	}
	on := func(after time.Duration) *time.Time {
		at := recorded.Add(after)
		return &at
	}
	for _, of := range []struct {
		use  attest.Use
		step string
	}{{attest.UseLog, attest.StepCheckpoint}, {attest.UseReport, attest.StepAttestation}, {attest.UsePDF, attest.StepSignature}} {
		for _, c := range []struct {
			name    string
			verdict attest.Verdict
			change  func(k *attest.Key)
		}{
			{"that was retired before", attest.Contradicted, func(k *attest.Key) { k.ValidTo = on(-48 * time.Hour) }},
			{"that was not there yet", attest.Contradicted, func(k *attest.Key) { k.ValidFrom = *on(48 * time.Hour) }},
			{"that was retired since", attest.CannotTell, func(k *attest.Key) { k.ValidTo = on(48 * time.Hour) }},
			{"that was revoked since", attest.CannotTell, func(k *attest.Key) { k.RevokedAt, k.Reason = on(48*time.Hour), "a disk was stolen" }},
			{"that is revoked from before on", attest.CannotTell, func(k *attest.Key) { k.RevokedAt, k.ValidTo = on(-time.Hour), on(48*time.Hour) }},
		} {
			name := "a key of use " + string(of.use) + " " + c.name
			keys[name] = changed(of.use, c.change)
			s.add(name, c.verdict, of.step, file, nil, name)
		}
	}
	keys["published minutes later"] = changed("", func(k *attest.Key) { k.ValidFrom = *on(5 * time.Minute) })
	s.add("keys published minutes later", attest.Holds, "", file, nil, "published minutes later")
	keys["published an hour later"] = changed("", func(k *attest.Key) { k.ValidFrom = *on(time.Hour) })
	s.add("keys published an hour later", attest.Contradicted, attest.StepCheckpoint, file, nil, "published an hour later")
	keys["retired a minute before"] = changed("", func(k *attest.Key) { k.ValidTo = on(-time.Minute) })
	s.add("keys retired a minute before", attest.Contradicted, attest.StepCheckpoint, file, nil, "retired a minute before")

	// A rotation: two keys signed the tree, and one of them has ended.
	next := &attesttest.Installation{T: s.t, Origin: s.ours.Origin, Log: s.theirs.Log, Report: s.ours.Report, Begin: s.ours.Begin}
	tree, err := s.proof.Tree()
	must(s.t, err)
	_, second, _ := strings.Cut(next.Sign(tree.Size, tree.Root), "\n\n")
	both := s.encoded(func(p *attest.Proof) { p.Checkpoint += second })
	for name, change := range map[string]func(k *attest.Key){
		"rotated":               func(*attest.Key) {},
		"rotated and retired":   func(k *attest.Key) { k.ValidTo = on(time.Minute) },
		"rotated and revoked":   func(k *attest.Key) { k.RevokedAt, k.ValidTo = on(-time.Minute), on(time.Minute) },
		"rotated and forgotten": func(k *attest.Key) { k.ValidTo = on(-time.Minute) },
	} {
		all := changed(attest.UseLog, change)
		all.Keys = append(all.Keys, next.Keys().Of(attest.UseLog)...)
		keys[name] = all
		s.add("a tree signed by two keys, "+name, attest.Holds, "", s.base, both, name)
	}
}

// trust is what a vector is checked with.
func (v vector) trust(keys attest.Keys) attest.Trust {
	trust := attest.Trust{Keys: keys}
	if v.Now != nil {
		trust.Now = *v.Now
	}
	return trust
}

// doubles adds proofs that say one thing to one parser and another to the next, or that contain
// unsigned data.
func doubles(s *scene) {
	add := func(name string, change func(text string) string) {
		s.add(name, attest.CannotTell, unread, s.base, []byte(change(string(s.encoded(nil)))))
	}
	first := func(old, by string) func(string) string {
		return func(text string) string { return strings.Replace(text, old, by, 1) }
	}
	add("the report twice", first(`"report":`, `"report":{"kind":"DataInventory"},"report":`))
	add("the kind twice", first(`"kind":`, `"kind":"DataInventory","kind":`))
	add("the kind in another case, too", first(`"kind":`, `"KIND":"DataInventory","kind":`))
	add("the kind in other characters, too", first(`"kind":`, `"\u006bind":"DataInventory","kind":`))
	marked := *s.ours
	marked.Mark = true
	p := marked.Prove(s.base, 700, 1000)
	text, err := p.Encode()
	must(s.t, err)
	s.add("an event with a mark", attest.Holds, "", s.base, text)
	p.Event.Version = 6
	text, err = p.Encode()
	must(s.t, err)
	s.add("a version that nobody signed", attest.CannotTell, unread, s.base, text)
}

// companions adds what goes with a report.
func companions(s *scene) {
	proof := s.encoded(nil)
	findings, inputs := attesttest.Findings(s.base), attesttest.Inputs(s.base)
	s.add("the findings with their proof", attest.Holds, "", findings, proof)
	s.add("the inputs with their proof", attest.Holds, "", inputs, proof)
	s.add("the findings, changed", attest.Contradicted, attest.StepFile, append(findings, '\n'), proof)
	s.add("the findings of another report", attest.Contradicted, attest.StepFile, attesttest.Findings(s.another), proof)
	s.add("the findings without a proof", attest.CannotTell, attest.StepFile, findings, nil)
	s.add("the findings, named by nobody", attest.Contradicted, attest.StepEvent, []byte("other findings"), s.encoded(func(p *attest.Proof) {
		p.Event.Data = strings.Replace(p.Event.Data, fmt.Sprintf("%x", sha256.Sum256(findings)), fmt.Sprintf("%x", sha256.Sum256([]byte("other findings"))), 1)
	}))
}

// rewritten adds what other programs make of a report.
func rewritten(t *testing.T, s *scene, file, proof []byte) {
	t.Helper()
	s.add("bytes before it", attest.Contradicted, attest.StepSignature, append([]byte("junk\n"), file...), nil)
	s.add("written again", attest.Contradicted, attest.StepSignature, qpdf(t, file), nil)
	s.add("written again, its proof beside it", attest.Contradicted, attest.StepFile, qpdf(t, file), proof)
	s.add("written again with object streams", attest.Contradicted, attest.StepSignature, qpdf(t, file, "--object-streams=generate"), nil)
	s.add("a page dropped", attest.Contradicted, attest.StepSignature, qpdf(t, file, "--pages", ".", "1", "--"), nil)
	s.add("pages swapped", attest.Contradicted, attest.StepSignature, qpdf(t, file, "--pages", ".", "2,1", "--"), nil)
	printed := paper(t, "three", "report-request:1 witness:reports:7:"+strings.Repeat("ab", 32))
	s.add("an unsigned report", attest.CannotTell, attest.StepFile, printed, nil)
	s.add("an unsigned report written again", attest.Contradicted, attest.StepSignature, qpdf(t, printed), nil)
	s.add("bytes before an unsigned report", attest.Contradicted, attest.StepSignature, append([]byte("\n"), printed...), nil)
	s.add("the pages alone", attest.CannotTell, attest.StepFile, qpdf(t, s.another, "--object-streams=generate"), nil)
}

// qpdf writes a file again.
func qpdf(t *testing.T, file []byte, args ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.pdf"), filepath.Join(dir, "to.pdf")
	must(t, os.WriteFile(from, file, 0o600))
	if out, err := exec.Command("qpdf", append(append([]string{"--static-id", from}, args...), to)...).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	return read(t, to)
}

// path is where a vector's file lies.
func (v vector) path(extension string) string {
	return filepath.Join(vectorsDir, strings.ReplaceAll(strings.ReplaceAll(v.Name, ",", ""), " ", "-")+extension)
}

func keysPath(name string) string {
	return filepath.Join(vectorsDir, "keys-"+strings.ReplaceAll(name, " ", "-")+".json")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return content
}

// stored are the vectors as they lie in testdata; with -update they are made anew.
func stored(t *testing.T) (all []vector) {
	t.Helper()
	list := filepath.Join(vectorsDir, "vectors.json")
	if *update {
		must(t, os.RemoveAll(vectorsDir))
		must(t, os.MkdirAll(vectorsDir, 0o755))
		made, keys := vectors(t)
		write := func(path string, content []byte) { must(t, os.WriteFile(path, content, 0o644)) }
		for _, v := range made {
			write(v.path(".pdf"), v.file)
			if v.Proof {
				write(v.path(".proof.json"), v.proof)
			}
		}
		for name, document := range keys {
			text, err := json.MarshalIndent(document, "", " ")
			must(t, err)
			write(keysPath(name), text)
		}
		text, err := json.MarshalIndent(made, "", " ")
		must(t, err)
		write(list, append(text, '\n'))
	}
	must(t, json.Unmarshal(read(t, list), &all))
	for i := range all {
		all[i].file = read(t, all[i].path(".pdf"))
		if all[i].Proof {
			all[i].proof = read(t, all[i].path(".proof.json"))
		}
	}
	return all
}
