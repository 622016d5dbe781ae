package watch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/quotedprintable"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/mail/mailtest"
	"muster/internal/notify"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/notify/channel/webhook"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
	"muster/projections/alerts"
	"muster/projections/fleet"
	"muster/projections/projectionstest"
)

// receivers are a webhook and a mail server, to which a rule of the scene's organization sends all events of its alerts.
type receivers struct {
	*scene
	dispatch *notify.Dispatcher
	stage    *projectionstest.Stage
	smtp     *mailtest.Server

	mu    sync.Mutex
	posts []channel.Notice
}

// receivers sends notifications from now on, after each judgment.
func (s *scene) receivers() *receivers {
	s.Helper()
	r := &receivers{scene: s, smtp: mailtest.Start(s.T, mailtest.Options{})}
	server := httptest.NewServer(r)
	s.Cleanup(server.Close)
	key, err := secrets.LoadOrCreate(s.TempDir() + "/secret.key")
	s.must(err)
	poster := &channel.Poster{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	queue, registry := jobs.NewQueue(s.db), usecase.Registry()
	base := usecase.Base{DB: s.db, Events: eventstore.New(s.db).WithClock(s.clock.Now), Accounts: accounts.New(s.db, s.clock.Now), Now: s.clock.Now}
	service := commands.New(base, commands.Needs{Instances: fleet.NewReader(s.db), Jobs: queue, Seal: key, Channels: kinds.Judge{Poster: poster}})
	r.stage = projectionstest.Run(s.T, s.db, pgtest.URL(s.T), alerts.Projection(registry.Decode))
	r.dispatch = &notify.Dispatcher{DB: s.db, Events: base.Events, Registry: registry, Queue: queue, Now: s.clock.Now, Alerts: r.stage.Ready}
	to, err := mail.ParseSMTPURL("smtp://" + r.smtp.Addr)
	s.must(err)
	transport, err := mail.NewSMTP(to)
	s.must(err)
	s.work(queue, &notify.Sender{
		DB: s.db, Queue: queue, Accounts: base.Accounts, Seal: key, Poster: poster, Transport: transport,
		Composer:  &mail.Composer{From: &netmail.Address{Name: "Muster", Address: "muster@localhost"}, Now: s.clock.Now},
		PublicURL: "https://muster.example.org", Registry: registry, Now: s.clock.Now, Log: slog.New(slog.DiscardHandler), Alerts: r.stage.Ready,
	})
	member, _, _, _, err := service.InviteMember(s.Context(), s.admin(), commands.NewMember{Email: "ana@acme.example", Name: "Ana", Role: organization.Admin})
	s.must(err)
	var channels []uuid.UUID
	for _, c := range []notifying.CreateChannel{
		{Name: "On call", Kind: webhook.Name, Address: notification.Address{URL: server.URL, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}},
		{Name: "Mailbox", Kind: notification.Email, MemberIDs: []uuid.UUID{member.ID}},
	} {
		id, _, err := service.CreateChannel(s.Context(), s.admin(), c)
		s.must(err)
		channels = append(channels, id)
	}
	_, _, err = service.CreateNotificationRule(s.Context(), s.admin(), notifying.NotificationRule{Name: "Everything", Terms: notification.Terms{ChannelIDs: channels, Enabled: true}})
	s.must(err)
	s.notified = r
	return r
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// work is a process that sends notifications, until the test ends.
func (s *scene) work(queue *jobs.Queue, sender *notify.Sender) {
	policy := sender.Policy(3)
	policy.Backoff = func(int) time.Duration { return 10 * time.Millisecond }
	w := handlers.NewWorkers(queue, handlers.WorkersConfig{Config: jobs.Config{
		Worker: "test", Poll: 10 * time.Millisecond, Lease: time.Hour, Drain: time.Second, Grace: time.Second, Log: sender.Log,
	}})
	w.Add(handlers.Task{Kind: jobs.Notify, Policy: policy, Timeout: sender.AttemptTimeout(), Handle: sender.Handle})
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx) }()
	s.Cleanup(func() { cancel(); <-done })
}

// ServeHTTP receives a webhook.
func (r *receivers) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	var told struct{ Events []channel.Notice }
	if json.Unmarshal(body, &told) != nil || len(told.Events) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts = append(r.posts, told.Events...)
	w.WriteHeader(http.StatusNoContent)
}

// tell delivers what happened since the last time.
func (r *receivers) tell() {
	r.Helper()
	r.must(projectionstest.Handle(r.Context(), r.db, r.dispatch.Groups()...))
	r.until("the read models follow", func() (is bool, err error) { return r.stage.CatchUp(r.Context(), eventstore.Fleet) })
	r.until("everything is delivered", func() (bool, error) {
		r.exec(`UPDATE jobs SET due_at = now() FROM deliveries d WHERE d.id = jobs.subject AND jobs.worker_id = '' AND d.due_at <= $1`, r.clock.Now())
		var waiting int
		err := r.db.GetContext(r.Context(), &waiting, `SELECT count(*) FROM deliveries WHERE status = 'pending'`)
		return waiting == 0, err
	})
}

func (r *receivers) until(what string, is func() (bool, error)) {
	r.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		switch done, err := is(); {
		case err != nil || time.Now().After(deadline):
			r.Fatalf("waited in vain until %s: %v", what, err)
		case done:
			return
		}
	}
}

// wantEachOnce holds that the webhook and the mailbox received each beginning and each end of an alert once, and nothing else.
func (r *receivers) wantEachOnce() {
	r.Helper()
	var happened, posted, mailed []string
	for _, e := range r.events() {
		switch e.Type {
		case "alert.raised", "alert.auto_resolved":
			happened = append(happened, fmt.Sprintf("%s %s", strings.TrimPrefix(strings.TrimPrefix(e.Type, "alert."), "auto_"), e.Stream))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.posts {
		posted = append(posted, fmt.Sprintf("%s %s", strings.TrimPrefix(string(p.Type), "alert."), p.AlertID))
	}
	for _, m := range r.smtp.Mails() {
		mailed = append(mailed, mentioned(m, happened)...)
	}
	for what, told := range map[string]*[]string{"webhook": &posted, "mailbox": &mailed} {
		slices.Sort(*told)
		if want := slices.Sorted(slices.Values(happened)); !slices.Equal(*told, want) || len(want) == 0 {
			r.Errorf("the %s was told\n%q, and this happened:\n%q", what, *told, want)
		}
	}
}

// mentioned are the events that a mail tells of.
func mentioned(m mailtest.Mail, happened []string) (told []string) {
	text, _ := io.ReadAll(quotedprintable.NewReader(strings.NewReader(m.Data)))
	plain, _, _ := strings.Cut(string(text), "text/html")
	does := "raised "
	if strings.Contains(plain, "Resolved") {
		does = "resolved "
	}
	for _, e := range happened {
		if id, is := strings.CutPrefix(e, does); is && strings.Contains(plain, "/alerts/"+id) {
			told = append(told, e)
		}
	}
	return told
}
