package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/report"
	"muster/internal/cli/installation"
	"muster/internal/concurrency/supervise/supervisetest"
	"muster/internal/mail/mailtest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// fullHouse is a house whose process does everything (a1), and a second process that keeps
// to its limits (a2): the first one's are off, because the test asks it all the time.
type fullHouse struct {
	*ward
	mails   *mailtest.Server
	post    *relay // in front of it
	flags   []string
	limited *running // a2
	door    client   // its, where nobody counts how often it is asked
	db      *sqlx.DB
	first   uuid.UUID   // a report that is Ready and signed
	digest  []byte      // that an event had
	refuses atomic.Bool // the witness, which else is away

	saboteur *supervisetest.Saboteur // of the processes
	under    context.Context         //nolint:containedctx // which they run under
}

// serving is servingHere with loops that can be broken.
func (f *fullHouse) serving(t testing.TB, args ...string) *running {
	t.Helper()
	return launchUnder(f.under, t, serveArgs(args)...).ready(t)
}

func newFullHouse(t *testing.T) *fullHouse {
	t.Helper()
	f := &fullHouse{mails: mailtest.Start(t, mailtest.Options{})}
	f.post = newRelay(t, f.mails.Addr)
	f.flags = []string{"--collect-own-host=off", "--ops-listen=127.0.0.1:0", "--smtp-url=smtps://" + f.post.address + "?ca=" + f.post.authority}
	f.flags = append(f.flags, "--witnesses="+witnessThatSays(t, func() int {
		return map[bool]int{true: http.StatusUnprocessableEntity, false: http.StatusServiceUnavailable}[f.refuses.Load()]
	}))
	f.saboteur, f.under = supervisetest.New(context.Background(), 0, 0)
	f.ward = newWard(t, install(t))
	f.house = f.open(t, f.serving, f.flags...)
	f.db = pgtest.Connect(t, f.url)
	token := strings.TrimSpace(f.must(t, "token", "create", "--email", "ana@acme.example", "--scopes", "ops:read,audit:read"))
	f.reader["TOKEN"] = token
	f.watched["a1"] = func() (client, bool) { return client{base: f.server.base, token: token}, !f.server.over() }
	f.watched["a2"] = func() (client, bool) { return f.door, !f.limited.over() }
	f.begin(t)
	f.logs = func() string { return f.server.logged.String() + f.limited.logged.String() }
	f.systemctl = func(t *testing.T, _ string) {
		f.end(t)
		f.begin(t)
	}
	f.first = f.done(t, security(f.live))
	return f
}

// begin starts what does not run.
func (f *fullHouse) begin(t *testing.T) {
	t.Helper()
	if f.server.over() {
		f.server = f.serving(t, append(f.installed.flags(), append([]string{"--rate-limits=off"}, f.flags...)...)...)
	}
	if f.limited == nil || f.limited.over() {
		f.limited = servingHere(t, append(f.installed.flags(), "--roles=api", "--collect-own-host=off", "--ops-listen=127.0.0.1:0")...)
		f.door = f.limited.door(t)
	}
	f.ana.base, f.reader["PROCESS"] = f.server.base, f.server.base
}

// end stops what runs.
func (f *fullHouse) end(t *testing.T) {
	t.Helper()
	for _, r := range []*running{f.server, f.limited} {
		if !r.over() {
			r.stop(t)
		}
	}
}

// at says whether a series of a1 is this much.
func (f *fullHouse) at(t testing.TB, series string, value float64) bool {
	t.Helper()
	return f.figure(t, "a1", series) == value
}

// TestLongTroublesOfAHouse are those that a process with every role has, one after the other.
func TestLongTroublesOfAHouse(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	needsPromtool(t)
	f := newFullHouse(t)
	for _, c := range f.troubles() {
		f.strikes(t, c)
	}
	f.judge(t)
}

func (f *fullHouse) troubles() []trouble {
	return []trouble{
		{
			alerts: []string{"MusterCheckFails"}, comes: f.storeGoes, says: []string{"degraded", "check=blobs"},
			goes: func(t *testing.T) { f.moves(t, ".away", "") },
			over: func(t *testing.T) bool {
				const check = `muster_check_ok{check="blobs"}`
				return f.at(t, check, 1) && f.figure(t, "a2", check) == 1
			},
		},
		{
			alerts: []string{"MusterRunsDegraded", "MusterMailsWait"}, comes: f.mailServerGoes,
			says: []string{"degraded", "check=mail", "connection refused"},
			goes: func(t *testing.T) { f.post.open(t) },
			over: func(t *testing.T) bool {
				dueNow(f.db, "mail")
				m := f.figures(t, "a1")
				return m[`muster_check_ok{check="mail"}`] == 1 && m[`muster_mails_total{outcome="sent"}`] > 1 && waiting(t, f.db, "mail", 1) == 0
			},
		},
		{
			alerts: []string{"MusterLoopFalls"}, comes: f.loopFalls, says: []string{"a test broke the loop watch servers", "goroutine"},
			over: func(t *testing.T) bool { return f.at(t, loopFalls, 0) },
		},
		{alerts: []string{"MusterMailsRefused"}, comes: f.recipientIsRefused, says: []string{"report.email_failed"}},
		{
			alerts: []string{"MusterFails", "MusterFileAltered"}, comes: f.fileIsSwapped,
			says: []string{"remove it, and at the next download another one is signed", "fileAltered"},
			goes: f.fileIsRemoved,
			over: func(t *testing.T) bool {
				return !(f.figure(t, "a1", `muster_http_problems_total{code="file_altered"}`) > 0)
			},
		},
		{
			alerts: []string{"MusterReportsFail", "MusterSetSomethingAside"}, comes: f.buildsFail,
			says:  []string{"generation_failed", "The place where report files are kept could not be reached", "check blobs", "build job of "},
			fails: []string{"muster dead retry"}, // the build of a report that has ended
			goes:  f.storeIsBack,
			over:  func(t *testing.T) bool { return f.at(t, `muster_jobs{kind="build",status="dead"}`, 0) },
		},
		{alerts: []string{"MusterReportsWait"}, comes: f.reportWaited},
		{
			alerts: []string{"MusterTilesIncomplete"}, comes: f.engineCannotBeRead, says: []string{"postgresql", "answering without an engine"},
			goes: func(*testing.T) {
				f.db.MustExec(`UPDATE latest_sessions SET active = 1, at = at - interval '1 hour', until = until - interval '1 hour'`)
			},
		},
		{alerts: []string{"MusterSignInsGuessed"}, comes: f.passwordsAreGuessed, says: []string{"signInThrottled", "127.0.0.1"}},
		{alerts: []string{"MusterPoolTooSmall"}, comes: f.tableIsLocked, says: []string{"muster/main"}},
		{
			alerts: []string{"MusterCertificateEnds"}, comes: f.certificateEnds, says: []string{`muster_certificate_left_seconds{certificate="mail"}`},
			goes: func(t *testing.T) { f.post.shows(t, time.Now().AddDate(1, 0, 0)) },
			over: func(t *testing.T) bool { return f.figure(t, "a1", mailCertificate) > aFortnight },
		},
		{
			alerts: []string{"MusterHistoryAltered"}, comes: f.historyIsChanged, fails: []string{"muster events verify"}, says: []string{"reports:1"},
			goes: func(*testing.T) {
				f.db.MustExec(`UPDATE events SET digest = $1 WHERE log = 'reports' AND position = 1`, f.digest)
			},
			over: func(t *testing.T) bool {
				f.db.MustExec(`UPDATE log_verifications SET due_at = now()`)
				return f.at(t, `muster_events_misfits{log="reports"}`, 0)
			},
		},
		{
			alerts: []string{"MusterWitnessRefuses"}, comes: f.witnessRefuses, says: []string{"has seen another history of log reports"},
			goes: func(*testing.T) { f.refuses.Store(false) },
		},
		{
			alerts: []string{"MusterFactsAltered"}, comes: f.factsAreAltered, says: []string{"facts were altered", "one is of instance"},
			goes: func(*testing.T) {
				f.db.MustExec(`UPDATE assessments a SET facts = k.facts FROM kept_facts k WHERE a.id = k.id`)
			},
		},
		{
			alerts: []string{"MusterProjectionAhead"}, says: []string{"ahead"},
			comes: func(t *testing.T) {
				f.db.MustExec(`UPDATE checkpoints SET position = position + 3 WHERE handler IN ('report_history', 'audit') AND log = 'reports'`)
				f.awaits(t, "a1", `muster_projection_ahead_events{projection="report_history"}`, 3)
			},
			over: func(t *testing.T) bool {
				return f.at(t, `muster_projection_ahead_events{projection="report_history"}`, 0) && f.at(t, `muster_projection_ahead_events{projection="audit"}`, 0)
			},
		},
		{
			alerts: []string{"MusterHistoryUnverified"},
			comes:  func(*testing.T) { f.db.MustExec(`UPDATE log_verifications SET whole_at = now() - interval '2 days'`) },
			over: func(t *testing.T) bool {
				f.db.MustExec(`UPDATE log_verifications SET due_at = now()`)
				return f.figure(t, "a1", `muster_events_verified_seconds{log="reports"}`) < 86400
			},
		},
		{
			alerts: []string{"MusterGone"}, comes: f.end, says: []string{"stopping: no new work is taken"},
			over: func(t *testing.T) bool { return f.at(t, "up", 1) },
		},
	}
}

// storeGoes takes the directory of the file store away.
func (f *fullHouse) storeGoes(t *testing.T) {
	f.moves(t, "", ".away")
	eventually(t, "the check of the file store fails", func() bool { return f.at(t, `muster_check_ok{check="blobs"}`, 0) })
}

func (f *fullHouse) moves(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join(f.dir, "blobs")+from, filepath.Join(f.dir, "blobs")+to); err != nil {
		t.Fatal(err)
	}
}

const loopFalls = `muster_loop_restarts_total{loop="watch servers"}`

func (f *fullHouse) loopFalls(t *testing.T) {
	f.saboteur.Break("watch servers")
	f.saboteur.End("watch servers") // rather than at its next look at its context
	f.awaits(t, "a1", loopFalls, 1)
}

func (f *fullHouse) mailServerGoes(t *testing.T) {
	f.post.close()
	f.ana.await(t, f.ana.request(t, scorecard(f.live, 1)), "Ready")
	f.awaits(t, "a1", `muster_mails_total{outcome="deferred"}`, 1)
	eventually(t, "the check of the mail server fails", func() bool { return f.at(t, `muster_check_ok{check="mail"}`, 0) })
}

func (f *fullHouse) recipientIsRefused(t *testing.T) {
	f.mails.Answer("bo@acme.example", 550, [3]int{5, 1, 1}, "no such user")
	w := scorecard(f.live, 2)
	w.RecipientIDs = []uuid.UUID{f.ana.member(t, "bo@acme.example", "member")}
	f.ana.await(t, f.ana.request(t, w), "Ready")
	f.awaits(t, "a1", `muster_mails_total{outcome="refused"}`, 1)
}

// fileIsSwapped puts one report's PDF in the place of another's, and asks for it.
func (f *fullHouse) fileIsSwapped(t *testing.T) {
	second := f.done(t, scorecard(f.live, 3))
	write(t, f.stored(t, f.first, theSigned), read(t, f.stored(t, second, theSigned)))
	for range 3 {
		f.ana.call(t, http.StatusInternalServerError, http.MethodGet, "/api/v1/reports/"+f.first.String()+"/download", nil, nil)
	}
	f.awaits(t, "a1", `muster_http_problems_total{code="file_altered"}`, 3)
	f.reader["REPORT"] = f.first.String()
	t.Cleanup(func() { _ = os.Remove("/var/tmp/" + f.first.String() + ".pdf") })
}

func (f *fullHouse) fileIsRemoved(t *testing.T) {
	if err := os.Remove(f.stored(t, f.first, theSigned)); err != nil {
		t.Fatal(err)
	}
	f.ana.get(t, "/api/v1/reports/"+f.first.String()+"/download", nil)
	eventually(t, "it is signed again", func() bool {
		return len(f.events(t, "--stream", f.first.String(), "--type", "report.signed")) == 2
	})
}

// buildsFail has a file where the store has a directory, and no attempt wait.
func (f *fullHouse) buildsFail(t *testing.T) {
	reports := filepath.Join(f.dir, "blobs", "reports")
	if err := os.Rename(reports, reports+".away"); err != nil {
		t.Fatal(err)
	}
	write(t, reports, nil)
	id := f.ana.request(t, scorecard(f.live, 4))
	eventually(t, "the build is given up", func() bool {
		dueNow(f.db, "build")
		return f.ana.report(t, id).over()
	})
	f.ana.await(t, id, "Failed")
	f.awaits(t, "a1", `muster_jobs{kind="build",status="dead"}`, 1)
	f.awaits(t, "a1", `muster_report_duration_seconds_count{kind="InstanceScorecard",outcome="failed"}`, 1)
	dead := regexp.MustCompile(`(?m)^([0-9a-f-]{36}) +build job of ` + id.String()).FindStringSubmatch(f.must(t, "dead", "list"))
	if dead == nil {
		t.Fatal("the job is not among the dead")
	}
	f.reader["ID"] = dead[1]
}

func (f *fullHouse) storeIsBack(t *testing.T) {
	reports := filepath.Join(f.dir, "blobs", "reports")
	if err := os.Remove(reports); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(reports+".away", reports); err != nil {
		t.Fatal(err)
	}
}

// reportWaited requests a report by a clock that is eleven minutes behind.
func (f *fullHouse) reportWaited(t *testing.T) {
	slow := `muster_report_duration_seconds_count{kind="InstanceScorecard",outcome="ready"}`
	before := f.figure(t, "a1", slow)
	f.within(t, func(ctx context.Context, in *installation.Installation) error {
		ana, ok, err := in.Accounts.MemberByEmail(ctx, "ana@acme.example")
		if err != nil || !ok {
			return fmt.Errorf("there is no Ana: %w", err)
		}
		in.Commands.Now = func() time.Time { return time.Now().Add(-11 * time.Minute) }
		w := scorecard(f.live, 90) // over before the clock's midnight, too
		_, err = in.Commands.RequestReport(ctx, usecase.Actor{OrganizationID: ana.OrganizationID, MemberID: ana.ID},
			commands.RequestReport{Kind: report.Kind(w.Kind), InstanceIDs: w.Scope.InstanceIDs, From: w.Scope.From, To: w.Scope.To})
		return err
	})
	f.awaits(t, "a1", slow, before+1)
}

// engineCannotBeRead has sums overflow that are read of one engine.
func (f *fullHouse) engineCannotBeRead(t *testing.T) {
	at := time.Now().UTC()
	var databases, sessions []map[string]any
	for _, name := range []string{"erp", "crm"} {
		databases = append(databases, map[string]any{"externalId": name, "name": name, "createdAt": at.AddDate(0, 0, -1)})
		sessions = append(sessions, map[string]any{"instance": "sent", "database": name, "at": at, "active": 1, "idle": 0, "waiting": 0, "idleInTransaction": 0, "other": 0, "waits": map[string]int{}})
	}
	f.ana.call(t, http.StatusOK, http.MethodPost, "/ingest/v1/fleet", map[string]any{"instances": []map[string]any{{
		"externalId": "sent", "name": "sent", "engine": "postgresql", "createdAt": at.AddDate(0, 0, -1), "databases": databases,
	}}}, nil)
	f.ana.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", map[string]any{"sessions": sessions}, nil)
	f.db.MustExec(`UPDATE latest_sessions SET active = 9223372036854775807, at = at + interval '1 hour', until = until + interval '1 hour'`)
	f.ana.get(t, "/api/v1/metrics/connections", nil)
	f.awaits(t, "a1", `muster_tile_engine_dropped_total{engine="postgresql",tile="connections"}`, 1)
}

func (f *fullHouse) passwordsAreGuessed(t *testing.T) {
	for n := range 30 {
		got, err := client{base: f.limited.base}.try(t.Context(), http.MethodPost, "/api/v1/session", map[string]any{"email": "ana@acme.example", "password": "guess"})
		if err != nil || got.status != http.StatusUnauthorized && got.status != http.StatusTooManyRequests {
			t.Fatalf("guess %d is answered %d, %v", n, got.status, err)
		}
	}
	f.awaits(t, "a2", `muster_sign_ins_total{method="password",outcome="throttled"}`, 21)
}

// lockedFor is how long nobody can tell who asks: with sixty who ask, and connections for
// some sixteen, they wait two minutes together.
const lockedFor = 3 * time.Second

// tableIsLocked keeps everybody from whom Muster knows, and with them all connections.
func (f *fullHouse) tableIsLocked(t *testing.T) {
	const waited = "muster_db_wait_seconds_total"
	before := f.figure(t, "a1", waited)
	tx := f.db.MustBegin()
	tx.MustExec(`LOCK TABLE members IN ACCESS EXCLUSIVE MODE`)
	var asking sync.WaitGroup
	for range 60 {
		asking.Go(func() { _, _ = f.ana.try(t.Context(), http.MethodGet, "/api/v1/session", nil) })
	}
	time.Sleep(lockedFor) // what the figure counts is time
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	asking.Wait()
	f.awaits(t, "a1", waited, before+31)
}

// aFortnight is what a certificate should be good for, in seconds.
const (
	aFortnight      = 14 * 24 * 3600
	mailCertificate = `muster_certificate_left_seconds{certificate="mail"}`
)

// certificateEnds shows a certificate that has ended, which the check tells, and then one
// that is about to.
func (f *fullHouse) certificateEnds(t *testing.T) {
	f.post.shows(t, time.Now().Add(-time.Minute))
	eventually(t, "the check of the mail server fails", func() bool { return f.at(t, `muster_check_ok{check="mail"}`, 0) })
	if !strings.Contains(f.logs(), "certificate has expired") {
		t.Error("the log does not say that the mail server's certificate has expired")
	}
	if left := f.figure(t, "a1", mailCertificate); left < aFortnight {
		t.Errorf("a certificate that nobody trusts is good for %v", left)
	}
	f.post.shows(t, time.Now().AddDate(0, 0, 2))
	eventually(t, "the certificate is seen that is about to end", func() bool {
		left := f.figure(t, "a1", mailCertificate)
		return left > 0 && left < aFortnight
	})
}

// factsAreAltered changes what was stored of servers, and asks how a check stood.
func (f *fullHouse) factsAreAltered(t *testing.T) {
	f.db.MustExec(`CREATE TABLE kept_facts AS SELECT id, facts FROM assessments`)
	f.db.MustExec(`UPDATE assessments SET facts = (facts::text || ' ')::json`)
	now := time.Now().UTC()
	f.ana.get(t, "/api/v1/controls/PG-S17?from="+now.AddDate(0, 0, -2).Format(time.RFC3339)+"&to="+now.Format(time.RFC3339), nil)
	f.awaits(t, "a1", "muster_facts_altered_total", 1)
}

func (f *fullHouse) witnessRefuses(t *testing.T) {
	f.refuses.Store(true)
	f.ana.await(t, f.ana.request(t, scorecard(f.live, 7)), "Ready")
	f.awaits(t, "a1", `muster_witness_answers_total{answer="refused",log="reports",witness="witness.example/w1"}`, 1)
}

// historyIsChanged changes an event under the process that has signed it. The next report's
// proof wants a signature over both.
func (f *fullHouse) historyIsChanged(t *testing.T) {
	if err := f.db.Get(&f.digest, `SELECT digest FROM events WHERE log = 'reports' AND position = 1`); err != nil {
		t.Fatal(err)
	}
	pgtest.Unguard(t, f.db)
	f.db.MustExec(`UPDATE events SET digest = sha256(digest) WHERE log = 'reports' AND position = 1`)
	f.ana.await(t, f.ana.request(t, scorecard(f.live, 6)), "Ready")
	f.awaits(t, "a1", `muster_checkpoints_refused_total{log="reports"}`, 1)
	f.db.MustExec(`UPDATE log_verifications SET due_at = now()`)
	f.awaits(t, "a1", `muster_events_misfits{log="reports"}`, 1)
}
