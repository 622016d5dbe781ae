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

// WritePDF stores what from yields under name. Errors: *FullError, and what
// from returns. After an error nothing of the file is visible.
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

// DamagedInputsError reports an inputs file that does not unpack: it is not what was
// written.
type DamagedInputsError struct {
	Name string
	Err  error
}

func (e *DamagedInputsError) Error() string { return "unpack " + e.Name + ": " + e.Err.Error() }

func (e *DamagedInputsError) Unwrap() error { return e.Err }

// ReadInputs returns the uncompressed inputs document and its SHA-256 in hex.
// Errors: *MissingFileError, *DamagedInputsError.
func (s *Store) ReadInputs(ctx context.Context, name string) (document []byte, digest string, err error) {
	f, err := s.Open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = f.Close() }()
	// Read first and unpack then: what the store fails to give may come back,
	// what does not unpack will not.
	compressed, err := io.ReadAll(f)
	if err != nil {
		return nil, "", failed("read", name, err)
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxInputs))
	if err != nil {
		return nil, "", fmt.Errorf("unpack %s: %w", name, err)
	}
	defer z.Close()
	if document, err = z.DecodeAll(compressed, nil); err != nil {
		return nil, "", &DamagedInputsError{Name: name, Err: err}
	}
	sum := sha256.Sum256(document)
	return document, hex.EncodeToString(sum[:]), nil
}

// writing is a file that is being written.
type writing struct {
	ctx     context.Context //nolint:containedctx // of the writer: it ends with the file
	abandon context.CancelFunc
	store   *Store
	name    string
	to      *blob.Writer
	n       int64 // bytes stored
	lost    bool  // a step that was given up has the writer, and closes it
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
	_, err := call(w.ctx, w.store, w.store.deadlines.Progress, "write", w.name, func() (struct{}, error) { return struct{}{}, f() },
		func(struct{}) { _ = w.to.Close() })
	if up := (*givenUp)(nil); errors.As(err, &up) {
		w.lost = true
		w.abandon() // so that closing it leaves nothing
	}
	return err
}

// write makes one file of what from yields.
func (s *Store) write(ctx context.Context, name, contentType string, from io.Reader, encode encoding) (Written, error) {
	// Ending the context is how a gocloud writer is told to leave nothing behind.
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	var file *os.File
	w, err := call(ctx, s, s.deadlines.Answer, "begin", name, func() (*blob.Writer, error) {
		return s.bucket.NewWriter(ctx, name, &blob.WriterOptions{
			ContentType: contentType,
			BeforeWrite: func(as func(any) bool) error {
				if as(&file) { // a directory: only the owner reads reports
					return file.Chmod(0o600)
				}
				return nil
			},
		})
	}, func(w *blob.Writer) {
		if w != nil {
			_ = w.Close() // leaves nothing: its context has ended
		}
	})
	if err != nil {
		return Written{}, failed("write", name, err)
	}
	out := &writing{ctx: ctx, abandon: abandon, store: s, name: name, to: w}
	digest := sha256.New()
	err = fill(out, digest, from, encode)
	if err == nil && file != nil {
		err = out.step(file.Sync)
	}
	if err != nil {
		abandon()
		if !out.lost {
			_ = do(context.WithoutCancel(ctx), s, s.deadlines.Answer, "give up", name, w.Close)
		}
		return Written{}, failed("write", name, err)
	}
	// Of an upload this is the last part, of some megabytes, and the store's word.
	if err := do(ctx, s, s.deadlines.Progress, "write", name, w.Close); err != nil {
		return Written{}, failed("write", name, err)
	}
	if s.dir != "" {
		if err := do(ctx, s, s.deadlines.Progress, "flush", name, func() error { return s.syncDirs(name) }); err != nil {
			return Written{}, failed("flush", name, err)
		}
	}
	return Written{Name: name, SizeBytes: out.n, SHA256: hex.EncodeToString(digest.Sum(nil))}, nil
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
