// Package s3test gives tests an object store that speaks S3: versitygw over a directory.
//
// The program is looked for where VERSITYGW says, as `make test` does, in .cache/tools,
// where that puts it, and on PATH. Without it the test is skipped, and says so.
//
// What may go wrong: another process takes the free port before versitygw does; it is
// then started on another one. A test binary that is killed leaves it running until its
// standard input ends, as the shell that started it does.
package s3test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is a running object store with one bucket.
type Server struct {
	URL string // of the bucket, as MUSTER_BLOB_URL takes it
	Dir string // where the bucket's files are
}

const (
	bucket = "muster"
	region = "eu-west-1"
	key    = "AKTEST"
	secret = "a-secret-of-the-test"
)

// SetCredentials puts the credentials where AWS' library looks for them: into the
// environment. Use it in TestMain, before any test runs.
func SetCredentials() error {
	return errors.Join(os.Setenv("AWS_ACCESS_KEY_ID", key), os.Setenv("AWS_SECRET_ACCESS_KEY", secret),
		os.Setenv("AWS_EC2_METADATA_DISABLED", "true"))
}

// patience is how long it may take to start on a machine that does ten other things.
const patience = time.Minute

// Start starts an object store that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	program, ok := find()
	if !ok {
		t.Skip("versitygw is missing, so nothing is tested against an object store: make test-go installs it")
	}
	root := t.TempDir()
	for _, dir := range []string{"root/" + bucket, "sidecar"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if addr, ok := launch(t, program, root); ok {
			q := url.Values{"region": {region}, "endpoint": {"http://" + addr}, "use_path_style": {"true"}}
			return &Server{URL: "s3://" + bucket + "?" + q.Encode(), Dir: filepath.Join(root, "root", bucket)}
		}
	}
	t.Fatal("versitygw does not start")
	return nil
}

func find() (string, bool) {
	candidates := []string{os.Getenv("VERSITYGW")}
	if dir, err := os.Getwd(); err == nil {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			installed, _ := filepath.Glob(filepath.Join(dir, ".cache", "tools", "versitygw-*"))
			candidates = append(candidates, installed...)
		}
	}
	for _, c := range append(candidates, "versitygw") {
		if path, err := exec.LookPath(c); c != "" && err == nil {
			return path, true
		}
	}
	return "", false
}

// launch starts the program on a free port; ok is false where it ended at once.
func launch(t testing.TB, program, root string) (addr string, ok bool) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	_ = l.Close()
	said, err := os.Create(filepath.Join(root, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	// The shell ends it when this process does, however that ends.
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", `"$@" & pid=$!; cat >/dev/null; kill $pid; wait $pid`, "sh",
		program, "--quiet", "--region", region, "--access", key, "--secret", secret, "--port", addr,
		"posix", "--sidecar", filepath.Join(root, "sidecar"), filepath.Join(root, "root"))
	cmd.Stdout, cmd.Stderr = said, said
	alive, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = alive.Close(); _ = cmd.Wait() }
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + addr + "/") //nolint:noctx // until the deadline
		if err != nil {
			if strings.Contains(read(said.Name()), "address already in use") {
				break
			}
			continue
		}
		_ = answer.Body.Close()
		t.Cleanup(end)
		return addr, true
	}
	end()
	t.Log(read(said.Name()))
	return "", false
}

func read(path string) string {
	text, _ := os.ReadFile(path) // nothing yet says nothing
	return string(text)
}
