package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"muster/internal/files/atomicfile"
)

// TestAFileIsReplacedCompletelyOrNotAtAll: a failure leaves the file as it was, and nothing beside
// it.
func TestAFileIsReplacedCompletelyOrNotAtAll(t *testing.T) {
	t.Parallel()
	refused := errors.New("it has no owner")
	for name, tc := range map[string]struct {
		write func(path string) error
		err   error
		want  string
		mode  fs.FileMode
	}{
		"replaced":              {func(path string) error { return atomicfile.Replace(path, []byte("new"), nil) }, nil, "new", 0o600},
		"replaced and prepared": {func(path string) error { return atomicfile.Replace(path, []byte("new"), open) }, nil, "new", 0o640},
		"cannot be prepared":    {func(path string) error { return atomicfile.Replace(path, []byte("new"), refuse(refused)) }, refused, "old", 0o600},
		"there already":         {func(path string) error { return atomicfile.Create(path, []byte("new")) }, fs.ErrExist, "old", 0o600},
		"created": {func(path string) error {
			return errors.Join(os.Remove(path), atomicfile.Create(path, []byte("new")))
		}, nil, "new", 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tc.write(path); !errors.Is(err, tc.err) {
				t.Errorf("it ends with %v", err)
			}
			content, err := os.ReadFile(path)
			if err != nil || string(content) != tc.want {
				t.Errorf("the file has %q, %v", content, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != tc.mode {
				t.Errorf("its mode is %v, %v", info.Mode(), err)
			}
			if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
				t.Errorf("beside it lie %v, %v", all, err)
			}
		})
	}
}

// TestADirectoryThatTakesNoNewFiles has another error than a file whose owner cannot be
// changed.
func TestADirectoryThatTakesNoNewFiles(t *testing.T) {
	t.Parallel()
	var failed *fs.PathError
	err := atomicfile.Replace(filepath.Join(t.TempDir(), "none", "file"), nil, nil)
	if !errors.As(err, &failed) || failed.Op != "open" {
		t.Errorf("it ends with %v", err)
	}
}

func open(aside string) error { return os.Chmod(aside, 0o640) }

func refuse(err error) func(string) error { return func(string) error { return err } }
