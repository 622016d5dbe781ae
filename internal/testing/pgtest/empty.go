package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// initEmpty fills a data directory as initdb does: from a copy of what initdb made for the first
// server of this checkout. A copy takes 0.1 s of a core and initdb 0.4, and make test starts more
// than a hundred servers.
func (s *Server) initEmpty(ctx context.Context) error {
	dir, ok := seeds()
	if !ok {
		return s.initdb(ctx)
	}
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	kept := filepath.Join(dir, fmt.Sprintf("empty-%d-%.8x", s.Major, sha256.Sum256(version)))
	err = copyTree(kept, s.Dir(), false, s.account.Own)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.initdb(ctx); err != nil {
			return err
		}
		return keepEmpty(s.Dir(), kept)
	}
	if err != nil {
		return err
	}
	return rename(s.Dir())
}

// keepEmpty keeps a copy of what initdb made. Of several test binaries that do so at once, one
// succeeds, and that is enough.
func keepEmpty(made, kept string) error {
	part, err := os.MkdirTemp(filepath.Dir(kept), "part-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(part) }()
	if err := copyTree(made, filepath.Join(part, "data"), false, func(string) error { return nil }); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(part, "data"), kept); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// rename gives a stopped cluster another system identifier, by which Muster tells servers apart.
// It is the first field of pg_control, which ends with a CRC-32C, and stands in the header of the
// first page of the WAL, which has no checksum.
func rename(dir string) error {
	name := uint64(time.Now().UnixNano())
	path := filepath.Join(dir, "global", "pg_control")
	control, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum, ok := endOfControl(control)
	if !ok {
		return fmt.Errorf("%s has no checksum where it should be", path)
	}
	binary.NativeEndian.PutUint64(control, name)
	binary.NativeEndian.PutUint32(control[sum:], crc32.Checksum(control[:sum], castagnoli))
	if err := os.WriteFile(path, control, 0o600); err != nil {
		return err
	}
	segments, err := filepath.Glob(filepath.Join(dir, "pg_wal", strings.Repeat("[0-9A-F]", 24)))
	if err != nil || len(segments) != 1 {
		return fmt.Errorf("%s has WAL of more than initdb: %q, %w", dir, segments, err)
	}
	wal, err := os.OpenFile(segments[0], os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	const systemInHeader = 24 // behind magic, info, timeline, address and length
	_, err = wal.WriteAt(binary.NativeEndian.AppendUint64(nil, name), systemInHeader)
	return errors.Join(err, wal.Close())
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// endOfControl finds the checksum of pg_control, whose place each major version has elsewhere.
func endOfControl(control []byte) (at int, ok bool) {
	for at = 200; at+4 <= min(len(control), 512); at += 4 {
		if binary.NativeEndian.Uint32(control[at:]) == crc32.Checksum(control[:at], castagnoli) {
			return at, true
		}
	}
	return 0, false
}
