package supervise_test

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"muster/internal/concurrency/supervise"
)

// TestSpread: there are more threads than processors, computations still count processors, garbage
// is collected less often, and the environment has the last word. It runs in processes of its own.
func TestSpread(t *testing.T) {
	t.Parallel()
	if os.Getenv("TEST_SPREAD") != "" {
		before := runtime.GOMAXPROCS(0)
		supervise.Spread()
		supervise.Spread()
		if supervise.Processors() != before {
			t.Errorf("%d processors, and %d before", supervise.Processors(), before)
		}
		if more := runtime.GOMAXPROCS(0) - before; (more > 0) != (os.Getenv("GOMAXPROCS") == "") {
			t.Errorf("%d threads more", more)
		}
		if percent := debug.SetGCPercent(100); percent == 200 != (os.Getenv("GOGC") == "") {
			t.Errorf("garbage is collected at %d percent", percent)
		}
		return
	}
	for _, given := range []string{"", "3"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSpread$", "-test.count=1")
		cmd.Env = append(os.Environ(), "TEST_SPREAD=yes", "GOMAXPROCS="+given, "GOGC="+map[string]string{"3": "50"}[given])
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests to run") {
			t.Errorf("with GOMAXPROCS=%q: %v\n%s", given, err, out)
		}
	}
}
