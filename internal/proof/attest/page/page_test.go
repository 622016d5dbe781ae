package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/internal/proof/attest"
)

// driver runs the page's program, all but what a person sees, over the vectors.
const driver = `
const fs = require("node:fs");
const file = (path) => new Uint8Array(fs.readFileSync(path));
const out = {};
for (const v of JSON.parse(fs.readFileSync(0))) {
  let said;
  try {
    const keys = await readKeys(fs.readFileSync(v.keys, "utf8"));
    said = await check(file(v.file), v.proof ? readProof(fs.readFileSync(v.proof, "utf8")) : null, keys, v.now ? micros(v.now, "now") : null);
  } catch (e) {
    said = { verdict: e instanceof Malformed ? "cannot tell" : "thrown: " + e.stack, steps: [] };
  }
  out[v.name] = { verdict: said.verdict, sentence: said.sentence, steps: said.steps };
}
console.log(JSON.stringify(out));
`

// said is what the page says of a file.
type said struct {
	Verdict  attest.Verdict
	Sentence string
	Steps    []attest.Step
}

// question is what the driver is asked about: paths.
type question struct {
	Name  string     `json:"name"`
	File  string     `json:"file"`
	Proof string     `json:"proof"`
	Keys  string     `json:"keys"`
	Now   *time.Time `json:"now"`
}

// inNode runs the page's program over vectors.
func inNode(t *testing.T, all []vector) map[string]said {
	t.Helper()
	var questions []question
	for _, v := range all {
		q := question{Name: v.Name, File: v.path(".pdf"), Keys: keysPath(v.Keys), Now: v.Now}
		if v.Proof {
			q.Proof = v.path(".proof.json")
		}
		questions = append(questions, q)
	}
	return ask(t, questions)
}

// ask runs the page's program.
func ask(t *testing.T, questions []question) map[string]said {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is missing: the page's program is not run")
	}
	var program bytes.Buffer
	program.WriteString("(async () => {\n")
	for _, name := range scripts {
		if name != "page" {
			program.Write(read(t, filepath.Join("js", name+".js")))
		}
	}
	program.WriteString(driver + "})();\n")
	path := filepath.Join(t.TempDir(), "page.cjs")
	must(t, os.WriteFile(path, program.Bytes(), 0o600))
	input, err := json.Marshal(questions)
	must(t, err)
	run := exec.Command(node, path)
	run.Stdin = bytes.NewReader(input)
	var complaints bytes.Buffer
	run.Stderr = &complaints
	text, err := run.Output()
	if err != nil {
		t.Fatal(err, complaints.String())
	}
	answers := map[string]said{}
	must(t, json.Unmarshal(text, &answers))
	return answers
}

// firstOff is the first step that contradicts, or else that cannot be told.
func firstOff(steps []attest.Step) string {
	for _, state := range []attest.State{attest.Broken, attest.Untold} {
		for _, s := range steps {
			if s.State == state {
				return s.Name
			}
		}
	}
	return ""
}

// TestThePageAgreesWithTheVectors: of each file the verdict, and the step that decides it.
func TestThePageAgreesWithTheVectors(t *testing.T) {
	t.Parallel()
	all := stored(t)
	for name, got := range inNode(t, all) {
		for _, v := range all {
			if v.Step == unread && len(got.Steps) == 0 {
				v.Step = ""
			}
			if v.Name == name && (got.Verdict != v.Verdict || firstOff(got.Steps) != v.Step) {
				t.Errorf("%s: %s by %q (%s), want %s by %q", name, got.Verdict, firstOff(got.Steps), got.Sentence, v.Verdict, v.Step)
			}
		}
	}
}

// TestATimeStamp is shown, with its time if it covers the report, and decides nothing.
func TestATimeStamp(t *testing.T) {
	t.Parallel()
	answers := inNode(t, stored(t))
	for name, want := range map[string]string{
		"a time stamp":                   `^A time stamp says that the report’s attestation existed on \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ, by the clock of Example TSA`,
		"a time stamp of something else": `^The time stamp of the report’s attestation is not valid: it is over something else\.`,
		"a time stamp that was changed":  `^The time stamp of the report’s attestation is not valid: its own certificate did not sign it\.`,
		"a time stamp with another time": `is not valid: its own certificate did not sign it\.`,
		"a time stamp in the signature":  `^A time stamp says that the PDF’s signature existed on .* by the clock of Example TSA`,
		"signed":                         `^There is no time stamp\.$`,
	} {
		for _, s := range answers[name].Steps {
			if s.Name == attest.StepTimestamp && !regexp.MustCompile(want).MatchString(s.Detail) {
				t.Errorf("%s: %s", name, s.Detail)
			}
		}
	}
}

// TestThePageIsOneFile that holds all it needs, under a policy that lets nothing else in.
func TestThePageIsOneFile(t *testing.T) {
	t.Parallel()
	keys := read(t, keysPath("ours"))
	page, err := Write(keys)
	must(t, err)
	text := string(page)
	if reached := regexp.MustCompile(`(?i)\b(src|href|action|srcset|formaction)\s*=|\burl\(|@import|\bfetch\(|XMLHttpRequest|WebSocket|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function`).FindString(text); reached != "" {
		t.Errorf("it has %q", reached)
	}
	for _, part := range []string{"script", "style"} {
		inside := regexp.MustCompile(`(?s)<`+part+`>(.*?)</`+part+`>`).FindAllStringSubmatch(text, -1)
		if len(inside) != 1 || !strings.Contains(text, part+"-src "+hashOf([]byte(inside[0][1]))) {
			t.Errorf("the policy lets another %s in than the one that is there", part)
		}
	}
	if again, err := Write(keys); err != nil || !bytes.Equal(again, page) {
		t.Error("it is another one the next time", err)
	}
	var malformed *attest.MalformedError
	if _, err := Write([]byte(`{"keys":[]}`)); !errors.As(err, &malformed) {
		t.Errorf("keys that are none: %v", err)
	}
	t.Logf("%d bytes", len(page))
}
