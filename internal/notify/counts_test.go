package notify_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify"
	"muster/internal/testing/longtest"
	"muster/projections/projectionstest"
)

// TestThousandsOfAlerts of a minute are one message, which tells a hundred and counts the rest.
func TestThousandsOfAlerts(t *testing.T) {
	t.Parallel()
	areOneMessage(t, 2_000)
}

func TestLongTenThousandAlerts(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	areOneMessage(t, 10_000)
}

func areOneMessage(t *testing.T, alerts int) {
	t.Helper()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), func(t *notification.Terms) { t.GroupSeconds = 3600 })
	s.rule(s.channel(notifying.CreateChannel{Name: "Ana", Kind: notification.Email, MemberIDs: []uuid.UUID{s.ana.ID}}), func(t *notification.Terms) { t.GroupSeconds = 3600 })
	s.process("a", s.sender)
	keys := make([]string, alerts)
	for i := range keys {
		keys[i] = fmt.Sprintf("alert-%05d", i)
	}
	for i := 0; i < alerts; i += 1000 {
		s.fires(alert.Critical, keys[i:i+1000]...)
		s.follow()
	}
	s.passes(time.Hour)
	s.await("both are sent", func() bool { return strings.Count(s.story(), "sent") == 2 })
	posts, mails := r.got(), s.smtp.Mails()
	if len(posts) != 1 || len(posts[0].Told.Events) != 100 || posts[0].Told.Omitted != alerts-100 {
		t.Errorf("%d posts, the first with %d events and %d more", len(posts), len(posts[0].Told.Events), posts[0].Told.Omitted)
	}
	if len(mails) != 1 || !strings.Contains(mails[0].Header("Subject"), strconv.Itoa(alerts-1)) || !strings.Contains(mails[0].Data, strconv.Itoa(alerts-100)+" more") {
		t.Errorf("%d mails", len(mails))
	}
	delivery, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
	ids := map[uuid.UUID]bool{}
	for _, e := range delivery[0].Events.Value {
		ids[e.ID] = true
	}
	if err != nil || len(ids) != alerts {
		t.Errorf("the delivery has %d events, %v", len(ids), err)
	}
}

// TestSentEventsAreCountedOnce over half an hour of alerts with three processes that die at any point and a
// receiver that fails every third time: each raised or resolved event is sent in its order, and counted once by
// its id.
func TestSentEventsAreCountedOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	var passes atomic.Int64
	dying := *s.sender
	dying.Passed = func(context.Context) error {
		if passes.Add(1)%3 == 0 {
			return errors.New("the process dies here")
		}
		return nil
	}
	for _, name := range []string{"a", "b", "c"} {
		s.process(name, &dying)
	}
	stop := make(chan struct{})
	var followers sync.WaitGroup
	for range 3 {
		followers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := projectionstest.Handle(context.WithoutCancel(t.Context()), s.db, s.dispatch.Groups()...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	const minutes = 30 // so that one message has room for all
	for i := range minutes {
		s.fires(alert.Critical, fmt.Sprintf("a-%d", i), fmt.Sprintf("b-%d", i))
		r.answers([]int{204, 503, 204}[i%3])
		if i > 0 {
			s.ends(fmt.Sprintf("a-%d", i-1))
		}
	}
	r.answers(204)
	s.follow()
	want := 2*minutes + minutes - 1
	s.await("all is told", func() bool {
		var open, told int
		must(t, s.db.Get(&open, `SELECT count(*) FROM deliveries WHERE status <> 'sent'`))
		must(t, s.db.Get(&told, `SELECT count(*) FROM delivery_events`))
		s.passes(0)
		return open == 0 && told == want
	})
	close(stop)
	followers.Wait()
	first := map[uuid.UUID]int{}
	var order []string
	for i, p := range r.got() {
		for _, e := range p.Told.Events {
			if _, seen := first[e.ID]; !seen {
				first[e.ID] = i
				order = append(order, string(e.Type)+":"+e.Title)
			}
		}
	}
	if len(first) != want {
		t.Errorf("told %d events by their ids, want %d", len(first), want)
	}
	at := map[string]int{}
	for i, o := range order {
		at[o] = i
	}
	for i := range minutes - 1 {
		key := fmt.Sprintf(":a-%d", i)
		if at["alert.raised"+key] >= at["alert.resolved"+key] {
			t.Errorf("a-%d was told to be over before it was raised", i)
		}
	}
}
