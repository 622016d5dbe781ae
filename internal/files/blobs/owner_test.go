package blobs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"muster/internal/files/blobs"
	"muster/internal/files/blobs/s3test"
)

// isAnother checks that an error says that the store has another owner, or none.
func isAnother(t *testing.T, what string, err error, found string) {
	t.Helper()
	var away *blobs.UnavailableError
	var other *blobs.OtherStoreError
	if !errors.As(err, &away) || away.Passing() || !errors.As(err, &other) || other.Found != found {
		t.Errorf("%s: %v, want that the store is %q's", what, err, found)
	}
}

// claimedByOne has two installations of four processes each claim a store at once: one of
// them gets it, in all of its processes.
func claimedByOne(t *testing.T, open func() *blobs.Store) {
	t.Helper()
	stores, outcomes := make([]*blobs.Store, 8), make([]error, 8)
	for i := range stores {
		stores[i] = open()
	}
	owner := func(i int) string { return fmt.Sprint("installation ", i%2) }
	var hands sync.WaitGroup
	for i := range stores {
		hands.Go(func() { outcomes[i] = stores[i].Claim(t.Context(), owner(i)) })
	}
	hands.Wait()
	found, err := stores[0].Owner(t.Context())
	if err != nil || found == "" {
		t.Fatalf("it is %q's, %v", found, err)
	}
	for i, err := range outcomes {
		switch {
		case owner(i) != found:
			isAnother(t, owner(i), err, found)
		case err != nil:
			t.Errorf("%s: %v", owner(i), err)
		}
	}
}

func TestAStoreBelongsToOneInstallation(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "blobs")
	claimedByOne(t, func() *blobs.Store { return open(t, "file://"+dir) })
	if found := files(t, dir); len(found) != 1 {
		t.Errorf("there are %v, want the one that says whose it is", found)
	}
}

// TestAnotherStoreInItsPlace: a file system goes away below a process, and there is the
// empty directory that it was mounted on. Nothing is written there, and no file counts as
// missing or deleted, because the store was not asked.
func TestAnotherStoreInItsPlace(t *testing.T) {
	t.Parallel()
	s, dir := directory(t)
	if err := s.Claim(t.Context(), "ours"); err != nil {
		t.Fatal(err)
	}
	organization, report := uuid.New(), uuid.New()
	name, second := blobs.PDFName(organization, report, 1), blobs.PDFName(organization, report, 2)
	if _, err := s.WritePDF(t.Context(), name, strings.NewReader("%PDF-")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(dir, dir+".unmounted"), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := s.WritePDF(t.Context(), second, strings.NewReader("%PDF-"))
	isAnother(t, "write", err, "")
	_, err = s.Open(t.Context(), name)
	isAnother(t, "open", err, "")
	isAnother(t, "delete", s.Delete(t.Context(), name), "")
	isAnother(t, "check", s.Check(t.Context()), "")
	if found := files(t, dir); len(found) != 0 {
		t.Errorf("into the other store were written %v", found)
	}
	if err := errors.Join(os.Remove(dir), os.Rename(dir+".unmounted", dir)); err != nil {
		t.Fatal(err)
	}
	if there, err := s.Digest(t.Context(), name); err != nil || there.SizeBytes != 5 {
		t.Errorf("mounted again: %+v, %v", there, err)
	}
	var none *blobs.MissingFileError
	if _, err := s.Open(t.Context(), second); !errors.As(err, &none) {
		t.Errorf("a file that was not written: %v", err)
	}
	if err := s.Delete(t.Context(), second); err != nil {
		t.Errorf("to delete it: %v", err)
	}
}

// TestTwoInstallationsInOneObjectStore have a bucket each, or a prefix in one.
func TestTwoInstallationsInOneObjectStore(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	name := blobs.PDFName(uuid.New(), uuid.New(), 1)
	for i, address := range []string{server.URL + "&prefix=a/", server.URL + "&prefix=b/", server.Bucket(t, "other")} {
		s := open(t, address)
		if err := s.Claim(t.Context(), fmt.Sprint("installation ", i)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.WritePDF(t.Context(), name, strings.NewReader("%PDF-")); err != nil {
			t.Fatal(err)
		}
		if found, err := s.Files(t.Context(), 0); err != nil || !slices.Equal(found, []string{name}) {
			t.Errorf("installation %d finds %v, %v", i, found, err)
		}
	}
	if names := server.Names(t); !slices.Equal(names, []string{"a/muster-store", "a/" + name, "b/muster-store", "b/" + name}) {
		t.Errorf("the bucket holds %v", names)
	}
}
