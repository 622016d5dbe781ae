package watch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/organization"
	"muster/internal/watch"
	"muster/projections/fleet"
)

// TestActionsOfMembersStayDuringABreach, and the next breach is an alert of its own.
func TestActionsOfMembersStayDuringABreach(t *testing.T) {
	t.Parallel()
	type action func(*commands.Service, context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error)
	for _, c := range []struct {
		name string
		does action
		then []string // with the breach lasting, and when it is over
		over []string
	}{
		{"resolved", (*commands.Service).ResolveAlert, nil, nil},
		{"acknowledged", (*commands.Service).AcknowledgeAlert, nil, []string{"auto_resolved volume/orders/data 2m0s"}},
		{"muted", (*commands.Service).MuteAlert, nil, []string{"auto_resolved volume/orders/data 2m0s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.sample(watch.Volume, "/data", 93)
			s.after(10 * time.Second)
			if _, err := c.does(s.commands, t.Context(), s.admin(), s.newest()); err != nil {
				t.Fatal(err)
			}
			done := s.story()
			s.clock.Advance(50 * time.Second)
			s.sample(watch.Volume, "/data", 93)
			s.after(0)
			s.wantStory(done...)
			s.clock.Advance(time.Minute)
			s.sample(watch.Volume, "/data", 10)
			s.after(0)
			done = append(done, c.over...)
			s.wantStory(done...)
			s.clock.Advance(time.Minute)
			s.sample(watch.Volume, "/data", 93)
			s.after(0)
			s.wantStory(append(done, "raised volume/orders/data warning 3m0s")...)
		})
	}
}

// TestARestartOfMusterRaisesNoAlert: silence counts only while Muster is there to hear it.
func TestARestartOfMusterRaisesNoAlert(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	listens := func(until time.Time) { // a turn every fifteen seconds, and the last one then
		t.Helper()
		for s.clock.Now().Before(until) {
			if err := s.watch.ListenOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.clock.Advance(min(watch.Interval, until.Sub(s.clock.Now())))
		}
		s.after(0)
	}
	s.exec(`UPDATE watch_state SET listening_since = NULL, listened_at = NULL`)
	s.hear(s.orders)
	s.clock.Advance(time.Minute) // its feed sends every minute
	s.hear(s.orders)
	s.after(time.Hour) // nobody has ever listened
	s.wantStory()
	back := s.clock.Now()
	listens(back.Add(5*time.Minute - time.Second))
	s.wantStory()
	listens(back.Add(5 * time.Minute))
	raised := "raised silent/orders critical 6m0s"
	s.wantStory(raised)
	s.hear(s.orders)
	s.after(time.Second)
	over := "auto_resolved silent/orders 1h6m0s"
	s.wantStory(raised, over)
	// A restart of half a minute is no gap.
	heard := s.clock.Now().Add(-time.Second)
	listens(heard.Add(2 * time.Minute))
	s.clock.Advance(30 * time.Second)
	listens(heard.Add(5*time.Minute - time.Second))
	s.wantStory(raised, over)
	listens(heard.Add(5 * time.Minute))
	told := []string{raised, over, "raised silent/orders critical 1h11m0s"}
	s.wantStory(told...)
	s.clock.Advance(time.Second)
	s.hear(s.orders)
	s.after(time.Second)
	told = append(told, "auto_resolved silent/orders 1h11m1s")
	s.wantStory(told...)
	// One of a minute is: silence begins anew.
	heard = s.clock.Now().Add(-time.Second)
	listens(heard.Add(2 * time.Minute))
	s.clock.Advance(time.Minute)
	listens(heard.Add(8*time.Minute - time.Second))
	s.wantStory(told...)
	listens(heard.Add(8 * time.Minute))
	s.wantStory(append(told, "raised silent/orders critical 1h16m1s")...)
}

// doors is a process that dies at its nth message to the door, before or after it.
type doors struct {
	*commands.Service
	before, after bool
}

var errKilled = errors.New("killed")

func (d *doors) RecordFirings(ctx context.Context, actor usecase.Actor, firings []alert.Firing) (int, usecase.Mark, error) {
	if d.before {
		return 0, usecase.Mark{}, errKilled
	}
	dropped, mark, err := d.Service.RecordFirings(ctx, actor, firings)
	if err == nil && d.after {
		err = errKilled
	}
	return dropped, mark, err
}

// TestProcessDies between noting what it found and telling it, or behind that.
func TestProcessDies(t *testing.T) {
	t.Parallel()
	whole := []string{"raised volume/orders/data warning 0s", "auto_resolved volume/orders/data 1m0s", "raised volume/orders/data warning 2m0s"}
	for _, c := range []struct {
		name string
		door doors
		dies int // at which of the steps
		want []string
	}{
		{"before it raises", doors{before: true}, 0, whole},
		{"behind it", doors{after: true}, 0, whole},
		{"before it resolves", doors{before: true}, 1, whole},
		{"behind it", doors{after: true}, 1, whole},
	} {
		for _, survivor := range []string{"judged again", "next sample first"} {
			t.Run(fmt.Sprintf("%s at step %d, %s", c.name, c.dies, survivor), func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				for step, value := range []float64{93, 10, 93} {
					s.sample(watch.Volume, "/data", value)
					if step == c.dies {
						dying := s.another(s.stage)
						dying.Alerts = &doors{s.commands, c.door.before, c.door.after}
						if _, err := dying.Judge(t.Context()); !errors.Is(err, errKilled) {
							t.Fatalf("error %v", err)
						}
					}
					if step != c.dies || survivor == "judged again" {
						s.judge()
						s.judge() // an end is told before what begins next
					}
					s.clock.Advance(time.Minute)
				}
				s.wantStory(c.want...)
			})
		}
	}
}

// TestTwoConcurrentWatchesRaiseOneAlert, and end it once.
func TestTwoConcurrentWatchesRaiseOneAlert(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	began, ended := 0, 0
	for _, value := range []float64{93, 10} {
		s.sample(watch.Volume, "/data", value)
		var mu sync.Mutex
		var group sync.WaitGroup
		for range 8 {
			w := s.another(s.stage)
			group.Go(func() {
				j, err := w.Judge(t.Context())
				mu.Lock()
				defer mu.Unlock()
				began, ended = began+j.Began[watch.Volume], ended+j.Ended[watch.Volume]
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		s.after(time.Minute)
	}
	s.wantStory("raised volume/orders/data warning 0s", "auto_resolved volume/orders/data 1m0s")
	if began != 1 || ended != 1 {
		t.Errorf("counted %d beginnings and %d ends", began, ended)
	}
}

// TestASampleArrivesDuringAJudgment: nobody waits for the other, and the next judgement
// has the sample.
func TestASampleArrivesDuringAJudgment(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.sample(watch.Volume, "/data", 93)
	s.sample(watch.Volume, "/wal", 93)
	tx, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	s.clock.Advance(time.Minute)
	sign := watch.Sign{OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.orders, Mount: "/data", Value: 10, At: s.clock.Now()}
	if _, err := watch.Record(t.Context(), tx, s.clock.Now(), []watch.Sign{sign}); err != nil {
		t.Fatal(err)
	}
	s.judge()
	s.wantStory("raised volume/orders/wal warning 0s")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	s.judge()
	s.wantStory("raised volume/orders/wal warning 0s")
}

// meanwhile is a fleet in which something happens while a judgement looks at it.
type meanwhile struct {
	watch.Fleet
	happens func()
}

func (m meanwhile) Instances(ctx context.Context, q fleet.Query) ([]fleet.Instance, int64, error) {
	m.happens()
	return m.Fleet.Instances(ctx, q)
}

// TestASampleIsNewerThanTheJudgedOne: what is noted is about the row as it was seen.
func TestASampleIsNewerThanTheJudgedOne(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.sample(watch.Volume, "/data", 93)
	s.clock.Advance(time.Minute)
	s.watch.Fleet = meanwhile{s.watch.Fleet, func() { s.sample(watch.Volume, "/data", 10) }}
	s.judge()
	s.judge()
	s.wantStory()
}

// TestOldSignsAreDeleted, but for those of servers that are silent.
func TestOldSignsAreDeleted(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	minutes := 24 * 60
	s.settings(organization.ChangeSettings{SilentMinutes: &minutes})
	s.hear(s.orders)
	s.sample(watch.Volume, "/data", 10)
	s.sample(watch.Volume, "/wal", 93)
	s.hear(s.billing)
	s.judge()
	s.remove(s.billing)
	left := func() (rules []string) {
		t.Helper()
		if err := s.db.SelectContext(t.Context(), &rules, `SELECT rule || mount FROM signs ORDER BY 1`); err != nil {
			t.Fatal(err)
		}
		return rules
	}
	s.after(24 * time.Hour)
	if diff := cmp.Diff([]string{"silent", "volume/data", "volume/wal"}, left()); diff != "" {
		t.Errorf("after a day (-want +got):\n%s", diff)
	}
	s.after(24*time.Hour + time.Second)
	if diff := cmp.Diff([]string{"silent", "volume/wal"}, left()); diff != "" {
		t.Errorf("after two (-want +got):\n%s", diff)
	}
}

// TestAThousandSigns are judged with few statements, and again with fewer.
func TestAThousandSigns(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	signs := make([]watch.Sign, 1000)
	for _, value := range []float64{99, 99, 10} {
		for i := range signs {
			signs[i] = watch.Sign{
				OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.orders, Mount: fmt.Sprintf("/data/%d", i), Value: value, At: s.clock.Now(),
			}
		}
		s.record(signs...)
		before := s.asked.Load()
		s.judge()
		if n := s.asked.Load() - before; n > 40 {
			t.Errorf("judging a thousand signs takes %d statements", n)
		}
		s.clock.Advance(time.Minute)
	}
	if n := len(s.story()); n != 2000 {
		t.Errorf("%d events, want 1,000 raised and resolved", n)
	}
	before := s.asked.Load()
	s.judge()
	if n := s.asked.Load() - before; n > 10 {
		t.Errorf("judging a thousand signs that say nothing takes %d statements", n)
	}
}

// TestRun judges, and closes what has come to its end, until it is stopped.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	_, _, err := s.commands.RecordFirings(t.Context(), s.admin(), []alert.Firing{{
		Key: "alertmanager/1", Title: "of another sender", Severity: alert.Info, StartsAt: noon, SeenAt: noon, EndsAt: noon.Add(5 * time.Minute),
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(10 * time.Minute)
	s.sample(watch.Volume, "/data", 93)
	ctx, stop := context.WithCancel(t.Context())
	judged := make(chan watch.Judgement)
	s.watch.Interval = time.Millisecond
	s.watch.Judged = func(j watch.Judgement) {
		select {
		case judged <- j:
		case <-ctx.Done():
		}
	}
	done := make(chan error)
	go func() { done <- s.watch.Run(ctx) }()
	if diff := cmp.Diff(watch.Judgement{Began: map[watch.Rule]int{watch.Volume: 1}, Ended: map[watch.Rule]int{}}, <-judged); diff != "" {
		t.Errorf("the first judgement (-want +got):\n%s", diff)
	}
	<-judged // the second one: the first turn has closed what it had to
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	s.wantStory("raised alertmanager/1 info 0s", "raised volume/orders/data warning 10m0s", "auto_resolved alertmanager/1 5m0s")
	age, ok, err := s.watch.SinceJudged(t.Context())
	if err != nil || !ok || age != 0 {
		t.Errorf("judged %v ago (%v, %v)", age, ok, err)
	}
}

// TestTheSweepEndsMutes: an alert that was muted until a time is unmuted once that has
// come, the read models are told, and the next turn finds nothing more.
func TestTheSweepEndsMutes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var marks []usecase.Mark
	s.watch.Recorded = func(_ context.Context, m usecase.Mark) { marks = append(marks, m) }
	actor := usecase.Actor{OrganizationID: s.org, Component: "ingest"}
	at := s.clock.Now()
	told, _, err := s.commands.RecordAlerts(t.Context(), actor, []alerting.Item{{
		ExternalID: "a", Title: "a", Severity: alert.Info, State: alert.Open, CreatedAt: at, FirstTriggeredAt: at, LastTriggeredAt: at,
	}})
	if err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(time.Hour)
	if _, err := s.commands.ActOnAlert(t.Context(), actor, told[0].ID, alerting.Action{Verb: alerting.Mute, Until: &until}); err != nil {
		t.Fatal(err)
	}
	for turn, want := range []int{0, 1, 1} {
		if turn == 1 {
			s.db.MustExec(`UPDATE alert_mutes SET until = clock_timestamp()`)
		}
		if err := s.watch.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		var ended int
		if err := s.db.Get(&ended, `SELECT count(*) FROM events WHERE stream_id = $1 AND type = 'alert.mute_ended'`, told[0].ID); err != nil {
			t.Fatal(err)
		}
		if ended != want || len(marks) != want {
			t.Errorf("turn %d: unmuted %d times, told %v", turn, ended, marks)
		}
	}
}
