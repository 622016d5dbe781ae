package watch_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting/people"
	"muster/domain/alert"
	"muster/domain/organization"
	"muster/internal/measurements/blocking"
	"muster/internal/watch"
)

// holds is a sample of this moment in which so many sessions wait for one of an application, the
// first of them for a table.
func (s *scene) holds(root blocking.Node, waiting int, advisory bool) {
	s.Helper()
	now := s.clock.Now()
	since := now.Add(-3 * time.Minute)
	nodes := []blocking.Node{root}
	for n := range waiting {
		one := blocking.Node{Session: fmt.Sprint("w", n), Kind: blocking.Client, User: "shop-user", Application: "shop-app", Client: "10.4.2.18", Statement: "SELECT shop_text",
			Waits: &since, For: []string{root.Session}, Lock: "relation", Mode: "AccessShareLock", Object: "table public.orders", Advisory: advisory}
		if advisory {
			one.Lock, one.Object = "advisory", "42"
		}
		nodes = append(nodes, one)
	}
	if err := blocking.Record(s.Context(), s.db, s.org, now, []blocking.Sample{{Instance: s.orders, Advisory: advisory, At: now, Interval: 10 * time.Second, Nodes: nodes}}); err != nil {
		s.Fatal(err)
	}
}

// idle is a session that has been idle in its transaction for four minutes.
func (s *scene) idle(session string) blocking.Node {
	began, changed := s.clock.Now().Add(-time.Hour), s.clock.Now().Add(-4*time.Minute)
	return blocking.Node{Session: session, Kind: blocking.Client, Began: &began, User: "bill-user", Application: "billing-app", Client: "10.4.2.17", Database: "shop",
		State: "idle in transaction", Idle: true, Statement: "UPDATE bill_text", Transaction: &began, Changed: &changed}
}

// waits is a sign that sessions wait for a lock, of a value in minutes.
func (s *scene) waits(minutes float64, mount string) {
	s.Helper()
	s.record(watch.Sign{OrganizationID: s.org, Rule: watch.LockWait, InstanceID: s.orders, Mount: mount, Value: minutes, At: s.clock.Now(), Details: watch.Details{Sessions: 12}})
}

// raisedTrees are the trees in the events of alerts, by the events' types.
func (s *scene) raisedTrees() (titles []string, trees []alert.Raised) {
	s.Helper()
	for _, e := range s.events() {
		titles = append(titles, e.Type+" "+e.Title)
	}
	var texts []string
	if err := s.db.SelectContext(s.Context(), &texts, `SELECT convert_from(data, 'UTF8') FROM events WHERE stream_type = 'alert' ORDER BY position`); err != nil {
		s.Fatal(err)
	}
	for _, text := range texts {
		var of alert.Raised
		if err := json.Unmarshal([]byte(text), &of); err != nil {
			s.Fatal(err)
		}
		if of.Blocking != nil {
			trees = append(trees, of)
		}
	}
	return titles, trees
}

// people are whom the only alert of the scene names.
func (s *scene) people() (alerts []uuid.UUID, of people.Kept) {
	s.Helper()
	if err := s.db.SelectContext(s.Context(), &alerts, `SELECT DISTINCT stream_id FROM events WHERE stream_type = 'alert'`); err != nil || len(alerts) != 1 {
		s.Fatal(alerts, err)
	}
	all, err := people.Of(s.Context(), s.db, s.org, alerts)
	if err != nil {
		s.Fatal(err)
	}
	if other, err := people.Of(s.Context(), s.db, uuid.New(), alerts); err != nil || len(other) != 0 {
		s.Errorf("another organization reads %v, %v", other, err)
	}
	return alerts, all[alerts[0]]
}

// TestAnAlertKeepsTheBlockingTreeOfItsRaise: further signs change neither that nor add another. The log names
// no person and no text.
func TestAnAlertKeepsTheBlockingTreeOfItsRaise(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.holds(s.idle("24749"), 12, false)
	s.waits(6, "")
	s.judge()
	titles, trees := s.raisedTrees()
	const title = "orders: session 24749, idle in transaction for 4 min, blocks 12 sessions on table public.orders"
	if len(titles) != 1 || titles[0] != "alert.raised "+title || len(trees) != 1 || len(trees[0].Blocking.Sessions) != 13 {
		t.Fatalf("%q, %d trees", titles, len(trees))
	}
	frozen := trees[0].Blocking
	root := frozen.Sessions[0]
	if root.Session != "24749" || !root.Idle || root.Began == nil || root.Database != "shop" || frozen.EpisodeID == uuid.Nil || !frozen.At.Equal(s.clock.Now()) ||
		frozen.Sessions[1].For[0] != "24749" || frozen.Sessions[1].Object != "table public.orders" {
		t.Errorf("%+v", frozen)
	}
	alerts, of := s.people()
	named := alert.Named(trees[0].Title, of.All())
	if want := "orders: app billing-app (user bill-user, idle in transaction for 4 min) blocks 12 sessions on table public.orders"; named != want {
		t.Errorf("%q, want %q", named, want)
	}
	if who := of.Frozen(frozen.People); len(frozen.People) != 32 || len(who) != 13 || who[0].Client != "10.4.2.17" || !who[0].Is(root) {
		t.Errorf("digest %q, people %+v", frozen.People, who)
	}
	s.clock.Advance(2 * time.Hour)
	s.holds(s.idle("555"), 3, false)
	s.waits(126, "")
	s.judge()
	titles, trees = s.raisedTrees()
	if len(titles) < 2 || !strings.Contains(titles[len(titles)-1], "session 555, idle in transaction for 4 min, blocks 3 sessions") || len(trees) != 1 || trees[0].Blocking.Sessions[0].Session != "24749" {
		t.Errorf("%q, %d trees", titles, len(trees))
	}
	s.judge()
	_, of = s.people()
	if got := alert.Named(titles[len(titles)-1], of.All()); !strings.Contains(got, ": app billing-app (user bill-user, idle in transaction for 4 min) blocks 3 sessions") || len(of.All()) != 14 || len(of.Frozen(frozen.People)) != 13 {
		t.Errorf("%q, of %d people", strings.TrimPrefix(titles[len(titles)-1], "alert.changed "), len(of.All()))
	}
	// Somebody who changes the people, does not change the tree.
	s.db.MustExec(`UPDATE alert_people SET people = jsonb_set(people, '{0,user}', '"mallory"')`)
	if _, of := s.people(); of.Frozen(frozen.People) != nil {
		t.Error("other people are taken for those of the tree")
	}
	// They are erased by the organization's setting; the event and its digest stay.
	s.db.MustExec(`UPDATE organizations SET inputs_retention_days = 30`)
	for _, c := range []struct {
		days int
		kept bool
	}{{29, true}, {31, false}} {
		s.db.MustExec(`UPDATE alert_people SET kept_at = now() - make_interval(days => $1)`, c.days)
		if _, err := people.Prune(t.Context(), s.db); err != nil {
			t.Fatal(err)
		}
		if all, err := people.Of(t.Context(), s.db, s.org, alerts); err != nil || (len(all) == 1) != c.kept {
			t.Errorf("after %d days: %d, %v", c.days, len(all), err)
		}
	}
	if again, trees := s.raisedTrees(); len(again) != len(titles) || trees[0].Blocking.People != frozen.People {
		t.Errorf("the log changed: %q", again)
	}
	var log string
	if err := s.db.GetContext(s.Context(), &log, `SELECT string_agg(convert_from(data, 'UTF8'), ' ') FROM events`); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"bill-user", "billing-app", "10.4.2.17", "shop-user", "shop-app", "10.4.2.18", "bill_text", "shop_text"} {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

// TestAnAlertNamesTheBlockingSession in one sentence, whatever it is.
func TestAnAlertNamesTheBlockingSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mount string
		root  func(*scene) blocking.Node
		waits int
		want  string
		named string // for those who may see people; empty: the same
	}{
		"one that works": {"", func(s *scene) blocking.Node {
			n := s.idle("7")
			n.Idle, n.State = false, "active"
			return n
		}, 1, "session 7, active for 1 h, blocks 1 session on table public.orders", "app billing-app (user bill-user, active for 1 h) blocks 1 session on table public.orders"},
		"nothing is known of it": {"", func(*scene) blocking.Node { return blocking.Node{Session: "7", Kind: blocking.Client} }, 2, "session 7 blocks 2 sessions on table public.orders", ""},
		"a user alone": {"", func(*scene) blocking.Node {
			return blocking.Node{Session: "7", Kind: blocking.Client, User: "bill"}
		}, 2, "session 7 blocks 2 sessions on table public.orders", "user bill blocks 2 sessions on table public.orders"},
		"an id of Oracle's": {"", func(s *scene) blocking.Node {
			n := s.idle("7,70,1")
			n.User, n.State, n.Idle = "", "inactive", false
			return n
		}, 2, "session 7,70,1, inactive for 1 h, blocks 2 sessions on table public.orders", "app billing-app (inactive for 1 h) blocks 2 sessions on table public.orders"},
		"a prepared transaction": {"", func(*scene) blocking.Node {
			return blocking.Node{Session: "prepared tx-7", Kind: blocking.Prepared, User: "bill"}
		}, 2, "prepared transaction tx-7 blocks 2 sessions on table public.orders", "prepared transaction tx-7 (user bill) blocks 2 sessions on table public.orders"},
		"autovacuum":              {"", func(*scene) blocking.Node { return blocking.Node{Session: "9", Kind: blocking.Autovacuum} }, 2, "autovacuum (session 9) blocks 2 sessions on table public.orders", ""},
		"another of the server's": {"", func(*scene) blocking.Node { return blocking.Node{Session: "-2", Kind: blocking.Distributed} }, 2, "distributed session -2 blocks 2 sessions on table public.orders", ""},
		"an advisory lock": {watch.Advisory, func(s *scene) blocking.Node { return s.idle("7") }, 2, "session 7, idle in transaction for 4 min, blocks 2 sessions on advisory lock 42",
			"app billing-app (user bill-user, idle in transaction for 4 min) blocks 2 sessions on advisory lock 42"},
		"more wait than a tree has": {"", func(s *scene) blocking.Node { return s.idle("7") }, 700, "session 7, idle in transaction for 4 min, blocks at least 499 of 700 waiting sessions on table public.orders",
			"app billing-app (user bill-user, idle in transaction for 4 min) blocks at least 499 of 700 waiting sessions on table public.orders"},
		"a circle": {"", func(s *scene) blocking.Node {
			since := s.clock.Now().Add(-time.Minute)
			return blocking.Node{Session: "7", Kind: blocking.Client, Waits: &since, For: []string{"w0"}, Lock: "tuple", Object: "table a"}
		}, 3, "sessions 7, w0 wait for each other and block 2 sessions on table public.orders", "sessions 7, w0 (app shop-app, user shop-user) wait for each other and block 2 sessions on table public.orders"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.holds(c.root(s), c.waits, c.mount == watch.Advisory)
			s.waits(6, c.mount)
			s.judge()
			if titles, _ := s.raisedTrees(); len(titles) != 1 || titles[0] != "alert.raised orders: "+c.want {
				t.Errorf("%q, want %q", titles, c.want)
			}
			_, of := s.people()
			if got, want := alert.Named("orders: "+c.want, of.All()), "orders: "+cmp.Or(c.named, c.want); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestAnOldTreeIsOfNoAlert: what waits now may be held up by somebody else.
func TestAnOldTreeIsOfNoAlert(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.holds(s.idle("7"), 1, false)
	s.clock.Advance(watch.Fresh + time.Second)
	s.waits(6, "")
	s.waits(6, watch.Advisory)
	s.judge()
	if titles, trees := s.raisedTrees(); len(titles) != 2 || len(trees) != 0 || strings.Contains(strings.Join(titles, " "), "session 7") {
		t.Errorf("%q, %d trees", titles, len(trees))
	}
}

// TestAdvisoryLocksCanBeExcluded: waits for them then raise nothing, and an open alert about them ends.
// Waits for locks of the engine count as before.
func TestAdvisoryLocksCanBeExcluded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	off, on := organization.WatchOff, organization.WatchOn
	s.waits(6, watch.Advisory)
	s.judge()
	s.wantStory("raised lock_wait/orders/advisory warning 0s")
	s.settings(organization.ChangeSettings{AdvisoryLocks: &off})
	s.after(10 * time.Second)
	s.wantStory("raised lock_wait/orders/advisory warning 0s", "auto_resolved lock_wait/orders/advisory 10s")
	s.clock.Advance(time.Minute)
	s.waits(7, watch.Advisory)
	s.waits(7, "")
	s.judge()
	s.wantStory("raised lock_wait/orders/advisory warning 0s", "auto_resolved lock_wait/orders/advisory 10s", "raised lock_wait/orders warning 1m10s")
	s.settings(organization.ChangeSettings{AdvisoryLocks: &on})
	s.after(10 * time.Second)
	s.wantStory("raised lock_wait/orders/advisory warning 0s", "auto_resolved lock_wait/orders/advisory 10s", "raised lock_wait/orders warning 1m10s",
		"raised lock_wait/orders/advisory warning 1m10s")
}
