package notify_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/handlers/jobs"
	"muster/internal/concurrency/lease"
	"muster/internal/notify"
)

// TestAnAttemptThatDies before it is noted is made again under the same id, by another
// process, and nothing overtakes it.
func TestAnAttemptThatDies(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	dies, died := *s.sender, make(chan struct{})
	dies.Passed = func(ctx context.Context) error { // the process is gone: nothing of it is heard again
		close(died)
		<-ctx.Done()
		return ctx.Err()
	}
	stop := s.process("dies", &dies)
	s.fires(alert.Critical, "lag")
	s.follow()
	<-died
	s.ends("lag")
	s.follow()
	s.passes(time.Minute)
	stop()
	s.process("takes over", s.sender)
	s.exec(`UPDATE jobs SET due_at = now() WHERE kind = 'notify' AND worker_id LIKE 'dies%'`)
	s.wantStory("sent raised:lag | sent resolved:lag")
	posts := r.got()
	if r.told() != "raised:lag raised:lag resolved:lag" || posts[0].Told.ID != posts[1].Told.ID || string(posts[0].Body) != string(posts[1].Body) {
		t.Errorf("told %s", r.told())
	}
}

// TestNoEventOvertakesARetry: later events join the next delivery, which grows.
func TestNoEventOvertakesARetry(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusInternalServerError)
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	s.fires(alert.Critical, "first")
	s.follow()
	s.await("it was tried twice", func() bool { return len(r.got()) > 1 })
	for i := range 5 {
		s.fires(alert.Warning, fmt.Sprintf("later-%d", i))
		s.follow()
		s.passes(time.Minute)
	}
	s.ends("first")
	s.follow()
	s.passes(time.Minute)
	s.await("it was tried again", func() bool { return len(r.got()) > 5 })
	if got := s.story(); got != "pending raised:first | pending raised:later-0 raised:later-1 raised:later-2 raised:later-3 raised:later-4 resolved:first" {
		t.Errorf("while it is away: %s", got)
	}
	r.answers(http.StatusNoContent)
	s.wantStory("sent raised:first | sent raised:later-0 raised:later-1 raised:later-2 raised:later-3 raised:later-4 resolved:first")
	all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 10})
	if err != nil || all[1].Attempts < 6 || all[1].LastCode != 204 || all[1].LastError != "" || all[0].Attempts != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestARetriedDeliveryKeepsItsID, and a delivery that did not fail is not retried.
func TestARetriedDeliveryKeepsItsID(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusGone)
	channel := s.webhook(r.URL)
	s.rule(channel)
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("failed raised:lag")
	r.answers(http.StatusOK)
	id := r.got()[0].Told.ID
	again := func() error {
		_, err := s.commands.RecordDeliveryRetry(t.Context(), s.actor, channel, id, func(tx *sqlx.Tx) error { return s.sender.Retry(t.Context(), tx, s.org.ID, id) })
		return err
	}
	must(t, again())
	s.wantStory("sent raised:lag")
	if posts := r.got(); len(posts) != 2 || posts[1].Told.ID != id {
		t.Errorf("%d posts", len(posts))
	}
	var refused *usecase.RuleError
	if err := again(); !errors.As(err, &refused) || refused.Code != "invalid_state" {
		t.Errorf("one that was sent: %v", err)
	}
}

func TestOnlyTheHolderOfTheJobRecordsItsResult(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.fires(alert.Critical, "lag")
	s.follow()
	waiting, err := s.queue.List(t.Context(), s.org.ID, 1, jobs.Notify)
	must(t, err)
	r.answers(503)
	err = s.sender.Handle(t.Context(), jobs.Claimed{Job: waiting[0].Job, Fence: -1})
	if !lease.IsLost(t.Context(), err) || len(r.got()) != 1 {
		t.Errorf("%d posts, then %v", len(r.got()), err)
	}
	all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
	if err != nil || all[0].Attempts != 0 || all[0].LastCode != 0 || all[0].LastError != "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAFailedNotificationIsRepeated, if its alert is still open when the rule repeats it.
func TestAFailedNotificationIsRepeated(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(410)
	s.rule(s.webhook(r.URL), func(t *notification.Terms) { t.RepeatMinutes = 30 })
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("failed raised:lag")
	r.answers(204)
	s.clock.Advance(31 * time.Minute)
	must(t, s.dispatch.Repeat(t.Context()))
	s.wantStory("failed raised:lag | sent raised:lag")
	s.ends("lag")
	s.follow()
	s.wantStory("failed raised:lag | sent raised:lag | sent resolved:lag")
}

// TestOneMailboxIsGone: a delivery has failed if a recipient cannot be mailed at all. The
// recipients that got the alert also get its end, whatever the alert is by then.
func TestOneMailboxIsGone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ben, _, _, _, err := s.commands.InviteMember(t.Context(), s.actor, commands.NewMember{Email: "ben@acme.example", Name: "Ben", Role: organization.Member})
	must(t, err)
	s.rule(s.channel(notifying.CreateChannel{Name: "Both", Kind: notification.Email, MemberIDs: []uuid.UUID{s.ana.ID, ben.ID}}), only(alert.Critical))
	s.process("a", s.sender)
	s.smtp.Answer("ben@acme.example", 550, [3]int{5, 1, 1}, "gone")
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("failed raised:lag")
	s.clock.Advance(time.Second)
	s.fires(alert.Warning, "lag")
	s.ends("lag")
	s.follow()
	s.wantStory("failed raised:lag | failed resolved:lag")
	if mails := s.smtp.Mails(); len(mails) != 2 || mails[0].To[0] != "ana@acme.example" || mails[1].To[0] != "ana@acme.example" {
		t.Errorf("%d mails", len(mails))
	}
}

func TestADeliveryThatNeverReachedItsReceiverHasTheReason(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.exec(`UPDATE notification_channels SET sealed = 'under no key of ours'`)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.exec(`UPDATE jobs SET queued_at = now() - interval '25 hours' WHERE kind = 'notify'`)
	s.process("a", s.sender)
	s.wantStory("failed raised:lag")
	all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
	if err != nil || all[0].Attempts != 0 || all[0].LastError != "Muster itself failed at it each time; its own log says why." || len(r.got()) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// expiring is a context whose deadline passes when the test says so.
type expiring struct {
	context.Context
	over chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.over }

func (e expiring) Err() error {
	select {
	case <-e.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestAnAttemptThatTimesOut is recorded as failed, with the reason.
func TestAnAttemptThatTimesOut(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	gone := make(chan struct{})
	ctx := expiring{t.Context(), make(chan struct{})}
	expires := sync.OnceFunc(func() { close(ctx.over) })
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { expires(); <-gone }))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(gone) })
	s.rule(s.webhook(silent.URL))
	s.fires(alert.Critical, "lag")
	s.follow()
	s.exec(`UPDATE jobs SET fence = -1, worker_id = 'slow', due_at = now() + interval '1 hour' WHERE kind = 'notify'`)
	held, err := s.queue.List(t.Context(), s.org.ID, 1, jobs.Notify)
	must(t, err)
	if err := s.sender.Handle(ctx, jobs.Claimed{Job: held[0].Job, Fence: -1}); err == nil || ctx.Err() == nil {
		t.Fatalf("it ended with %v", err)
	}
	all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
	if err != nil || all[0].Attempts != 1 || all[0].LastError != "The receiver did not answer in time." {
		t.Errorf("%+v, %v", all, err)
	}
}
