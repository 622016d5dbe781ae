package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
)

// chunkSize is how much of a file one call reads.
const chunkSize = 64 << 10

// File is an open file. It serves http.ServeContent: reading starts where Seek
// says, and an object store is only asked for what is read. It is one goroutine's
// at a time.
type File struct {
	store  *Store
	name   string
	reader *blob.Reader
	ctx    context.Context //nolint:containedctx // of the reader: it ends with the file
	end    context.CancelFunc

	chunk []byte // read and not yet handed out
	at    int64  // where the next chunk begins
	begun bool   // bytes have come
	err   error  // nothing more can be read
	lost  bool   // a call that was given up has the reader, and closes it
}

var _ io.ReadSeekCloser = (*File)(nil)

// Open opens a file for reading. Errors: *MissingFileError, *DamagedFileError,
// *UnavailableError.
func (s *Store) Open(ctx context.Context, name string) (*File, error) {
	within, end := context.WithCancel(ctx)
	r, err := call(within, s, s.deadlines.Answer, func() (*blob.Reader, error) {
		return s.bucket.NewReader(within, name, nil)
	}, func(r *blob.Reader) {
		if r != nil {
			_ = r.Close()
		}
	})
	if err != nil {
		end()
		return nil, s.unread(ctx, "open", name, err)
	}
	return &File{store: s, name: name, reader: r, ctx: within, end: end}, nil
}

// Read reads on. Errors, after which the file can only be closed: *DamagedFileError,
// *UnavailableError, and *MissingFileError for a file that was removed since.
func (f *File) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(f.chunk) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		// What arrives late must not arrive in the caller's memory.
		buffer := make([]byte, chunkSize)
		n, err := call(f.ctx, f.store, f.patience(), func() (int, error) {
			n, err := f.reader.Read(buffer)
			if n > 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
				err = nil // the next call says so again
			}
			return n, err
		}, func(int) { _ = f.reader.Close() })
		if err != nil {
			return 0, f.fail(err)
		}
		f.chunk, f.begun = buffer[:n], true
		f.at += int64(n)
	}
	n := copy(p, f.chunk)
	f.chunk = f.chunk[n:]
	return n, nil
}

func (f *File) patience() time.Duration {
	if f.begun {
		return f.store.deadlines.Progress
	}
	return f.store.deadlines.Answer
}

// fail stores an error after which nothing can be read; the end of the reader is no error.
func (f *File) fail(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	var up *givenUp
	f.lost = errors.As(err, &up)
	if errors.Is(err, io.ErrUnexpectedEOF) && f.store.lacks(f.ctx, f.name, f.at) {
		f.err = &DamagedFileError{Name: f.name, Err: fmt.Errorf("the store gives %d of %d bytes", f.at, f.reader.Size())}
	} else {
		f.err = f.store.unread(f.ctx, "read", f.name, err)
	}
	f.end()
	return f.err
}

// lacks says whether the store is there and gives no byte of a file from an offset on. Of
// a file whose line broke it does.
func (s *Store) lacks(ctx context.Context, name string, offset int64) bool {
	within, end := context.WithCancel(ctx)
	defer end()
	err := do(within, s, s.deadlines.Answer, func() error {
		rest, err := s.bucket.NewRangeReader(within, name, offset, 1, nil)
		if err != nil {
			return err
		}
		_, err = io.ReadFull(rest, make([]byte, 1))
		return errors.Join(err, rest.Close())
	})
	var api smithy.APIError
	nothing := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &api) && api.ErrorCode() == "InvalidRange"
	return nothing && s.Recognize(ctx) == nil
}

// unread is failed for a file that was to be read. A disk that says it cannot read a file
// says the same the next time, so the file is damaged, unless all of the store is away.
func (s *Store) unread(ctx context.Context, doing, name string, err error) error {
	broken := errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EBADMSG) // the latter where the file system keeps checksums
	if s.dir != "" && broken && name != marker && s.recognize(ctx) == nil {
		return &DamagedFileError{Name: name, Err: err}
	}
	return s.failed(ctx, doing, name, err)
}

// Seek makes reading go on elsewhere.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	if f.err != nil {
		return 0, f.err
	}
	if whence == io.SeekCurrent { // as the caller sees it, which has not read ahead
		offset -= int64(len(f.chunk))
	}
	f.chunk, f.begun = nil, false
	at, err := f.reader.Seek(offset, whence)
	f.at = at
	return at, err
}

// Close lets go of the file.
func (f *File) Close() error {
	f.end()
	if f.lost {
		return nil
	}
	ctx := context.WithoutCancel(f.ctx)
	return f.store.failed(ctx, "close", f.name, do(ctx, f.store, f.store.deadlines.Answer, f.reader.Close))
}
