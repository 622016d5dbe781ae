package blobs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "gocloud.dev/blob/memblob" // stands for an object store

	"muster/internal/files/blobs"
)

func directory(t *testing.T) (*blobs.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	return open(t, "file://"+dir), dir
}

func open(t *testing.T, address string) *blobs.Store {
	t.Helper()
	s, err := blobs.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// files lists what is really in a directory.
func files(t *testing.T, dir string) map[string]fs.FileInfo {
	t.Helper()
	found := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		name, _ := filepath.Rel(dir, path)
		found[name] = info
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAPDFIsStoredCompletelyAndOnlyForItsOwner(t *testing.T) {
	t.Parallel()
	s, dir := directory(t)
	content := bytes.Repeat([]byte("%PDF-1.7 "), 10_000)
	name := blobs.PDFName(uuid.New(), uuid.New(), 7)

	written, err := s.WritePDF(t.Context(), name, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	if want := (blobs.Written{Name: name, SizeBytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}); written != want {
		t.Errorf("written %+v, want %+v", written, want)
	}
	found := files(t, dir)
	if len(found) != 1 || found[name] == nil {
		t.Fatalf("files %v, want only %s", found, name)
	}
	if mode := found[name].Mode().Perm(); mode != 0o600 {
		t.Errorf("file mode %o, want 600", mode)
	}
	info, err := os.Stat(filepath.Dir(filepath.Join(dir, name)))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory mode %v %v, want 700", info.Mode(), err)
	}
}

func TestAFailedWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	s, dir := directory(t)
	broken := errors.New("the renderer stopped")
	name := blobs.PDFName(uuid.New(), uuid.New(), 1)
	from := io.MultiReader(strings.NewReader(strings.Repeat("half ", 100_000)), failing{broken})
	if _, err := s.WritePDF(t.Context(), name, from); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if found := files(t, dir); len(found) != 0 {
		t.Errorf("files %v, want none", found)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestInputsComeBackWithTheirDigest(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"file://" + filepath.Join(t.TempDir(), "a"), "mem://"} {
		s := open(t, address)
		document := []byte(strings.Repeat(`{"schema":1,"kind":"Security"}`, 5_000))
		name := blobs.InputsName(uuid.New(), uuid.New(), 3)
		written, err := s.WriteInputs(t.Context(), name, bytes.NewReader(document))
		if err != nil {
			t.Fatal(err)
		}
		if written.SizeBytes >= int64(len(document))/10 {
			t.Errorf("%d bytes stored of %d: not compressed", written.SizeBytes, len(document))
		}
		again, err := s.WriteInputs(t.Context(), blobs.InputsName(uuid.New(), uuid.New(), 4), bytes.NewReader(document))
		if err != nil || again.SHA256 != written.SHA256 || again.SizeBytes != written.SizeBytes {
			t.Errorf("the same document was stored as %+v and %+v (%v)", written, again, err)
		}
		back, digest, err := s.ReadInputs(t.Context(), name)
		if err != nil || !bytes.Equal(back, document) || digest != written.SHA256 {
			t.Errorf("read %d bytes, digest %s, %v; want %d bytes, digest %s", len(back), digest, err, len(document), written.SHA256)
		}
	}
}

func TestAChangedInputsFileHasAnotherDigestOrDoesNotUnpack(t *testing.T) {
	t.Parallel()
	s, dir := directory(t)
	name := blobs.InputsName(uuid.New(), uuid.New(), 3)
	written, err := s.WriteInputs(t.Context(), name, strings.NewReader(strings.Repeat("facts ", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 0xff
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, digest, err := s.ReadInputs(t.Context(), name)
	var damaged *blobs.DamagedFileError
	if !errors.As(err, &damaged) && (err != nil || digest == written.SHA256) {
		t.Errorf("a changed file read as digest %s, error %v; written was %s", digest, err, written.SHA256)
	}
}

func TestRangesAreServed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"file://" + filepath.Join(t.TempDir(), "a"), "mem://"} {
		s := open(t, address)
		name := blobs.PDFName(uuid.New(), uuid.New(), 1)
		if _, err := s.WritePDF(t.Context(), name, strings.NewReader("0123456789")); err != nil {
			t.Fatal(err)
		}
		f, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequest(http.MethodGet, "/download", nil)
		request.Header.Set("Range", "bytes=3-5")
		answer := httptest.NewRecorder()
		http.ServeContent(answer, request, "report.pdf", time.Time{}, f)
		if answer.Code != http.StatusPartialContent || answer.Body.String() != "345" {
			t.Errorf("%s: %d %q, want 206 345", address, answer.Code, answer.Body)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDeleteMayBeRepeated(t *testing.T) {
	t.Parallel()
	s, dir := directory(t)
	name := blobs.PDFName(uuid.New(), uuid.New(), 1)
	if _, err := s.WritePDF(t.Context(), name, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	var none *blobs.MissingFileError
	if _, err := s.Open(t.Context(), name); !errors.As(err, &none) {
		t.Errorf("open: %v, want *MissingFileError", err)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Join(dir, name))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the report's empty directory is still there: %v", err)
	}
}

func TestListNamesTheReportOfEveryFile(t *testing.T) {
	t.Parallel()
	s, dir := directory(t)
	organization, report := uuid.New(), uuid.New()
	name := blobs.PDFName(organization, report, 12)
	if _, err := s.WritePDF(t.Context(), name, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	interrupted := name + ".18ab.tmp"
	if err := os.WriteFile(filepath.Join(dir, interrupted), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Claim(t.Context(), "ours"); err != nil {
		t.Fatal(err)
	}
	var names []string
	for o, err := range s.List(t.Context(), blobs.Prefix) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Name)
		org, id, ok := blobs.ParseName(o.Name)
		if !ok || org != organization || id != report {
			t.Errorf("%s belongs to %s %s %v", o.Name, org, id, ok)
		}
		if age := time.Since(o.ModTime); age < -time.Minute || age > time.Minute {
			t.Errorf("%s was changed %s ago", o.Name, age)
		}
	}
	if len(names) != 2 {
		t.Errorf("listed %v, want the file and the interrupted one", names)
	}
	for _, foreign := range []string{"muster-store", "reports/x/y/1.pdf", "reports/" + report.String(), "other/" + name} {
		if _, _, ok := blobs.ParseName(foreign); ok {
			t.Errorf("%s passed for a report's file", foreign)
		}
	}
}
