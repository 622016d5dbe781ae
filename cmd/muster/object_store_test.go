package main

import (
	"os"
	"path/filepath"
	"testing"

	"muster/internal/blobs/s3test"
)

// TestReportsInAnObjectStore: a report is built into a store that speaks S3, handed out
// and proven from there, backed up, and restored into another one.
func TestReportsInAnObjectStore(t *testing.T) {
	t.Parallel()
	store, other := s3test.Start(t), s3test.Start(t)
	i := install(t)
	i.blobs = store.URL
	h := i.open(t, servingHere, "--job-lease=1s")
	h.ana.assessedAgain(t, h.live)
	id := h.done(t, security(h.live))
	pdf, path := h.ana.download(t, id)
	h.must(t, "verify", path)
	h.sweep(t) // takes nothing that an event names
	h.same(t, h.ana, id, pdf.body)
	if _, err := os.Stat(filepath.Join(i.dir, "blobs")); !os.IsNotExist(err) {
		t.Errorf("there are files in the data directory too: %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(store.Dir, "reports", "*", id.String(), "*")); err != nil || len(files) != 4 {
		t.Errorf("the store holds %v, %v", files, err)
	}
	dir := newBackup(t)
	h.must(t, "backup", dir)
	h.server.stop(t)

	there := elsewhere(t)
	there.blobs = other.URL
	there.must(t, "restore", dir)
	server := servingHere(t, append(there.flags(), "--rate-limits=off")...)
	there.same(t, client{base: server.base, token: h.ana.token}, id, pdf.body)
	there.fail(t, []string{"restore", dir}, "the database holds an installation", "the blob store holds files")
}
