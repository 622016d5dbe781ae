package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/concurrency/supervise/falls"
	"muster/internal/files/blobs"
	"muster/internal/httpapi/operations"
	"muster/internal/intake/agents"
	"muster/internal/intake/budgets"
	"muster/internal/intake/collect"
	"muster/internal/intake/feed"
	"muster/internal/intake/heartbeat"
	"muster/internal/intake/push"
	"muster/internal/intake/resolve"
	"muster/internal/intake/senders"
	"muster/internal/mail"
	"muster/internal/measurements"
	"muster/internal/measurements/drops"
	"muster/internal/measurements/pgstore"
	"muster/internal/notify"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/process/readiness"
	"muster/internal/process/telemetry"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/prooftest"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
	"muster/internal/servers"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/audit"
	"muster/projections/exceptions"
	"muster/projections/fleet"
	"muster/projections/health"
	"muster/projections/history"
	"muster/projections/schedules"
)

func TestMain(m *testing.M) {
	longtest.Checks(15, 100)
	os.Exit(pgtest.Run(m))
}

// world is a whole Muster behind its handler, with two organizations.
type world struct {
	samples   *pgstore.Store // nothing rolls it up but the test that calls Roll
	t         *testing.T
	handler   http.Handler
	server    *server // for what no request shows
	yardstick *yardstick
	deps      Dependencies
	clock     *clocktest.Clock

	sources map[string]string // of tools, which an administrator's calls say

	stopProjections func()
	filled          []uuid.UUID // organizations that demo data was asked for

	ours, theirs tenant
}

type tenant struct {
	organization                   accounts.Organization
	admin, member, auditor, viewer person
}

// address is one that nobody has in another organization.
func (t tenant) address(name string) string {
	_, domain, _ := strings.Cut(t.admin.Email, "@")
	return name + "@" + domain
}

type person struct {
	accounts.Member
	session string
}

// newWorld is on a copy of a database in which the two organizations are already.
func newWorld(t *testing.T, change ...func(*Dependencies)) *world {
	t.Helper()
	w := assemble(t, t, pgtest.FilledURL(t, "world", populate), change)
	w.deps.DB.MustExec(signInNow, w.clock.Now())
	w.ours, w.theirs = populated.ours, populated.theirs
	return w
}

// common is the world of sharedWorld.
var common struct {
	sync.Mutex
	world *world
	pairs int
}

// sharedWorld is a world on a database that tests share: each gets two organizations and a handler of its own. They
// share the clock and the metrics, too. Do not advance the clock, stop the projections or roll samples up, and write
// little at once, because all writers of a log wait for each other.
func sharedWorld(t *testing.T, change ...func(*Dependencies)) *world {
	t.Helper()
	w, domain := inCommon(t)
	w.t = t
	for _, c := range change {
		c(&w.deps)
	}
	w.build()
	w.ours, w.theirs = w.tenantAt("ours", "ours-"+domain, false), w.tenantAt("theirs", "theirs-"+domain, true)
	head, err := w.deps.Events.Head(t.Context(), w.deps.DB, eventstore.Organization)
	must(t, err)
	w.settle(usecase.Mark{Log: eventstore.Organization, Position: head.Position})
	return &w
}

// inCommon is the common world, and a domain in it. After two minutes there is another one: the database's clock goes on,
// and five minutes are too far from it for some tests. The earlier one keeps its connections until all tests have ended.
func inCommon(t *testing.T) (w world, domain string) {
	t.Helper()
	common.Lock()
	defer common.Unlock()
	if common.world == nil || time.Since(common.world.clock.Now()) > 2*time.Minute {
		lasting := pgtest.Common(t)
		common.world = assemble(t, lasting, pgtest.URL(lasting), nil)
	}
	common.pairs++
	return *common.world, fmt.Sprintf("%d.example", common.pairs)
}

// newWorldOn is newWorld on a migrated database of one's own.
func newWorldOn(t *testing.T, database string, change ...func(*Dependencies)) *world {
	t.Helper()
	w := assemble(t, t, database, change)
	w.ours, w.theirs = w.tenant("ours", false), w.tenant("theirs", true)
	return w
}

// assemble is a world in which nobody lives yet, and that lasts as long as another test.
func assemble(t *testing.T, lasting testing.TB, database string, change []func(*Dependencies)) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.At(time.Now().UTC().Truncate(time.Second))}
	db, log := pgtest.Connect(lasting, database), slog.New(slog.NewTextHandler(lasting.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	registry := usecase.Registry()
	events := eventstore.New(db).WithClock(w.clock.Now)
	people := accounts.New(db, w.clock.Now)
	reader := fleet.NewReader(db)
	queue := jobs.NewQueue(db)
	runner := newRunner(db, database, log)
	waiter, stop := patientWaiter{runner, new(atomic.Bool)}, run(lasting, runner)
	w.stopProjections = func() { waiter.stopped.Store(true); stop() }
	files, err := blobs.Open(lasting.Context(), "file://"+lasting.TempDir())
	must(t, err)
	outbox, err := mail.NewOutbox(lasting.TempDir())
	must(t, err)
	key, err := secrets.LoadOrCreate(lasting.TempDir() + "/secret.key")
	must(t, err)
	checks, err := catalogue.Load()
	must(t, err)
	w.samples = pgstore.New(db, log)
	w.samples.KeepsTexts = people.HoldsTexts
	w.samples.KeepsPeople, w.samples.HoldsPeople = people.KeepsPeople, people.HoldsPeople
	targets := assessment.NewStore(db, key)
	poster := &channel.Poster{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	service := commands.New(usecase.Base{DB: db, Events: events, Accounts: people, Now: w.clock.Now}, commands.Needs{
		Instances: reader, Checks: checks, Schedules: schedules.NewReader(db), Connections: targets, Jobs: queue, Texts: w.samples, Seal: key, Channels: kinds.Judge{Poster: poster},
	})
	book := budgets.New(db, budgets.Default(), log, w.clock.Now)
	service.Budgets = book
	collector, err := collect.New(targets, service, nil, nil, &servers.Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, log, w.clock.Now) // it tries and asks; nothing here assesses
	must(t, err)
	store := &push.Intake{DB: db, Store: w.samples, InstancesOn: []push.InstancesOn{w.samples.InstancesOn, reader.InstancesOn}, InstancesNear: reader.InstancesNear, Now: w.clock.Now}
	resolver := &resolve.Resolver{Keys: service, Fleet: reader, Hosts: store,
		CatchUp: func(ctx context.Context) (bool, error) {
			head, err := events.Head(ctx, db, eventstore.Fleet)
			return err == nil && waiter.Wait(ctx, eventstore.Fleet, head.Position, fleet.Name), err
		}}
	w.deps = Dependencies{
		Front: Front{
			DB: db, Commands: service, Accounts: people, Servers: reader, App: builtApp, Metrics: telemetry.New("test", "abc"),
			Budgets: book, Log: log, Now: w.clock.Now, PublicURL: &url.URL{Scheme: "http", Host: "muster.test"},
		},
		Tiles: &measurements.Tiles{Store: w.samples, Log: log, Dropped: func(d measurements.Drop) {
			w.deps.Metrics.EnginesDropped.WithLabelValues(d.Tile, string(d.Engine)).Inc()
			w.deps.Drops.Note(d)
		}}, Hosts: w.samples, Drops: drops.New(db, log, w.clock.Now), Falls: &falls.Book{DB: db, Log: log}, Senders: senders.New(db, log, w.clock.Now), Feed: feed.Doors{Commands: service, Places: resolver, Store: store, Texts: people, Now: w.clock.Now,
			Assessments: targets, Accepted: handlers.Accepted{Exceptions: exceptions.NewReader(db), Fleet: reader, Now: w.clock.Now}.On, Heartbeats: &heartbeat.Store{DB: db}, Servers: targets},
		Agents: agents.New(agents.Config{Places: resolver, Store: store, Commands: service, Now: w.clock.Now, Texts: people, Collected: targets}),
		Events: events, History: history.NewReader(db), Fleet: reader, Alerts: alerts.NewReader(db, events, registry.Decode), Audit: audit.NewReader(db), Exceptions: exceptions.NewReader(db), Health: health.NewReader(db), Checks: checks,
		Servers: targets, Jobs: queue, Projections: runner, Waiter: waiter, DeadLetters: runner.DeadLetters(),
		Connections: collector, Blobs: files, Proofs: prooftest.New(lasting, db, events), Outbox: outbox,
		FillDemo: func(o accounts.Organization) { w.filled = append(w.filled, o.ID) },
		Ready:    readiness.New(log, readiness.Need{Name: "database", Required: true, Run: func(ctx context.Context) (*time.Duration, error) { return nil, db.PingContext(ctx) }}),
		Build:    operations.Build{Version: "test", Commit: "abc", BuiltAt: "2026-11-20T00:00:00Z", GoVersion: "go1.26"},
	}
	w.deps.Told = &notify.Reader{DB: db, Seal: key, Events: events, Registry: registry, Now: w.clock.Now}
	from, err := mail.ParseFrom("Muster <muster@localhost>")
	must(t, err)
	w.deps.Sender = &notify.Sender{
		DB: db, Queue: queue, Accounts: people, Seal: key, Poster: poster, Composer: &mail.Composer{From: from, Now: w.clock.Now}, Transport: outbox,
		PublicURL: "http://muster.test", Registry: registry, Now: w.clock.Now, Log: log,
	}
	w.deps.Signing, err = signing.Open(lasting.Context(), db, key, nil)
	must(t, err)
	must(t, w.deps.Signing.Publish(lasting.Context())) // as serve does at its start
	w.deps.Checkpoints = checkpoint.New(db, w.deps.Signing)
	for _, c := range change {
		c(&w.deps)
	}
	w.build()
	return w
}

func (w *world) build() {
	w.t.Helper()
	c, err := ourContract()
	must(w.t, err)
	w.handler, w.server, err = build(w.deps.Front, w.deps.groups(), c)
	must(w.t, err)
	forms, err := ourForms()
	must(w.t, err)
	w.yardstick = &yardstick{forms: forms, problem: c.Document.Components.Schemas["Problem"].Value, limited: !w.deps.Unlimited}
}

func newRunner(db *sqlx.DB, database string, log *slog.Logger) *projections.Runner {
	decode := usecase.Registry().Decode
	runner := projections.NewRunner(db, database, log,
		history.Projection(decode), fleet.Projection(decode), alerts.Projection(decode), audit.Projection(), exceptions.Projection(decode), health.Projection(decode), schedules.Projection(decode))
	runner.Share(1) // each connection more costs 10 ms, with the plans of what it is asked
	return runner
}

// run fills the projections until the test ends.
func run(t testing.TB, runner *projections.Runner) (stop func()) {
	t.Helper()
	must(t, runner.Prepare(t.Context()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = runner.Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func (w *world) tenant(name string, demo bool) tenant {
	w.t.Helper()
	return w.tenantAt(name, name+".example", demo)
}

// tenantAt makes an organization whose members have addresses of a domain.
func (w *world) tenantAt(name, domain string, demo bool) tenant {
	w.t.Helper()
	founded, err := w.founder().tenant(name, domain, demo)
	must(w.t, err)
	return w.withSessions(founded)
}

func (w *world) founder() founder { return founder{w.deps.DB, w.deps.Commands, w.deps.Events} }

// withSessions gives each member a session.
func (w *world) withSessions(in tenant) tenant {
	w.t.Helper()
	return tenant{organization: in.organization, admin: w.again(in.admin), member: w.again(in.member),
		auditor: w.again(in.auditor), viewer: w.again(in.viewer)}
}

const goodPassword = "seven grey herons over Utrecht"

func (w *world) person(o accounts.Organization, role organization.Role, email string) person {
	w.t.Helper()
	m, mark, err := w.founder().member(o, role, email)
	must(w.t, err)
	w.deps.Waiter.Wait(context.Background(), mark.Log, mark.Position)
	return w.again(person{Member: m})
}

// token mints a token of the person's.
func (w *world) token(p person, scopes ...organization.Scope) string {
	w.t.Helper()
	principal, err := w.deps.Accounts.SessionPrincipal(context.Background(), p.session)
	must(w.t, err)
	_, secret, _, err := w.deps.Commands.MintToken(context.Background(), principal, "", accounts.NewToken{Kind: accounts.APIToken, Name: "t", Scopes: scopes})
	must(w.t, err)
	return secret
}

func (w *world) ingestToken(p person, instances ...uuid.UUID) string {
	w.t.Helper()
	principal, err := w.deps.Accounts.SessionPrincipal(context.Background(), p.session)
	must(w.t, err)
	_, secret, _, err := w.deps.Commands.MintToken(context.Background(), principal, "", accounts.NewToken{Kind: accounts.IngestToken, Name: "t", InstanceIDs: instances})
	must(w.t, err)
	return secret
}

// request is one request to the API.
type request struct {
	method, path string
	as           person
	token        string
	json         any    // marshalled
	body         string // as it is
	header       map[string]string
}

type answer struct {
	t *testing.T
	*httptest.ResponseRecorder
}

// do sends a request and holds whatever comes back against openapi.yaml.
func (w *world) do(r request) answer {
	w.t.Helper()
	return w.doIn(context.Background(), r)
}

// doIn sends it for a caller who may hang up.
func (w *world) doIn(ctx context.Context, r request) answer {
	w.t.Helper()
	body := r.body
	if r.json != nil {
		text, err := json.Marshal(r.json)
		must(w.t, err)
		body = string(text)
	}
	req := httptest.NewRequestWithContext(ctx, r.method, "http://muster.test"+r.path, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.as.session != "" {
		req.AddCookie(&http.Cookie{Name: "__Host-muster_session", Value: r.as.session})
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, req)
	a := answer{w.t, recorder}
	w.conforms(req, a)
	problem := a.Header().Get("Content-Type") == "application/problem+json"
	if problem && (a.Code == http.StatusTooManyRequests || a.Code == http.StatusServiceUnavailable) && a.Header().Get("Retry-After") == "" {
		w.t.Errorf("%s %s: %d without Retry-After: %s", r.method, r.path, a.Code, a.Body)
	}
	return a
}

func (w *world) get(as person, path string) answer {
	w.t.Helper()
	return w.do(request{method: "GET", path: path, as: as})
}

func (w *world) post(as person, path string, body any) answer {
	w.t.Helper()
	return w.do(request{method: "POST", path: path, as: as, json: body})
}

// is fails the test unless the answer has the status.
func (a answer) is(status int) answer {
	a.t.Helper()
	if a.Code != status {
		a.t.Fatalf("got %d, want %d: %s", a.Code, status, a.Body.String())
	}
	return a
}

// problem returns the problem that the answer must be.
func (a answer) problem(status int, code string) shownProblem {
	a.t.Helper()
	a.is(status)
	var p shownProblem
	a.decode(&p)
	if p.Code != code || p.Status != status {
		a.t.Fatalf("got code %q, want %q: %s", p.Code, code, a.Body.String())
	}
	return p
}

type shownProblem struct {
	Code, Detail string
	Status       int
	Errors       []struct {
		In, Pointer, Parameter, Code string
		Params                       map[string]any
	}
}

// places lists "pointer code" or "parameter code" of every field error.
func (p shownProblem) places() []string {
	out := []string{}
	for _, e := range p.Errors {
		out = append(out, e.In+" "+e.Pointer+e.Parameter+" "+e.Code)
	}
	return out
}

// bodyPlaces are as places lists them: fields of a body below a pointer, with one code.
func bodyPlaces(below, fields, code string) (places []string) {
	for field := range strings.FieldsSeq(fields) {
		places = append(places, "body "+below+field+" "+code)
	}
	return places
}

func (a answer) decode(into any) answer {
	a.t.Helper()
	if err := json.Unmarshal(a.Body.Bytes(), into); err != nil {
		a.t.Fatalf("answer is not JSON: %v: %s", err, a.Body.String())
	}
	return a
}

// object is the answer as maps.
func (a answer) object() map[string]any {
	a.t.Helper()
	var m map[string]any
	a.decode(&m)
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within sets the clock on where an hour or a day would end within so long, and with it what is
// rightly another answer.
func (w *world) within(period, long time.Duration) {
	if now := w.clock.Now(); now.Add(long).Truncate(period).After(now) {
		w.clock.Advance(long)
	}
}

// instance registers one as a feed would.
func (w *world) instance(in tenant, name string) uuid.UUID {
	w.t.Helper()
	id, mark, err := w.deps.Commands.RegisterInstance(context.Background(), usecase.Actor{OrganizationID: in.organization.ID, Component: "ingest"},
		inventory.Registration{Name: name, Engine: "postgresql", Version: "15.18", Host: "db01", Active: true})
	must(w.t, err)
	w.settle(mark)
	return id
}

// patience is for machines that are busy with something else.
const patience = time.Minute

func (w *world) settle(mark usecase.Mark) {
	w.t.Helper()
	if !w.deps.Waiter.Wait(context.Background(), mark.Log, mark.Position) {
		w.t.Fatal("the projections do not catch up")
	}
}

// patientWaiter waits again where the bound of one Wait, a second, has passed: a busy
// machine is not what a test of another thing is about. Once the test has stopped the
// projections it waits no longer than a server does.
type patientWaiter struct {
	*projections.Runner
	stopped *atomic.Bool
}

func (p patientWaiter) Wait(ctx context.Context, log eventstore.Log, position int64, only ...string) bool {
	for deadline := time.Now().Add(patience); !p.Runner.Wait(ctx, log, position, only...); {
		if p.stopped.Load() || ctx.Err() != nil || time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// requested makes a Security report that covers exactly the instances (a
// new one where none is given, so that no two requests are identical).
func (w *world) requested(as tenant, by person, recipients ...uuid.UUID) uuid.UUID {
	w.t.Helper()
	instance := w.instance(as, "i-"+uuid.NewString()[:8])
	out, err := w.deps.Commands.RequestReport(context.Background(),
		usecase.Actor{OrganizationID: as.organization.ID, MemberID: by.ID}, commands.RequestReport{Kind: report.Security, InstanceIDs: []uuid.UUID{instance}, RecipientIDs: recipients})
	must(w.t, err)
	w.settle(out.Mark)
	return out.ReportID
}

// inTx runs one step of a build.
func (w *world) inTx(do func(ctx context.Context, tx *sqlx.Tx) (usecase.Mark, error)) {
	w.t.Helper()
	ctx := context.Background()
	tx, err := w.deps.DB.BeginTxx(ctx, nil)
	must(w.t, err)
	defer func() { _ = tx.Rollback() }()
	mark, err := do(ctx, tx)
	must(w.t, err)
	must(w.t, tx.Commit())
	w.settle(mark)
}

func (w *world) building(as tenant, id uuid.UUID) {
	w.t.Helper()
	w.inTx(func(ctx context.Context, tx *sqlx.Tx) (usecase.Mark, error) {
		return w.deps.Commands.StartBuild(ctx, tx, as.organization.ID, id, "worker-1", 1, "")
	})
}

const pdfText = "%PDF-1.4 not really, but long enough to be asked for in ranges"

// ready finishes a report with a file of the given text.
func (w *world) ready(as tenant, id uuid.UUID, text string) {
	w.t.Helper()
	w.readyWith(as, id, text, func(*report.Ready) {})
}

// readyWith is ready, of which more is recorded.
func (w *world) readyWith(as tenant, id uuid.UUID, text string, more func(*report.Ready)) {
	w.t.Helper()
	w.building(as, id)
	name := blobs.PDFName(as.organization.ID, id, 1)
	written, err := w.deps.Blobs.WritePDF(context.Background(), name, strings.NewReader(text))
	must(w.t, err)
	head, err := w.deps.Events.Head(context.Background(), w.deps.DB, eventstore.Reports)
	must(w.t, err)
	w.inTx(func(ctx context.Context, tx *sqlx.Tx) (usecase.Mark, error) {
		event := report.Ready{
			AsOf: w.clock.Now(), InputsSHA256: strings.Repeat("ab", 32), InputsKey: "k", PDFSHA256: written.SHA256, PDFKey: name,
			FileName: "security-größe \"1\".pdf", SizeBytes: written.SizeBytes, Pages: 3, RetentionSeconds: 30 * 24 * 3600,
			Renderer: report.Renderer{Version: "1"}, Witness: report.Witness{Log: "reports", Position: head.Position, Hash: fmt.Sprintf("%x", head.Hash)},
		}
		more(&event)
		event, err := prooftest.Marked(ctx, w.deps.Proofs, tx, as.organization.ID, id, event)
		must(w.t, err)
		return w.deps.Commands.MarkReady(ctx, tx, as.organization.ID, id, event, nil)
	})
}

func (w *world) failed(as tenant, id uuid.UUID) {
	w.t.Helper()
	w.inTx(func(ctx context.Context, tx *sqlx.Tx) (usecase.Mark, error) {
		return w.deps.Commands.MarkFailed(ctx, tx, as.organization.ID, id, report.Failed{Code: report.CodeRenderFailed, Message: "The PDF could not be drawn."})
	})
}

var client0 = accounts.Client{}
