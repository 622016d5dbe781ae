package page

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
	"muster/internal/testing/longtest"
)

// loop has the verifier that was written from docs/auditors.md judge vectors.
const loop = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "../../../../scripts")
import verify_report as v
read = lambda path: open(path, "rb").read() if path else None
out = {}
for q in json.load(sys.stdin):
    steps = v.verify(read(q["file"]), read(q["proof"]), read(q["keys"]), v.micros(q["now"]) if q["now"] else None)
    out[q["name"]] = {"status": v.status(steps), "steps": [{"name": n, "state": s, "detail": d} for n, s, d in steps]}
print(json.dumps(out))
`

// asking is what the Python verifier is asked: paths, and its clock.
type asking struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Proof string `json:"proof"`
	Keys  string `json:"keys"`
	Now   string `json:"now"`
}

type pythonAnswer struct {
	Status int
	Steps  []attest.Step
}

// askPython has scripts/verify_report.py answer, by the names of the questions.
func askPython(t *testing.T, questions []asking) (answers map[string]pythonAnswer) {
	t.Helper()
	for _, tool := range []string{"python3", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool, " is missing: the verifier of docs/auditors.md is not run")
		}
	}
	input, err := json.Marshal(questions)
	must(t, err)
	run := exec.CommandContext(t.Context(), "python3", "-c", loop)
	run.Stdin = bytes.NewReader(input)
	var complaints bytes.Buffer
	run.Stderr = &complaints
	text, err := run.Output()
	if err != nil {
		t.Fatal(err, complaints.String())
	}
	must(t, json.Unmarshal(text, &answers))
	return answers
}

// judged compares every step-th vector, and those of the findings' table, with the verdict of the Python verifier.
func judged(t *testing.T, step int) {
	t.Helper()
	var questions []asking
	var chosen []vector
	for i, v := range stored(t) {
		if i%step != 0 && !strings.HasPrefix(v.Name, "the findings") {
			continue
		}
		q := asking{Name: v.Name, File: v.path(".pdf"), Keys: keysPath(v.Keys)}
		if v.Proof {
			q.Proof = v.path(".proof.json")
		}
		if v.Now != nil {
			q.Now = v.Now.UTC().Format(time.RFC3339)
		}
		chosen, questions = append(chosen, v), append(questions, q)
	}
	answers := askPython(t, questions)
	for _, v := range chosen {
		got := answers[v.Name]
		if want := map[attest.Verdict]int{attest.Holds: 0, attest.Contradicted: 1, attest.CannotTell: 3}[v.Verdict]; got.Status != want {
			t.Errorf("%s: it ends with %d, want %d: %+v", v.Name, got.Status, want, got.Steps)
		}
	}
}

// TestAnIndependentVerifierAgrees: scripts/verify_report.py, which was written from the layouts in
// docs/auditors.md alone, says of a vector what the program says.
func TestAnIndependentVerifierAgrees(t *testing.T) {
	t.Parallel()
	judged(t, 5)
}

// TestAnIndependentVerifierJudgesKeys that ended, for exports and evidence as for reports: a person with an old
// key can sign any date.
func TestAnIndependentVerifierJudgesKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, content, 0o600))
		return path
	}
	asOf := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	public, secret, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	spki, err := attest.ReportKey(public, asOf.Add(-time.Hour))
	must(t, err)
	document := `{"format":"muster-evidence-1","asOf":"2026-11-20T12:00:00Z"}`
	signature := ed25519.Sign(secret, fmt.Appendf(nil, "muster-evidence-1\n%x\n", sha256.Sum256([]byte(document))))
	evidence := write("evidence.json", fmt.Appendf(nil, `{"evidence": %s, "keyId": %q, "signature": %q, "timestamp": null}`,
		document, spki.ID, base64.StdEncoding.EncodeToString(signature)))
	exportKeys, err := attest.ParseKeys(read(t, "../../../../eventstore/testdata/export-2-keys.json"))
	must(t, err)
	export := "../../../../eventstore/testdata/export-2.jsonl"

	at := func(d time.Duration) *time.Time { then := asOf.Add(d); return &then }
	var questions []asking
	want := map[string]int{}
	for file, key := range map[string]attest.Key{evidence: spki, export: exportKeys.Keys[0]} {
		for name, c := range map[string]struct {
			change           func(*attest.Key)
			evidence, export int
		}{
			"a key that signs":            {func(*attest.Key) {}, 0, 0},
			"a key that was retired":      {func(k *attest.Key) { k.ValidTo = at(48 * time.Hour) }, 3, 3},
			"a key that was revoked":      {func(k *attest.Key) { k.RevokedAt, k.Reason = at(48*time.Hour), "a disk was stolen" }, 3, 3},
			"a key that was retired then": {func(k *attest.Key) { k.ValidTo = at(-48 * time.Hour) }, 1, 3},
			"a key that was not there":    {func(k *attest.Key) { k.ValidFrom = *at(48 * time.Hour) }, 1, 0},
		} {
			k := key
			c.change(&k)
			keys, err := json.Marshal(attest.Keys{Keys: []attest.Key{k}})
			must(t, err)
			name = filepath.Base(file) + ": " + name
			questions = append(questions, asking{Name: name, File: file, Keys: write(fmt.Sprint(len(questions), ".json"), keys), Now: "2026-11-28T12:00:00Z"})
			if want[name] = c.export; file == evidence {
				want[name] = c.evidence
			}
		}
	}
	questions = append(questions, asking{Name: "evidence of a day that has not come", File: evidence, Keys: questions[0].Keys, Now: "2026-11-18T12:00:00Z"})
	for _, q := range questions {
		if q.File == evidence && strings.HasSuffix(q.Name, "a key that signs") {
			questions[len(questions)-1].Keys = q.Keys
		}
	}
	want["evidence of a day that has not come"] = 1
	for name, got := range askPython(t, questions) {
		if got.Status != want[name] {
			t.Errorf("%s: it ends with %d, want %d: %+v", name, got.Status, want[name], got.Steps)
		}
	}
}

func TestLongAnIndependentVerifierAgrees(t *testing.T) {
	longtest.Only(t)
	judged(t, 1)
}

// TestTheDocumentedLayouts: the sums in docs/auditors.md are those of the program.
func TestTheDocumentedLayouts(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 123_456_000, time.UTC)
	organization, stream := uuid.MustParse("0199f0d2-0000-7000-8000-000000000001"), uuid.MustParse("0199f0d2-0000-7000-8000-0000000000aa")
	digest := eventstore.Digest(eventstore.Event{
		Log: eventstore.Reports, OrganizationID: organization, StreamType: "report", Stream: stream, Type: "report.step", SchemaVersion: 1,
		OccurredAt: at, Data: []byte(`{"n":1}`), Metadata: []byte(`{"actorId":"system:test"}`),
	})
	from, to := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	documented := string(read(t, "../../../../docs/auditors.md"))
	for what, sum := range map[string]string{
		"digest":     fmt.Sprintf("%x", digest),
		"link":       fmt.Sprintf("%x", eventstore.Link(make([]byte, 32), digest[:], at)),
		"leaf hash":  fmt.Sprintf("%x", sha256.Sum256(append([]byte{0}, tree.Leaf(digest[:], at)...))),
		"everything": report.Fingerprint(organization, report.Security, report.Scope{}),
		"November":   report.Fingerprint(organization, report.InstanceScorecard, report.Scope{InstanceIDs: []uuid.UUID{stream}, From: &from, To: &to}),
	} {
		found := false
		for line := range strings.Lines(documented) {
			found = found || strings.Contains(line, what) && strings.HasSuffix(line, " "+sum+"\n")
		}
		if !found {
			t.Errorf("docs/auditors.md does not say %s %s", what, sum)
		}
	}
}

// TestTheDocumentedFingerprint: the lines of Python in docs/auditors.md print what the
// program and scripts/verify_report.py print.
func TestTheDocumentedFingerprint(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is missing: the fingerprint of docs/auditors.md is not computed")
	}
	_, from, _ := strings.Cut(string(read(t, "../../../../docs/auditors.md")), "python3 - muster-keys.json <<'END'\n")
	program, _, ok := strings.Cut(from, "END\n```")
	if !ok {
		t.Fatal("docs/auditors.md has no lines of Python")
	}
	for _, name := range []string{"ours", "ended"} {
		keys := attesttest.New(t, name).Keys()
		if name == "ended" {
			end := time.Date(2026, 12, 1, 8, 0, 0, 120_000_000, time.UTC)
			keys.Keys[0].ValidTo, keys.Keys[1].RevokedAt, keys.Keys[1].Reason = &end, &end, "a disk was stolen"
			slices.Reverse(keys.Keys)
		}
		document, err := json.Marshal(keys)
		must(t, err)
		file := filepath.Join(t.TempDir(), "muster-keys.json")
		must(t, os.WriteFile(file, document, 0o600))
		for what, args := range map[string][]string{
			"docs":             {"-c", program, file},
			"verify_report.py": {"-c", "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '../../../../scripts'); import verify_report as v; print(v.fingerprint(v.trusted(open(sys.argv[1], 'rb').read())[0]))", file},
			"check_report.py":  {"../../../../scripts/check_report.py", "--fingerprint", file},
		} {
			said, err := exec.CommandContext(t.Context(), "python3", args...).CombinedOutput()
			if got := strings.TrimSpace(string(said)); err != nil || got != keys.Fingerprint() {
				t.Errorf("%s: %s prints %s, want %s: %v", name, what, got, keys.Fingerprint(), err)
			}
		}
	}
}
