package secrets

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"muster/internal/pause"
	"muster/internal/unixonly"
)

// PermissionsError says that others than the file's owner and group may read
// it, or may write it.
type PermissionsError struct {
	Path string
	Mode fs.FileMode
}

func (e *PermissionsError) Error() string {
	return fmt.Sprintf("the secret key %s has mode %04o, so that others may read or change it: chmod 600 %s",
		e.Path, e.Mode.Perm(), e.Path)
}

// MalformedError says that a file holds no key.
type MalformedError struct {
	Path   string
	Reason string
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("%s holds no secret key (%s): restore it from a backup; "+
		"Muster makes a new one only where no file is", e.Path, e.Reason)
}

// tooOpen are the permissions a key file must not have. The group may read:
// that is how Kubernetes hands a secret to a process that is not root.
const tooOpen fs.FileMode = 0o037

// LoadOrCreate reads the key file, or makes one (0600) with one key where none
// exists. It returns *PermissionsError or *MalformedError for a file it will not
// use.
func LoadOrCreate(path string) (*Ring, error) {
	ring, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return ring, err
	}
	if err := Create(path, []*Key{newKey()}); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Load(path) // ours, or that of a process which was faster
}

func newKey() *Key {
	key := &Key{}
	rand.Read(key.secret[:])
	return key
}

// Load reads a key file. It returns fs.ErrNotExist where there is none, and what
// LoadOrCreate returns.
func Load(path string) (*Ring, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the secret key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &MalformedError{Path: path, Reason: "it is not a file"}
	}
	if info.Mode().Perm()&tooOpen != 0 {
		return nil, &PermissionsError{Path: path, Mode: info.Mode()}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the secret key: %w", err)
	}
	keys, err := parse(string(content))
	if err != nil {
		return nil, &MalformedError{Path: path, Reason: err.Error()}
	}
	return &Ring{path: path, seen: info, keys: keys}, nil
}

// parse reads one key a line, the current one first.
func parse(content string) ([]*Key, error) {
	lines := strings.Fields(content)
	if len(lines) == 0 {
		return nil, errors.New("it is empty")
	}
	keys := make([]*Key, len(lines))
	for i, line := range lines {
		keys[i] = &Key{}
		if want := 2 * len(keys[i].secret); len(line) != want {
			return nil, fmt.Errorf("key %d has %d characters instead of %d", i+1, len(line), want)
		}
		if _, err := hex.Decode(keys[i].secret[:], []byte(line)); err != nil {
			return nil, fmt.Errorf("key %d is not hexadecimal", i+1)
		}
	}
	return keys, nil
}

// Create puts keys into a new file (0600) in one step; fs.ErrExist: somebody
// else has.
func Create(path string, keys []*Key) error {
	_, err := os.Lstat(path)
	if err == nil { // also where nothing can be made beside it
		err = fs.ErrExist
	} else if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		// Link, not rename: a rename would replace the key of a faster process.
		err = put(path, keys, func(aside string) error { return os.Link(aside, path) })
	}
	if err != nil {
		return fmt.Errorf("make the secret key: %w", err)
	}
	return nil
}

// replace puts keys into the file in the place of those that are there, for
// its owner and with its permissions. Whoever reads at that moment reads the one
// or the other. The caller holds the file's lock.
func replace(path string, keys []*Key) error {
	info, err := os.Stat(path)
	if err == nil {
		err = put(path, keys, func(aside string) error {
			// Root may rotate the keys of a server that runs as somebody else.
			if err := errors.Join(giveToOwnerOf(info, aside), os.Chmod(aside, info.Mode().Perm())); err != nil {
				return err
			}
			return os.Rename(aside, path)
		})
	}
	if err != nil {
		return fmt.Errorf("replace the secret key: %w", err)
	}
	return nil
}

// put writes keys to a file beside path (0600), whole and flushed, and has move put it
// into its place.
func put(path string, keys []*Key, move func(aside string) error) error {
	aside, err := os.CreateTemp(filepath.Dir(path), ".secret-key-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(aside.Name()) }() // gone already where it was renamed
	for _, k := range keys {
		if _, err = fmt.Fprintf(aside, "%x\n", k.secret); err != nil {
			break
		}
	}
	if err := errors.Join(err, aside.Sync(), aside.Close()); err != nil {
		return err
	}
	if err := move(aside.Name()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// How long a process waits for another that changes the same file, which takes
// no longer than sealing everything again, and how often it looks. Its
// transaction lies idle meanwhile, and the server ends such a one after 8 s.
const (
	lockPatience = 5 * time.Second
	lockPoll     = 20 * time.Millisecond
)

// lock keeps other processes from changing the key file until release. It lies
// beside the file, which is replaced, and is its owner's, so that they can change
// keys after root has.
func lock(ctx context.Context, path string) (release func(), err error) {
	beside := path + ".lock"
	file, err := os.OpenFile(beside, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil && handedIn(beside, err) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock the secret key: %w", err)
	}
	if os.Geteuid() == 0 {
		info, err := os.Stat(path)
		if err == nil {
			err = giveToOwnerOf(info, beside)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock the secret key: %w", err), file.Close())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		err := unixonly.Lock(file, true)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, unixonly.ErrLocked) {
			return nil, errors.Join(fmt.Errorf("lock the secret key: %w", err), file.Close())
		}
		if pause.For(ctx, lockPoll) != nil {
			return nil, errors.Join(fmt.Errorf("another process is changing %s: wait for it, then try again", path), file.Close())
		}
	}
}

// handedIn says whether no lock can be made because nothing can be made in that
// directory, as where an orchestrator hands the key file in: then nobody like us
// can replace the file either, and there is nothing to keep them from.
func handedIn(lock string, err error) bool {
	_, there := os.Lstat(lock)
	return errors.Is(there, fs.ErrNotExist) && (errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission))
}

// giveToOwnerOf makes a file that of whoever has the key.
func giveToOwnerOf(key fs.FileInfo, path string) error {
	if uid, gid, ok := unixonly.Owner(key); ok {
		return os.Chown(path, int(uid), int(gid))
	}
	return nil
}

// syncDir makes a new name in dir survive a power cut: what is sealed in the
// next second would otherwise outlive its key.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
