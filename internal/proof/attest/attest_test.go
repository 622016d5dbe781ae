package attest_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryChangeToAProofIsFound: each fact in a proof is changed, and the check fails at the expected step.
func TestEveryChangeToAProofIsFound(t *testing.T) {
	t.Parallel()
	ours, theirs := attesttest.New(t, "ours"), attesttest.New(t, "theirs")
	pdf := []byte("%PDF-1.7 one")
	other := ours.Prove([]byte("%PDF-1.7 two"), 700, 1000)
	trust := attest.Trust{Keys: ours.Keys()}
	for name, test := range map[string]struct {
		change  func(p *attest.Proof)
		file    string
		trust   *attest.Trust
		verdict attest.Verdict
		step    string // that does not hold
	}{
		"nothing":                     {verdict: attest.Holds},
		"the file":                    {file: string(pdf) + " ", verdict: attest.Contradicted, step: attest.StepFile},
		"the digest of the PDF":       {change: func(p *attest.Proof) { p.Report.PDFSHA256 = other.Report.PDFSHA256 }, file: "%PDF-1.7 two", verdict: attest.Contradicted, step: attest.StepEvent},
		"the digest of the inputs":    {change: func(p *attest.Proof) { p.Report.InputsSHA256 = other.Report.InputsSHA256 }, verdict: attest.Contradicted, step: attest.StepEvent},
		"the report":                  {change: func(p *attest.Proof) { p.Report.ID = other.Report.ID }, verdict: attest.Contradicted, step: attest.StepEvent},
		"the organization":            {change: func(p *attest.Proof) { p.Report.Organization = uuid.New() }, verdict: attest.Contradicted, step: attest.StepEvent},
		"the kind":                    {change: func(p *attest.Proof) { p.Report.Kind = "DataInventory" }, verdict: attest.Contradicted, step: attest.StepAttestation},
		"the scope":                   {change: func(p *attest.Proof) { p.Report.ScopeSHA256 = strings.Repeat("ab", 32) }, verdict: attest.Contradicted, step: attest.StepAttestation},
		"what the event says":         {change: func(p *attest.Proof) { p.Event.Data = strings.Replace(p.Event.Data, "12", "13", 1) }, verdict: attest.Contradicted, step: attest.StepEvent},
		"who the event names":         {change: func(p *attest.Proof) { p.Event.Metadata = "{}" }, verdict: attest.Contradicted, step: attest.StepEvent},
		"when it was recorded":        {change: func(p *attest.Proof) { p.Event.RecordedAt = p.Event.RecordedAt.Add(-time.Hour) }, verdict: attest.Contradicted, step: attest.StepEvent},
		"when it happened":            {change: func(p *attest.Proof) { p.Event.OccurredAt = p.Event.OccurredAt.Add(-time.Hour) }, verdict: attest.Contradicted, step: attest.StepEvent},
		"its place":                   {change: func(p *attest.Proof) { p.Event.Position-- }, verdict: attest.Contradicted, step: attest.StepInclusion},
		"no place":                    {change: func(p *attest.Proof) { p.Event.Position = 0 }, verdict: attest.Contradicted, step: attest.StepInclusion},
		"a place behind the end":      {change: func(p *attest.Proof) { p.Event.Position = 1001 }, verdict: attest.Contradicted, step: attest.StepInclusion},
		"the tree":                    {change: func(p *attest.Proof) { p.Checkpoint = other.Checkpoint }, verdict: attest.Contradicted, step: attest.StepInclusion},
		"a hash of the inclusion":     {change: func(p *attest.Proof) { p.Inclusion[3][7]++ }, verdict: attest.Contradicted, step: attest.StepInclusion},
		"the inclusion":               {change: func(p *attest.Proof) { p.Inclusion = nil }, verdict: attest.Contradicted, step: attest.StepInclusion},
		"the tree's size":             {change: func(p *attest.Proof) { p.Checkpoint = strings.Replace(p.Checkpoint, "\n1000\n", "\n1001\n", 1) }, verdict: attest.Contradicted, step: attest.StepCheckpoint},
		"another log":                 {change: func(p *attest.Proof) { p.Event.Log = "fleet" }, verdict: attest.Contradicted, step: attest.StepEvent},
		"the origin":                  {change: func(p *attest.Proof) { p.Origin = theirs.Origin }, verdict: attest.Contradicted, step: attest.StepCheckpoint},
		"the attestation":             {change: func(p *attest.Proof) { p.Attestation = other.Attestation }, verdict: attest.Contradicted, step: attest.StepAttestation},
		"no attestation":              {change: func(p *attest.Proof) { p.Attestation.Signature = nil }, verdict: attest.Contradicted, step: attest.StepAttestation},
		"who has signed":              {change: func(p *attest.Proof) { p.Attestation.KeyID = "0000" }, verdict: attest.Holds}, // a hint, no claim
		"keys in the proof":           {change: func(p *attest.Proof) { p.Keys = theirs.Keys().Keys }, verdict: attest.Holds},  // never trusted
		"the keys of somebody else":   {trust: &attest.Trust{Keys: theirs.Keys()}, verdict: attest.CannotTell, step: attest.StepCheckpoint},
		"a proof of somebody else":    {change: func(p *attest.Proof) { *p = theirs.Prove(pdf, 700, 1000) }, verdict: attest.CannotTell, step: attest.StepCheckpoint},
		"no keys":                     {trust: &attest.Trust{}, verdict: attest.CannotTell, step: attest.StepCheckpoint},
		"a proof of another":          {change: func(p *attest.Proof) { *p = other }, verdict: attest.Contradicted, step: attest.StepFile},
		"forged, with keys beside it": {change: func(p *attest.Proof) { *p = theirs.Prove([]byte("%PDF-1.7 forged"), 700, 1000); p.Origin = ours.Origin }, file: "%PDF-1.7 forged", verdict: attest.Contradicted, step: attest.StepCheckpoint},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ours.Prove(pdf, 700, 1000)
			if test.change != nil {
				test.change(&p)
			}
			file, by := pdf, trust
			if test.file != "" {
				file = []byte(test.file)
			}
			if test.trust != nil {
				by = *test.trust
			}
			got, steps := attest.Check(sha256.Sum256(file), p, by)
			if got != test.verdict {
				t.Errorf("it %s: %+v", got, steps)
			}
			want := map[attest.Verdict]attest.State{attest.Contradicted: attest.Broken, attest.CannotTell: attest.Untold}[test.verdict]
			told := test.step == ""
			for _, s := range steps {
				told = told || s.Name == test.step && s.State == want
			}
			if !told {
				t.Errorf("step %s should be %s: %+v", test.step, want, steps)
			}
		})
	}
}

// TestAProofIsRead: a written proof is read, and other data is refused.
func TestAProofIsRead(t *testing.T) {
	t.Parallel()
	ours := attesttest.New(t, "ours")
	p := ours.Prove([]byte("%PDF"), 3, 7)
	document, err := p.Encode()
	must(t, err)
	read, err := attest.ParseProof(document)
	must(t, err)
	again, err := read.Encode()
	must(t, err)
	if string(again) != string(document) {
		t.Errorf("it is\n%s\nand was\n%s", again, document)
	}
	if got, steps := attest.Check(sha256.Sum256([]byte("%PDF")), read, attest.Trust{Keys: ours.Keys()}); got != attest.Holds {
		t.Errorf("it %s: %+v", got, steps)
	}
	for _, document := range []string{
		"", "{}", "null", "[]", `{"format":"muster-proof-2"}`, `{"format":"muster-proof-1"}`,
		strings.Replace(string(document), `"checkpoint":"`, `"checkpoint":"x`, 1)[:200],
		strings.Replace(string(document), `\n7\n`, `\n07\n`, 1), strings.Replace(string(document), `"inclusion":["`, `"inclusion":["AAAA","`, 1),
		strings.Repeat(" ", attest.MaxProof) + string(document),
	} {
		var malformed *attest.MalformedError
		if _, err := attest.ParseProof([]byte(document)); !errors.As(err, &malformed) {
			t.Errorf("%.60q: %v", document, err)
		}
	}
}

// TestKeysAreRead: a document of keys must be consistent with itself.
func TestKeysAreRead(t *testing.T) {
	t.Parallel()
	ours, theirs := attesttest.New(t, "ours").Keys(), attesttest.New(t, "theirs").Keys()
	for name, test := range map[string]struct {
		change func(k *attest.Keys)
		says   string // empty: it is read
	}{
		"as published":      {func(*attest.Keys) {}, ""},
		"none":              {func(k *attest.Keys) { k.Keys = nil }, "0 keys"},
		"a use of tomorrow": {func(k *attest.Keys) { k.Keys[0].Use = "x" }, "unknown"},
		"two keys in one":   {func(k *attest.Keys) { k.Keys[0].PublicKey = theirs.Keys[0].PublicKey }, "two keys"},
		"no public key":     {func(k *attest.Keys) { k.Keys[1].PublicKey = []byte("x") }, "publicKey"},
		"no verifier key":   {func(k *attest.Keys) { k.Keys[0].VerifierKey = "x" }, "verifierKey"},
		"no certificate":    {func(k *attest.Keys) { k.Keys[1].Use = attest.UsePDF }, "certificate"},
	} {
		keys := attest.Keys{Keys: append([]attest.Key(nil), ours.Keys...)}
		test.change(&keys)
		document, err := json.Marshal(keys)
		must(t, err)
		_, err = attest.ParseKeys(document)
		var malformed *attest.MalformedError
		if (err == nil) != (test.says == "") || err != nil && (!errors.As(err, &malformed) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
