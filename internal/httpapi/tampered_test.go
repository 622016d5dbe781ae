package httpapi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/files/blobs"
	"muster/internal/testing/pgtest"
)

// newWorldWithFiles is newWorld with the directory that its report files are in.
func newWorldWithFiles(t *testing.T) (w *world, dir string) {
	t.Helper()
	dir = t.TempDir()
	return newWorld(t, func(d *Dependencies) {
		var err error
		d.Blobs, err = blobs.Open(t.Context(), "file://"+dir)
		must(t, err)
	}), dir
}

// A file that was swapped in the store does not leave the house, and nobody is
// said to have downloaded it.
func TestASwappedFileIsNotServed(t *testing.T) {
	t.Parallel()
	w, dir := newWorldWithFiles(t)
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	path := "/api/v1/reports/" + id.String() + "/download"
	file := filepath.Join(dir, filepath.FromSlash(blobs.PDFName(w.ours.organization.ID, id, 1)))
	for name, spoil := range map[string]func() error{
		"changed": func() error { return os.WriteFile(file, []byte(strings.ToUpper(pdfText)), 0o600) },
		"longer":  func() error { return os.WriteFile(file, []byte(pdfText+"%"), 0o600) },
		"gone":    func() error { return os.Remove(file) },
	} {
		must(t, spoil())
		if got := w.get(w.ours.member, path).problem(500, "file_altered"); strings.Contains(fmt.Sprint(got), "PDF-") {
			t.Errorf("%s: the answer is %v", name, got)
		}
		w.do(request{path: path, as: w.ours.member, header: map[string]string{"Range": "bytes=0-3"}}).problem(500, "file_altered")
		if head := w.do(request{method: "HEAD", path: path, as: w.ours.member}).is(500); head.Header().Get("Repr-Digest") != "" {
			t.Errorf("%s: HEAD vouches for the file: %v", name, head.Header())
		}
	}
	// Once an hour, person and file is enough for the audit list.
	if n := w.entries("fileAltered"); n != 1 {
		t.Errorf("the audit list has %d entries", n)
	}
	if got := w.get(w.ours.auditor, "/metrics").is(200).Body.String(); !strings.Contains(got, `muster_http_problems_total{code="file_altered"} 9`) {
		t.Errorf("metrics %q", got)
	}
	var downloads int
	must(t, w.deps.DB.Get(&downloads, `SELECT count(*) FROM events WHERE type = 'report.downloaded'`))
	if downloads != 0 {
		t.Error("the refused download is recorded")
	}
	must(t, os.WriteFile(file, []byte(pdfText), 0o600))
	if got := w.get(w.ours.member, path).is(200); got.Body.String() != pdfText {
		t.Errorf("the genuine file comes as %q", got.Body)
	}
}

// Verifying looks at the report's own events, not only at what was recorded
// before it was built.
func TestVerifySeesAChangedEventOfTheReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	pgtest.Unguard(t, w.deps.DB)
	w.deps.DB.MustExec(`UPDATE events SET data = convert_to(replace(convert_from(data, 'UTF8'), '"pages":3', '"pages":4'), 'UTF8')
WHERE type = 'report.ready' AND stream_id = $1`, id)
	got := w.do(request{method: "POST", path: "/api/v1/reports/verify", as: w.ours.viewer, body: pdfText,
		header: map[string]string{"Content-Type": "application/pdf"}}).is(200).object()
	if got["known"] != true || got["chain"] != "broken" {
		t.Errorf("with a changed Ready: %v", got)
	}
}
