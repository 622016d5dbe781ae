package blobs_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/files/blobs"
	"muster/internal/files/blobs/s3test"
)

// damages are what becomes of a file in the store's own directory.
var damages = map[string]func([]byte) []byte{
	"a flipped bit": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	"cut short":     func(b []byte) []byte { return b[:len(b)/2] },
	"emptied":       func([]byte) []byte { return nil },
	"longer":        func(b []byte) []byte { return append(b, 'x') },
}

// TestADamagedFileIsNotAnAbsentStore: each store, also one that keeps checksums, returns the
// bytes that it has, or says that the file is damaged. Trying again does not help, so it is not
// reported as a store that is away.
func TestADamagedFileIsNotAnAbsentStore(t *testing.T) {
	t.Parallel()
	local, dir := directory(t)
	disk := t.TempDir()
	server := s3test.StartOn(t, disk)
	if server.MinIO {
		t.Skip("MinIO keeps files in a form of its own")
	}
	for store, of := range map[string]struct {
		s   *blobs.Store
		dir string
	}{"directory": {local, dir}, "s3": {open(t, server.URL), filepath.Join(disk, "root", "muster")}} {
		for name, damage := range damages {
			t.Run(store+"/"+name, func(t *testing.T) {
				t.Parallel()
				organization, report := uuid.New(), uuid.New()
				pdf, inputs := blobs.PDFName(organization, report, 1), blobs.InputsName(organization, report, 1)
				written, err := of.s.WritePDF(t.Context(), pdf, bytes.NewReader(bytes.Repeat([]byte("%PDF-1.7 "), 20_000)))
				if err != nil {
					t.Fatal(err)
				}
				document, err := of.s.WriteInputs(t.Context(), inputs, strings.NewReader(`{"a":1}`))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range []string{pdf, inputs} {
					path := filepath.Join(of.dir, filepath.FromSlash(file))
					content, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, damage(content), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				var damaged *blobs.DamagedFileError
				if got, err := of.s.Digest(t.Context(), pdf); err != nil && !errors.As(err, &damaged) || got.SHA256 == written.SHA256 {
					t.Errorf("the PDF: %+v, %v", got, err)
				}
				if _, digest, err := of.s.ReadInputs(t.Context(), inputs); err != nil && !errors.As(err, &damaged) || digest == document.SHA256 {
					t.Errorf("the inputs: %s, %v", digest, err)
				}
				if _, err := local.Copy(t.Context(), of.s, pdf); err != nil && !errors.As(err, &damaged) {
					t.Errorf("a copy: %v", err)
				}
			})
		}
	}
}

// TestAFileThatEndsBeforeItsLength is damaged where the store is there and never gives the
// rest. Where the rest comes when it is asked for, the line broke.
func TestAFileThatEndsBeforeItsLength(t *testing.T) {
	t.Parallel()
	const whole = "%PDF-1.7 and so on"
	for name, test := range map[string]struct {
		rest    func(w http.ResponseWriter)
		damaged bool
	}{
		"the rest never comes": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "9")
			w.WriteHeader(http.StatusPartialContent)
		}, true},
		"there is no rest":  {func(w http.ResponseWriter) { says(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange") }, true},
		"the rest comes":    {func(w http.ResponseWriter) { _, _ = io.WriteString(w, whole[9:]) }, false},
		"the store is busy": {func(w http.ResponseWriter) { says(w, http.StatusServiceUnavailable, "SlowDown") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := objectStore(t, calm, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/muster-store"):
					_, _ = io.WriteString(w, "ours")
				case r.Header.Get("Range") != "":
					test.rest(w)
				default:
					w.Header().Set("Content-Length", "18")
					_, _ = io.WriteString(w, whole[:9])
				}
			})
			s.Expect("ours")
			_, err := s.Digest(t.Context(), "file")
			var damaged *blobs.DamagedFileError
			var away *blobs.UnavailableError
			if errors.As(err, &damaged) != test.damaged || errors.As(err, &away) == test.damaged {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestADiskThatCannotReadAFile: a bad sector, and what a file system with checksums says of
// one, are an input/output error, as Linux gives it for a process' memory at 0.
func TestADiskThatCannotReadAFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it takes /proc for a bad sector")
	}
	s, dir := directory(t)
	name := blobs.PDFName(uuid.New(), uuid.New(), 1)
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink("/proc/self/mem", path), s.Claim(t.Context(), "ours")); err != nil {
		t.Fatal(err)
	}
	var damaged *blobs.DamagedFileError
	if _, err := s.Digest(t.Context(), name); !errors.As(err, &damaged) {
		t.Errorf("a bad sector: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "muster-store")); err != nil {
		t.Fatal(err)
	}
	var away *blobs.UnavailableError
	if _, err := s.Digest(t.Context(), name); !errors.As(err, &away) {
		t.Errorf("a file system that is away: %v", err)
	}
}
