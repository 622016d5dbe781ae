package secrets

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// LoadOrCreate reads the key file, or makes one (0600) where none exists. It
// returns *PermissionsError or *MalformedError for a file it will not use.
func LoadOrCreate(path string) (*Key, error) {
	key, err := load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := create(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the secret key: %w", err)
	}
	return load(path) // ours, or that of a process which was faster
}

func load(path string) (*Key, error) {
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
	text := strings.TrimSpace(string(content))
	key := &Key{}
	if len(text) != 2*len(key.secret) {
		return nil, &MalformedError{Path: path, Reason: fmt.Sprintf("%d characters instead of %d", len(text), 2*len(key.secret))}
	}
	if _, err := hex.Decode(key.secret[:], []byte(text)); err != nil {
		return nil, &MalformedError{Path: path, Reason: "not hexadecimal"}
	}
	return key, nil
}

// create puts a new key at path in one step; fs.ErrExist: somebody else has.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return err
	}
	aside, err := os.CreateTemp(dir, ".secret-key-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(aside.Name()) }()
	_, err = fmt.Fprintf(aside, "%x\n", secret)
	if err := errors.Join(err, aside.Sync(), aside.Close()); err != nil {
		return err
	}
	// Link, not rename: a rename would replace the key of a faster process.
	if err := os.Link(aside.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
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
