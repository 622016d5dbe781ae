package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/cli/installation"
	"muster/internal/files/blobs/s3test"
	"muster/internal/mail/mailtest"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/notify"
	"muster/internal/testing/linetest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/pgtest/failover"
	"muster/internal/testing/porttest"
	"muster/internal/testing/skewtest"
)

// fire is what `make chaos` and its short form in `make test` make: replicas of Muster behind
// one address, on suppliers that fail, with clients who do as the contract tells them and
// know what they were told. A plan that is drawn from a seed kills, cuts, slows and fails over,
// one after the other; at the end everything is mended, and what was acknowledged is
// held to what is there.
//
//   - fire_plan_linux_test.go: what goes wrong, and in which order;
//   - fire_faults_linux_test.go: how each fault is begun and ended;
//   - fire_replicas_linux_test.go: processes that are killed and start again;
//   - fire_load_linux_test.go: what the clients ask;
//   - fire_answers_linux_test.go: what they may be answered, and what they do then;
//   - fire_book_linux_test.go: what was done, asked and acknowledged, and the table of it;
//   - fire_counts_linux_test.go: what is there at the end.
type fire struct {
	installed
	size fireSize
	seed uint64
	book *book

	pair     *failover.Pair
	database string // there
	store    *s3test.Server
	disk     string // of store
	mails    *mailtest.Server
	shards   *clickhousetest.Cluster // nil: measurements are in PostgreSQL
	clock    *skewtest.Clock         // of the last replica; nil: all clocks are right
	replicas []*replica
	wires    []*wire

	db            *sqlx.DB     // of whoever looks on, without a line between
	front         string       // where clients go: nginx
	through       *http.Client // there
	admin, ingest string       // tokens
	instances     []uuid.UUID  // that agents measure, by agent
	addresses     []string     // of members, who get mail: first whose token it is
	recipients    []uuid.UUID  // the others

	failedBefore int              // reports, when the bucket's disk became full
	settled      time.Time        // by then all that was acknowledged is shown
	tellable     map[string]int64 // positions of logs up to which everything is told

	work    context.Context // of the clients' calls
	closing chan struct{}   // closed when clients are to take up nothing new
}

// wire is a line between two.
type wire struct {
	name string
	*linetest.Line
}

// publicURL is what people would call it by; the certificate is of that name.
const publicURL = "https://example.com"

// newFire sets up the suppliers, the lines, and the replicas, which are not started yet.
func newFire(t *testing.T, size fireSize) *fire {
	t.Helper()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("nginx is not installed (Debian: apt-get install --no-install-recommends nginx-light)")
	}
	f := &fire{size: size, seed: seedOfFire(t), book: newBook(), disk: t.TempDir(), mails: mailtest.Start(t, mailtest.Options{})}
	t.Log(f)
	program := ""
	if size.whole {
		f.pair, f.database = failover.Start(t), "postgres" // first, for it may not be installed
		f.shards = clickhousetest.Start(t, clickhousetest.Options{Shards: 2})
		f.clock, program = skewtest.NewClock(t), skewtest.Build(t)
		if err := syscall.Mount("muster-test", f.disk, "tmpfs", 0, "mode=0700,size="+roomOfBucket); err != nil {
			t.Fatalf("the bucket gets no disk of its own, which takes root: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(f.disk, syscall.MNT_DETACH) })
	} else {
		f.pair, f.database = failover.Plain(t, failover.Migrated("muster")), "muster"
	}
	f.store = s3test.StartOn(t, f.disk)
	f.installed = installed{url: f.pair.URL(f.database), dir: t.TempDir(), blobs: f.store.URL}
	if f.shards != nil {
		f.measurements = f.shards.URL("measured")
	}
	for n := range size.replicas {
		r := f.newReplica(t, n)
		if n == size.replicas-1 && f.clock != nil {
			r.program, r.env = program, []string{f.clock.Env()}
		} else if size.whole {
			r.env = []string{sabotaged + "=1"}
		}
		f.replicas = append(f.replicas, r)
	}
	return f
}

// line puts one between somebody and an address, and returns what to dial instead of that.
func (f *fire) line(t *testing.T, from, to, upstream string) string {
	t.Helper()
	w := &wire{name: from + " to " + to, Line: linetest.New(t, upstream)}
	f.wires = append(f.wires, w)
	return w.Addr()
}

// newReplica is a process that reaches everything over lines of its own.
func (f *fire) newReplica(t *testing.T, n int) *replica {
	t.Helper()
	r := &replica{fire: f, name: fmt.Sprintf("replica %d", n), at: porttest.Address(t), figures: porttest.Address(t)}
	var servers []string
	for node, at := range f.pair.Addrs() {
		servers = append(servers, f.line(t, r.name, fmt.Sprintf("PostgreSQL %d", node), at))
	}
	bucket, err := url.Parse(f.store.URL)
	if err != nil {
		t.Fatal(err)
	}
	asked := bucket.Query()
	asked.Set("endpoint", "http://"+f.line(t, r.name, "the bucket", strings.TrimPrefix(asked.Get("endpoint"), "http://")))
	bucket.RawQuery = asked.Encode()
	r.args = []string{
		"serve", "--listen", r.at, "--ops-listen", r.figures, "--public-url", publicURL, "--trusted-proxies", "127.0.0.1",
		"--database-url", f.pair.URL(f.database, servers...), "--blob-url", bucket.String(),
		"--smtp-url", "smtp://" + f.line(t, r.name, "the mail server", f.mails.Addr) + "?starttls=off",
		"--data-dir", filepath.Join(t.TempDir(), "data"), "--secret-key-file", filepath.Join(f.dir, "secret.key"),
		"--rate-limits=off", "--job-lease=2s", "--collect-own-host=off",
	}
	if f.measurements != "" { // its servers are named by ClickHouse itself: no line between
		r.args = append(r.args, "--measurements-url", f.measurements)
	}
	r.behind = f.line(t, "nginx", r.name, r.at)
	return r
}

// prepare starts the replicas, puts nginx before them with the example of the kit, and makes who
// and what the clients need.
func (f *fire) prepare(t *testing.T) {
	t.Helper()
	email := f.organization(t, "Acme") // makes the secret key, too
	f.addresses = []string{email, "bo@acme.example", "cy@acme.example"}
	f.ingest = strings.TrimSpace(f.must(t, "token", "create", "--kind", "ingest", "--email", email))
	f.db = pgtest.Connect(t, f.url)
	f.within(t, func(ctx context.Context, in *installation.Installation) error { // now, and not some time within a minute: every alert is told
		return notify.Begin(ctx, in.DB, in.Commands.BeginNotifications)
	})
	var upstream []string
	for _, r := range f.replicas {
		r.begin(t)
		upstream = append(upstream, r.behind)
	}
	f.admin = f.as(t, &running{}, email).token
	caller, certificate, key := behindTLS(t)
	caller.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	caller.Timeout = f.size.patience
	f.front, f.through = porttest.Address(t), caller
	startNginx(t, strings.Join(upstream, " max_fails=10 fail_timeout=1s;\n    server "), f.front, porttest.Address(t), certificate, key)
	f.allReady(t)

	ana := f.replicas[0].client()
	for _, address := range f.addresses[1:] {
		f.recipients = append(f.recipients, ana.member(t, address, "member"))
	}
	for n := range f.size.clients[measuring] {
		f.instances = append(f.instances, f.measuredBy(t, n))
	}
}

// measuredBy registers the server that an agent measures.
func (f *fire) measuredBy(t *testing.T, agent int) uuid.UUID {
	t.Helper()
	var recorded struct{ Instances []struct{ ID uuid.UUID } }
	name := instanceOf(agent)
	f.book.offer(anInstance, name, nil)
	since := time.Now().UTC().AddDate(0, -1, 0)
	f.replicas[0].client().call(t, http.StatusOK, http.MethodPost, "/ingest/v1/fleet", map[string]any{"instances": []map[string]any{{
		"externalId": name, "name": name, "engine": "postgresql", "createdAt": since,
		"databases": []map[string]any{{"externalId": "orders", "name": "orders", "createdAt": since}},
	}}}, &recorded)
	f.book.take(anInstance, name)
	return recorded.Instances[0].ID
}

// instanceOf is the server that an agent measures.
func instanceOf(agent int) string { return fmt.Sprintf("pg-%d", agent) }

// client is the administrator at this very replica.
func (r *replica) client() client { return client{base: "http://" + r.at, token: r.admin} }
