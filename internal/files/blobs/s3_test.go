package blobs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/files/blobs"
	"muster/internal/files/blobs/s3test"
)

func TestMain(m *testing.M) {
	if err := s3test.SetCredentials(); err != nil {
		panic(err)
	}
	status := m.Run()
	s3test.RemoveCredentials()
	os.Exit(status)
}

// TestAnObjectStore: a store that speaks S3 keeps the promises that a directory keeps.
func TestAnObjectStore(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	s := open(t, server.URL)
	organization, report := uuid.New(), uuid.New()
	pdf, inputs := blobs.PDFName(organization, report, 1), blobs.InputsName(organization, report, 1)
	content := bytes.Repeat([]byte("0123456789abcdef"), 512<<10) // 8 MiB: more than one part
	sum := sha256.Sum256(content)

	var none *blobs.MissingFileError
	if _, err := s.Open(t.Context(), pdf); !errors.As(err, &none) {
		t.Errorf("a file that is not there: %v", err)
	}
	written, err := s.WritePDF(t.Context(), pdf, bytes.NewReader(content))
	if err != nil || written.SizeBytes != int64(len(content)) || written.SHA256 != hex.EncodeToString(sum[:]) {
		t.Fatalf("wrote %+v, %v", written, err)
	}
	if again, err := s.Digest(t.Context(), pdf); err != nil || again.SHA256 != written.SHA256 || again.SizeBytes != written.SizeBytes {
		t.Errorf("it has %+v, %v", again, err)
	}
	if _, err := s.WriteInputs(t.Context(), inputs, strings.NewReader(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if document, _, err := s.ReadInputs(t.Context(), inputs); err != nil || string(document) != `{"a":1}` {
		t.Errorf("the inputs are %q, %v", document, err)
	}

	file, err := s.Open(t.Context(), pdf)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Range", "bytes=4194300-4194315,8388607-")
	a := httptest.NewRecorder()
	http.ServeContent(a, r, "", time.Time{}, file)
	if err := file.Close(); err != nil || a.Code != http.StatusPartialContent || !bytes.Contains(a.Body.Bytes(), content[4194300:4194316]) {
		t.Errorf("ranges: %d, %v", a.Code, err)
	}

	broken := errors.New("the source broke off")
	halfway := blobs.PDFName(organization, report, 2)
	if _, err := s.WritePDF(t.Context(), halfway, io.MultiReader(bytes.NewReader(content), failing{broken})); !errors.Is(err, broken) {
		t.Errorf("a write that breaks off: %v", err)
	}
	var listed []string
	for o, err := range s.List(t.Context(), blobs.Prefix) {
		if err != nil {
			t.Fatal(err)
		}
		if listed = append(listed, o.Name); time.Since(o.ModTime).Abs() > time.Hour {
			t.Errorf("%s is from %s", o.Name, o.ModTime)
		}
	}
	if slices.Sort(listed); !slices.Equal(listed, []string{inputs, pdf}) {
		t.Errorf("it lists %v", listed)
	}
	for range 2 { // the second time there is nothing to delete
		if err := s.Delete(t.Context(), pdf); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	var gone *blobs.MissingFileError
	if _, err := s.Open(t.Context(), pdf); !errors.As(err, &gone) {
		t.Errorf("it is there after its deletion: %v", err)
	}

	if left := server.Uploads(t); len(left) > 0 {
		t.Errorf("of the write that broke off it keeps %v", left)
	}
	claimedByOne(t, func() *blobs.Store { return open(t, server.URL) })
}
