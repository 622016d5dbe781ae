package skewtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"muster/internal/testing/longtest"
)

// TestTheToolchainsClockIsKnown, so that a new Go fails here and not in a test that nobody
// runs for a week.
func TestTheToolchainsClockIsKnown(t *testing.T) {
	t.Parallel()
	overlay(t, linkedToolchain(t))
}

// teller is a process that tells the time.
type teller struct {
	*testing.T
	in  io.Writer
	out io.Reader
}

// wait has it begin to wait; told returns what it says at the end.
func (p teller) wait(d time.Duration) (told func() (shown time.Time, monotonic, wall time.Duration)) {
	p.Helper()
	if _, err := fmt.Fprintln(p.in, d); err != nil {
		p.Fatal(err)
	}
	var said string
	if _, err := fmt.Fscanln(p.out, &said); err != nil || said != "waiting" {
		p.Fatalf("it says %q, %v", said, err)
	}
	return func() (time.Time, time.Duration, time.Duration) {
		p.Helper()
		var shown, monotonic, wall int64
		if _, err := fmt.Fscanln(p.out, &shown, &monotonic, &wall); err != nil {
			p.Fatal(err)
		}
		return time.Unix(0, shown), time.Duration(monotonic), time.Duration(wall)
	}
}

// TestLongAClockSteps: what it shows does, and what is measured and waited for does not,
// in whichever direction and in the middle of a wait.
func TestLongAClockSteps(t *testing.T) {
	t.Parallel()
	longtest.Only(t)
	program := filepath.Join(t.TempDir(), "teller")
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	compile(t, root, "./internal/testing/skewtest/testdata/teller", program)
	clock := NewClock(t)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), clock.Env())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	p := teller{t, in, out}
	const (
		pause = time.Second      // a step that comes later is not in the middle of it
		slack = 20 * time.Second // a busy machine
	)
	was := time.Duration(0)
	for _, offset := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute, 1500 * time.Millisecond, -time.Nanosecond, 0} {
		told := p.wait(pause)
		clock.Step(offset)
		shown, monotonic, wall := told()
		if off := time.Until(shown) - offset; off > 0 || off < -slack {
			t.Errorf("off by %s it shows a time that is %s away", offset, off)
		}
		if monotonic < pause || monotonic > slack {
			t.Errorf("stepped by %s, a wait of %s took %s", offset-was, pause, monotonic)
		}
		if jump := wall - monotonic - (offset - was); jump.Abs() > time.Millisecond {
			t.Errorf("stepped by %s, its clock jumped by %s more", offset-was, jump)
		}
		was = offset
	}
}

// TestLongMusterIsBuilt once for a commit.
func TestLongMusterIsBuilt(t *testing.T) {
	t.Parallel()
	longtest.Only(t)
	program := Build(t)
	out, err := exec.CommandContext(t.Context(), program, "--help").CombinedOutput()
	if err != nil || len(out) == 0 {
		t.Errorf("%v: %s", err, out)
	}
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	if name, clean := nameOf(t, root); clean {
		kept := filepath.Join(root, ".cache", "skew", name)
		before, err := os.Stat(kept)
		if err != nil {
			t.Fatal(err)
		}
		if again := Build(t); again == program {
			t.Error("two tests have the same program, which either of them may remove")
		}
		after, err := os.Stat(kept)
		if err != nil || !os.SameFile(before, after) {
			t.Errorf("it was built again with %s: %v", runtime.Version(), err)
		}
	}
}
