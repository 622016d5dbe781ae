package blobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"gocloud.dev/blob"
)

// Content types of the files.
const (
	pdfType    = "application/pdf"
	inputsType = "application/zstd"
	tableType  = "text/csv; charset=utf-8"
)

func typeOf(name string) string {
	switch {
	case strings.HasSuffix(name, inputsSuffix):
		return inputsType
	case strings.HasSuffix(name, ".csv"):
		return tableType
	}
	return pdfType
}

// Written is a file that is there, whole.
type Written struct {
	Name      string
	SizeBytes int64  // as stored
	SHA256    string // hex; of an inputs document: of its uncompressed bytes
}

// WritePDF stores what from yields under name. Errors: *FullError, *UnavailableError, and
// what from returns. After an error nothing of the file is visible.
func (s *Store) WritePDF(ctx context.Context, name string, from io.Reader) (Written, error) {
	return s.write(ctx, name, pdfType, from, asItIs)
}

// WriteCompanion is WritePDF for a table that goes with a report.
func (s *Store) WriteCompanion(ctx context.Context, name string, from io.Reader) (Written, error) {
	return s.write(ctx, name, tableType, from, asItIs)
}

// WriteInputs is WritePDF for an inputs document, which it compresses.
func (s *Store) WriteInputs(ctx context.Context, name string, from io.Reader) (Written, error) {
	return s.write(ctx, name, inputsType, from, func(w io.Writer) (io.WriteCloser, error) {
		// One goroutine and a fixed level: the same document gives the same bytes.
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
	})
}

// encoding turns what is written into what is stored. Its digest is that of the former.
type encoding func(stored io.Writer) (io.WriteCloser, error)

func asItIs(stored io.Writer) (io.WriteCloser, error) { return plain{stored}, nil }

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// maxInputs bounds what ReadInputs unpacks into memory: a compressed file from
// elsewhere must not take the process down.
const maxInputs = 1 << 30

// ReadInputs returns the uncompressed inputs document and its SHA-256 in hex.
// Errors: *MissingFileError, *DamagedFileError, *UnavailableError.
func (s *Store) ReadInputs(ctx context.Context, name string) (document []byte, digest string, err error) {
	f, err := s.Open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = f.Close() }()
	// Read first and then unpack: a read that fails may succeed later, and data that does not
	// unpack will not.
	compressed, err := io.ReadAll(f)
	if err != nil {
		return nil, "", err
	}
	if document, err = UnpackInputs(name, compressed); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(document)
	return document, hex.EncodeToString(sum[:]), nil
}

// UnpackInputs returns the inputs document of a file as the store has it. Errors:
// *DamagedFileError.
func UnpackInputs(name string, compressed []byte) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxInputs))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	defer z.Close()
	document, err := z.DecodeAll(compressed, nil)
	if err != nil {
		return nil, &DamagedFileError{Name: name, Err: fmt.Errorf("it does not unpack: %w", err)}
	}
	return document, nil
}

// PackedInputs says whether a file is an inputs document as the store has it.
func PackedInputs(file []byte) bool { return bytes.HasPrefix(file, []byte{0x28, 0xb5, 0x2f, 0xfd}) } // zstd's magic number

// writing is a file that is being written.
type writing struct {
	ctx     context.Context //nolint:containedctx // of the writer: it ends with the file
	abandon context.CancelFunc
	store   *Store
	to      *blob.Writer
	arrived chan struct{} // a sign of each part of an upload that the store has
	n       int64         // bytes stored
	lost    bool          // a step that was given up has the writer, and closes it
}

func (w *writing) Write(p []byte) (int, error) {
	own := bytes.Clone(p) // a step that is given up must not read the caller's memory
	err := w.step(func() error {
		_, err := w.to.Write(own)
		return err
	})
	if err != nil {
		return 0, err
	}
	w.n += int64(len(p))
	return len(p), nil
}

// step is a part of the writing.
func (w *writing) step(f func() error) error {
	if w.lost {
		return w.ctx.Err()
	}
	_, err := callWhile(w.ctx, w.store, w.store.deadlines.Progress, w.arrived, func() (struct{}, error) { return struct{}{}, f() },
		func(struct{}) { _ = w.to.Close() })
	if up := (*givenUp)(nil); errors.As(err, &up) {
		w.lost = true
		w.abandon() // so that closing it leaves nothing
	}
	return err
}

// source is what a file is made of, and remembers how that failed.
type source struct {
	from io.Reader
	err  error
}

func (r *source) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// write makes one file of what from yields.
func (s *Store) write(ctx context.Context, name, contentType string, from io.Reader, encode encoding) (Written, error) {
	if err := s.recognize(ctx); err != nil { // rather than write into an empty directory where the store should be
		return Written{}, err
	}
	// Ending the context tells a gocloud writer to leave nothing behind.
	within, abandon := context.WithCancel(ctx)
	defer abandon()
	out, file, err := s.begin(within, abandon, name, contentType)
	if err != nil {
		return Written{}, s.failed(ctx, "write", name, err)
	}
	digest, read := sha256.New(), &source{from: from}
	err = fill(out, digest, read, encode)
	if err == nil && file != nil {
		err = out.step(file.Sync)
	}
	if err != nil {
		abandon()
		if !out.lost {
			_ = do(context.WithoutCancel(ctx), s, s.deadlines.Answer, out.to.Close)
		}
		if read.err != nil {
			return Written{}, fmt.Errorf("write %s: %w", name, read.err)
		}
		return Written{}, s.failed(ctx, "write", name, err)
	}
	_, err = callWhile(within, s, s.deadlines.Progress, out.arrived, func() (struct{}, error) { return struct{}{}, out.to.Close() }, nil)
	if err != nil {
		return Written{}, s.failed(ctx, "write", name, err)
	}
	if s.dir != "" {
		if err := do(within, s, s.deadlines.Progress, func() error { return s.syncDirs(name) }); err != nil {
			return Written{}, s.failed(ctx, "flush", name, err)
		}
	}
	return Written{Name: name, SizeBytes: out.n, SHA256: hex.EncodeToString(digest.Sum(nil))}, nil
}

// begin opens a file for writing; the second is it, where the store is a directory.
func (s *Store) begin(ctx context.Context, abandon context.CancelFunc, name, contentType string) (*writing, *os.File, error) {
	out := &writing{ctx: ctx, abandon: abandon, store: s, arrived: make(chan struct{}, 1)}
	var file *os.File
	to, err := call(ctx, s, s.deadlines.Answer, func() (*blob.Writer, error) {
		return s.bucket.NewWriter(ctx, name, &blob.WriterOptions{
			ContentType: contentType,
			BeforeWrite: func(as func(any) bool) error {
				if as(&file) { // a directory: only the owner reads reports
					return file.Chmod(0o600)
				}
				s.pace(as, out.arrived)
				return nil
			},
		})
	}, func(w *blob.Writer) {
		if w != nil {
			_ = w.Close() // leaves nothing: its context has ended
		}
	})
	if err != nil {
		return nil, nil, err // and whoever was given up may still set the file
	}
	out.to = to
	return out, file, nil
}

// fill writes what from yields, encoded, and its digest beside it.
func fill(stored, digest io.Writer, from io.Reader, encode encoding) error {
	w, err := encode(stored)
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	_, err = io.Copy(io.MultiWriter(w, digest), from)
	return errors.Join(err, w.Close())
}

// syncDirs flushes the directories that lead to a file: without that a power
// failure may take the name of a file whose content is safe.
func (s *Store) syncDirs(name string) error {
	dir := filepath.Dir(filepath.Join(s.dir, filepath.FromSlash(name)))
	for {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		err = errors.Join(d.Sync(), d.Close())
		if err != nil || dir == s.dir || len(dir) <= len(s.dir) {
			return err
		}
		dir = filepath.Dir(dir)
	}
}
