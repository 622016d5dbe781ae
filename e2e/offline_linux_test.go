package e2e

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestVerifyOfflineNeedsNoNetwork: a process in a network of its own, which has no interface that is up, says of a
// signed report what others say of it.
func TestVerifyOfflineNeedsNoNetwork(t *testing.T) {
	t.Parallel()
	const vectors = "../internal/proof/attest/page/testdata/vectors/"
	cmd := exec.Command(os.Args[0], "verify", "--offline", "--keys", vectors+"keys-ours.json", vectors+"signed.pdf")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	}
	r, err := spawn(cmd, nil)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("this machine gives no process a network of its own: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := r.outcome(t); got.status != 0 || !strings.Contains(got.out, "This is Security report ") {
		t.Errorf("it ends with %d: %s%s", got.status, got.out, got.errors)
	}
}
