package e2e

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/files/blobs/s3test"
	"muster/internal/postgres"
	"muster/internal/secrets"
	"muster/internal/testing/linetest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// unavailable holds the download of a report to being refused honestly, and in time.
func (c client) unavailable(t *testing.T, what string, id uuid.UUID) {
	t.Helper()
	began := time.Now()
	got, err := c.try(t.Context(), http.MethodGet, "/api/v1/reports/"+id.String()+"/download", nil)
	if err != nil || got.status != http.StatusServiceUnavailable || got.code() != "unavailable" || !strings.Contains(string(got.body), "report files are kept") || time.Since(began) > 15*time.Second {
		t.Errorf("%s, a download: %v %d %s after %s", what, err, got.status, got.body, time.Since(began))
	}
}

// awaitFiles waits until the check of the blob store passes, or fails, alone.
func (c client) awaitFiles(t *testing.T, passes bool) {
	t.Helper()
	want := map[bool]string{true: "ready", false: "degraded"}[passes]
	eventually(t, "/readyz is "+want, func() bool {
		status, passed := c.checks(t, "/readyz")
		return status == want && passed["blobs"] == passes && passed["database"]
	})
}

// TestReportsInAnObjectStore: a report is built into a store that speaks S3, handed out
// and proven from there, is backed up, and restored into another one.
func TestReportsInAnObjectStore(t *testing.T) {
	t.Parallel()
	store, other := s3test.Start(t), s3test.Start(t)
	line := linetest.New(t, store.Addr)
	i := install(t)
	i.blobs = store.At(line.Addr())
	line.Cut()
	launchHere(t, serveArgs(i.flags())...).outcome(t).refused(t, "muster-store in the blob store", "--blob-url")
	line.Heal()
	if names := store.Names(t); len(names) != 0 {
		t.Errorf("a first start without the bucket left %v", names)
	}
	h := i.open(t, servingHere, "--job-lease=1s")
	h.ana.assessedAgain(t, h.live)
	id := h.done(t, security(h.live))
	pdf, path := h.ana.download(t, id)
	h.must(t, "verify", path)
	h.sweep(t) // takes nothing that an event names
	h.same(t, h.ana, id, pdf.body)
	if _, err := os.Stat(filepath.Join(i.dir, "blobs")); !os.IsNotExist(err) {
		t.Errorf("there are files in the data directory too: %v", err)
	}
	if names := store.Names(t); len(names) != 7 || names[0] != "muster-store" || !strings.Contains(names[6], id.String()) {
		t.Errorf("the store holds %v", names)
	}
	dir := newBackup(t)
	h.must(t, "backup", dir)
	h.server.stop(t)

	there := elsewhere(t)
	there.blobs = other.URL
	there.must(t, "restore", dir)
	server := servingHere(t, append(there.flags(), "--rate-limits=off")...)
	there.same(t, client{base: server.base, token: h.ana.token}, id, pdf.body)
	there.fail(t, []string{"restore", dir}, "the database holds an installation", "the blob store holds files")
}

// TestLongABucketThatIsAwayOrDamaged: a report waits for its store while it is away, and one whose file is damaged
// there is not handed out. In make test: a store without room (TestDiskFull), one that hangs
// when serve starts (TestAHangingStartIsReported), and a changed file in a directory (TestSwappedFile).
func TestLongABucketThatIsAwayOrDamaged(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	disk := t.TempDir()
	store := s3test.StartOn(t, disk)
	line := linetest.New(t, store.Addr)
	i := install(t)
	i.blobs = store.At(line.Addr())
	h := i.open(t, servingHere, "--job-lease=1s")
	id := h.done(t, security(h.live))
	pdf, _ := h.ana.download(t, id)
	h.withoutBucket(t, line, id, pdf.body)
	if !store.MinIO {
		h.damagedInTheBucket(t, filepath.Join(disk, "root", "muster"), id)
	}
}

// damagedInTheBucket changes one byte of a report's signed PDF: it is told as it is of a
// directory, and no store that is away.
func (h house) damagedInTheBucket(t *testing.T, files string, id uuid.UUID) {
	t.Helper()
	var name string
	if err := pgtest.Connect(t, h.url).Get(&name, `SELECT convert_from(data, 'UTF8')::json->>'key' FROM events WHERE stream_id = $1 AND type = 'report.signed'`, id); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(files, filepath.FromSlash(name))
	genuine := read(t, file)
	write(t, file, flip(genuine))
	refused, err := h.ana.try(t.Context(), http.MethodGet, "/api/v1/reports/"+id.String()+"/download", nil)
	if err != nil || refused.status != http.StatusInternalServerError || refused.code() != "file_altered" {
		t.Errorf("the download answers %d %s, %v", refused.status, refused.body, err)
	}
	if figures := string(h.ana.get(t, "/metrics", nil).body); !strings.Contains(figures, `muster_http_problems_total{code="file_altered"} 1`) {
		t.Error("the figures lack the damaged file")
	}
	if audit := string(h.ana.get(t, "/api/v1/audit-events?type=fileAltered", nil).body); !strings.Contains(audit, name) {
		t.Errorf("the audit list says %s", audit)
	}
	dir := newBackup(t)
	h.muster(t, "backup", dir).says(t, "1 files", name, "--accept-findings")
	if said := h.must(t, "backup", dir, "--accept-findings"); !strings.Contains(said, "not in it: "+name+" (damaged)") {
		t.Errorf("the backup says\n%s", said)
	}
	write(t, file, genuine)
}

// withoutBucket takes the bucket away: whoever needs it is told in time, a build waits for
// it, a process starts without it, and when it is back all is as if nothing had been.
func (h house) withoutBucket(t *testing.T, line *linetest.Line, id uuid.UUID, whole []byte) {
	t.Helper()
	db := pgtest.Connect(t, h.url)
	line.Cut()
	h.ana.awaitFiles(t, false)
	waits := h.ana.request(t, scorecard(h.live, 0))
	eventually(t, "the build has failed for want of the bucket", func() bool { return waiting(t, db, "build", 1) == 1 })
	h.ana.unavailable(t, "with the bucket away", id)
	figures := string(h.ana.get(t, "/metrics", nil).body)
	for _, shown := range []string{`muster_check_ok\{check="blobs"\} 0`, `muster_job_duration_seconds_count\{kind="build",outcome="retried"\} [1-9]`} {
		if !regexp.MustCompile(shown).MatchString(figures) {
			t.Errorf("the figures lack %s", shown)
		}
	}
	if !strings.Contains(h.server.logged.String(), `msg="a check fails" check=blobs`) {
		t.Error("the log does not say that the bucket is away")
	}
	beside := servingHere(t, append(h.flags(), "--roles=api")...)
	if !strings.Contains(beside.logged.String(), "the blob store is away or full") {
		t.Error("a process that starts without the bucket does not say so")
	}
	h.fail(t, []string{"backup", filepath.Join(t.TempDir(), "backup")}, "muster-store in the blob store")
	line.Heal()
	for _, server := range []*running{h.server, beside} {
		c := client{base: server.base, token: h.ana.token}
		c.awaitFiles(t, true)
		if got, _ := c.download(t, id); sum(got.body) != sum(whole) {
			t.Error("the PDF is another one")
		}
	}
	beside.stop(t)
	dueNow(db, "build")
	h.ana.signed(t, waits)
	if ends := h.wellEnded(t); ends["Ready"] != 2 {
		t.Errorf("the reports ended %v", ends)
	}
}

// TestLongABucketThatFallsSilent: a download is refused in the contract's time, and one
// that has begun is cut off; once it speaks again all is as it was.
func TestLongABucketThatFallsSilent(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	store := s3test.Start(t)
	line := linetest.New(t, store.Addr)
	i := install(t)
	i.blobs = store.At(line.Addr())
	h := i.open(t, servingHere)
	id := h.done(t, security(h.live))
	pdf, _ := h.ana.download(t, id)
	line.HalfOpen()
	h.ana.unavailable(t, "with a silent bucket", id)
	h.ana.awaitFiles(t, false)
	line.Heal()
	h.ana.awaitFiles(t, true)
	h.breaksOff(t, line, id, pdf.body)
	if ends := h.wellEnded(t); ends["Ready"] != 1 {
		t.Errorf("the reports ended %v", ends)
	}
}

// breaksOff has the line to the bucket break once part of a file has left for who downloads
// it: what they get is cut off, and not taken for the whole.
func (h house) breaksOff(t *testing.T, line *linetest.Line, id uuid.UUID, whole []byte) {
	t.Helper()
	line.Trickle(max(1000, len(whole)/3)) // it is read twice: first to see that it is the recorded one
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.server.base+"/api/v1/reports/"+id.String()+"/download", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+h.ana.token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.ReadFull(answer.Body, make([]byte, 1)); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("it begins with %d, %v", answer.StatusCode, err)
	}
	line.Cut()
	rest, err := io.ReadAll(answer.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || 1+len(rest) >= len(whole) {
		t.Errorf("it ended with %v after %d of %d bytes", err, 1+len(rest), len(whole))
	}
	line.Heal()
	if again, _ := h.ana.download(t, id); sum(again.body) != sum(whole) {
		t.Error("afterwards the PDF is another one")
	}
}

// TestLongABucketThatIsFull is as a disk that is: the report waits, and comes when there is
// room.
func TestLongABucketThatIsFull(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	disk := smallDisk(t, "24m")
	store := s3test.StartOn(t, disk)
	i := install(t)
	i.blobs = store.URL
	h := i.open(t, servingHere)
	db := pgtest.Connect(t, h.url)
	free := fill(t, disk)
	id := h.ana.request(t, security(h.live))
	eventually(t, "the build has failed for want of room", func() bool { return waiting(t, db, "build", 1) == 1 })
	var why string
	if err := db.Get(&why, `SELECT last_error FROM jobs WHERE kind = 'build'`); err != nil || !strings.Contains(why, "no space left for ") {
		t.Errorf("it failed with %q, %v", why, err)
	}
	if names := store.Names(t); !slices.Equal(names, []string{"muster-store"}) {
		t.Errorf("the full bucket holds %v", names)
	}
	free()
	dueNow(db, "build")
	h.ana.await(t, id, "Ready")
	if ends := h.wellEnded(t); ends["Ready"] != 1 {
		t.Errorf("the reports ended %v", ends)
	}
}

// TestForeignBucketsAreRefused: each start says what is wrong and names the setting, and leaves nothing in a
// foreign bucket.
func TestForeignBucketsAreRefused(t *testing.T) {
	t.Parallel()
	store := s3test.Start(t)
	home := install(t)
	home.blobs = store.URL
	home.within(t, func(_ context.Context, _ *installation.Installation) error { return nil })
	before := store.Names(t)
	for name, test := range map[string]struct {
		ours   bool // or a stranger's
		bucket string
		want   []string
	}{
		"another installation's":  {false, store.URL, []string{"belongs to another installation", "--blob-url"}},
		"an unknown key":          {false, store.As(t, "NOBODY", "whatever"), []string{"does not know the access key", "AWS_ACCESS_KEY_ID"}},
		"a wrong secret":          {false, store.As(t, s3test.Key, "mistyped"), []string{"SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"}},
		"no bucket":               {false, store.Missing(), []string{"no such bucket", "--blob-url"}},
		"another one than before": {true, store.Bucket(t, "empty"), []string{"start with the same", "--blob-url"}},
		"none any more":           {true, store.Missing(), []string{"no such bucket", "--blob-url"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := home
			if !test.ours {
				i = anotherInstallation(t)
			}
			i.blobs = test.bucket
			launchHere(t, serveArgs(i.flags())...).outcome(t).refused(t, test.want...)
			if names := store.Names(t); !slices.Equal(names, before) {
				t.Errorf("it left %v, and there were %v", names, before)
			}
		})
	}
}

// TestTheSecondOfTwoFirstStarts: processes of a new installation start at once, each with a
// store of its own. Whoever comes second finds that another store is the installation's, and
// leaves its own alone.
func TestTheSecondOfTwoFirstStarts(t *testing.T) {
	t.Parallel()
	i := install(t)
	db := pgtest.Connect(t, i.url)
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	unlock, err := postgres.LockSession(t.Context(), conn, installation.ClaimLock) // as the first does
	if err != nil {
		t.Fatal(err)
	}
	second := launchHere(t, serveArgs(i.flags())...)
	eventually(t, "the second waits for the first", func() (waits bool) {
		err := db.Get(&waits, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'
			AND ((classid::bigint << 32) | objid::bigint) = $1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`, int64(installation.ClaimLock))
		return err == nil && waits
	})
	owner, err := secrets.FirstStore(t.Context(), conn)
	if err == nil {
		err = secrets.CheckFingerprint(t.Context(), db, secrets.BlobStore, owner)
	}
	if err := errors.Join(err, unlock(t.Context())); err != nil {
		t.Fatal(err)
	}
	second.outcome(t).refused(t, "this is not the store that the installation began with", "--blob-url")
	if left := files(t, filepath.Join(i.dir, "blobs")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// anotherInstallation is one of its own: the databases of the tests are copies of one.
func anotherInstallation(t *testing.T) installed {
	t.Helper()
	i := install(t)
	pgtest.Connect(t, i.url).MustExec(`UPDATE installation SET fingerprint = gen_random_uuid()::text WHERE name = 'id'`)
	return i
}

// refused holds a serve that does not start to saying why in one line.
func (o outcome) refused(t *testing.T, want ...string) {
	t.Helper()
	if lines := strings.Count("\n"+o.errors, "\nmuster: "); o.status != command.ExitFailed || lines != 1 {
		t.Errorf("it ended with %d, and %d lines say why:\n%s", o.status, lines, o.errors)
	}
	o.says(t, want...)
}

// smallDisk is a file system of its own. A test that cannot have one is skipped.
func smallDisk(t testing.TB, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("muster-test", dir, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		t.Skipf("no small file system can be mounted here, which takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}
