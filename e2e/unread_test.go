package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"muster/internal/cli/command"
	"muster/internal/postgres/cluster"
)

// outputNobodyReads runs a command on a private server, with an output that nobody reads, as behind head: it ends
// without a word and stops the private server that it has started.
func outputNobodyReads(t *testing.T, dir string) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(os.Args[0], "keys", "list", "--data-dir", dir) //nolint:gosec // this test binary
	cmd.Env = programEnvironment()
	cmd.Stdout, cmd.Stderr = write, &said
	stdin, err := cmd.StdinPipe() // see beMuster
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	err = cmd.Run()
	_ = write.Close()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != command.ExitFailed || said.Len() > 0 {
		t.Errorf("it ended with %v and said %s", err, said.String())
	}
	state, err := cluster.ReadState(filepath.Join(dir, "postgres", "data"))
	if err == nil && state.Alive(t.Context()) {
		t.Error("the private server runs on")
	}
}
