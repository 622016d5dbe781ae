package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace replaces the content of a file (0600). give prepares the file before it takes its
// place, for example by changing its owner; nil: it stays ours.
func Replace(path string, content []byte, give func(aside string) error) error {
	return put(path, content, give, os.Rename)
}

// Create puts content into a new file (0600). Error: fs.ErrExist.
func Create(path string, content []byte) error {
	return put(path, content, nil, os.Link) // a rename would replace the file of a faster process
}

func put(path string, content []byte, give func(aside string) error, move func(aside, path string) error) error {
	aside, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(aside.Name()) }() // gone already where it was renamed
	_, err = aside.Write(content)
	if give != nil {
		err = errors.Join(err, give(aside.Name()))
	}
	if err := errors.Join(err, aside.Sync(), aside.Close()); err != nil {
		return err
	}
	if err := move(aside.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes new names in a directory survive a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
