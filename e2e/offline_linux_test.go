package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"muster/internal/testing/porttest"
)

// TestVerifyOfflineNeedsNoNetwork: a process in a network of its own, which has no interface that is up, says of a
// signed report what others say of it.
func TestVerifyOfflineNeedsNoNetwork(t *testing.T) {
	t.Parallel()
	const vectors = "../internal/proof/attest/page/testdata/vectors/"
	cmd := exec.Command(os.Args[0], "verify", "--offline", "--keys", vectors+"keys-ours.json", vectors+"signed.pdf")
	porttest.Alone(cmd)
	r, err := spawn(cmd, nil)
	if porttest.NotAlone(err) {
		t.Skipf("this machine gives no process a network of its own: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := r.outcome(t); got.status != 0 || !strings.Contains(got.out, "This is Security report ") {
		t.Errorf("it ends with %d: %s%s", got.status, got.out, got.errors)
	}
}
