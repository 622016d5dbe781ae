package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/cli/installation"
	"muster/internal/mail/mailtest"
	"muster/internal/postgres"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/porttest"
)

// upgrade is an installation on two machines behind the kit's Caddy.
type upgrade struct {
	installed
	db        *sqlx.DB
	page      *upgradePage
	old, new  string // programs
	machines  []*machine
	mails     *mailtest.Server
	elsewhere installed // where the backup is restored
	witness   string    // a head of the log from before
	models    int       // how many projections the old program has
	load      *callers
}

// TestLongUpgrade takes two machines from commitBefore to this commit and
// back and forth again, by the lines of docs/runbooks/upgrade.md, under load: with the
// migrations in between, one more in two steps, and a projection of another version. Then
// comes the second step, after which the old program starts no more, and the backup, which
// it restores. On the way the migration is killed half way, the new program is killed while
// it fills its projections, and the leader during a rebuild.
func TestLongUpgrade(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	pgtest.NeedsDump(t)
	for _, tool := range []string{"caddy", "curl", "go", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	u := newUpgrade(t)
	stop := u.load.begin(t)
	began := time.Now()
	u.answers(t, 5)

	u.prepare(t)
	u.firstStep(t)
	u.rebuildIsTakenOver(t)
	u.wayBack(t)
	u.forwardAgain(t)
	u.secondStep(t)
	u.answers(t, 5)
	stop()
	took := time.Since(began)
	u.nothingIsLost(t)
	u.oldProgramIsRefused(t)
	u.restored(t)
	u.page.followed(t)
	requests, reports := u.load.seen()
	t.Logf("%d requests in %s, %d retried %v, %d failed; %d reports, %d instances, %d alerts, %d hosts; away %v and %v",
		requests, took.Round(time.Second), sumOf(u.load.retried), u.load.retried, len(u.load.failed),
		reports, len(u.load.kept.instances), len(u.load.kept.alerts), u.load.kept.hosts, u.machines[0].away, u.machines[1].away)
}

func sumOf(counts map[string]int) (sum int) {
	for n := range maps.Values(counts) {
		sum += n
	}
	return sum
}

// newUpgrade has the old version at work on both machines, with some history.
func newUpgrade(t *testing.T) *upgrade {
	t.Helper()
	u := &upgrade{old: buildBefore(t), new: buildAfter(t), page: readUpgradePage(t), mails: mailtest.Start(t, mailtest.Options{}),
		installed: installed{url: pgtest.EmptyURL(t), dir: t.TempDir()}, elsewhere: elsewhere(t)}
	u.db = pgtest.Connect(t, u.url)
	for range 2 {
		u.machines = append(u.machines, u.newMachine(t))
	}
	first := u.machines[0]
	asked := first.follow(t, []string{"muster organization create --name Acme --admin-email ana@acme.example --admin-password-file " + passwordFile(t)})
	if !strings.Contains(asked, "Acme") {
		t.Fatalf("the old program says %q", asked)
	}
	token := func(kind string) string {
		return strings.TrimSpace(first.follow(t, []string{"muster token create --email ana@acme.example --kind " + kind}))
	}
	api, ingest := token("api"), token("ingest")
	for _, m := range u.machines {
		m.systemctl(t, "start")
	}
	for _, m := range u.machines {
		m.runs.awaitReady(t)
	}
	u.models = len(projectionsOf(t, first, "muster"))
	c := client{base: u.machines[0].runs.base, token: ingest}
	for n := range 3 { // for a rebuild to take a while
		var alerts []any
		for k := range 2000 {
			alerts = append(alerts, alertNamed(fmt.Sprint("before-", n, "-", k)))
		}
		c.call(t, http.StatusOK, http.MethodPost, "/ingest/v1/alerts", map[string]any{"alerts": alerts}, nil)
	}
	caller, certificate, key := behindTLS(t)
	caller.Transport.(*http.Transport).MaxIdleConnsPerHost = 16
	at := porttest.Address(t)
	startCaddy(t, u.machines[0].listen+" "+u.machines[1].listen, at, porttest.Address(t), certificate, key)
	listens(t, at)
	u.load = &callers{caller: caller, base: "https://" + at, api: api, ingest: ingest, paper: c.paper(t, "pg-paper"),
		retried: map[string]int{}, kept: keptWrites{reports: map[string]uuid.UUID{}}}
	eventually(t, "the proxy knows a process that is ready", func() bool {
		got, err := u.load.once(t.Context(), http.MethodGet, "/readyz", api, "", nil)
		return well(got, err)
	})
	return u
}

func (u *upgrade) newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{root: t.TempDir(), listen: porttest.Address(t)}
	m.install(t, u.old, "usr/bin/muster")
	m.install(t, u.new, "opt/muster/new/muster")
	m.settings = []string{
		"MUSTER_LISTEN=" + m.listen, "MUSTER_PUBLIC_URL=https://example.com", "MUSTER_TRUSTED_PROXIES=127.0.0.1",
		"MUSTER_DATABASE_URL=" + u.url, "MUSTER_DATA_DIR=" + filepath.Join(m.root, "var/lib/muster"),
		"MUSTER_BLOB_URL=file://" + filepath.Join(u.dir, "blobs"), "MUSTER_SECRET_KEY_FILE=" + filepath.Join(u.dir, "secret.key"),
		"MUSTER_SMTP_URL=smtp://" + u.mails.Addr + "?starttls=off", "MUSTER_RATE_LIMITS=off", "MUSTER_COLLECT_OWN_HOST=off", "MUSTER_JOB_LEASE=2s",
	}
	m.paths = strings.NewReplacer(
		"/usr/bin/muster", filepath.Join(m.root, "usr/bin/muster"), "/opt/muster", filepath.Join(m.root, "opt/muster"),
		"/backups", u.dir, "127.0.0.1:8080", m.listen,
		"postgres://muster@db/muster_before", "'"+u.elsewhere.url+"'", "s3://muster-before?region=eu-west-1", "file://"+filepath.Join(u.dir, "blobs-before"),
		"/var/lib/muster-before", u.elsewhere.dir)
	return m
}

// answers waits until so many reports more were accepted.
func (u *upgrade) answers(t *testing.T, more int) {
	t.Helper()
	_, before := u.load.seen()
	eventually(t, "the load goes on", func() bool {
		_, now := u.load.seen()
		return now >= before+more
	})
}

// each follows a block on one machine after the other, with load between.
func (u *upgrade) each(t *testing.T, heading string, block int) {
	t.Helper()
	for _, m := range u.machines {
		m.follow(t, u.page.take(t, heading, block))
		u.answers(t, 3)
	}
}

func (u *upgrade) prepare(t *testing.T) {
	t.Helper()
	for _, m := range u.machines {
		m.follow(t, u.page.take(t, "Before", 0))
	}
	u.witness = headLine(t, u.machines[0].follow(t, []string{"muster events head"}), "reports")
	said := u.machines[0].follow(t, u.page.take(t, "Before", 1))
	pending := map[string]int{}
	for line := range strings.Lines(said) {
		if fields := strings.Fields(line); len(fields) == 4 && fields[2] == "pending" {
			pending[fields[3]]++
		}
	}
	if pending["expand"] < 1 || pending["contract"] != 1 || pending["alone"] != 0 {
		t.Errorf("pending are %v, so that the runbook would not have it one by one:\n%s", pending, said)
	}
}

// firstStep is killed in the midst of the last migration first, and the new program while it
// fills its own tables.
func (u *upgrade) firstStep(t *testing.T) {
	t.Helper()
	first := u.machines[0]
	up := u.page.take(t, "The first step", 0)
	u.killedHalfWay(t, up[0])
	if said := first.follow(t, up); !strings.Contains(said, "the schema is up to date") || !strings.Contains(said, "1 left to 'muster migrate finish'") {
		t.Errorf("the first step says %q", said)
	}
	u.answers(t, 3) // both still run the old version
	first.before = func(r *running) {
		eventually(t, "the new version fills its projections", func() bool { return strings.Contains(r.logged.String(), fills) })
		r.kill(t)
	}
	first.follow(t, u.page.take(t, "The first step", 1))
	u.answers(t, 15) // one of each version
	// The notifications are listed with the read models.
	fillsItsOwn(t, first, "/usr/bin/muster", len(installation.ReadModels())+1)
	fillsItsOwn(t, first, "/opt/muster/old/muster", u.models)
	u.machines[1].follow(t, u.page.take(t, "The first step", 1))
	u.answers(t, 3)
}

// killedHalfWay kills the command while its last migration waits for a table that somebody
// looks at. What is left of it is either whole or not there.
func (u *upgrade) killedHalfWay(t *testing.T, line string) {
	t.Helper()
	tx, err := u.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	tx.MustExec(`SET LOCAL idle_in_transaction_session_timeout = 0`)
	tx.MustExec(`LOCK TABLE idempotency_keys IN ACCESS SHARE MODE`)
	r := u.machines[0].begin(t, line)
	eventually(t, "the migration waits", func() (waits bool) {
		err := u.db.Get(&waits, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE idempotency_keys%')`)
		if err != nil || r.over() {
			t.Fatalf("it is over, %v: %s", err, r.logged)
		}
		return waits
	})
	r.kill(t)
	var there bool
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the killed migration lets go", func() (gone bool) {
		err := u.db.Get(&gone, `SELECT NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND ((classid::bigint << 32) | objid::bigint) = $1
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`, int64(postgres.MigrationLockID))
		return err == nil && gone
	})
	err = u.db.Get(&there, `SELECT EXISTS (SELECT FROM information_schema.columns WHERE table_name = 'idempotency_keys' AND column_name = 'makes')`)
	if err != nil || there {
		t.Errorf("the killed migration left its column: %t, %v", there, err)
	}
}

// listedProjection is one as a program lists it.
type listedProjection struct {
	Name, Status string
	LagSeconds   float64
	Parked       int
}

func projectionsOf(t *testing.T, m *machine, program string) []listedProjection {
	t.Helper()
	var list struct{ Projections []listedProjection }
	if err := json.Unmarshal([]byte(m.follow(t, []string{program + " projections list --json"})), &list); err != nil {
		t.Fatal(err)
	}
	return list.Projections
}

// fillsItsOwn holds as many projections as a version has to being up to date while another
// version runs beside it.
func fillsItsOwn(t *testing.T, m *machine, program string, models int) {
	t.Helper()
	var listed []listedProjection
	if !within(patience, func() bool {
		listed = projectionsOf(t, m, program)
		behind := slices.ContainsFunc(listed, func(p listedProjection) bool { return p.Status != "running" || p.LagSeconds > 2 || p.Parked > 0 })
		return !behind && len(listed) == models
	}) {
		t.Errorf("by %s the %d projections are %+v", program, models, listed)
	}
}

// rebuildIsTakenOver kills the process that fills a projection anew.
func (u *upgrade) rebuildIsTakenOver(t *testing.T) {
	t.Helper()
	leader := u.machines[0]
	if strings.Count(u.machines[1].runs.logged.String(), fills) > 0 && strings.Count(leader.runs.logged.String(), fills) == 0 {
		leader = u.machines[1]
	}
	other := u.machines[1-slices.Index(u.machines, leader)]
	c := client{base: other.runs.base, token: u.load.api}
	c.call(t, http.StatusAccepted, http.MethodPost, "/api/v1/ops/projections/alerts/rebuild", nil, nil)
	leader.dies(t)
	eventually(t, "the other process ends the rebuild", func() (live bool) {
		err := u.db.Get(&live, `SELECT generation > 1 FROM projection_generations WHERE projection = 'alerts' AND state = 'live'`)
		return err == nil && live
	})
	var diff struct{ Empty bool }
	if err := json.Unmarshal([]byte(other.follow(t, []string{"muster projections diff alerts --json"})), &diff); err != nil || !diff.Empty {
		t.Errorf("the rebuild that was taken over differs: %+v, %v", diff, err)
	}
	u.answers(t, 3)
	leader.follow(t, []string{"sleep 10"}) // for the proxy to see it, as the page has it, before the next one is stopped
}

// wayBack goes back on both machines. The old program shows what the new one wrote, and
// repeats what that answered.
func (u *upgrade) wayBack(t *testing.T) {
	t.Helper()
	key := "asked-of-the-new"
	wish := scorecard(u.load.paper, 5000)
	var asked, again struct{ Report row }
	if !u.load.send(t.Context(), http.MethodPost, "/api/v1/reports", u.load.api, key, wish, &asked) {
		t.Fatal("the new program takes no report")
	}
	u.each(t, "Go back to the previous version", 0)
	if got := u.machines[0].follow(t, []string{"muster --version"}); !strings.Contains(got, "before") {
		t.Errorf("what runs is %q", got)
	}
	if !u.load.send(t.Context(), http.MethodPost, "/api/v1/reports", u.load.api, key, wish, &again) || again.Report.ID != asked.Report.ID {
		t.Errorf("the old program makes %s of what the new one made %s of", again.Report.ID, asked.Report.ID)
	}
	c := client{base: u.machines[1].runs.base, token: u.load.api}
	c.await(t, asked.Report.ID, "Ready")
	if !slices.Contains(c.history(t, "InstanceScorecard"), asked.Report.ID) {
		t.Error("the old program does not show what the new one wrote")
	}
	fillsItsOwn(t, u.machines[0], "muster", u.models)
}

func (u *upgrade) forwardAgain(t *testing.T) {
	t.Helper()
	first := u.machines[0]
	first.follow(t, u.page.take(t, "The first step", 0))
	for n, m := range u.machines {
		m.follow(t, u.page.take(t, "The first step", 1))
		u.answers(t, 3)
		if n > 0 {
			break
		}
		early := first.begin(t, u.page.take(t, "The second step", 0)[0]).outcome(t)
		early.failed(t, "an older Muster still runs on this database")
	}
}

func (u *upgrade) secondStep(t *testing.T) {
	t.Helper()
	if said := u.machines[0].follow(t, u.page.take(t, "The second step", 0)); !strings.Contains(said, "finished: programs of the previous version") {
		t.Errorf("the second step says %q", said)
	}
	for _, m := range u.machines {
		if !m.runs.isReady() {
			t.Error("a process is not ready after the second step")
		}
	}
}
