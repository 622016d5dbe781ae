package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"muster/internal/files/atomicfile"
)

// marker is the file that says whose the store is.
const marker = "muster-store"

// maxMarker bounds what is read of the marker.
const maxMarker = 128

// claimLooks is how often a claim looks who owns the store now. Once would be enough, but
// versitygw was seen to report no marker while several processes created one at once.
const claimLooks = 5

// OtherStoreError reports that the store belongs to another installation than expected.
type OtherStoreError struct{ Found, Want string } // ids of owners; Found is empty where the store has none

func (e *OtherStoreError) Error() string {
	if e.Found == "" {
		return "there is none, so this is not the store that the installation began with, or its file system is not mounted; " +
			"all processes of an installation share one blob store: start with the same (--blob-url)"
	}
	return fmt.Sprintf("the blob store belongs to another installation (%s; ours is %s), and one store is one installation's alone: "+
		"start with the same as before (--blob-url, --database-url), or give this one its own", e.Found, e.Want)
}

// Owner is the owner of the store; empty: none yet. Errors: *UnavailableError.
func (s *Store) Owner(ctx context.Context) (string, error) {
	id, err := s.readMarker(ctx)
	var none *MissingFileError
	if errors.As(err, &none) {
		return "", nil
	}
	return id, err
}

// Claim gives a store without an owner to owner, and expects that owner from then on.
// Concurrent claims for the same owner all succeed. Errors: *UnavailableError with an
// *OtherStoreError if it has another owner already.
func (s *Store) Claim(ctx context.Context, owner string) error {
	found, err := s.Owner(ctx)
	if err == nil && found == "" {
		err = s.failed(ctx, "write", marker, do(ctx, s, s.deadlines.Answer, func() error { return s.makeMarker(ctx, owner) }))
		for tries := 0; err == nil && found == "" && tries < claimLooks; tries++ {
			found, err = s.Owner(ctx) // whoever was faster
		}
	}
	if err != nil {
		return err
	}
	if found != owner {
		return &UnavailableError{Doing: "claim", Name: marker, Err: &OtherStoreError{Found: found, Want: owner}}
	}
	s.Expect(owner)
	return nil
}

// Expect says whose the store has to be. From then on nothing is written to another one,
// and a file that another one does not have is not taken for missing. It is called before
// the store is used.
func (s *Store) Expect(owner string) { s.owner = owner }

// Recognize says whether the store answers, and is the expected one and not, say, the
// empty directory below a file system that is not mounted. Errors: *UnavailableError.
func (s *Store) Recognize(ctx context.Context) error {
	s.recognized.Store(nil)
	return s.recognize(ctx)
}

// Check is Recognize. For a directory, it also says whether a file can be created in it, and
// removes that file. Errors: *UnavailableError, *FullError.
func (s *Store) Check(ctx context.Context) error {
	if err := s.Recognize(ctx); err != nil || s.dir == "" {
		return err
	}
	return s.failed(ctx, "write", marker, do(ctx, s, s.deadlines.Answer, s.tryWriting))
}

// tryWriting creates a file of one block in the directory and removes it. So a disk that is
// full, belongs to another user, or is mounted read-only is known before there is a report for
// it.
func (s *Store) tryWriting() error {
	f, err := os.CreateTemp(s.dir, marker+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// sureFor is how long an object store counts as the expected one after a look: a look
// costs a request, and a build writes several files.
const sureFor = time.Second

// recognize looks whether the store is the expected one.
func (s *Store) recognize(ctx context.Context) error {
	if s.owner == "" {
		return nil
	}
	if last := s.recognized.Load(); s.dir == "" && last != nil && time.Since(*last) < sureFor {
		return nil
	}
	began := time.Now()
	found, err := s.Owner(ctx)
	if err != nil {
		return err
	}
	if found != s.owner {
		return &UnavailableError{Doing: "open", Name: marker, Err: &OtherStoreError{Found: found, Want: s.owner}}
	}
	s.recognized.Store(&began)
	return nil
}

func (s *Store) readMarker(ctx context.Context) (string, error) {
	f, err := s.Open(ctx, marker)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxMarker))
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(content))
	if id == "" {
		return "", fmt.Errorf("the blob store's %s is empty", marker)
	}
	return id, nil
}

// makeMarker writes the marker unless there is one. In a directory that is a
// link(2), which fails where the name exists: fileblob's own condition looks
// first and renames afterwards, which two processes can do at once.
func (s *Store) makeMarker(ctx context.Context, id string) error {
	if s.dir == "" {
		err := s.bucket.WriteAll(ctx, marker, []byte(id+"\n"), &blob.WriterOptions{ContentType: "text/plain", IfNotExist: true})
		if gcerrors.Code(err) == gcerrors.FailedPrecondition {
			return nil
		}
		return err
	}
	err := atomicfile.Create(filepath.Join(s.dir, marker), []byte(id+"\n"))
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}
