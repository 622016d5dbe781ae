package blobs

import (
	"context"
	"errors"
	"io"
	"time"

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
	begun bool   // bytes have come
	err   error  // nothing more can be read
	lost  bool   // a call that was given up has the reader, and closes it
}

var _ io.ReadSeekCloser = (*File)(nil)

// Open opens a file for reading. Errors: *MissingFileError, *UnavailableError.
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
		return nil, s.failed(ctx, "open", name, err)
	}
	return &File{store: s, name: name, reader: r, ctx: within, end: end}, nil
}

// Read reads on. Errors: *UnavailableError, after which the file can only be closed, and
// *MissingFileError of one that was taken away since.
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
			if n > 0 && errors.Is(err, io.EOF) {
				err = nil // the next call says so again
			}
			return n, err
		}, func(int) { _ = f.reader.Close() })
		if err != nil {
			return 0, f.fail(err)
		}
		f.chunk, f.begun = buffer[:n], true
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

// fail keeps an error after which nothing can be read: the reader's end is none.
func (f *File) fail(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	var up *givenUp
	f.lost = errors.As(err, &up)
	f.err = f.store.failed(f.ctx, "read", f.name, err)
	f.end()
	return f.err
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
	return f.reader.Seek(offset, whence)
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
