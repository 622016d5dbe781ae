package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/concurrency/pause"
	"muster/internal/mail"
	"muster/internal/mail/mailtest"
	"muster/internal/notify"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/notify/channel/webhook"
	"muster/internal/postgres"
	"muster/internal/secrets"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/logtest"
	"muster/internal/testing/pgtest"
	"muster/projections/alerts"
	"muster/projections/fleet"
	"muster/projections/projectionstest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

const (
	patience = 30 * time.Second
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
)

// scene is an organization with a server, whose notifications go to receivers of the test.
type scene struct {
	*testing.T
	db       *sqlx.DB
	clock    *clocktest.Clock
	commands *commands.Service
	accounts *accounts.Store
	queue    *jobs.Queue
	dispatch *notify.Dispatcher
	stage    *projectionstest.Stage
	sender   *notify.Sender
	reader   *notify.Reader
	smtp     *mailtest.Server
	log      *logtest.Log
	org      accounts.Organization
	ana      accounts.Member
	actor    usecase.Actor
	orders   uuid.UUID
}

// here are the networks of the tests' receivers.
var here = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// beginning is what all scenes begin with: an organization with a member and a server, in a database that
// each copies. To hash the member's password alone takes 30 ms of a processor.
type beginning struct {
	seal   *secrets.Ring
	org    accounts.Organization
	ana    accounts.Member
	orders uuid.UUID
}

var begun beginning // filled with the template of the database

func newScene(t *testing.T) *scene {
	t.Helper()
	at := pgtest.FilledURL(t, "notify_scene", func(url string) error { return begun.fill(t, url) })
	s := &scene{T: t, org: begun.org, ana: begun.ana, orders: begun.orders}
	s.begin(at, begun.seal)
	s.actor = usecase.Actor{OrganizationID: s.org.ID, MemberID: s.ana.ID}
	return s
}

// fill makes what all scenes begin with.
func (b *beginning) fill(t *testing.T, url string) error {
	dir, err := os.MkdirTemp("", "notify")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if b.seal, err = secrets.LoadOrCreate(dir + "/secret.key"); err != nil {
		return err
	}
	db, pool, err := postgres.Connect(t.Context(), url, postgres.PoolOptions{Name: "test"})
	if err != nil {
		return err
	}
	defer pool.Close()
	service := serviceOf(db, func() time.Time { return time.Now().Add(-time.Minute) }, b.seal) // before any scene
	if b.org, _, _, err = service.CreateOrganization(t.Context(), "Acme", false, &commands.NewMember{
		Email: "ana@acme.example", Name: "Ana", Role: organization.Admin, Password: "a long enough sentence",
	}); err != nil {
		return err
	}
	if b.ana, _, err = service.Accounts.MemberByEmail(t.Context(), "ana@acme.example"); err != nil {
		return err
	}
	b.orders, _, err = service.RegisterInstance(t.Context(), usecase.Actor{OrganizationID: b.org.ID, MemberID: b.ana.ID},
		inventory.Registration{Name: "prod-orders", Engine: domain.PostgreSQL, Active: true})
	return err
}

// serviceOf are the commands of an installation.
func serviceOf(db *sqlx.DB, now func() time.Time, seal *secrets.Ring) *commands.Service {
	return commands.New(usecase.Base{DB: db, Events: eventstore.New(db).WithClock(now), Accounts: accounts.New(db, now), Now: now}, commands.Needs{
		Instances: fleet.NewReader(db), Jobs: jobs.NewQueue(db), Seal: seal, Channels: kinds.Judge{Poster: &channel.Poster{Networks: here}},
	})
}

// begin starts all that a scene has beside its database.
func (s *scene) begin(at string, key *secrets.Ring) {
	s.Helper()
	s.db, s.smtp, s.log = pgtest.Connect(s.T, at), mailtest.Start(s.T, mailtest.Options{}), &logtest.Log{}
	s.clock = clocktest.At(time.Now().UTC().Truncate(time.Second).Add(123_456_789))
	s.commands = serviceOf(s.db, s.clock.Now, key)
	events := s.commands.Events
	s.accounts, s.queue = accounts.New(s.db, s.clock.Now), jobs.NewQueue(s.db)
	smtp, err := mail.ParseSMTPURL("smtp://" + s.smtp.Addr)
	must(s.T, err)
	transport, err := mail.NewSMTP(smtp)
	must(s.T, err)
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	registry := usecase.Registry()
	s.stage = projectionstest.Run(s.T, s.db, at, alerts.Projection(registry.Decode), fleet.Projection(registry.Decode))
	s.dispatch = &notify.Dispatcher{DB: s.db, Events: events, Registry: registry, Queue: s.queue, Now: s.clock.Now, Alerts: s.stage.Ready}
	s.sender = &notify.Sender{
		DB: s.db, Queue: s.queue, Accounts: s.accounts, Seal: key, Poster: &channel.Poster{Networks: here},
		Composer: &mail.Composer{From: &netmail.Address{Name: "Muster", Address: "muster@localhost"}, Now: s.clock.Now}, Transport: transport,
		PublicURL: "https://muster.example.org", Registry: registry, Now: s.clock.Now, Log: log, Alerts: s.stage.Ready,
	}
	s.reader = &notify.Reader{DB: s.db, Seal: key, Events: events, Registry: registry, Now: s.clock.Now}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// process is a process with the role workers, until the test ends it.
func (s *scene) process(name string, sender *notify.Sender) (stop func()) {
	s.Helper()
	policy := sender.Policy(3)
	policy.Backoff = func(int) time.Duration { return 10 * time.Millisecond }
	w := handlers.NewWorkers(s.queue, handlers.WorkersConfig{Config: jobs.Config{
		Worker: name, Poll: 10 * time.Millisecond, Lease: time.Hour, Drain: time.Second, Grace: time.Second, Log: sender.Log,
	}})
	w.Add(handlers.Task{Kind: jobs.Notify, Policy: policy, Timeout: sender.AttemptTimeout(), Handle: sender.Handle})
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	s.Cleanup(stop)
	return stop
}

// await waits until something is so.
func (s *scene) await(what string, is func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	for !is() {
		s.passes(0)
		if pause.For(ctx, 5*time.Millisecond) != nil {
			s.Fatalf("waited in vain until %s; deliveries: %s", what, s.story())
		}
	}
}

// passes lets time pass, and makes jobs that are due by then due for workers, which use the
// database's clock.
func (s *scene) passes(d time.Duration) {
	s.Helper()
	s.clock.Advance(d)
	s.exec(`UPDATE jobs SET due_at = now() FROM deliveries d WHERE d.id = jobs.subject AND jobs.worker_id = '' AND d.due_at <= $1`, s.clock.Now())
}

func (s *scene) follow() {
	s.Helper()
	must(s.T, projectionstest.Handle(s.Context(), s.db, s.dispatch.Groups()...))
	s.caughtUp()
}

// caughtUp waits for the read models.
func (s *scene) caughtUp() {
	s.Helper()
	s.await("the read models have caught up", func() bool {
		there, err := s.stage.CatchUp(s.Context(), eventstore.Fleet)
		must(s.T, err)
		return there
	})
}

func (s *scene) exec(query string, args ...any) {
	s.Helper()
	_, err := s.db.ExecContext(s.Context(), query, args...)
	must(s.T, err)
}

func (s *scene) webhook(at string) uuid.UUID {
	s.Helper()
	return s.channel(notifying.CreateChannel{Name: "On call", Kind: webhook.Name, Address: notification.Address{URL: at, Secret: secret}})
}

func (s *scene) channel(c notifying.CreateChannel) uuid.UUID {
	s.Helper()
	id, _, err := s.commands.CreateChannel(s.Context(), s.actor, c)
	must(s.T, err)
	return id
}

// rule tells everything at once through a channel, but for what change changes.
func (s *scene) rule(channel uuid.UUID, change ...func(*notification.Terms)) uuid.UUID {
	s.Helper()
	r := notifying.NotificationRule{Name: "Everything", Terms: notification.Terms{ChannelIDs: []uuid.UUID{channel}, Enabled: true}}
	for _, c := range change {
		c(&r.Terms)
	}
	id, _, err := s.commands.CreateNotificationRule(s.Context(), s.actor, r)
	must(s.T, err)
	return id
}

// fires records that alerts fire.
func (s *scene) fires(severity alert.Severity, keys ...string) {
	s.Helper()
	s.record(false, severity, keys)
}

// ends records that alerts are over.
func (s *scene) ends(keys ...string) {
	s.Helper()
	s.record(true, alert.Critical, keys)
}

func (s *scene) record(over bool, severity alert.Severity, keys []string) {
	s.Helper()
	now := s.clock.Now()
	firings := make([]alert.Firing, len(keys))
	for i, key := range keys {
		firings[i] = alert.Firing{Key: "watch/" + key, Title: key, Severity: severity, InstanceID: s.orders, StartsAt: now.Add(-time.Second), SeenAt: now}
		if over {
			firings[i].Resolved, firings[i].EndsAt = true, now
		}
	}
	_, _, err := s.commands.RecordFirings(s.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, firings)
	must(s.T, err)
}

// story lists the deliveries, the oldest first: status, reason, and content.
func (s *scene) story() string {
	s.Helper()
	all, err := s.reader.Deliveries(s.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1000, Events: 10})
	must(s.T, err)
	var said []string
	for i := len(all) - 1; i >= 0; i-- {
		d := all[i]
		line := d.Status
		if d.Reason != "" {
			line += " " + d.Reason
		}
		for _, e := range d.Events.Value {
			line += fmt.Sprintf(" %s:%s", strings.TrimPrefix(string(e.Type), "alert."), e.Title)
		}
		said = append(said, line)
	}
	return strings.Join(said, " | ")
}

func (s *scene) wantStory(want string) {
	s.Helper()
	s.await("the story is "+want, func() bool { return s.story() == want })
}

// receiver is a webhook's other end.
type receiver struct {
	URL string

	mu    sync.Mutex
	code  int
	posts []post
}

type post struct {
	Header http.Header
	Body   []byte
	Path   string
	Told   struct {
		ID      uuid.UUID `json:"id"`
		Type    string    `json:"type"`
		Rule    struct{ Name string }
		Events  []channel.Notice `json:"events"`
		Omitted int              `json:"omitted"`
	}
}

func (s *scene) receiver() *receiver {
	s.Helper()
	r := &receiver{code: http.StatusNoContent}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		p := post{Header: request.Header.Clone(), Path: request.URL.Path}
		p.Body, _ = io.ReadAll(request.Body)
		_ = json.Unmarshal(p.Body, &p.Told)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.posts = append(r.posts, p)
		w.WriteHeader(r.code)
	}))
	s.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

func (r *receiver) answers(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code = code
}

func (r *receiver) got() []post {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]post(nil), r.posts...)
}

// told is what the posts tell, in their order.
func (r *receiver) told() string {
	var said []string
	for _, p := range r.got() {
		for _, e := range p.Told.Events {
			said = append(said, strings.TrimPrefix(string(e.Type), "alert.")+":"+e.Title)
		}
	}
	return strings.Join(said, " ")
}

// hostOf is the secret part of a URL.
func hostOf(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	must(t, err)
	return u.Host
}
