package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"muster/internal/files/atomicfile"
	"muster/internal/postgres/cluster"
)

// home is where a private server keeps its files.
type home struct {
	dir     string
	dataDir string // Muster's, as the user gave it, without symbolic links
	inst    cluster.Installation
	account cluster.Account
}

const pointerName = "postgres.location"

func (h *home) cluster() string { return filepath.Join(h.dir, "data") }
func (h *home) pointer() string { return filepath.Join(h.dataDir, pointerName) }

// ClusterVersionError says that the programs are missing that a cluster was
// made with: no other major version reads its files.
type ClusterVersionError struct {
	Dir     string
	DataDir string // Muster's; Dir may lie outside it
	Missing *cluster.NotInstalledError
}

func (e *ClusterVersionError) Error() string {
	aside := fmt.Sprintf("mv %s %s.old", e.DataDir, e.DataDir)
	if filepath.Dir(e.Dir) != e.DataDir {
		aside += fmt.Sprintf("; mv %s %s.old", e.Dir, e.Dir)
	}
	return fmt.Sprintf("the database in %s was made by PostgreSQL %d, and only the programs of that version read it. %v. "+
		"To go on with a newer version, install both, then: muster backup DIR; %s; muster restore DIR (docs/runbooks/restore.md)",
		e.Dir, e.Missing.Major, e.Missing, aside)
}

func (e *ClusterVersionError) Unwrap() error { return e.Missing }

// findHome returns the place of the cluster of a data directory, existing or new. Processes
// that call it at once get the same answer.
func findHome(ctx context.Context, opts Options) (*home, error) {
	if err := os.MkdirAll(opts.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	dataDir, err := filepath.Abs(opts.DataDir)
	if err != nil {
		return nil, fmt.Errorf("find the data directory: %w", err)
	}
	if dataDir, err = filepath.EvalSymlinks(dataDir); err != nil {
		return nil, fmt.Errorf("find the data directory: %w", err)
	}
	h := &home{dataDir: dataDir}
	named, err := os.ReadFile(h.pointer())
	switch {
	case err == nil:
		h.dir = strings.TrimSpace(string(named))
		if !exists(h.cluster()) {
			return nil, fmt.Errorf("%s says that the database is in %s, and there is none: restore it, "+
				"or remove %s to start with an empty one", h.pointer(), h.dir, h.pointer())
		}
	case errors.Is(err, fs.ErrNotExist):
		h.dir = filepath.Join(dataDir, "postgres")
	default:
		return nil, fmt.Errorf("read where the database is: %w", err)
	}
	if exists(h.cluster()) {
		return h, h.ofExisting(ctx)
	}
	return h, h.ofNew(ctx, opts)
}

// ofExisting chooses programs and account by what the cluster was made with.
func (h *home) ofExisting(ctx context.Context) error {
	major, err := cluster.Major(h.cluster())
	if err != nil {
		return fmt.Errorf("read the version of the database: %w", err)
	}
	h.inst, err = cluster.Find(ctx, major)
	var missing *cluster.NotInstalledError
	if errors.As(err, &missing) {
		return &ClusterVersionError{Dir: h.dir, DataDir: h.dataDir, Missing: missing}
	}
	if err != nil {
		return err
	}
	h.account, err = cluster.AccountOf(h.cluster())
	return err
}

// ofNew chooses the newest programs, and a place which their account reaches.
func (h *home) ofNew(ctx context.Context, opts Options) error {
	var err error
	if h.inst, err = cluster.Find(ctx, 0); err != nil {
		return err
	}
	if h.account, err = cluster.DefaultAccount(); err != nil {
		return err
	}
	if err := h.prepare(h.dataDir, h.dir); err != nil {
		return fmt.Errorf("make a place for the database: %w", err)
	}
	if h.account.CanEnter(ctx, h.inst, h.dir) {
		return nil
	}
	_ = os.Remove(h.dir) // just made, and of no use
	sum := sha256.Sum256([]byte(h.dataDir))
	h.dir = filepath.Join(opts.SystemDir, fmt.Sprintf("%x", sum[:6]))
	if err := os.MkdirAll(opts.SystemDir, 0o755); err != nil {
		return fmt.Errorf("make a place for the database that user postgres reaches: %w", err)
	}
	if err := h.prepare(h.dir); err != nil {
		return fmt.Errorf("make a place for the database that user postgres reaches: %w", err)
	}
	if !h.account.CanEnter(ctx, h.inst, h.dir) {
		return fmt.Errorf("user postgres can reach neither %s nor %s, or not run %s",
			h.dataDir, h.dir, h.inst.Program("postgres"))
	}
	if exists(h.cluster()) { // made by a process that died before it wrote the pointer
		return h.ofExisting(ctx)
	}
	opts.Logger.InfoContext(ctx, "the database lies outside the data directory, which user postgres cannot reach",
		slog.String("database", h.dir), slog.String("data directory", h.dataDir))
	return nil
}

// prepare makes directories of ours that the server's account may pass through.
// What has been opened to others already is left as it is.
func (h *home) prepare(dirs ...string) error {
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := h.account.Admit(dir); err != nil {
			return err
		}
	}
	return nil
}

// remember writes the pointer to a home outside the data directory. Last, after
// the cluster is whole: a pointer to nothing is an error.
func (h *home) remember() error {
	if filepath.Dir(h.dir) == h.dataDir || exists(h.pointer()) {
		return nil
	}
	return writeWhole(h.pointer(), h.dir+"\n")
}

// writeWhole writes a small file so that nobody ever sees a part of it. It belongs to the
// directory's owner: root may work in another user's data directory, and the owner has to be
// able to continue.
func writeWhole(path, content string) error {
	return atomicfile.Replace(path, []byte(content), giveToOwner)
}

// giveToOwner gives a file to the owner of its directory.
func giveToOwner(path string) error {
	owner, err := cluster.AccountOf(filepath.Dir(path))
	if err != nil {
		return err
	}
	return owner.Own(path)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// socketsBelow is short whatever TMPDIR says: on macOS that has 50 characters.
const socketsBelow = "/tmp"

// sockets is the directory for the server's socket, created if needed. It is always the same
// for one home, so a connection string survives a restart, unless somebody else has taken that
// name.
func (h *home) sockets() (string, error) {
	record := filepath.Join(h.dir, "sockets")
	named, err := os.ReadFile(record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read where the socket is: %w", err)
	}
	dir := strings.TrimSpace(string(named))
	if dir == "" {
		sum := sha256.Sum256([]byte(h.dir))
		dir = filepath.Join(socketsBelow, fmt.Sprintf("muster-%x", sum[:5]))
	}
	if err := h.own(dir); err != nil {
		// A name in /tmp that anybody can foresee, anybody can take.
		if dir, err = os.MkdirTemp(socketsBelow, "muster-"); err != nil {
			return "", fmt.Errorf("make a directory for the socket: %w", err)
		}
		if err := h.own(dir); err != nil {
			return "", err
		}
	}
	if err := writeWhole(record, dir+"\n"); err != nil {
		return "", fmt.Errorf("record where the socket is: %w", err)
	}
	return dir, nil
}

// own makes dir, or takes it if it is there and really the account's.
func (h *home) own(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = h.account.Own(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make a directory for the socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the directory for the socket: %w", err)
	}
	owner, err := cluster.AccountOf(dir)
	if err != nil {
		return fmt.Errorf("look at the directory for the socket: %w", err)
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !owner.Same(h.account) {
		return fmt.Errorf("%s belongs to somebody else", dir)
	}
	return nil
}
