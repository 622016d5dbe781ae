package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/s3blob"   // s3://
	"gocloud.dev/gcerrors"
)

// Store keeps files under names with slashes.
type Store struct {
	bucket    *blob.Bucket
	dir       string // the directory behind a file:// URL, empty for object stores
	deadlines Deadlines
	calls     chan struct{} // holds a token for each call under way
}

// MissingFileError reports that there is no file of that name.
type MissingFileError struct{ Name string }

func (e *MissingFileError) Error() string { return "no file " + e.Name }

// FullError reports that the store has no room for a file. Nothing of it is visible.
type FullError struct {
	Name string
	Err  error
}

func (e *FullError) Error() string { return "no space left for " + e.Name }

func (e *FullError) Unwrap() error { return e.Err }

// Open opens the store behind a gocloud.dev URL. A directory (file://) is made
// where it does not exist.
func Open(ctx context.Context, address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("blob store URL: %w", err)
	}
	s := &Store{deadlines: defaultDeadlines, calls: make(chan struct{}, callsAtOnce)}
	if u.Scheme == "file" {
		q := u.Query()
		// No attribute files; the temporary file beside its place, because a
		// rename from /tmp may cross a file system; nobody else reads reports.
		for key, value := range map[string]string{
			"metadata": "skip", "create_dir": "1", "no_tmp_dir": "1", "dir_file_mode": "0700",
		} {
			if !q.Has(key) {
				q.Set(key, value)
			}
		}
		u.RawQuery = q.Encode()
		path := u.Path
		if u.Host == "." {
			path = strings.TrimPrefix(path, "/")
		}
		if s.dir, err = filepath.Abs(path); err != nil {
			return nil, fmt.Errorf("blob store directory: %w", err)
		}
	}
	s.bucket, err = call(ctx, s, s.deadlines.Answer, "open", u.Scheme, func() (*blob.Bucket, error) { // making a directory may hang, too
		return blob.OpenBucket(ctx, u.String())
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("open the blob store: %w", err)
	}
	return s, nil
}

// Close releases the store. It does not wait for calls that hang: the bucket would,
// and a stop has nothing to gain from it.
func (s *Store) Close() error {
	err := do(context.Background(), s, closeTimeout, "close", s.dir, s.bucket.Close)
	var timeout *TimeoutError
	if errors.As(err, &timeout) {
		return nil
	}
	return err
}

// Delete removes a file; one that is gone already is no error.
func (s *Store) Delete(ctx context.Context, name string) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	return failed("delete", name, do(ctx, s, s.deadlines.Answer, "delete", name, func() error {
		if err := s.bucket.Delete(ctx, name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return err
		}
		if s.dir != "" {
			s.pruneDir(name)
		}
		return nil
	}))
}

// pruneDir removes the directory of a report that a deleted file leaves empty,
// so that years of reports do not leave a directory each. The organization's
// stays: another report's directory may be in the making there.
func (s *Store) pruneDir(name string) {
	dir := filepath.Dir(filepath.Join(s.dir, filepath.FromSlash(name)))
	if dir != s.dir {
		_ = os.Remove(dir) // not empty, mostly
	}
}

// Object is a file as List sees it.
type Object struct {
	Name    string
	ModTime time.Time // the store's clock
}

// List iterates over the files whose names start with prefix, temporary ones of
// interrupted writes included.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		it := s.bucket.List(&blob.ListOptions{Prefix: prefix})
		for {
			o, err := call(ctx, s, s.deadlines.Progress, "list", prefix, func() (*blob.ListObject, error) { return it.Next(ctx) }, nil)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Object{}, failed("list", prefix, err))
				return
			}
			if o.IsDir {
				continue
			}
			if !yield(Object{Name: o.Key, ModTime: o.ModTime}, nil) {
				return
			}
		}
	}
}

// failed gives an error of the store the type that callers match; none stays none.
func failed(doing, name string, err error) error {
	var timeout *TimeoutError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &timeout):
		return timeout
	case gcerrors.Code(err) == gcerrors.NotFound:
		return &MissingFileError{Name: name}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &FullError{Name: name, Err: err}
	}
	return fmt.Errorf("%s %s in the blob store: %w", doing, name, err)
}

// Prefix is what the names of all files of reports start with.
const Prefix = "reports/"

// PrefixOf is what the names of all files of an organization start with.
func PrefixOf(organization uuid.UUID) string { return Prefix + organization.String() + "/" }

const (
	pdfSuffix    = ".pdf"
	signedSuffix = ".signed.pdf"
	inputsSuffix = ".json.zst"
)

// PDFName names the PDF that the holder of fence builds.
func PDFName(organization, report uuid.UUID, fence int64) string {
	return fmt.Sprintf("%s%s/%s/%d%s", Prefix, organization, report, fence, pdfSuffix)
}

// SignedName names the PDF with its second revision that the holder of fence makes.
func SignedName(organization, report uuid.UUID, fence int64) string {
	return fmt.Sprintf("%s%s/%s/%d%s", Prefix, organization, report, fence, signedSuffix)
}

// IsSigned says whether SignedName gives such a name.
func IsSigned(name string) bool { return strings.HasSuffix(name, signedSuffix) }

// InputsName names the inputs document that the holder of fence gathers.
func InputsName(organization, report uuid.UUID, fence int64) string {
	return fmt.Sprintf("%s%s/%s/%d%s", Prefix, organization, report, fence, inputsSuffix)
}

// CompanionName names a file that the holder of fence makes beside the PDF.
func CompanionName(organization, report uuid.UUID, fence int64, file string) string {
	return fmt.Sprintf("%s%s/%s/%d.%s", Prefix, organization, report, fence, file)
}

// ParseName says which report a file belongs to; ok is false for a file that
// was not named here. Temporary files belong to the report of the final one.
func ParseName(name string) (organization, report uuid.UUID, ok bool) {
	rest, found := strings.CutPrefix(name, Prefix)
	parts := strings.Split(rest, "/")
	if !found || len(parts) != 3 {
		return uuid.Nil, uuid.Nil, false
	}
	organization, wrong := uuid.Parse(parts[0])
	report, err := uuid.Parse(parts[1])
	if wrong != nil || err != nil {
		return uuid.Nil, uuid.Nil, false
	}
	return organization, report, true
}

// Copy stores a file of another store under the same name, byte for byte, and
// returns size and digest of these bytes. A file of that name is replaced.
// Errors: *MissingFileError, *FullError.
func (s *Store) Copy(ctx context.Context, from *Store, name string) (Written, error) {
	file, err := from.Open(ctx, name)
	if err != nil {
		return Written{}, err
	}
	defer func() { _ = file.Close() }()
	return s.write(ctx, name, typeOf(name), file, asItIs)
}

// Digest returns size and digest of a file's bytes as they are stored. Errors:
// *MissingFileError.
func (s *Store) Digest(ctx context.Context, name string) (Written, error) {
	file, err := s.Open(ctx, name)
	if err != nil {
		return Written{}, err
	}
	defer func() { _ = file.Close() }()
	digest := sha256.New()
	size, err := io.Copy(digest, file)
	return Written{Name: name, SizeBytes: size, SHA256: hex.EncodeToString(digest.Sum(nil))}, failed("read", name, err)
}

// Files lists the names of all files but the one that makes the store
// recognizable, at most limit of them (0: all).
func (s *Store) Files(ctx context.Context, limit int) ([]string, error) {
	var names []string
	for o, err := range s.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		if o.Name == marker {
			continue
		}
		if names = append(names, o.Name); len(names) == limit {
			break
		}
	}
	return names, nil
}
