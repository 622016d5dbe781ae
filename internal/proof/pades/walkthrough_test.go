package pades_test

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
	"muster/internal/proof/attest/offline"
	"muster/internal/proof/timestamp"
	"muster/internal/proof/timestamp/timestamptest"
	"muster/internal/testing/longtest"
)

// walkthrough checks a report with none of our programs.
const walkthrough = "../../../scripts/check_report.sh"

// A report of a made-up installation, time-stamped in all three places, goes through the
// walk-through: openssl, poppler, qpdf and python agree with what we wrote. With one of these files
// each line of the walk-through is held, with one broken, and with one untold where it can be.
func TestTheWalkThroughChecksAReport(t *testing.T) {
	t.Parallel()
	walksThrough(t,
		"all that there is", "another authority", "a base and its proof", "a base", "another's keys", "a byte of the base", "another update",
		"another kind", "another day", "another tree", "a time stamp is asked for, and not there", "keys that were retired since",
		"signed two days later", "a time stamp of two days later", "pages swapped by qpdf")
}

// TestLongTheWalkThroughChecksEveryReport: of each file half a second of a processor.
func TestLongTheWalkThroughChecksEveryReport(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	walksThrough(t)
}

// walksThrough checks reports with the walk-through: those that are named, or all.
func walksThrough(t *testing.T, names ...string) {
	t.Helper()
	need(t, "openssl", "pdfsig", "pdfdetach", "qpdf", "python3")
	installation, other := attesttest.New(t, "walk"), attesttest.New(t, "other")
	now := time.Now().UTC().Truncate(time.Second) // what the authority's clock says
	installation.Begin, other.Begin = now, now
	authority, stranger := timestamptest.New(t, timestamptest.Now()), timestamptest.New(t, timestamptest.Now())
	service := timestamp.Service{URL: authority.Serve(t)}
	s := p256(t)
	key := attest.PDFKey([]*x509.Certificate{s.cert}, now)
	installation.PDFKeys = append(installation.PDFKeys, key)
	base := rendered()[report.Security]
	stamp := func(digest [32]byte) []byte {
		token, err := service.Stamp(t.Context(), digest[:])
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	prove := func(change func(*attest.Proof)) []byte {
		p := installation.Prove(base, 6, 11)
		p.Attestation.Timestamp = stamp(p.Attestation.Imprint())
		tree, err := p.Tree()
		if err != nil {
			t.Fatal(err)
		}
		p.CheckpointTimestamp = stamp(tree.Imprint())
		if change != nil {
			change(&p)
		}
		document, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return document
	}
	signed := func(proof []byte) []byte {
		u := s.update()
		u.At, u.Attachment, u.Stamp = now, proof, service.Stamp
		return signWith(t, base, u)
	}
	changedKeys := func(change func(k *attest.Key)) string {
		all := installation.Keys()
		for i := range all.Keys {
			change(&all.Keys[i])
		}
		document, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return stored(t, "muster-keys.json", document)
	}
	ended := func(k *attest.Key, at time.Duration) *time.Time {
		to := now.Add(at)
		k.ValidTo = &to
		return &to
	}
	keysOf := func(of *attesttest.Installation, uses ...attest.Use) string {
		keys := of.Keys()
		if uses != nil {
			keys.Keys = slices.DeleteFunc(keys.Keys, func(k attest.Key) bool { return !slices.Contains(uses, k.Use) })
		}
		document, err := json.Marshal(keys)
		if err != nil {
			t.Fatal(err)
		}
		return stored(t, "muster-keys.json", document)
	}
	good := prove(nil)
	signedOn := func(at time.Time) []byte {
		u := s.update()
		u.At, u.Attachment = at, good
		return signWith(t, base, u)
	}
	proveOn := func(begin time.Time, late time.Duration) []byte {
		installation.Begin, installation.Late = begin, late
		defer func() { installation.Begin, installation.Late = now, 0 }()
		return prove(nil)
	}
	file, keys := signed(good), keysOf(installation)
	changed := bytes.Clone(file)
	changed[2000] ^= 1
	swapped := filepath.Join(t.TempDir(), "swapped.pdf")
	if said, status := run(t, "qpdf", stored(t, "report.pdf", file), "--pages", ".", "2,1", "--", swapped); status != 0 {
		t.Fatal(said)
	}
	again, err := os.ReadFile(swapped)
	if err != nil {
		t.Fatal(err)
	}
	bare := s.update()
	bare.At, bare.Attachment = now, prove(func(p *attest.Proof) { p.Attestation.Timestamp, p.CheckpointTimestamp = nil, nil })
	all := len(names) == 0
	held := "file=held event=held inclusion=held checkpoint=held attestation=held signature=held timestamp=held"
	for name, test := range map[string]struct {
		file   []byte
		keys   string
		args   []string
		status int
		says   string
	}{
		"all that there is":                        {file, keys, []string{"--tsa-ca", authority.CAFile()}, 0, held},
		"no authority is named":                    {file, keys, nil, 0, "signature=held timestamp=not asked"},
		"another authority":                        {file, keys, []string{"--tsa-ca", stranger.CAFile()}, 1, "signature=held timestamp=broken"},
		"a base and its proof":                     {base, keys, []string{"--proof", stored(t, "proof.json", good)}, 0, "file=held event=held inclusion=held checkpoint=held attestation=held signature=not asked"},
		"a base":                                   {base, keys, nil, 3, "file=untold"},
		"a time stamp is asked for, and not there": {signWith(t, base, bare), keys, []string{"--tsa-ca", authority.CAFile()}, 3, "signature=held timestamp=untold"},
		"another's keys":                           {file, keysOf(other), nil, 3, "inclusion=held checkpoint=untold attestation=untold signature=untold"},
		"no key of the PDF":                        {file, keysOf(installation, attest.UseLog, attest.UseReport), nil, 3, "attestation=held signature=untold"},
		"no key of the log":                        {file, keysOf(installation, attest.UsePDF, attest.UseReport), nil, 3, "checkpoint=untold attestation=held signature=held"},
		"a byte of the base":                       {changed, keys, nil, 1, "file=broken event=held inclusion=held checkpoint=held attestation=held signature=broken"},
		"another update":                           {append(bytes.Clone(file), file[len(base):]...), keys, nil, 1, "signature=broken"},
		"another kind": {signed(prove(func(p *attest.Proof) { p.Report.Kind = "DataInventory" })), keys, nil, 1,
			"file=held event=held inclusion=held checkpoint=held attestation=broken signature=held"},
		"another day": {signed(prove(func(p *attest.Proof) { p.Event.RecordedAt = p.Event.RecordedAt.Add(time.Microsecond) })), keys, nil, 1,
			"file=held event=broken inclusion=broken checkpoint=held attestation=held"},
		"another tree": {signed(prove(func(p *attest.Proof) { p.Checkpoint = strings.Replace(p.Checkpoint, "\n11\n", "\n12\n", 1) })), keys, nil, 1,
			"inclusion=held checkpoint=broken attestation=held"},
		"another's checkpoint": {signed(prove(func(p *attest.Proof) { p.Checkpoint = other.Prove(base, 6, 11).Checkpoint })), keys, nil, 1,
			"inclusion=held checkpoint=broken"},
		"the proof's text": {bytes.Replace(file, []byte(`"kind":"Security"`), []byte(`"kind":"Zecurity"`), 1), keys, nil, 1, "attestation=broken signature=broken"},
		"no PDF":           {[]byte("hello"), keys, nil, 3, "file=untold"},

		"keys that were retired since": {file, changedKeys(func(k *attest.Key) { ended(k, time.Hour) }), nil, 3,
			"file=held event=held inclusion=held checkpoint=untold attestation=untold signature=untold"},
		"the same, and a clock that saw it before": {file, changedKeys(func(k *attest.Key) { ended(k, time.Hour) }), []string{"--tsa-ca", authority.CAFile()}, 0, held},
		"the same without the signature in the PDF": {base, changedKeys(func(k *attest.Key) { ended(k, time.Hour) }),
			[]string{"--tsa-ca", authority.CAFile(), "--proof", stored(t, "proof.json", good)}, 0, "checkpoint=held attestation=held signature=not asked timestamp=held"},
		"keys that were retired before": {file, changedKeys(func(k *attest.Key) { ended(k, -time.Hour) }), []string{"--tsa-ca", authority.CAFile()}, 1,
			"checkpoint=broken attestation=broken signature=untold"},
		"keys that were not there yet":                          {file, changedKeys(func(k *attest.Key) { k.ValidFrom = now.AddDate(0, 0, 2) }), nil, 1, "checkpoint=broken attestation=broken signature=broken"},
		"keys that are revoked":                                 {file, changedKeys(func(k *attest.Key) { k.RevokedAt, k.Reason = ended(k, time.Hour), "a disk was stolen"; k.ValidTo = nil }), nil, 3, "checkpoint=untold attestation=untold signature=untold"},
		"keys that are revoked, and a clock that saw it before": {file, changedKeys(func(k *attest.Key) { k.RevokedAt = ended(k, time.Hour) }), []string{"--tsa-ca", authority.CAFile()}, 0, held},
		"keys that are revoked from before on":                  {file, changedKeys(func(k *attest.Key) { k.RevokedAt = ended(k, -time.Minute); k.ValidTo = nil }), []string{"--tsa-ca", authority.CAFile()}, 3, "checkpoint=untold attestation=untold signature=untold"},
		"signed two days later":                                 {signedOn(now.AddDate(0, 0, 2)), keys, nil, 1, "file=held event=held inclusion=held checkpoint=held attestation=held signature=broken"},
		"a time stamp of two days later":                        {base, keys, []string{"--tsa-ca", authority.CAFile(), "--proof", stored(t, "proof.json", proveOn(now.AddDate(0, 0, -2), 0))}, 1, "signature=not asked timestamp=broken"},
		"recorded two days after it happened":                   {base, keys, []string{"--proof", stored(t, "proof.json", proveOn(now, 48*time.Hour-time.Second))}, 1, "event=broken"},
		"recorded in two days":                                  {base, keys, []string{"--proof", stored(t, "proof.json", proveOn(now.AddDate(0, 0, 2), 0))}, 1, "event=broken"},
		"pages swapped by qpdf":                                 {again, keys, nil, 1, "signature=broken"},
		"written again, its proof beside it": {again, keys, []string{"--proof", stored(t, "proof.json", good)}, 1,
			"signature=broken file=broken event=held inclusion=held checkpoint=held attestation=held"},
		"the findings":    {attesttest.Findings(base), keys, []string{"--proof", stored(t, "proof.json", good)}, 0, "file=held event=held inclusion=held checkpoint=held attestation=held signature=not asked"},
		"other findings":  {[]byte("other findings"), keys, []string{"--proof", stored(t, "proof.json", good)}, 1, "file=broken event=held"},
		"bytes before it": {append([]byte("junk\n"), file...), keys, nil, 1, "signature=broken"},
	} {
		if i := slices.Index(names, name); i >= 0 {
			names = slices.Delete(names, i, i+1)
		} else if !all {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, status := run(t, walkthrough, append([]string{stored(t, "report.pdf", test.file), "--keys", test.keys}, test.args...)...)
			if want := offlineSays(t, test.file, test.keys, test.args); status != want {
				t.Errorf("exit status %d, and muster verify --offline would have %d", status, want)
			}
			if got := states(said); status != test.status || !strings.Contains(got, test.says) {
				t.Errorf("exit status %d, %s\nwant        %d, %s\n%s", status, got, test.status, test.says, said)
			}
		})
	}
	if len(names) > 0 {
		t.Errorf("there is no file named %q", names)
	}
}

// TestTheWalkThroughTakesATrustFile: it asks for what that asks for, as the program does, and
// prints the fingerprint of its keys.
func TestTheWalkThroughTakesATrustFile(t *testing.T) {
	t.Parallel()
	need(t, "openssl", "pdfsig", "pdfdetach", "qpdf", "python3")
	installation, stranger := attesttest.New(t, "trusting"), attesttest.New(t, "a stranger")
	pdf := []byte("%PDF-1.7 trusting")
	document, err := installation.Prove(pdf, 6, 11).Encode()
	if err != nil {
		t.Fatal(err)
	}
	findings, proof := stored(t, "findings.csv", attesttest.Findings(pdf)), stored(t, "proof.json", document)
	trust := func(f attest.TrustFile) []byte {
		text, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	authority, err := os.ReadFile(timestamptest.New(t, timestamptest.Now()).CAFile())
	if err != nil {
		t.Fatal(err)
	}
	plain := trust(attest.TrustFile{Keys: installation.Keys().Keys})
	keys, err := json.Marshal(installation.Keys())
	if err != nil {
		t.Fatal(err)
	}
	const witness = "witness.example/w+75cef7f1+AZGUvF5Uvb3bAgbzUTcDzSRBYgEqbBCzQCsOqPtFEWwA"
	for name, test := range map[string]struct {
		trust  []byte
		status int
		says   string
	}{
		"keys alone":                  {plain, 0, "keys with the fingerprint " + installation.Keys().Fingerprint()},
		"a stranger's keys":           {trust(attest.TrustFile{Keys: stranger.Keys().Keys}), 3, "attestation  untold"},
		"a time stamp is wanted":      {trust(attest.TrustFile{Keys: installation.Keys().Keys, TSACertificates: string(authority)}), 3, "timestamp    untold"},
		"a witness is wanted":         {trust(attest.TrustFile{Keys: installation.Keys().Keys, Witnesses: []string{witness}, WitnessesNeeded: 1}), 3, "witness      untold"},
		"a demand of a later version": {bytes.Replace(plain, []byte(`"witnesses"`), []byte(`"monitors": 1, "witnesses"`), 1), 3, ""},
		"no witness of one is needed": {bytes.Replace(plain, []byte(`"witnesses": []`), []byte(`"witnesses": ["`+witness+`"]`), 1), 3, ""},
		"a name twice":                {bytes.Replace(plain, []byte(`"witnesses"`), []byte(`"Keys": [], "witnesses"`), 1), 3, ""},
		"a document of keys":          {keys, 3, ""},
	} {
		file := stored(t, "trust.json", test.trust)
		for script, args := range map[string][]string{walkthrough: {findings, "--trust", file, "--proof", proof}, "../../../scripts/verify_report.py": {"--trust", file, "--proof", proof, findings}} {
			said, status := run(t, script, args...)
			if status != test.status || !strings.Contains(said, test.says) {
				t.Errorf("%s: %s ends with %d, want %d and %q:\n%s", name, script, status, test.status, test.says, said)
			}
		}
	}
	for _, args := range [][]string{{"--keys", "x"}, {"--tsa-ca", "x"}} {
		if said, status := run(t, walkthrough, append([]string{findings, "--proof", proof, "--trust", stored(t, "trust.json", plain)}, args...)...); status != 3 {
			t.Errorf("with --trust and %s it ends with %d: %s", args[0], status, said)
		}
	}
}

// offlineSays is the exit status that our own check would have of the same arguments.
func offlineSays(t *testing.T, file []byte, keys string, args []string) int {
	t.Helper()
	read := func(path string) []byte {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	trust := attest.Trust{Now: time.Now()}
	var err error
	if trust.Keys, err = attest.ParseKeys(read(keys)); err != nil {
		t.Fatal(err)
	}
	var beside *attest.Proof
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "--tsa-ca":
			trust.TSA = x509.NewCertPool()
			trust.TSA.AppendCertsFromPEM(read(args[i+1]))
		case "--proof":
			p, err := attest.ParseProof(read(args[i+1]))
			if err != nil {
				t.Fatal(err)
			}
			beside = &p
		}
	}
	return map[attest.Verdict]int{attest.Holds: 0, attest.Contradicted: 1, attest.CannotTell: 3}[offline.Check(file, beside, trust).Verdict]
}

// states is what the lines of the walk-through say, without their sentences.
func states(said string) string {
	var all []string
	for line := range strings.Lines(said) {
		if len(line) > 24 && line[12] == ' ' {
			all = append(all, fmt.Sprintf("%s=%s", strings.TrimSpace(line[:12]), strings.TrimSpace(line[13:24])))
		}
	}
	return strings.Join(all, " ")
}

// Python's inclusion is ours, in trees of many shapes, and finds a leaf nowhere else.
func TestTheWalkThroughKnowsTreesOfEveryShape(t *testing.T) {
	t.Parallel()
	installation := attesttest.New(t, "trees")
	dir := t.TempDir()
	write := func(position, size int64, change func(*attest.Proof)) {
		p := installation.Prove([]byte("a PDF"), position, size)
		state := "held"
		if change != nil {
			change(&p)
			state = "broken"
		}
		document, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%d.json", state, position, size)), document, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for size := int64(1); size <= 17; size++ {
		for position := int64(1); position <= size; position++ {
			write(position, size, nil)
			write(position, size, func(p *attest.Proof) { p.Event.Position = p.Event.Position%size + 1; p.Event.Metadata += " " })
		}
	}
	write(17, 17, func(p *attest.Proof) { p.Inclusion = append(p.Inclusion, p.Inclusion[0]) })
	write(16, 17, func(p *attest.Proof) { p.Inclusion = p.Inclusion[1:] })
	const loop = `
import glob, json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "../../../scripts")
import check_report
for path in sorted(glob.glob(sys.argv[1] + "/*.json")):
    try:
        check_report.inclusion(json.load(open(path)))
        state = "held"
    except check_report.Broken:
        state = "broken"
    if not os.path.basename(path).startswith(state):
        print(path, state)
print("done")
`
	if said, status := run(t, "python3", "-c", loop, dir); status != 0 || said != "done\n" {
		t.Errorf("exit status %d\n%s", status, said)
	}
}
