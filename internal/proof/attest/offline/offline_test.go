package offline_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"muster/eventstore"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
	"muster/internal/proof/attest/offline"
	"muster/internal/proof/pades"
	"muster/internal/proof/timestamp"
	"muster/internal/proof/timestamp/timestamptest"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot/snapshottest"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "page", "testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestTheProgramAgreesWithTheVectors: the page in a browser gives the same answers as this package.
func TestTheProgramAgreesWithTheVectors(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name    string         `json:"name"`
		Verdict attest.Verdict `json:"verdict"`
		Step    string         `json:"step"`
		Proof   bool           `json:"proof"`
		Keys    string         `json:"keys"`
		Now     time.Time      `json:"now"`
	}
	if err := json.Unmarshal(read(t, "vectors.json"), &vectors); err != nil || len(vectors) < 30 {
		t.Fatal(len(vectors), err)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			dashed := func(name string) string { return strings.ReplaceAll(strings.ReplaceAll(name, ",", ""), " ", "-") }
			keys, err := attest.ParseKeys(read(t, "keys-"+dashed(v.Keys)+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var beside *attest.Proof
			if v.Proof {
				p, err := attest.ParseProof(read(t, dashed(v.Name)+".proof.json"))
				if unread := v.Step == "proof"; (err != nil) != unread {
					t.Fatal(err)
				} else if unread {
					return
				}
				beside = &p
			}
			a := offline.Check(read(t, dashed(v.Name)+".pdf"), beside, attest.Trust{Keys: keys, Now: v.Now})
			if a.Verdict != v.Verdict || a.Sentence == "" {
				t.Errorf("it %s, want %s: %s\n%+v", a.Verdict, v.Verdict, a.Sentence, a.Steps)
			}
			first := ""
			for _, s := range a.Steps {
				if first == "" && (s.State == attest.Broken || s.State == attest.Untold && v.Verdict == attest.CannotTell) {
					first = s.Name
				}
			}
			if first != v.Step {
				t.Errorf("step %q is the first that does not hold, want %q: %+v", first, v.Step, a.Steps)
			}
		})
	}
}

// TestWitnessesShowTheAgeOfASignature: of a key that ended they show what is older, and of a report that is
// dated back that it is not.
func TestWitnessesShowTheAgeOfASignature(t *testing.T) {
	t.Parallel()
	secret, public, err := note.GenerateKey(rand.Reader, "witness.example/one")
	must(t, err)
	signer, err := cosignature.NewSignerForCosignatureV1(secret)
	must(t, err)
	witnesses, err := attest.ParseWitnesses([]byte(public))
	must(t, err)
	now := time.Now()
	retired := func(k *attest.Key) { at := now.Add(time.Hour); k.ValidTo = &at }
	another := func(r *attest.Report) { r.Kind = "DataInventory" }
	narrower := func(r *attest.Report) { r.ScopeSHA256 = strings.Repeat("ab", 32) }
	for name, test := range map[string]struct {
		begin   time.Time
		change  func(k *attest.Key)
		verdict attest.Verdict
		says    string
		thief   func(*attest.Report) // has the key, and signs something else of the same event
		before  bool                 // from before the event named the request
	}{
		"a thief calls an old one another kind":         {begin: now, change: retired, thief: another, verdict: attest.Contradicted, says: "names another kind or scope"},
		"a thief gives an old one another scope":        {begin: now, change: retired, thief: narrower, verdict: attest.Contradicted, says: "names another kind or scope"},
		"a thief has one of before the event named it":  {begin: now, change: retired, thief: another, before: true, verdict: attest.CannotTell, says: "No trusted clock shows"},
		"retired since, and the event does not name it": {begin: now, change: retired, before: true, verdict: attest.CannotTell, says: "No trusted clock shows"},
		"a key that signs":                              {begin: now, change: func(*attest.Key) {}, verdict: attest.Holds, says: ""},
		"retired since":                                 {begin: now, change: func(k *attest.Key) { at := now.Add(time.Hour); k.ValidTo = &at }, verdict: attest.Holds, says: ""},
		"revoked since":                                 {begin: now, change: func(k *attest.Key) { at := now.Add(time.Hour); k.RevokedAt, k.Reason = &at, "stolen" }, verdict: attest.Holds, says: ""},
		"retired before the witness came":               {begin: now.Add(-2 * time.Hour), change: func(k *attest.Key) { at := now.Add(-time.Hour); k.ValidTo = &at }, verdict: attest.CannotTell, says: "The first trusted clock that shows this signature says"},
		"dated back by 200 days":                        {begin: now.AddDate(0, 0, -200), change: func(*attest.Key) {}, verdict: attest.Contradicted, says: "the report's time is wrong"},
		"dated ahead by 40 days":                        {begin: now.AddDate(0, 0, 40), change: func(*attest.Key) {}, verdict: attest.Contradicted, says: "the report's time is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours := attesttest.New(t, "ours")
			ours.Begin = test.begin.UTC().Truncate(time.Microsecond)
			ours.Asked = !test.before
			p := ours.Prove([]byte("%PDF"), 3, 7)
			if test.thief != nil {
				test.thief(&p.Report)
				hash, err := hex.DecodeString(p.Event.Hash)
				must(t, err)
				p.Attestation, err = attest.Attest(ours.Report, p.Report, eventstore.Head{Log: eventstore.Reports, Position: p.Event.Position, Hash: hash})
				must(t, err)
			}
			tree, err := p.Tree()
			must(t, err)
			cosigned, err := note.Sign(&note.Note{Text: tree.Text}, signer)
			must(t, err)
			p.Checkpoint += strings.TrimPrefix(string(cosigned), tree.Text+"\n")
			keys := ours.Keys()
			for i := range keys.Keys {
				test.change(&keys.Keys[i])
			}
			a := offline.Check([]byte("%PDF"), &p, attest.Trust{Keys: keys, Witnesses: witnesses})
			// What is no PDF cannot be told by itself; nothing else may be off.
			steps := slices.DeleteFunc(a.Steps, func(s attest.Step) bool { return s.Name == attest.StepSignature })
			if got := attest.VerdictOf(steps); got != test.verdict {
				t.Errorf("it %s: %+v", got, steps)
			}
			if off := attest.FirstOff(steps); test.verdict != attest.Holds && !strings.Contains(off, test.says) {
				t.Errorf("it says %s", off)
			}
		})
	}
}

// TestAThiefWithDatabaseAndKey has everything that signs, except the witness and the time stamp
// service. A report that the thief dates back to before the theft cannot be told from a genuine
// one, unless one of the two saw it in time: the proof needs their signature over this very
// report.
func TestAThiefWithDatabaseAndKey(t *testing.T) {
	t.Parallel()
	secret, public, err := note.GenerateKey(rand.Reader, "witness.example/one")
	must(t, err)
	witness, err := cosignature.NewSignerForCosignatureV1(secret)
	must(t, err)
	witnesses, err := attest.ParseWitnesses([]byte(public))
	must(t, err)
	clock := timestamptest.New(t, timestamptest.Now())
	service := timestamp.Service{URL: clock.Serve(t)}
	stamped := func(p *attest.Proof) {
		t.Helper()
		digest := sha256.Sum256(p.Attestation.Signature)
		p.Attestation.Timestamp, err = service.Stamp(t.Context(), digest[:])
		must(t, err)
	}
	cosigned := func(p *attest.Proof) (line string) {
		t.Helper()
		tree, err := p.Tree()
		must(t, err)
		signed, err := note.Sign(&note.Note{Text: tree.Text}, witness)
		must(t, err)
		line = strings.TrimPrefix(string(signed), tree.Text+"\n")
		p.Checkpoint += line
		return line
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	ours := attesttest.New(t, "ours")
	ours.Asked = true
	ours.Begin = now.Add(-3 * time.Hour)
	genuine := ours.Prove([]byte("%PDF genuine"), 3, 7)
	stamped(&genuine)
	line := cosigned(&genuine)

	const stolen, notYet = -time.Hour, time.Hour // since when, from now
	for name, c := range map[string]struct {
		revoked time.Duration
		gets    func(p *attest.Proof)
		want    attest.Verdict
		says    string
	}{
		"neither has seen it":                {stolen, func(*attest.Proof) {}, attest.CannotTell, "No trusted clock shows"},
		"the witness sees it afterwards":     {stolen, func(p *attest.Proof) { cosigned(p) }, attest.CannotTell, "The first trusted clock that shows"},
		"the service stamps it afterwards":   {stolen, stamped, attest.CannotTell, "The first trusted clock that shows"},
		"both see it afterwards":             {stolen, func(p *attest.Proof) { stamped(p); cosigned(p) }, attest.CannotTell, "The first trusted clock that shows"},
		"the time stamp is another report's": {stolen, func(p *attest.Proof) { p.Attestation.Timestamp = genuine.Attestation.Timestamp; cosigned(p) }, attest.Contradicted, "time stamp"},
		"the cosignature is another log's":   {stolen, func(p *attest.Proof) { stamped(p); p.Checkpoint += line }, attest.CannotTell, "None of the 1 named witnesses has signed"},
		"both saw it before the theft":       {notYet, func(p *attest.Proof) { stamped(p); cosigned(p) }, attest.Holds, ""},
	} {
		t.Run(name, func(t *testing.T) {
			thief := *ours
			thief.Begin = now.Add(-2 * time.Hour)
			p := thief.Prove([]byte("%PDF"), 5, 9)
			c.gets(&p)
			keys, since := ours.Keys(), now.Add(c.revoked)
			for i := range keys.Keys {
				keys.Keys[i].RevokedAt, keys.Keys[i].Reason = &since, "stolen"
			}
			a := offline.Check([]byte("%PDF"), &p, attest.Trust{Keys: keys, Witnesses: witnesses, TSA: clock.Roots(), Now: now.Add(time.Minute)})
			steps := slices.DeleteFunc(a.Steps, func(s attest.Step) bool { return s.Name == attest.StepSignature }) // it is no PDF
			said, _ := json.Marshal(steps)
			if got := attest.VerdictOf(steps); got != c.want || !strings.Contains(string(said), c.says) {
				t.Errorf("it %s, want %s: %s", got, c.want, said)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkCheck checks the largest possible document, signed, after it is read.
func BenchmarkCheck(b *testing.B) {
	renderer, err := pdf.New(pdf.Build{Version: "1"})
	if err != nil {
		b.Fatal(err)
	}
	var base bytes.Buffer
	if _, err := renderer.Render(&base, snapshottest.Huge(60_000)); err != nil {
		b.Fatal(err)
	}
	ours := attesttest.New(b, "ours")
	document, err := ours.Prove(base.Bytes(), 700, 1000).Encode()
	if err != nil {
		b.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		b.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		b.Fatal(err)
	}
	chain := []*x509.Certificate{certificate}
	ours.PDFKeys = []attest.Key{attest.PDFKey(chain, now)}
	file, err := pades.Sign(b.Context(), base.Bytes(), pades.Update{Attachment: document, Key: key, Chain: chain, At: now})
	if err != nil {
		b.Fatal(err)
	}
	trust := attest.Trust{Keys: ours.Keys()}
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if a := offline.Check(file, nil, trust); a.Verdict != attest.Holds {
			b.Fatal(a.Sentence)
		}
	}
	b.ReportMetric(float64(len(file))/1e6, "MB")
}
