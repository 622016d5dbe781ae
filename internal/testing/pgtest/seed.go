package pgtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"muster/internal/postgres/cluster"
	"muster/migrations"
)

// seedVersion is to be raised when a seed is made in another way.
const seedVersion = 1

// seeds is the directory in which this checkout keeps stopped clusters that hold the
// template: .cache/pgtest. A test binary that runs outside of a checkout has none.
func seeds() (dir string, ok bool) {
	at, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			dir = filepath.Join(at, ".cache", "pgtest")
			return dir, os.MkdirAll(dir, 0o700) == nil
		}
	}
	return "", false
}

// startSeeded starts a server that has the template, from a copy of the seed: 0.2 s,
// where initdb and the migrations take 2. Whoever finds no seed makes it, and the
// other test binaries of the same run wait for it.
func startSeeded(ctx context.Context, opts Options) (*Server, error) {
	dir, ok := seeds()
	if !ok {
		return startMigrated(ctx, opts)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }() // and with it the lock
	if err := flock(lock, syscall.LOCK_SH); err != nil {
		return nil, err
	}
	s, err := startFilled(opts, copyOf(dir))
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	// Not two locks at once: of two that wait to write, neither would get it.
	if err := errors.Join(flock(lock, syscall.LOCK_UN), flock(lock, syscall.LOCK_EX)); err != nil {
		return nil, err
	}
	s, err = startFilled(opts, copyOf(dir))
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	return startKept(ctx, opts, dir)
}

// startMigrated starts a server and makes the template in it.
func startMigrated(ctx context.Context, opts Options) (*Server, error) {
	s, err := start(opts)
	if err != nil {
		return nil, err
	}
	if err := makeTemplate(ctx, s); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// startKept is startMigrated, and leaves a seed behind in place of those that nobody
// needs any more.
func startKept(ctx context.Context, opts Options, dir string) (_ *Server, err error) {
	s, err := startMigrated(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	seed, err := s.seed(ctx, dir)
	if err != nil {
		return nil, err
	}
	outdated, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%d-*", s.Major)))
	if err != nil {
		return nil, err
	}
	for _, old := range outdated {
		if err := os.RemoveAll(old); err != nil {
			return nil, err
		}
	}
	// A clean end: files that are copied while a server writes to them are none.
	if err := s.process.Stop(ctx, cluster.Fast); err != nil {
		return nil, err
	}
	part := seed + ".part"
	if err := copyTree(s.Dir(), part, false, func(string) error { return nil }); err != nil {
		return nil, err
	}
	if err := os.Rename(part, seed); err != nil {
		return nil, err
	}
	return s, s.launch(ctx)
}

// copyOf fills a data directory from the seed. fs.ErrNotExist: there is none.
func copyOf(dir string) func(*Server, context.Context) error {
	return func(s *Server, ctx context.Context) error {
		seed, err := s.seed(ctx, dir)
		if err != nil {
			return err
		}
		return copyTree(seed, s.Dir(), false, s.account.Own)
	}
}

// seed is where the seed for a server's programs and this checkout's migrations is.
func (s *Server) seed(ctx context.Context, dir string) (string, error) {
	version, err := s.version(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s", seedVersion, version)
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return "", err
	}
	for _, name := range files {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return filepath.Join(dir, fmt.Sprintf("%d-%x", s.Major, sum.Sum(nil)[:8])), nil
}

func (s *Server) version(ctx context.Context) ([]byte, error) {
	program := s.install.Program("postgres")
	if known, ok := versions.Load(program); ok {
		return known.([]byte), nil
	}
	version, err := exec.CommandContext(ctx, program, "--version").Output()
	if err == nil {
		versions.Store(program, version)
	}
	return version, err
}

// copyTree copies the files of a cluster, and tells of each that it made. Of one that is running, the log and what
// is the process's are left out, and files that are removed meanwhile.
func copyTree(from, to string, running bool, made func(path string) error) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		name, outside := filepath.Rel(from, path)
		target := filepath.Join(to, name)
		switch err = errors.Join(err, outside); {
		case err != nil:
		case entry.IsDir():
			err = os.MkdirAll(target, 0o700) // or PostgreSQL does not start
		case running && (strings.HasPrefix(name, "pg_wal/") || strings.HasPrefix(name, "postmaster.")):
			return nil
		default:
			err = copyFile(path, target)
		}
		switch {
		case running && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		return made(target)
	})
}

// copyFile leaves a hole where a file ends with zeros. Most of the 16 MB of a WAL segment are zeros, and in
// memory to copy them takes as long as all other files of an empty cluster.
func copyFile(from, to string) (err error) {
	source, err := os.Open(from) //nolint:gosec // of our own seed
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	used := info.Size()
	if filepath.Base(filepath.Dir(from)) == "pg_wal" {
		if used, err = withoutZeros(source, used); err != nil {
			return err
		}
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // of our own server
	if err != nil {
		return err
	}
	_, err = io.Copy(target, io.LimitReader(source, used)) // a running server may shorten it
	if err == nil && used < info.Size() {
		err = target.Truncate(info.Size())
	}
	return errors.Join(err, target.Close())
}

// withoutZeros is how long a file is without the blocks of zeros at its end.
func withoutZeros(of io.ReaderAt, size int64) (int64, error) {
	const block = 64 << 10
	zeros, got := make([]byte, block), make([]byte, block)
	for ; size >= block; size -= block {
		if _, err := of.ReadAt(got, size-block); err != nil {
			return 0, err
		}
		if !bytes.Equal(got, zeros) {
			break
		}
	}
	return size, nil
}

// flock waits for a lock of a file. A signal is no reason to give up.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
