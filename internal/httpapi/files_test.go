package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
)

var (
	tableText  = "id,object\r\n" + strings.Repeat("1,'=1+1\r\n", 400)
	inputsText = `{"schema":3,"names":"` + strings.Repeat("orders ", 400) + `"}`
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// withFiles is a report that is Ready with its table and its inputs.
func (w *world) withFiles(as tenant, recipients ...uuid.UUID) uuid.UUID {
	w.t.Helper()
	id := w.requested(as, as.member, recipients...)
	w.readyWith(as, id, pdfText+id.String(), func(ready *report.Ready) {
		inputs, err := w.deps.Blobs.WriteInputs(w.t.Context(), blobs.InputsName(as.organization.ID, id, 1), strings.NewReader(inputsText))
		must(w.t, err)
		table, err := w.deps.Blobs.WriteCompanion(w.t.Context(), blobs.CompanionName(as.organization.ID, id, 1, report.FindingsFile), strings.NewReader(tableText))
		must(w.t, err)
		ready.InputsKey, ready.InputsSHA256, ready.InputsSizeBytes = inputs.Name, inputs.SHA256, int64(len(inputsText))
		ready.InputsErasedOn = w.clock.Now().Add(400 * day)
		ready.Files = []report.File{{Name: report.FindingsFile, Key: table.Name, SizeBytes: table.SizeBytes, SHA256: table.SHA256}}
	})
	return id
}

// names are the files of a report as somebody's list has them.
func (w *world) names(as person, id uuid.UUID) (names []string) {
	w.t.Helper()
	for _, item := range w.get(as, "/api/v1/reports/"+id.String()+"/files").is(200).object()["items"].([]any) {
		names = append(names, item.(map[string]any)["name"].(string))
	}
	return names
}

func TestFilesOfAReport(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.withFiles(w.ours, w.ours.viewer.ID)
	path := "/api/v1/reports/" + id.String() + "/files"
	content := map[string]string{report.PDFFile: pdfText + id.String(), report.FindingsFile: tableText, report.InputsFile: inputsText}
	types := map[string]string{report.PDFFile: "application/pdf", report.FindingsFile: "text/csv; charset=utf-8; header=present", report.InputsFile: "application/json"}
	items := w.get(w.ours.auditor, path).is(200).object()["items"].([]any)
	if len(items) != 3 {
		t.Fatalf("listed are %v", items)
	}
	for _, item := range items {
		listed := item.(map[string]any)
		name := listed["name"].(string)
		text := content[name]
		if listed["sizeBytes"] != float64(len(text)) || listed["sha256"] != sha(text) || !strings.HasPrefix(types[name], listed["mediaType"].(string)) {
			t.Errorf("listed is %v", listed)
		}
		get := func(header ...string) answer {
			headers := map[string]string{"Accept-Encoding": "gzip"}
			if len(header) == 2 {
				headers[header[0]] = header[1]
			}
			return w.do(request{path: path + "/" + name, as: w.ours.auditor, header: headers})
		}
		whole := get().is(200)
		if whole.Body.String() != text || whole.Header().Get("Content-Encoding") != "" || whole.Header().Get("No-Gzip-Compression") != "" {
			t.Errorf("%s comes as %.80q, %v", name, whole.Body, whole.Header())
		}
		digest, _ := hex.DecodeString(sha(text))
		tag := `"` + sha(text) + `"`
		for header, want := range map[string]string{
			"Content-Type": types[name], "ETag": tag, "Repr-Digest": "sha-256=:" + base64.StdEncoding.EncodeToString(digest) + ":",
			"Content-Length": fmt.Sprint(len(text)), "Accept-Ranges": "bytes", "Cache-Control": "private, no-store",
			"RateLimit-Policy": `"default";q=600;w=60, "download";q=60;w=60`,
		} {
			if got := whole.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
		if saved := map[string]string{
			report.PDFFile: "%22.pdf", report.FindingsFile: "%22-findings.csv", report.InputsFile: "%22-inputs.json",
		}[name]; !strings.HasSuffix(whole.Header().Get("Content-Disposition"), saved) {
			t.Errorf("%s is saved as %s", name, whole.Header().Get("Content-Disposition"))
		}
		get("If-None-Match", tag).is(304)
		get("If-Match", `"another"`).problem(412, "precondition_failed")
		if part := get("Range", "bytes=1-3").is(206); part.Body.String() != text[1:4] {
			t.Errorf("a part of %s is %q", name, part.Body)
		}
		get("Range", "bytes=999999-").problem(416, "range_not_satisfiable")
		w.do(request{method: "HEAD", path: path + "/" + name, as: w.ours.auditor}).is(200)
	}
	w.get(w.ours.auditor, path+"/inventory.csv").problem(404, "not_found") // of another kind
	w.get(w.ours.auditor, path+"/report.pd").problem(404, "not_found")

	// Once an hour, person and file; a download under its old address is one of the PDF.
	w.get(w.ours.auditor, "/api/v1/reports/"+id.String()+"/download").is(200)
	fetched := map[string]int{}
	for _, e := range w.get(w.ours.auditor, "/api/v1/reports/"+id.String()+"/events").is(200).object()["items"].([]any) {
		if e := e.(map[string]any); e["type"] == "downloaded" {
			fetched[fmt.Sprint(e["data"].(map[string]any)["file"])]++
		}
	}
	if len(fetched) != 3 || fetched["<nil>"] != 1 || fetched[report.FindingsFile] != 1 || fetched[report.InputsFile] != 1 {
		t.Errorf("on record are %v", fetched)
	}
}

// The files of a report have the rights of its PDF; what it was made from is for those
// who audit and administrate.
func TestFilesHaveTheRightsOfTheirReport(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	mine, other := w.withFiles(w.ours, w.ours.viewer.ID), w.withFiles(w.ours)
	file := func(id uuid.UUID, name string) string { return "/api/v1/reports/" + id.String() + "/files/" + name }
	for _, c := range []struct {
		as    person
		names string
	}{
		{w.ours.viewer, "[report.pdf findings.csv]"}, {w.ours.member, "[report.pdf findings.csv]"},
		{w.ours.auditor, "[report.pdf findings.csv inputs.json]"}, {w.ours.admin, "[report.pdf findings.csv inputs.json]"},
	} {
		if got := fmt.Sprint(w.names(c.as, mine)); got != c.names {
			t.Errorf("%s: %s, want %s", c.as.Role, got, c.names)
		}
		a := w.get(c.as, file(mine, report.InputsFile))
		if strings.Contains(c.names, report.InputsFile) {
			a.is(200)
		} else {
			a.problem(403, "forbidden")
		}
		w.get(c.as, file(mine, report.FindingsFile)).is(200)
	}
	w.get(w.ours.viewer, file(other, report.FindingsFile)).problem(403, "forbidden")
	w.get(w.ours.viewer, "/api/v1/reports/"+other.String()+"/files").problem(403, "forbidden")
	w.get(w.theirs.admin, file(mine, report.FindingsFile)).problem(404, "not_found")
	w.get(w.theirs.admin, "/api/v1/reports/"+mine.String()+"/files").problem(404, "not_found")
}

func TestEachFileExpiresAtItsOwnTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	queued, id, old := w.requested(w.ours, w.ours.member), w.withFiles(w.ours), w.requested(w.ours, w.ours.member)
	w.ready(w.ours, old, pdfText) // of before there were tables
	path := func(id uuid.UUID, name string) string { return "/api/v1/reports/" + id.String() + "/files/" + name }
	if got := w.names(w.ours.auditor, queued); len(got) != 0 {
		t.Errorf("a report that waits has %v", got)
	}
	w.get(w.ours.auditor, path(queued, report.FindingsFile)).problem(409, "report_not_ready")
	w.get(w.ours.auditor, path(old, report.FindingsFile)).problem(404, "not_found")
	if got := fmt.Sprint(w.names(w.ours.auditor, old)); got != "[report.pdf]" { // its inputs are nowhere
		t.Errorf("an old report has %s", got)
	}

	later := func(by time.Duration) person {
		w.clock.Advance(by)
		session, _, err := w.deps.Accounts.StartSession(t.Context(), w.ours.auditor.ID, accounts.MethodPassword, client0)
		must(t, err)
		return person{w.ours.auditor.Member, session}
	}
	me := later(30*day + time.Second)
	w.get(me, path(id, report.PDFFile)).problem(410, "expired")
	w.get(me, path(id, report.FindingsFile)).problem(410, "expired")
	w.get(me, path(id, report.InputsFile)).is(200)
	if got := fmt.Sprint(w.names(me, id)); got != "[inputs.json]" {
		t.Errorf("an expired report has %s", got)
	}
	me = later(370 * day)
	w.get(me, path(id, report.InputsFile)).problem(410, "inputs_erased")
	if got := w.names(me, id); len(got) != 0 {
		t.Errorf("an erased report has %v", got)
	}
}

// A table or inputs that were swapped in the store do not leave the house.
func TestSwappedCompanionsAreNotServed(t *testing.T) {
	t.Parallel()
	w, dir := newWorldWithFiles(t)
	id := w.withFiles(w.ours)
	for name, key := range map[string]string{
		report.FindingsFile: blobs.CompanionName(w.ours.organization.ID, id, 1, report.FindingsFile), report.InputsFile: blobs.InputsName(w.ours.organization.ID, id, 1),
	} {
		file := filepath.Join(dir, filepath.FromSlash(key))
		for _, spoil := range []func() error{
			func() error { return os.WriteFile(file, []byte("id,object\r\n"), 0o600) },
			func() error { return os.Remove(file) },
		} {
			must(t, spoil())
			w.get(w.ours.admin, "/api/v1/reports/"+id.String()+"/files/"+name).problem(500, "file_altered")
		}
	}
	if n := w.entries("fileAltered"); n != 2 {
		t.Errorf("the audit list has %d entries", n)
	}
	var downloads int
	must(t, w.deps.DB.Get(&downloads, `SELECT count(*) FROM events WHERE type = 'report.downloaded'`))
	if downloads != 0 {
		t.Error("a refused download is recorded")
	}
}
