package skewtest

import (
	_ "embed" // what is added to package time
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// variable of the environment names the file with the offset. skew.go.txt spells it, too.
const variable = "TEST_MUSTER_CLOCK"

// added is a further file of package time.
//
//go:embed skew.go.txt
var added string

// What Now begins with in the toolchain's package time, and here.
const (
	reads = "\tsec, nsec, mono := runtimeNow()\n"
	skews = reads + "\tsec, nsec = skewed(sec, nsec)\n"
)

// Clock is by how much the clock of processes is off.
type Clock struct {
	t    testing.TB
	file *os.File
}

// NewClock returns a clock that is right until it is stepped. Any number of processes may
// have it.
func NewClock(t testing.TB) *Clock {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	c := &Clock{t, file}
	c.Step(0)
	return c
}

// Env is what the environment of a process needs to have this clock: NAME=value.
func (c *Clock) Env() string { return variable + "=" + c.file.Name() }

// Step sets by how much the clock is ahead of the true one, or behind where offset is
// negative, from now on.
func (c *Clock) Step(offset time.Duration) {
	c.t.Helper()
	// One write of one word: whoever reads it sees the old or the new one.
	if _, err := c.file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(offset)), 0); err != nil {
		c.t.Error(err)
	}
}

// Build returns the path of a cmd/muster whose clock can be off, which is the test's own. It
// is made once for a commit, and every time where the working tree differs from it.
func Build(t testing.TB) string {
	t.Helper()
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, ".cache", "skew")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	name, clean := nameOf(t, root)
	program := filepath.Join(dir, name)
	own := filepath.Join(t.TempDir(), name) // a test of the next commit clears away what is kept
	if clean && copied(program, own) == nil {
		return own
	}
	old, err := filepath.Glob(filepath.Join(dir, "muster-*"))
	if err != nil {
		t.Fatal(err)
	}
	compile(t, root, "./cmd/muster", own)
	for _, one := range old {
		if err := os.Remove(one); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := copied(own, program); err != nil {
		t.Fatal(err)
	}
	return own
}

// nameOf says which source and which Go a program is of; clean: of the commit, and nothing
// else.
func nameOf(t testing.TB, root string) (name string, clean bool) {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	name = "muster-" + runtime.Version() + "-" + git("rev-parse", "--short=12", "HEAD")
	if git("status", "--porcelain") != "" {
		return name + "-changed", false
	}
	return name, true
}

// compile builds a program as make build does, with a clock that can be off.
func compile(t testing.TB, root, what, program string) {
	t.Helper()
	toolchain := linkedToolchain(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(toolchain, "bin", "go"), "build", "-overlay", overlay(t, toolchain), "-trimpath", "-tags=nomsgpack,grpcnotrace",
		"-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-buildvcs=false", "-o", program, what)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOTOOLCHAIN=local", "GOROOT="+toolchain)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s with a clock that can be off: %v\n%s", what, err, out)
	}
}

// linkedToolchain is another path to the toolchain. go build replaces no file in the module
// cache, where a toolchain lies that it downloaded.
func linkedToolchain(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "go")
	if err := os.Symlink(strings.TrimSpace(string(out)), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// overlay is the file that tells go build which files to take in place of the toolchain's.
func overlay(t testing.TB, toolchain string) string {
	t.Helper()
	original := filepath.Join(toolchain, "src", "time", "time.go")
	changed, err := skewedTime(original)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	content := map[string]string{"time.go": changed, "skew.go": added}
	replaced := map[string]string{}
	for name, text := range content {
		replaced[filepath.Join(filepath.Dir(original), name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// skewedTime is the text of the toolchain's time.go whose Now is off.
func skewedTime(original string) (string, error) {
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), reads); n != 1 {
		return "", fmt.Errorf("%s reads the clock in another way than is known here (%d times as known): mend package skewtest", original, n)
	}
	return strings.Replace(string(text), reads, skews, 1), nil
}

// checkout is the directory of this repository.
func checkout() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
	}
	return "", errors.New("not in a checkout of Muster")
}

// copied puts a copy of a file where another may be, which may run.
func copied(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(to), "part-")
	if err != nil {
		return err
	}
	_, err = part.Write(content)
	if err := errors.Join(err, part.Chmod(0o755), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), to)
}
