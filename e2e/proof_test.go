package e2e

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/testing/pgtest"
)

// stored is where the blob store keeps a file that the report's Ready, or Signed, names.
func (i installed) stored(t testing.TB, report uuid.UUID, member string) string {
	t.Helper()
	event := "report.ready"
	if member == theSigned {
		event = "report.signed"
	}
	named := i.events(t, "--stream", report.String(), "--type", event)
	if len(named) != 1 {
		t.Fatalf("report %s has %d %s", report, len(named), event)
	}
	name, _ := named[0].Data[member].(string)
	return filepath.Join(i.dir, "blobs", filepath.FromSlash(name))
}

// The members of Ready that name files.
const (
	thePDF    = "pdfKey"
	theInputs = "inputsKey"
	theSigned = "key" // of report.signed
)

func (i installed) rebuild(t testing.TB, report uuid.UUID) outcome {
	t.Helper()
	return i.muster(t, "reports", "rebuild", report.String(), "--verify")
}

// TestFourAnswersOfARebuild holds each to its exit status and sentence.
func TestFourAnswersOfARebuild(t *testing.T) {
	t.Parallel()
	h := newReported(t)
	h.serves(t)
	id, other := h.security, h.scorecard
	answers := func(t *testing.T, got outcome, status int, words ...string) {
		t.Helper()
		if got.status != status || got.errors != "" {
			t.Errorf("exit status %d, want %d: %s%s", got.status, status, got.out, got.errors)
		}
		for _, w := range words {
			if !strings.Contains(got.out, w) {
				t.Errorf("it does not say %q: %s", w, got.out)
			}
		}
	}
	answers(t, h.rebuild(t, id), 0, "identical")
	fingerprint := h.fingerprint(t)
	h.must(t, "keys", "rotate") // the PDF prints the fingerprint of then
	if now := h.fingerprint(t); now == fingerprint {
		t.Errorf("after a rotation the fingerprint of the keys is still %s", now)
	}
	answers(t, h.rebuild(t, id), 0, "identical")

	newer := launch(t, []string{asVersion + "=9.9"}, append(h.flags(), "reports", "rebuild", id.String(), "--verify")...)
	answers(t, newer.outcome(t), 3, "another renderer", "inputs match", "Run version dev")

	h.buildsFromInputsInHand(t, id, other)

	inputs := h.stored(t, id, theInputs)
	genuine := read(t, inputs)
	write(t, inputs, read(t, h.stored(t, other, theInputs)))
	answers(t, h.rebuild(t, id), 1, "inputs do not match", filepath.Base(inputs))
	newer = launch(t, []string{asVersion + "=9.9"}, append(h.flags(), "reports", "rebuild", id.String(), "--verify")...)
	answers(t, newer.outcome(t), 1, "inputs do not match") // whoever renders
	write(t, inputs, genuine[:len(genuine)/2])
	answers(t, h.rebuild(t, id), 1, "inputs do not match")
	if err := os.Remove(inputs); err != nil {
		t.Fatal(err)
	}
	answers(t, h.rebuild(t, id), 1, "inputs are missing")
	write(t, inputs, genuine)
	answers(t, h.rebuild(t, id), 0, "identical")

	// The day has come on which the inputs are to go.
	pgtest.Connect(t, h.url).MustExec(`UPDATE jobs SET due_at = now() WHERE kind = 'erase' AND key = 'inputs' AND subject = $1`, id)
	eventually(t, "the inputs are erased", func() bool { return gone(inputs) && h.rebuild(t, id).status == 4 })
	answers(t, h.rebuild(t, id), 4, "erased on ", "retention")
	_, path := h.ana.download(t, id)
	h.must(t, "verify", path) // the digests still prove the PDF
}

// buildsFromInputsInHand builds a report again where no database is, as the program must
// that is older than the database by now.
func (h house) buildsFromInputsInHand(t *testing.T, id, other uuid.UUID) {
	t.Helper()
	file := func(of uuid.UUID, name string) string {
		return fileWith(t, name, string(h.ana.get(t, "/api/v1/reports/"+of.String()+"/files/"+name, nil).body))
	}
	_, signed := h.ana.download(t, id)
	h.ana.signed(t, other)
	inputs, foreign := file(id, "inputs.json"), file(other, "proof.json")
	base := fileWith(t, "base.pdf", string(h.ana.get(t, "/api/v1/reports/"+id.String()+"/download?revision=base", nil).body))
	bytesOf := read(t, signed)
	bytesOf[len(read(t, base))/2] ^= 1
	changed := fileWith(t, "changed.pdf", string(bytesOf))
	edited := fileWith(t, "edited.json", strings.Replace(string(read(t, inputs)), "Acme", "Acne", 1))
	again := filepath.Join(t.TempDir(), "again.pdf")
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"the signed PDF":          {[]string{"--inputs", inputs, "--against", signed, "--verify", "--file", again}, 0, "identical"},
		"the PDF as it was built": {[]string{"--inputs", inputs, "--against", base, "--verify"}, 0, "identical"},
		"the proof":               {[]string{id.String(), "--inputs", inputs, "--against", file(id, "proof.json"), "--verify", "--offline"}, 0, "findings.csv"},
		"as the store has them":   {[]string{"--inputs", h.stored(t, id, theInputs), "--against", sum(read(t, base)), "--verify"}, 0, "identical"},
		"another proof":           {[]string{"--inputs", inputs, "--against", foreign, "--verify"}, 1, "another report's"},
		"a changed PDF":           {[]string{"--inputs", inputs, "--against", changed, "--verify"}, 1, "changed"},
		"edited inputs":           {[]string{"--inputs", edited, "--against", signed, "--verify"}, 1, "they were changed"},
		"another report":          {[]string{other.String(), "--inputs", inputs, "--against", signed, "--verify"}, 1, "are the inputs of report " + id.String()},
		"the PDF as inputs":       {[]string{"--inputs", signed, "--file", filepath.Join(t.TempDir(), "x.pdf")}, 1, "is no inputs document"},
		"no file":                 {[]string{"--inputs", "/nowhere/inputs.json", "--against", signed, "--verify"}, 1, "no such file"},
	} {
		got := muster(t, append([]string{"--database-url=postgres://muster@127.0.0.1:1/nowhere", "--data-dir=/nowhere", "reports", "rebuild"}, c.args...)...)
		if got.status != c.status || !strings.Contains(got.out+got.errors, c.says) {
			t.Errorf("%s: ended with %d, want %d and %q: %s%s", name, got.status, c.status, c.says, got.out, got.errors)
		}
	}
	if !bytes.Equal(read(t, again), read(t, base)) {
		t.Error("what was built again is not the PDF that was built, byte for byte")
	}
	h.must(t, "verify", again)
	newer := launch(t, []string{asVersion + "=9.9"}, "--database-url=postgres://muster@127.0.0.1:1/nowhere", "reports", "rebuild", "--inputs", inputs, "--against", signed, "--verify")
	if got := newer.outcome(t); got.status != 3 || !strings.Contains(got.out, "Run version dev") {
		t.Errorf("another version ended with %d: %s%s", got.status, got.out, got.errors)
	}
}

// gone says that there is no such file.
func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestExpiry: the link ends by the clock, the file goes, the events stay, and
// the PDF in somebody's hand can still be proven.
func TestExpiry(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "--report-retention=2s")
	id := h.ana.request(t, security(h.live))
	eventually(t, "the report expires", func() bool { return h.ana.report(t, id).Status == "Expired" })
	if r := h.ana.report(t, id); r.DownloadURL != "" || r.File != nil {
		t.Errorf("an expired report still offers its file: %+v", r)
	}
	got, err := h.ana.try(t.Context(), http.MethodGet, "/api/v1/reports/"+id.String()+"/download", nil)
	if err != nil || got.status != http.StatusGone || got.code() != "report_expired" {
		t.Errorf("the download answers %d %s, %v", got.status, got.body, err)
	}
	eventually(t, "the log says Expired", func() bool {
		return len(h.events(t, "--stream", id.String(), "--type", "report.expired")) == 1
	})
	pdf := h.stored(t, id, thePDF)
	eventually(t, "the PDF is deleted", func() bool { return gone(pdf) })
	if kept := h.events(t, "--stream", id.String(), "--type", "report.ready"); len(kept) != 1 {
		t.Error("the log has forgotten Ready")
	}
	if got := h.rebuild(t, id); got.status != 0 {
		t.Errorf("the inputs no longer give the PDF: %d %s", got.status, got.out)
	}
	path := filepath.Join(t.TempDir(), "again.pdf")
	h.must(t, "reports", "rebuild", id.String(), "--file", path)
	if said := h.must(t, "verify", path); !strings.Contains(said, "Expired") {
		t.Errorf("it does not say that the report has expired:\n%s", said)
	}
	h.must(t, "events", "verify")
}
