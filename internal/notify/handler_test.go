package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/internal/notify"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/projectionstest"
)

// runner runs nothing, and knows the groups of a dispatcher.
func (s *scene) runner(d *notify.Dispatcher) *projections.Runner {
	r := projections.NewRunner(s.db, "", slog.New(slog.DiscardHandler))
	r.Handle(d.Groups()...)
	return r
}

// TestAnUnreadableEventIsSentAtItsRetry: an event that a program cannot read waits in the dead
// letters with the later events of its alert. The others are sent. At its retry it is sent in
// its order, however much was sent since.
func TestAnUnreadableEventIsSentAtItsRetry(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.fires(alert.Critical, "lag")
	older := *s.dispatch
	older.Registry = eventstore.NewRegistry()
	must(t, projectionstest.Handle(t.Context(), s.db, older.Groups()...))
	s.ends("lag")
	s.fires(alert.Critical, "disk")
	s.follow()
	s.process("a", s.sender)
	s.wantStory("sent raised:disk")
	dead := s.runner(s.dispatch).DeadLetters()
	letters, err := dead.List(t.Context(), s.org.ID, uuid.Nil, 10)
	if err != nil || len(letters) != 1 || letters[0].Handler != notify.Group || letters[0].EventType != "alert.raised" || letters[0].Waiting != 1 {
		t.Fatalf("dead letters are %+v, %v", letters, err)
	}
	if replay, err := dead.Retry(t.Context(), s.org.ID, letters[0].ID); err != nil || replay.Applied != 2 {
		t.Fatalf("retry: %+v, %v", replay, err)
	}
	s.await("both are told", func() bool { return r.told() == "raised:disk raised:lag resolved:lag" })
}

// TestTheProcessDiesWhileItHandles events, between any two writes: nothing of them is stored,
// nothing is set aside, and the next process puts each event once.
func TestTheProcessDiesWhileItHandles(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.exec(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed' USING ERRCODE = '57P01'; END $$`)
	s.fires(alert.Critical, "lag", "disk")
	s.ends("disk")
	for _, last := range []string{"INSERT ON deliveries", "INSERT ON delivery_events", "INSERT ON jobs", "UPDATE ON notification_logs", "UPDATE ON checkpoints"} {
		s.exec(`CREATE TRIGGER dies AFTER ` + last + ` FOR EACH ROW EXECUTE FUNCTION die()`)
		if err := projectionstest.Handle(t.Context(), s.db, s.dispatch.Groups()...); err == nil {
			t.Errorf("%s: it goes on", last)
		}
		s.exec(`DROP TRIGGER dies ON ` + last[strings.LastIndex(last, " ")+1:])
		var left int
		must(t, s.db.Get(&left, `SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM delivery_events) + (SELECT count(*) FROM jobs WHERE kind = 'notify')
			+ (SELECT count(*) FROM dead_letters WHERE consumer_group = $1)`, notify.Group))
		if left != 0 {
			t.Errorf("%s: %d rows are left", last, left)
		}
	}
	s.process("a", s.sender)
	s.follow()
	s.follow()
	s.await("all is told", func() bool { return len(r.got()) == 1 })
	if told := r.told(); told != "raised:lag raised:disk resolved:disk" && told != "raised:disk raised:lag resolved:disk" {
		t.Errorf("told %s", told)
	}
}

// TestARebuildSendsNothingAgain, and neither does a program that begins to follow the logs where another was.
func TestARebuildSendsNothingAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("sent raised:lag")
	difference, err := s.stage.Rebuild(t.Context(), alerts.Name, projections.RebuildOptions{}, nil)
	if err != nil || !difference.Empty() {
		t.Fatalf("rebuild: %+v, %v", difference, err)
	}
	s.follow()
	s.ends("lag")
	s.follow()
	s.wantStory("sent raised:lag | sent resolved:lag")
	if len(r.got()) != 2 {
		t.Errorf("%d posts", len(r.got()))
	}
}

// TestAnEarlierReleaseSendsBesideThisOne: events that it sent are not sent again, and it does not send what
// this one has sent.
func TestAnEarlierReleaseSendsBesideThisOne(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	s.fires(alert.Critical, "told before")
	s.exec(`UPDATE notification_logs n SET position = h.position FROM log_head h WHERE h.log = n.log AND n.log = 'fleet'`) // as it does
	s.fires(alert.Critical, "ours")
	s.follow()
	s.wantStory("sent raised:ours")
	var left int
	must(t, s.db.Get(&left, `SELECT count(*) FROM events e JOIN notification_logs n USING (log)
		WHERE e.position > greatest(n.position, n.told_after) AND e.type LIKE 'alert.%'`))
	if left != 0 {
		t.Errorf("it would tell %d events again", left)
	}
	if r.told() != "raised:ours" {
		t.Errorf("told %s", r.told())
	}
}

// TestEventsOfALogThatWasSetBackAreSent from its new end, whatever was sent at these positions before.
func TestEventsOfALogThatWasSetBackAreSent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.exec(`UPDATE notification_logs SET told_after = 1000 WHERE log = 'fleet'`) // as of a log that has lost most of its events
	s.exec(`UPDATE checkpoints SET position = 1000 WHERE consumer_group = $1 AND log = 'fleet'`, notify.Group)
	_, err := topic.SetBack(t.Context(), s.db)
	must(t, err)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.process("a", s.sender)
	s.wantStory("sent raised:lag")
}

// TestAServerIsNamedAsAtTheTimeOfTheEvent, whatever its name is when the event is sent.
func TestAServerIsNamedAsAtTheTimeOfTheEvent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), func(t *notification.Terms) { t.Match.NameContains = "prod" })
	s.fires(alert.Critical, "lag")
	name := "archive"
	_, err := s.commands.ChangeInstance(t.Context(), s.actor, s.orders, inventory.Change{Name: &name})
	must(t, err)
	s.fires(alert.Critical, "disk")
	s.follow()
	s.process("a", s.sender)
	s.wantStory("sent raised:lag")
	if told := r.got()[0].Told.Events[0].Instance; told.Name != "prod-orders" {
		t.Errorf("the server is called %s", told.Name)
	}
}

// TestDeliveriesWaitWhileMutesAreUnknown, their attempts uncounted, until the read model of alerts has caught
// up.
func TestDeliveriesWaitWhileMutesAreUnknown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.fires(alert.Critical, "lag", "disk")
	s.follow()
	var asked atomic.Int32
	early := *s.sender
	early.Alerts = func(context.Context) error {
		asked.Add(1)
		return errors.New("the read model is not there yet")
	}
	stop := s.process("early", &early)
	s.await("the delivery waits", func() bool { return asked.Load() > 2 })
	stop()
	var id uuid.UUID
	must(t, s.db.Get(&id, `SELECT alert_id FROM delivery_events WHERE notice->>'title' = 'disk'`))
	_, err := s.commands.MuteAlert(t.Context(), s.actor, id)
	must(t, err)
	s.follow()
	if s.story() != "pending raised:disk raised:lag" && s.story() != "pending raised:lag raised:disk" || len(r.got()) != 0 {
		t.Fatalf("%s, %d posts", s.story(), len(r.got()))
	}
	s.process("a", s.sender)
	s.wantStory("sent raised:lag")
}
