package blobs

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// marker is the file that makes a store recognizable.
const marker = "muster-store"

// maxMarker bounds what is read of the marker.
const maxMarker = 128

// Fingerprint returns the store's random identity, which it is given the first
// time it is asked. Processes that ask together get the same one.
func (s *Store) Fingerprint(ctx context.Context) (string, error) {
	id, err := s.readMarker(ctx)
	var none *MissingFileError
	if !errors.As(err, &none) {
		return id, err
	}
	random := make([]byte, 16)
	rand.Read(random)
	err = do(ctx, s, s.deadlines.Answer, "write", marker, func() error { return s.makeMarker(ctx, hex.EncodeToString(random)) })
	if err != nil {
		return "", failed("write", marker, err)
	}
	return s.readMarker(ctx) // mine, or that of whoever was faster
}

// Check reads the store's marker, which says that the store answers, and that it is
// this one and not, say, the empty directory below a file system that is not mounted.
// It makes none. Errors: *MissingFileError, *TimeoutError, ErrOtherStore.
func (s *Store) Check(ctx context.Context, fingerprint string) error {
	found, err := s.readMarker(ctx)
	if err == nil && found != fingerprint {
		err = ErrOtherStore
	}
	return err
}

// ErrOtherStore reports that the store is not the one that was opened.
var ErrOtherStore = errors.New("the blob store's " + marker + " is another store's")

func (s *Store) readMarker(ctx context.Context) (string, error) {
	f, err := s.Open(ctx, marker)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxMarker))
	if err != nil {
		return "", failed("read", marker, err)
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
	temporary := filepath.Join(s.dir, marker+"."+id+".tmp")
	if err := os.WriteFile(temporary, []byte(id+"\n"), 0o600); err != nil {
		return err
	}
	err := os.Link(temporary, filepath.Join(s.dir, marker))
	if errors.Is(err, os.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(temporary))
}
