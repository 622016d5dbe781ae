package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
)

// Copy stores a file of another store under the same name, byte for byte, and
// returns size and digest of these bytes. A file of that name is replaced.
// Errors: *NotFoundError, *FullError.
func (s *Store) Copy(ctx context.Context, from *Store, name string) (Written, error) {
	file, err := from.Open(ctx, name)
	if err != nil {
		return Written{}, err
	}
	defer func() { _ = file.Close() }()
	contentType := pdfType
	if strings.HasSuffix(name, inputsSuffix) {
		contentType = inputsType
	}
	return s.write(ctx, name, contentType, file, asItIs)
}

// Digest returns size and digest of a file's bytes as they are stored. Errors:
// *NotFoundError.
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
