package httpapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/blobs"
)

// A file that was swapped in the store does not leave the house, and nobody is
// said to have downloaded it.
func TestSwappedFileIsNotHandedOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, func(d *Dependencies) {
		var err error
		d.Blobs, err = blobs.Open(t.Context(), "file://"+dir)
		must(t, err)
	})
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	path := "/api/v1/reports/" + id.String() + "/download"
	file := filepath.Join(dir, filepath.FromSlash(blobs.PDFName(w.ours.organization.ID, id, 1)))
	must(t, os.WriteFile(file, []byte(strings.ToUpper(pdfText)), 0o600))
	w.get(w.ours.member, path).problem(500, "internal_error")
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
	w.deps.DB.MustExec(`UPDATE events SET data = convert_to(replace(convert_from(data, 'UTF8'), '"pages":3', '"pages":4'), 'UTF8')
WHERE type = 'report.ready' AND stream_id = $1`, id)
	got := w.do(request{method: "POST", path: "/api/v1/reports/verify", as: w.ours.viewer, body: pdfText,
		header: map[string]string{"Content-Type": "application/pdf"}}).is(200).object()
	if got["known"] != true || got["chain"] != "broken" {
		t.Errorf("with a changed Ready: %v", got)
	}
}
