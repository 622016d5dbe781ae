package httpapi

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"muster/internal/files/blobs"
)

// TestAFileThatComesSlowly is handed out: the time that a write may take begins when the file
// was read.
func TestAFileThatComesSlowly(t *testing.T) {
	t.Parallel()
	w, dir := newWorldWithFiles(t)
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	w.server.writes = 2 * time.Second
	file := filepath.Join(dir, filepath.FromSlash(blobs.PDFName(w.ours.organization.ID, id, 1)))
	must(t, errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)))
	written := make(chan error, 1)
	go func() {
		slow, err := os.OpenFile(file, os.O_WRONLY, 0) // when it is opened for reading
		if err != nil {
			written <- err
			return
		}
		time.Sleep(w.server.writes + time.Second)
		_, err = slow.WriteString(pdfText)
		written <- errors.Join(err, slow.Close())
	}()
	w.get(w.ours.member, "/api/v1/reports/"+id.String()+"/download").is(200) // without a body: a pipe has no size
	must(t, <-written)
	if n := w.downloads(id); n != 1 {
		t.Errorf("%d downloads on record", n)
	}
}
