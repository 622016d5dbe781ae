package handlers_test

import (
	"context"
	"errors"
	"log/slog"
	netmail "net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
	"muster/internal/mail"
	"muster/internal/mail/mailtest"
	"muster/internal/proof"
	"muster/internal/proof/prooftest"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
	"muster/projections/fleet"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// patience bounds every wait of these tests. The longest took 10 s, with the race detector on two
// cores with a load of 20.
const patience = 30 * time.Second

// scene is an installation without its web page: a database, files, a mail
// server, one organization and three members.
type scene struct {
	t        *testing.T
	db       *sqlx.DB
	queue    *jobs.Queue
	events   *eventstore.Store
	accounts *accounts.Store
	commands *commands.Service
	blobs    *blobs.Store
	files    string
	clock    *clocktest.Clock
	smtp     *mailtest.Server
	gatherer *gatherer
	proofs   *proof.Maker

	organization  uuid.UUID
	ana, bob, eva uuid.UUID
}

// gatherer returns a rich document; the real gatherer has tests of its own.
type gatherer struct {
	mu     sync.Mutex
	err    error
	change func(doc *snapshot.Document) // nil: as it is
}

func (g *gatherer) Gather(_ context.Context, in handlers.Gathering) (snapshot.Document, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	doc := snapshottest.Rich(in.Queued.Kind)
	doc.ReportID, doc.Organization.ID, doc.Requester.ID = in.ReportID, in.OrganizationID, in.Queued.RequesterID
	doc.Witness = snapshot.Witness{Log: string(eventstore.Reports), Hash: strings.Repeat("0", 64)} // from before the first event
	if g.change != nil {
		g.change(&doc)
	}
	return doc, g.err
}

// Findings are those of the document that Gather returns.
func (g *gatherer) Findings(ctx context.Context, in handlers.Gathering) (string, error) {
	doc, err := g.Gather(ctx, in)
	return analysis.FindingsDigest(doc), err
}

// find changes what is found from now on.
func (g *gatherer) find(change func(doc *snapshot.Document)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.change = change
}

func (g *gatherer) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
}

func newScene(t *testing.T) *scene {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	return newSceneIn(t, dir)
}

func newSceneIn(t *testing.T, dir string) *scene {
	t.Helper()
	return newSceneOn(t, pgtest.DB(t), dir)
}

func newSceneOn(t *testing.T, db *sqlx.DB, dir string) *scene {
	t.Helper()
	s := &scene{
		t: t, db: db, files: dir, gatherer: &gatherer{},
		clock: clocktest.At(time.Now()), smtp: mailtest.Start(t, mailtest.Options{}),
	}
	s.queue, s.events = jobs.NewQueue(s.db), eventstore.New(s.db)
	s.accounts = accounts.New(s.db, s.clock.Now)
	s.commands = commands.New(usecase.Base{DB: s.db, Events: s.events, Accounts: s.accounts, Now: s.clock.Now}, commands.Needs{
		Instances: fleet.NewReader(s.db), Jobs: s.queue,
	})
	s.proofs = prooftest.New(t, s.db, s.events)
	var err error
	if s.blobs, err = blobs.Open(t.Context(), "file://"+dir); err != nil {
		t.Fatal(err)
	}
	s.populate()
	return s
}

func (s *scene) populate() {
	s.t.Helper()
	tx, err := s.db.BeginTxx(s.t.Context(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.organization = uuid.New()
	if _, err := s.accounts.InsertOrganization(s.t.Context(), tx, s.organization, "Acme", false); err != nil {
		s.t.Fatal(err)
	}
	for name, id := range map[string]*uuid.UUID{"ana": &s.ana, "bob": &s.bob, "eva": &s.eva} {
		*id = s.member(tx, name)
	}
	if err := tx.Commit(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) member(tx *sqlx.Tx, name string) uuid.UUID {
	s.t.Helper()
	m := accounts.Member{
		ID: uuid.New(), OrganizationID: s.organization, Email: s.address(name), Name: strings.ToUpper(name[:1]) + name[1:],
		Role: organization.Member, Status: organization.Active, CreatedAt: s.clock.Now(),
	}
	if err := s.accounts.InsertMember(s.t.Context(), tx, m, ""); err != nil {
		s.t.Fatal(err)
	}
	return m.ID
}

func (s *scene) address(name string) string { return name + "@example.org" }

// request asks for a Security report of everything.
func (s *scene) request(by uuid.UUID, recipients ...uuid.UUID) uuid.UUID {
	s.t.Helper()
	return s.ask(by, commands.RequestReport{Kind: report.Security, RecipientIDs: recipients})
}

// aReport is a Security report of everything that Ana requested, and that is built; no worker
// is running any more.
func (s *scene) aReport() uuid.UUID {
	s.t.Helper()
	id := s.request(s.ana)
	stop := s.work("w1", s.builder().Task(1))
	s.until("the report is built", func() bool { return s.has(id, "report.ready") })
	stop()
	return id
}

// requestKind asks for another kind of everything.
func (s *scene) requestKind(kind report.Kind) uuid.UUID {
	s.t.Helper()
	return s.ask(s.ana, commands.RequestReport{Kind: kind})
}

func (s *scene) ask(by uuid.UUID, what commands.RequestReport) uuid.UUID {
	s.t.Helper()
	r, err := s.commands.RequestReport(s.t.Context(), usecase.Actor{OrganizationID: s.organization, MemberID: by}, what)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.ReportID
}

// parts are what every handler stands on.
func (s *scene) parts() handlers.Parts {
	return handlers.Parts{
		DB: s.db, Queue: s.queue, Events: s.events, Registry: usecase.Registry(), Reports: s.commands,
		Accounts: s.accounts, Blobs: s.blobs, Proofs: s.proofs, Now: s.clock.Now,
	}
}

// rebuilder renders again by renderer.
func (s *scene) rebuilder(renderer handlers.Renderer) *handlers.Rebuilder {
	p := s.parts()
	p.Renderer = renderer
	return &handlers.Rebuilder{Parts: p}
}

func (s *scene) renderer() *pdf.Renderer {
	s.t.Helper()
	r, err := pdf.New(pdf.Build{Version: "test", Commit: "c0ffee"})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *scene) builder() *handlers.Builder {
	p := s.parts()
	p.Gatherer, p.Renderer = s.gatherer, s.renderer()
	return &handlers.Builder{Parts: p}
}

func (s *scene) mailer() *handlers.Mailer {
	s.t.Helper()
	composer := &mail.Composer{From: &netmail.Address{Name: "Muster", Address: "muster@localhost"}, Now: s.clock.Now}
	config, err := mail.ParseSMTPURL("smtp://" + s.smtp.Addr)
	if err != nil {
		s.t.Fatal(err)
	}
	transport, err := mail.NewSMTP(config)
	if err != nil {
		s.t.Fatal(err)
	}
	p := s.parts()
	p.Composer, p.Transport, p.PublicURL = composer, transport, "https://muster.example.org"
	return &handlers.Mailer{Parts: p}
}

func (s *scene) expirer() *handlers.Expirer {
	return &handlers.Expirer{Parts: s.parts()}
}

func (s *scene) eraser() *handlers.Eraser {
	return &handlers.Eraser{Parts: s.parts()}
}

func (s *scene) tasks() []handlers.Task {
	return []handlers.Task{s.builder().Task(1), s.mailer().Task(2), s.expirer().Task(), s.eraser().Task(), s.signer().Task()}
}

func (s *scene) signer() *handlers.Signer {
	return &handlers.Signer{Parts: s.parts()}
}

// work runs one worker process; the function it returns stops it.
func (s *scene) work(name string, tasks ...handlers.Task) (stop func()) {
	s.t.Helper()
	w := handlers.NewWorkers(s.queue, handlers.WorkersConfig{Config: jobs.Config{
		Worker: name, Lease: time.Hour, LostWait: time.Nanosecond, Poll: 20 * time.Millisecond, Drain: 10 * time.Second, Log: slog.New(slog.DiscardHandler),
	}})
	for _, t := range tasks {
		w.Add(t)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				s.t.Errorf("worker %s: %v", name, err)
			}
		case <-time.After(patience):
			s.t.Errorf("worker %s does not stop", name)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

// until waits for something that other goroutines bring about.
func (s *scene) until(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			s.t.Fatalf("never: %s\n%s", what, s.story())
		}
		time.Sleep(20 * time.Millisecond) // each look asks the database
	}
}

// story is what the log and the job table say, for a failed test.
func (s *scene) story() string {
	var b strings.Builder
	for e, err := range s.events.Read(context.Background(), eventstore.Reports, eventstore.Filter{}) {
		if err != nil {
			return err.Error()
		}
		b.WriteString(e.Type + " " + string(e.Data) + "\n")
	}
	rows, err := s.queue.List(context.Background(), uuid.Nil, 100)
	if err != nil {
		return err.Error()
	}
	for _, r := range rows {
		b.WriteString(strings.Join([]string{string(r.Kind), r.Key, r.Status, r.WorkerID, r.LastError}, " | ") + "\n")
	}
	return b.String()
}

// types are the wire names of a report's events in order.
func (s *scene) types(id uuid.UUID) []string {
	s.t.Helper()
	var types []string
	for e, err := range s.events.Load(s.t.Context(), s.db, s.organization, id) {
		if err != nil {
			s.t.Fatal(err)
		}
		types = append(types, e.Type)
	}
	return types
}

// last decodes the last event of a type of a report.
func last[E report.Event](s *scene, id uuid.UUID) (event E, ok bool) {
	s.t.Helper()
	_, err := eventstore.Fold(usecase.Registry(), s.events.Load(s.t.Context(), s.db, s.organization, id), func(e report.Event, _ eventstore.Event) {
		if match, is := e.(E); is {
			event, ok = match, true
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return event, ok
}

func (s *scene) has(id uuid.UUID, eventType string) bool {
	return slices.Contains(s.types(id), eventType)
}

func (s *scene) count(id uuid.UUID, eventType string) int {
	return len(slices.DeleteFunc(s.types(id), func(t string) bool { return t != eventType }))
}

// jobs are the unfinished jobs of some kinds.
func (s *scene) jobs(kinds ...jobs.JobKind) []jobs.Row {
	s.t.Helper()
	rows, err := s.queue.List(s.t.Context(), s.organization, 100, kinds...)
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// due makes jobs that wait claimable now: a backoff is over, a window has elapsed by the database's clock.
// Those that a worker has begun by itself meanwhile stay with it.
func (s *scene) due(kind jobs.JobKind) {
	s.t.Helper()
	s.exec(`UPDATE jobs SET due_at = now() - interval '1 ms' WHERE kind = $1 AND worker_id = ''`, string(kind))
}

// lapse ends the leases of jobs, as if their workers had died a while ago.
func (s *scene) lapse(kind jobs.JobKind) {
	s.t.Helper()
	s.exec(`UPDATE jobs SET due_at = now() - interval '1 ms', worker_id = 'gone' WHERE kind = $1 AND worker_id <> ''`, string(kind))
}

// stored are the names of the reports' files.
func (s *scene) stored() []string {
	s.t.Helper()
	names := []string{}
	for o, err := range s.blobs.List(s.t.Context(), blobs.Prefix) {
		var gone *blobs.MissingFileError
		if errors.As(err, &gone) { // a file went while they were listed: look again
			return s.stored()
		}
		if err != nil {
			s.t.Fatal(err)
		}
		names = append(names, o.Name)
	}
	return names
}

func (s *scene) sweep() handlers.Swept {
	s.t.Helper()
	swept, err := (&handlers.Sweeper{Parts: s.parts()}).Sweep(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return swept
}
