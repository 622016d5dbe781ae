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

	"muster/internal/concurrency/pause"
	"muster/internal/files/atomicfile"
	"muster/internal/process/unixonly"
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

// Load reads a key file. It returns fs.ErrNotExist if there is none, and the errors of
// LoadOrCreate.
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

// Create puts keys into a new file (0600) in one step; fs.ErrExist: another process has done
// so.
func Create(path string, keys []*Key) error {
	_, err := os.Lstat(path)
	if err == nil { // also where nothing can be made beside it
		err = fs.ErrExist
	} else if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = atomicfile.Create(path, content(keys))
	}
	if err != nil {
		return fmt.Errorf("make the secret key: %w", err)
	}
	return nil
}

// replace puts keys into the file in the place of those that are there, for
// its owner and with its permissions. The caller holds the file's lock.
func replace(path string, keys []*Key) error {
	info, err := os.Stat(path)
	if err == nil {
		// Root may rotate the keys of a server that runs as another user.
		err = atomicfile.Replace(path, content(keys), likeKey(info))
	}
	if err != nil {
		return fmt.Errorf("replace the secret key: %w", err)
	}
	return nil
}

// content is the file of keys.
func content(keys []*Key) (text []byte) {
	for _, k := range keys {
		text = fmt.Appendf(text, "%x\n", k.secret)
	}
	return text
}

// KeepBeside replaces a file beside the secret key, or in another directory instead. If root
// writes it, it belongs to the key's owner: a command of root works for a server that runs as
// another user, which reads the file at the next start. A missing key has no owner.
func KeepBeside(key, path string, content []byte) error {
	if os.Geteuid() != 0 {
		return atomicfile.Replace(path, content, nil)
	}
	info, err := os.Stat(key)
	if errors.Is(err, fs.ErrNotExist) {
		return atomicfile.Replace(path, content, nil)
	}
	if err != nil {
		return err
	}
	return atomicfile.Replace(path, content, likeKey(info))
}

// likeKey gives a file to the key's owner, with the key's permissions.
func likeKey(key fs.FileInfo) func(path string) error {
	return func(path string) error {
		return errors.Join(giveToOwnerOf(key, path), os.Chmod(path, key.Mode().Perm()))
	}
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

// handedIn says whether a file could not be created because its directory is read-only, as if
// an orchestrator provides the key file: then our processes cannot replace the key file either,
// and a lock protects nothing.
func handedIn(path string, err error) bool {
	_, there := os.Lstat(path)
	var failed *fs.PathError
	return errors.Is(there, fs.ErrNotExist) && errors.As(err, &failed) && failed.Op == "open" &&
		(errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission))
}

// giveToOwnerOf gives a file to the key's owner.
func giveToOwnerOf(key fs.FileInfo, path string) error {
	if uid, gid, ok := unixonly.Owner(key); ok {
		return os.Chown(path, int(uid), int(gid))
	}
	return nil
}
