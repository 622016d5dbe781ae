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
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"github.com/google/uuid"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/s3blob"   // s3://
	"gocloud.dev/gcerrors"
)

// Store keeps files under names with slashes.
type Store struct {
	bucket    *blob.Bucket
	dir       string     // the directory behind a file:// URL, empty for object stores
	client    *s3.Client // of an object store that speaks S3
	deadlines Deadlines
	calls     chan struct{} // holds a token for each call under way

	owner      string                    // whose the store has to be, see Expect
	recognized atomic.Pointer[time.Time] // when an object store was last seen to be the owner's, by the monotonic clock; nil: not yet
}

// Open opens the store behind a gocloud.dev URL. A directory (file://) is created if it does
// not exist.
func Open(ctx context.Context, address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("blob store URL: %w", err)
	}
	s := &Store{deadlines: defaultDeadlines, calls: make(chan struct{}, callsAtOnce)}
	if u.Scheme == "file" {
		q := u.Query()
		// There are no attribute files. The temporary file is beside its place, because a
		// rename from /tmp may cross a file system. No other user can read reports.
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
	s.bucket, err = call(ctx, s, s.deadlines.Answer, func() (*blob.Bucket, error) { // making a directory may hang, too
		return blob.OpenBucket(ctx, u.String())
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("open the blob store: %w", err)
	}
	if !s.bucket.As(&s.client) {
		return s, nil
	}
	*s.client = *s3.New(s.client.Options(), func(o *s3.Options) {
		o.Logger = logging.Nop{} // the library would print warnings on standard error, past the log
		// Readers compare a file with the digest in the log, in every store alike. The
		// library's error about a store's own checksum cannot be told from a store that is
		// away.
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
	if s.client.Options().Region == "" {
		return nil, errors.Join(errors.New("open the blob store: it has no region; add region=… to --blob-url, us-east-1 for most stores that are not Amazon's"), s.Close())
	}
	return s, nil
}

// Dir is the directory that the files are in; empty: they are in an object store.
func (s *Store) Dir() string { return s.dir }

// Close releases the store. It does not wait for calls that hang: the bucket would,
// and a stop has nothing to gain from it.
func (s *Store) Close() error {
	err := do(context.Background(), s, closeTimeout, s.bucket.Close)
	var timeout *TimeoutError
	if errors.As(err, &timeout) {
		return nil
	}
	return err
}

// Delete removes a file; a missing one is no error.
func (s *Store) Delete(ctx context.Context, name string) error {
	within, end := context.WithCancel(ctx)
	defer end()
	err := s.failed(ctx, "delete", name, do(within, s, s.deadlines.Answer, func() error {
		err := s.bucket.Delete(within, name)
		if s.dir != "" && (err == nil || gcerrors.Code(err) == gcerrors.NotFound) {
			s.pruneDir(name)
		}
		return err
	}))
	var gone *MissingFileError
	if errors.As(err, &gone) {
		return nil
	}
	return err
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
		within, end := context.WithCancel(ctx)
		defer end()
		it := s.bucket.List(&blob.ListOptions{Prefix: prefix})
		for {
			o, err := call(within, s, s.deadlines.Progress, func() (*blob.ListObject, error) { return it.Next(within) }, nil)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Object{}, s.failed(ctx, "list", prefix, err))
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
// Errors: *MissingFileError, *DamagedFileError, *FullError.
func (s *Store) Copy(ctx context.Context, from *Store, name string) (Written, error) {
	file, err := from.Open(ctx, name)
	if err != nil {
		return Written{}, err
	}
	defer func() { _ = file.Close() }()
	return s.write(ctx, name, typeOf(name), file, asItIs)
}

// Digest returns size and digest of a file's bytes as they are stored. Errors:
// *MissingFileError, *DamagedFileError.
func (s *Store) Digest(ctx context.Context, name string) (Written, error) {
	file, err := s.Open(ctx, name)
	if err != nil {
		return Written{}, err
	}
	defer func() { _ = file.Close() }()
	digest := sha256.New()
	size, err := io.Copy(digest, file)
	return Written{Name: name, SizeBytes: size, SHA256: hex.EncodeToString(digest.Sum(nil))}, err
}

// Files lists the names of all files except the one that identifies the store, at most limit of
// them (0: all).
func (s *Store) Files(ctx context.Context, limit int) ([]string, error) {
	var names []string
	for o, err := range s.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		if name := strings.TrimPrefix(o.Name, "."); name == marker || strings.HasPrefix(name, marker+".") { // or one aside
			continue
		}
		if names = append(names, o.Name); len(names) == limit {
			break
		}
	}
	return names, nil
}
