// Package s3test gives tests an object store that speaks S3: versitygw over a directory,
// or MinIO.
//
// MinIO is what MINIO names, as the second part of `make test-all` has it; else versitygw
// is looked for where VERSITYGW says, as `make test` does, in .cache/tools, where that puts
// it, and on PATH. Without either the test is skipped, and says so. Both are programs of
// their own that tests speak to over HTTP: nothing of them is linked, changed or handed on,
// so that MinIO's licence (AGPL 3.0) asks nothing of Muster.
//
// What may go wrong: a test binary that is killed leaves it running until its standard input
// ends, as the shell that started it does.
package s3test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"muster/internal/testing/porttest"
)

// Server is a running object store with one bucket.
type Server struct {
	URL   string // of the bucket, as MUSTER_BLOB_URL takes it
	Addr  string // host:port
	MinIO bool   // and not versitygw
}

const (
	bucket = "muster"
	region = "eu-west-1"
	// Key is the access key of the store's owner.
	Key    = "AKTEST"
	secret = "a-secret-of-the-test"
)

// patience is how long it may take to start on a machine that does ten other things.
const patience = time.Minute

// Start starts an object store that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartOn(t, t.TempDir())
}

// StartOn is Start for a store that keeps its files below disk.
func StartOn(t testing.TB, disk string) *Server {
	t.Helper()
	program, minio, ok := find()
	if !ok {
		t.Skip("versitygw is missing, so nothing is tested against an object store: make test-go installs it")
	}
	beside, root := t.TempDir(), filepath.Join(disk, "root")
	first := root
	if !minio { // to which a directory is a bucket
		first = filepath.Join(root, bucket)
	}
	if err := os.MkdirAll(first, 0o700); err != nil {
		t.Fatal(err)
	}
	l := launched{beside: beside, addr: porttest.Address(t)}
	if minio {
		l.health = "/minio/health/ready"
		l.env = []string{"MINIO_ROOT_USER=" + Key, "MINIO_ROOT_PASSWORD=" + secret, "MINIO_SITE_REGION=" + region,
			"MINIO_BROWSER=off", "MINIO_CI_CD=on", "MINIO_UPDATE=off", "HOME=" + beside}
		l.args = []string{program, "--quiet", "server", "--address", l.addr, root}
	} else {
		l.args = []string{program, "--quiet", "--region", region, "--access", Key, "--secret", secret, "--port", l.addr,
			"posix", "--sidecar", beside, root}
	}
	l.launch(t)
	s := &Server{Addr: l.addr, MinIO: minio}
	s.URL = s.At(s.Addr)
	if minio {
		s.makeBucket(t, bucket)
	}
	return s
}

// At is the URL of the bucket by another way to the store, such as a line that can be cut.
func (s *Server) At(addr string) string { return address(bucket, addr) }

func address(bucket, addr string) string {
	q := url.Values{"region": {region}, "endpoint": {"http://" + addr}, "use_path_style": {"true"}}
	return "s3://" + bucket + "?" + q.Encode()
}

func find() (program string, minio, ok bool) {
	if path, err := exec.LookPath(os.Getenv("MINIO")); err == nil {
		return path, true, true
	}
	candidates := []string{os.Getenv("VERSITYGW")}
	if dir, err := os.Getwd(); err == nil {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			installed, _ := filepath.Glob(filepath.Join(dir, ".cache", "tools", "versitygw-*"))
			candidates = append(candidates, installed...)
		}
	}
	for _, c := range append(candidates, "versitygw") {
		if path, err := exec.LookPath(c); c != "" && err == nil {
			return path, false, true
		}
	}
	return "", false, false
}

// launched is a store that is being started.
type launched struct {
	beside    string // where it says what it has to say
	addr      string
	health    string // answers 200 once it is there; empty: any answer will do
	args, env []string
}

// launch starts it, and returns once it answers.
func (l *launched) launch(t testing.TB) {
	t.Helper()
	said, err := os.Create(filepath.Join(l.beside, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	// The shell ends it when this process does, however that ends.
	cmd := exec.CommandContext(context.Background(), "/bin/sh", append([]string{"-c", `"$@" & pid=$!; cat >/dev/null; kill $pid; wait $pid`, "sh"}, l.args...)...)
	cmd.Stdout, cmd.Stderr, cmd.Env = said, said, append(os.Environ(), l.env...)
	alive, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = alive.Close(); _ = cmd.Wait() })
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + l.addr + l.health) //nolint:noctx // until the deadline
		if err != nil {
			continue
		}
		_ = answer.Body.Close()
		if l.health == "" || answer.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatalf("the object store does not start: %s", read(said.Name()))
}

func read(path string) string {
	text, _ := os.ReadFile(path) // nothing yet says nothing
	return string(text)
}
