package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"muster/eventstore"
	"muster/internal/proof/attest"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
)

// Beside are the files with the last checkpoint that was signed of each log. They lie beside
// the secret key, where SQL does not reach. Each is the checkpoint itself.
type Beside struct {
	// Dirs are all read; the first is the key's. The file is written to the first directory in
	// which that is possible, because an orchestrator may provide the key in a read-only one.
	Dirs []string
	Name string // of the key's file; empty: nothing is kept
}

// path is the file of a log in a directory.
func (b Beside) path(dir string, log eventstore.Log) string {
	return signing.LastFile(dir, b.Name, log)
}

// FileError reports an unusable file with the last signed state.
type FileError struct {
	Path   string
	Reason string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s has what was signed last, and %s; nothing more is signed (docs/runbooks/alerts.md#musterhistoryaltered)", e.Path, e.Reason)
}

// besideState is what a file says.
type besideState struct {
	state
	path string
}

// read returns what the files say that there are. Errors: *FileError.
func (b Beside) read(log eventstore.Log, origin string) (all []besideState, err error) {
	if b.Name == "" {
		return nil, nil
	}
	for i, dir := range b.Dirs {
		path := b.path(dir, log)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || i > 0 && dir == b.Dirs[0] {
			continue
		}
		if err != nil {
			return nil, &FileError{path, "cannot be read: " + err.Error()}
		}
		tree, err := attest.ParseCheckpoint(string(text))
		if err != nil {
			return nil, &FileError{path, "is none: " + err.Error()}
		}
		if tree.Origin != origin {
			return nil, &FileError{path, fmt.Sprintf("it is of %s, while the database says %s: remove the file if another installation had this key before", tree.Origin, origin)}
		}
		all = append(all, besideState{state{tree.Size, tree.Root}, path})
	}
	return all, nil
}

// has says whether a file has a checkpoint, or a larger one.
func has(files []besideState, c Checkpoint) bool {
	return slices.ContainsFunc(files, func(f besideState) bool { return f.size >= c.Size })
}

// write keeps a checkpoint.
func (b Beside) write(c Checkpoint) error {
	var failed error
	for _, dir := range b.Dirs {
		err := secrets.KeepBeside(filepath.Join(b.Dirs[0], b.Name), b.path(dir, c.Log), []byte(c.Note))
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// giveUp moves the files of a log aside, and says where they are now. Those that were moved
// before stay: each has what was signed then.
func (b Beside) giveUp(log eventstore.Log) (moved []string, err error) {
	for _, dir := range b.Dirs {
		path := b.path(dir, log)
		aside, err := unused(path + ".given-up")
		if err == nil {
			err = os.Rename(path, aside)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return moved, fmt.Errorf("move aside what was signed last: %w", err)
		default:
			moved = append(moved, aside)
		}
	}
	return moved, nil
}

// unused is a name that no file has: the given one, or that with a number.
func unused(name string) (string, error) {
	for free, n := name, 2; ; n++ {
		_, err := os.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			return free, nil
		}
		if err != nil {
			return "", err
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}
