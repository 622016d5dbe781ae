package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/attest"
	"muster/internal/longtest"
)

// loop has the verifier that was written from docs/auditors.md judge vectors.
const loop = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "../../../scripts")
import verify_report as v
read = lambda path: open(path, "rb").read() if path else None
out = {}
for q in json.load(sys.stdin):
    steps = v.verify(read(q["file"]), read(q["proof"]), read(q["keys"]), v.micros(q["now"]) if q["now"] else None)
    out[q["name"]] = {"status": v.status(steps), "steps": [{"name": n, "state": s, "detail": d} for n, s, d in steps]}
print(json.dumps(out))
`

// judged holds every step-th vector against the verdict of the Python verifier.
func judged(t *testing.T, step int) {
	t.Helper()
	for _, tool := range []string{"python3", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool, " is missing: the verifier of docs/auditors.md is not run")
		}
	}
	type asked struct {
		Name  string `json:"name"`
		File  string `json:"file"`
		Proof string `json:"proof"`
		Keys  string `json:"keys"`
		Now   string `json:"now"`
	}
	var questions []asked
	all := stored(t)
	for i := 0; i < len(all); i += step {
		q := asked{Name: all[i].Name, File: all[i].path(".pdf"), Keys: keysPath(all[i].Keys)}
		if all[i].Proof {
			q.Proof = all[i].path(".proof.json")
		}
		if all[i].Now != nil {
			q.Now = all[i].Now.UTC().Format(time.RFC3339)
		}
		questions = append(questions, q)
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
	answers := map[string]struct {
		Status int
		Steps  []attest.Step
	}{}
	must(t, json.Unmarshal(text, &answers))
	for i := 0; i < len(all); i += step {
		v, got := all[i], answers[all[i].Name]
		if want := map[attest.Verdict]int{attest.Holds: 0, attest.Contradicted: 1, attest.CannotTell: 3}[v.Verdict]; got.Status != want {
			t.Errorf("%s: it ends with %d, want %d: %+v", v.Name, got.Status, want, got.Steps)
		}
	}
}

// TestAVerifierOfOthers: scripts/verify_report.py, which was written from the layouts in
// docs/auditors.md alone, says of a vector what the program says.
func TestAVerifierOfOthers(t *testing.T) {
	t.Parallel()
	judged(t, 5)
}

func TestLongAVerifierOfOthers(t *testing.T) {
	longtest.Only(t)
	judged(t, 1)
}

// TestTheLayoutsThatAreDocumented: the sums in docs/auditors.md are those of the program.
func TestTheLayoutsThatAreDocumented(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 123_456_000, time.UTC)
	organization, stream := uuid.MustParse("0199f0d2-0000-7000-8000-000000000001"), uuid.MustParse("0199f0d2-0000-7000-8000-0000000000aa")
	digest := eventstore.Digest(eventstore.Event{
		Log: eventstore.Reports, OrganizationID: organization, StreamType: "report", Stream: stream, Type: "report.step", SchemaVersion: 1,
		OccurredAt: at, Data: []byte(`{"n":1}`), Metadata: []byte(`{"actorId":"system:test"}`),
	})
	from, to := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	documented := string(read(t, "../../../docs/auditors.md"))
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
