package e2e

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"muster/internal/cli"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/files/blobs/s3test"
	"muster/internal/postgres"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/projections"
)

// Environment of the tests. asMuster makes the test binary the program itself,
// so that what is started, killed and started again is compiled like the tests:
// with the race detector where they are. asVersion is the version it then says
// it has.
const (
	asMuster  = "TEST_MUSTER_PROGRAM"
	asVersion = "TEST_MUSTER_VERSION"
	// begins is set where the program is to close its third file when main begins.
	begins = "TEST_MUSTER_BEGINS"
	// chaosPrefix is how the settings of TestLongUnderFire begin, which no program sees.
	chaosPrefix = "MUSTER_CHAOS_"
)

func TestMain(m *testing.M) {
	if os.Getenv(asMuster) != "" {
		beMuster()
		return
	}
	// What the developer's own Muster is set to is nothing to the tests.
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if (strings.HasPrefix(name, "MUSTER_") || strings.HasPrefix(name, "OTEL_")) && name != longtest.Variable && !strings.HasPrefix(name, chaosPrefix) {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	if err := s3test.SetCredentials(); err != nil {
		panic(err)
	}
	status := pgtest.Run(m)
	s3test.RemoveCredentials()
	os.Exit(status)
}

// beMuster is the program. It stops when its standard input ends: the tests hold
// the other end, so no server outlives a killed test run.
func beMuster() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}()
	version := "dev"
	if v := os.Getenv(asVersion); v != "" {
		version = v
	}
	command.Build(version, "")
	hastenAgent()
	if os.Getenv(sabotaged) != "" {
		beSabotaged()
	}
	if os.Getenv(begins) != "" {
		_ = os.NewFile(3, begins).Close()
	}
	cli.Main(version, "")
}

// outcome is what a command line came to.
type outcome struct {
	status      int
	out, errors string
}

// muster runs a command line in this process. Its settings are its flags only.
func muster(t testing.TB, args ...string) outcome {
	t.Helper()
	var out, errors bytes.Buffer
	status := cli.Run(t.Context(), args, &out, &errors)
	return outcome{status: status, out: out.String(), errors: errors.String()}
}

// installed is an installation on a database of the test server, as seen by
// who runs commands in it. Without a url it has a private server.
type installed struct {
	url, dir string
	blobs    string // URL of the blob store; empty: in dir

	measurements string // URL of ClickHouse; empty: in the database
	program      string // what runs its commands; empty: this test binary
}

// install makes an installation with a migrated database and nobody in it. The tables of its
// projections are there: to make them is a quarter of what the first start of serve computes.
func install(t testing.TB) installed {
	t.Helper()
	return installed{url: pgtest.FilledURL(t, "prepared", prepare), dir: t.TempDir()}
}

func prepare(url string) error {
	ctx := context.Background()
	db, pool, err := postgres.Connect(ctx, url, postgres.PoolOptions{Name: "test"})
	if err != nil {
		return err
	}
	defer pool.Close()
	return projections.NewRunner(db, url, slog.New(slog.DiscardHandler), installation.ReadModels()...).Prepare(ctx)
}

func (i installed) flags() []string {
	flags := []string{"--data-dir", i.dir}
	if i.url != "" {
		flags = append(flags, "--database-url", i.url)
	}
	if i.blobs != "" {
		flags = append(flags, "--blob-url", i.blobs)
	}
	if i.measurements != "" {
		flags = append(flags, "--measurements-url", i.measurements)
	}
	return flags
}

// muster runs a command on the installation.
func (i installed) muster(t testing.TB, args ...string) outcome {
	t.Helper()
	args = append(args, i.flags()...)
	if i.program != "" {
		return start(t, exec.Command(i.program, args...), nil).outcome(t)
	}
	return muster(t, args...)
}

// must runs a command that is to succeed and returns what it printed.
func (i installed) must(t testing.TB, args ...string) string {
	t.Helper()
	got := i.muster(t, args...)
	if got.status != 0 {
		t.Fatalf("muster %s ended with %d: %s%s", strings.Join(args, " "), got.status, got.out, got.errors)
	}
	return got.out
}

// fail runs a command that is to fail with one line that holds every want.
func (i installed) fail(t testing.TB, args []string, want ...string) {
	t.Helper()
	i.muster(t, args...).failed(t, want...)
}

// soFar is a line that a command prints every few seconds: on a machine that does ten
// other things all commands take that long.
var soFar = regexp.MustCompile(`(?m)^.* \(\S+ so far\)\n`)

// failed holds the outcome to what an operator is promised of a failure: status
// 1, and one line that says why.
func (o outcome) failed(t testing.TB, want ...string) {
	t.Helper()
	if o.status != command.ExitFailed {
		t.Errorf("exit status %d, want %d: %s%s", o.status, command.ExitFailed, o.out, o.errors)
	}
	why := soFar.ReplaceAllString(o.errors, "")
	if strings.Count(why, "\n") != 1 || !strings.HasPrefix(why, "muster: ") {
		t.Errorf("standard error is not one line:\n%s", o.errors)
	}
	o.says(t, want...)
}

// says holds standard error to words.
func (o outcome) says(t testing.TB, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(o.errors, w) {
			t.Errorf("standard error does not say %q:\n%s", w, o.errors)
		}
	}
}

// organization makes an organization whose administrator is ana@NAME.example.
func (i installed) organization(t testing.TB, name string) (adminEmail string) {
	t.Helper()
	adminEmail = "ana@" + strings.ToLower(name) + ".example"
	i.must(t, "organization", "create", "--name", name, "--admin-email", adminEmail,
		"--admin-password-file", passwordFile(t))
	return adminEmail
}

// password is everybody's. It is in no list of known ones.
const password = "seven-grey-herons-wade"

func passwordFile(t testing.TB) string {
	t.Helper()
	return fileWith(t, "password", password+"\n")
}

// fileWith is a new file in a directory of its own.
func fileWith(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
