package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"muster/internal/testing/longtest"
)

// TestLongTheProgramBuildsForWindows, where the agent runs: 60 to 90 s of compiling.
func TestLongTheProgramBuildsForWindows(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(t.TempDir(), "muster.exe"), ".")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
