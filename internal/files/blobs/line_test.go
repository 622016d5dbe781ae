package blobs_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/files/blobs"
	"muster/internal/files/blobs/s3test"
	"muster/internal/testing/linetest"
)

// midway does something once so much was read of content.
type midway struct {
	content io.Reader
	left    int
	happens func()
}

func (m *midway) Read(p []byte) (int, error) {
	if m.left <= 0 && m.happens != nil {
		m.happens()
		m.happens = nil
	}
	n, err := m.content.Read(p[:min(len(p), 64<<10)])
	m.left -= n
	return n, err
}

// TestALineThatBreaksDuringAFile, by a cut and by silence, in both directions: the writer or
// reader gets an error, no file is short, and nothing is half-written.
func TestALineThatBreaksDuringAFile(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 512<<10) // 8 MiB
	for name, breaks := range map[string]func(*linetest.Line){"cut": (*linetest.Line).Cut, "silent": (*linetest.Line).HalfOpen} {
		line := linetest.New(t, server.Addr)
		s := openWithin(t, server.At(line.Addr()), blobs.Deadlines{Answer: enough, Progress: 8 * time.Second})
		organization, report := uuid.New(), uuid.New()
		whole, half := blobs.PDFName(organization, report, 1), blobs.PDFName(organization, report, 2)
		written, err := s.WritePDF(t.Context(), whole, bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		told := func(doing string, err error) {
			t.Helper()
			var away *blobs.UnavailableError
			if !errors.As(err, &away) || !away.Passing() {
				t.Errorf("%s, %s: %v", name, doing, err)
			}
		}
		_, err = s.WritePDF(t.Context(), half, &midway{content: bytes.NewReader(content), left: 6 << 20, happens: func() { breaks(line) }})
		told("writing", err)
		line.Trickle(1 << 20) // so that not all of it has left before the line breaks
		f, err := s.Open(t.Context(), whole)
		if err != nil {
			t.Fatalf("%s: healed, it does not open: %v", name, err)
		}
		var got bytes.Buffer
		if _, err := io.CopyN(&got, f, 256<<10); err != nil {
			t.Fatal(err)
		}
		breaks(line)
		_, err = io.Copy(&got, f)
		told("reading", err)
		_ = f.Close()
		if got.Len() == len(content) || !bytes.HasPrefix(content, got.Bytes()) {
			t.Errorf("%s: %d bytes were read of %d", name, got.Len(), len(content))
		}
		line.Heal()
		if there, err := s.Digest(t.Context(), whole); err != nil || there.SHA256 != written.SHA256 {
			t.Errorf("%s: healed, it is %+v, %v", name, there, err)
		}
		if names := server.Names(t); slices.Contains(names, half) {
			t.Errorf("%s: it is half-written: %v", name, names)
		}
	}
}

// TestALineThatIsSlow still works: a file that takes long as a whole, and makes progress,
// arrives.
func TestALineThatIsSlow(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	line := linetest.New(t, server.Addr)
	within := blobs.Deadlines{Answer: enough, Progress: 6 * time.Second}
	s := openWithin(t, server.At(line.Addr()), within)
	line.Slow(200 * time.Millisecond)
	name := blobs.PDFName(uuid.New(), uuid.New(), 1)
	written, err := s.WritePDF(t.Context(), name, bytes.NewReader(make([]byte, 1_000_000)))
	if err != nil {
		t.Fatal(err)
	}
	line.Trickle(125_000) // 8 s
	began := time.Now()
	if there, err := s.Digest(t.Context(), name); err != nil || there.SHA256 != written.SHA256 || time.Since(began) < within.Progress {
		t.Errorf("it is %+v, %v, after %s", there, err, time.Since(began))
	}
}
