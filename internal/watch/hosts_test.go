package watch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/watch"
)

// volumes records the volumes that a host with these servers reports, by mount.
func (s *scene) volumes(host string, servers []uuid.UUID, percent map[string]float64) {
	s.Helper()
	signs := []watch.Sign{watch.VolumesTold(s.org, host, servers, s.clock.Now())}
	for mount, p := range percent {
		signs = append(signs, watch.VolumeOf(s.org, mount, p, s.clock.Now(), watch.Details{Host: host, Mounts: []string{mount}}))
	}
	s.record(signs...)
}

// told are the titles of alerts that were raised, and what was closed.
func (s *scene) told() string {
	s.Helper()
	titles := map[uuid.UUID]string{}
	var said []string
	for _, e := range s.events() {
		switch e.Type {
		case "alert.raised", "alert.changed":
			titles[e.Stream] = e.Title
			said = append(said, strings.TrimPrefix(e.Type, "alert.")+" "+e.Title)
		case "alert.auto_resolved":
			said = append(said, "closed "+e.ResolvedAt.Sub(noon).String())
		}
	}
	return strings.Join(said, " | ")
}

func (s *scene) wantTold(want string) {
	s.Helper()
	if got := s.told(); got != want {
		s.Errorf("told %s\nwant %s", got, want)
	}
}

// TestAHostsVolumeIsOneAlert that names the servers on it, and not one a server. F21.
func TestAHostsVolumeIsOneAlert(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	both := []uuid.UUID{s.billing, s.orders}
	s.volumes("db07", both, map[string]float64{"/": 40, "/data": 93})
	s.after(15 * time.Second)
	s.wantTold("raised host db07: volume /data is 93 % full (billing, orders)")
	if a := s.events()[0]; a.Instance != s.orders || len(a.Others) != 1 || a.Others[0] != s.billing ||
		!strings.HasSuffix(a.Description, " Servers on host db07: billing, orders.") {
		t.Errorf("the alert is of %v and %v: %s", a.Instance, a.Others, a.Description)
	}
	// One of them is removed: the alert is the other's. Both are: it is over.
	s.remove(s.orders)
	s.clock.Advance(time.Minute)
	s.volumes("db07", both, map[string]float64{"/": 40, "/data": 93})
	s.judge()
	events := s.events()
	if last := events[len(events)-1]; last.Type != "alert.changed" || last.Instance != s.billing || last.Title != "billing: volume /data is 93 % full" {
		t.Errorf("last %+v", last)
	}
	s.remove(s.billing)
	s.after(15 * time.Second)
	if got := s.told(); !strings.HasSuffix(got, "| closed 1m30s") {
		t.Error(got)
	}
}

// TestAlertsOfARemovedVolumeAreClosed: its host continues to report the others. An alert stays if the
// volume is late, or if its host reports nothing. F21.
func TestAlertsOfARemovedVolumeAreClosed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	here := []uuid.UUID{s.orders}
	s.volumes("db07", here, map[string]float64{"/": 40, "/data": 99})
	s.judge()
	raised := "raised orders: volume /data is 99 % full"
	s.clock.Advance(5 * time.Minute) // a slow sender, in two messages
	s.volumes("db07", here, map[string]float64{"/": 40})
	s.judge()
	s.wantTold(raised)
	s.volumes("db07", here, map[string]float64{"/data": 99})
	s.judge()
	s.after(time.Hour) // the host is away
	s.wantTold(raised)
	s.volumes("db07", here, map[string]float64{"/": 40, "/data": 99})
	s.judge()
	for range 2 {
		s.clock.Advance(time.Minute)
		s.volumes("db07", here, map[string]float64{"/": 40})
		s.judge()
	}
	if got := s.told(); !strings.HasSuffix(got, " | closed 1h7m0s") {
		t.Errorf("told %s", got)
	}
	closed := s.told()
	s.after(time.Hour)
	s.volumes("db07", here, map[string]float64{"/": 40})
	s.judge()
	s.wantTold(closed)
	s.volumes("db07", here, map[string]float64{"/data": 99}) // mounted again
	s.judge()
	if got := s.told(); got != closed+" | "+raised {
		t.Errorf("told %s", got)
	}
}

// TestVolumesOfServersGiveWay to those of their hosts, after an upgrade.
func TestVolumesOfServersGiveWay(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.sample(watch.Volume, "/data", 93)
	s.record(watch.Sign{OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.billing, Mount: "/data", Value: 93, At: noon})
	s.judge()
	s.clock.Advance(time.Minute)
	s.volumes("db07", []uuid.UUID{s.orders, s.billing}, map[string]float64{"/data": 93})
	s.judge()
	one := 0
	for _, line := range s.story() {
		switch {
		case strings.HasPrefix(line, "raised volume/"):
			one++
		case strings.HasPrefix(line, "auto_resolved volume/"):
			one--
		}
	}
	if got := s.told(); one != 0 || !strings.Contains(got, "raised host db07: volume /data is 93 % full (billing, orders)") {
		t.Errorf("told %s", got)
	}
}

// TestTitlesNameTheCause: which lock sessions wait for and how many wait, which database runs out of ids, and
// which pool is full. Advisory locks are an alert of their own. F20, C13, C20.
func TestTitlesNameTheCause(t *testing.T) {
	t.Parallel()
	for want, sign := range map[string]watch.Sign{
		"orders: 10 sessions wait for a lock on table public.history in database shop, the longest for 5 min 18 s": {
			Rule: watch.LockWait, Value: 5.3, Details: watch.Details{Sessions: 10, Kind: "relation", Object: "table public.history", Database: "shop"}},
		"orders: a session has waited 5 min 18 s for advisory lock 42 in database shop": {
			Rule: watch.LockWait, Mount: watch.Advisory, Value: 5.3, Details: watch.Details{Sessions: 1, Kind: "advisory", Object: "42", Database: "shop"}},
		"orders: a session has waited 5 min 18 s for an advisory lock": {Rule: watch.LockWait, Mount: watch.Advisory, Value: 5.3},
		"orders: a session has waited 5 min 18 s for a lock (transactionid)": {
			Rule: watch.LockWait, Value: 5.3, Details: watch.Details{Sessions: 1, Kind: "transactionid"}},
		"orders: 84 % of the transaction ids of database shop are used up": {
			Rule: watch.Wraparound, Value: 84, Details: watch.Details{Database: "shop"}},
		"orders: 84 % of the multixact ids of database shop are used up": {
			Rule: watch.Wraparound, Value: 84, Details: watch.Details{Database: "shop", Multi: true}},
		"orders: volume /tank and 2 more of pool tank is 97 % full": {
			Rule: watch.Volume, Mount: "zfs:tank", Value: 97, Details: watch.Details{Mounts: []string{"/tank", "/tank/a", "/tank/b"}, Pool: "tank"}},
		"orders: a session has waited 5 min 18 s for a lock on table a\ufffdb": {
			Rule: watch.LockWait, Value: 5.3, Details: watch.Details{Object: "table a\nb"}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			sign.OrganizationID, sign.InstanceID, sign.At = s.org, s.orders, noon
			s.record(sign)
			s.judge()
			s.wantTold("raised " + want)
		})
	}
	s := newScene(t)
	s.record(
		watch.Sign{OrganizationID: s.org, Rule: watch.LockWait, InstanceID: s.orders, Value: 6, At: noon,
			Details: watch.Details{Sessions: 1, Kind: "relation", Session: "24750", Holder: "24749", Idle: true}},
		watch.Sign{OrganizationID: s.org, Rule: watch.LockWait, InstanceID: s.orders, Mount: watch.Advisory, Value: 6, At: noon})
	s.judge()
	events := s.events()
	if len(events) != 2 || !strings.HasSuffix(events[0].Description,
		" Session 24750 has waited longest, for a lock of kind relation; it waits for session 24749, which is idle in a transaction.") {
		t.Errorf("%+v", events)
	}
}

// TestAFillingVolumeIsOneAlert for all servers of its host. A volume without a date, or a removed one, raises
// nothing or is over.
func TestAFillingVolumeIsOneAlert(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	d, _ := watch.Find(string(watch.FullIn))
	is := d.Default
	is.Enabled = true
	s.set(watch.FullIn, is)
	tell := func(days float64) {
		s.volumes("db01", []uuid.UUID{s.orders, s.billing}, map[string]float64{"/": 40})
		s.record(watch.VolumeFullIn(s.org, "/data", days, s.clock.Now(), watch.Details{Host: "db01", Mounts: []string{"/data"}}))
		s.judge()
	}
	tell(watch.NotFull)
	s.clock.Advance(time.Minute)
	tell(7)
	s.wantStory()
	s.clock.Advance(time.Minute)
	tell(5.2)
	if got := s.events(); len(got) != 1 || got[0].Title != "host db01: volume /data will be full in 6 days (billing, orders)" {
		t.Fatalf("%+v", got)
	}
	s.clock.Advance(time.Minute)
	tell(watch.NotFull)
	s.after(10 * time.Second)
	if got := s.events(); len(got) != 2 || got[1].Type != "alert.auto_resolved" {
		t.Errorf("%+v", got)
	}
}

// TestAFillingVolumeReportedByItsServer is an alert of that server, and is over without a date.
func TestAFillingVolumeReportedByItsServer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	d, _ := watch.Find(string(watch.FullIn))
	is := d.Default
	is.Enabled = true
	s.set(watch.FullIn, is)
	tell := func(days float64) {
		s.record(watch.ServerFullIn(s.org, s.orders, "tablespace ERP.USERS", days, s.clock.Now()))
		s.judge()
		s.clock.Advance(time.Minute)
	}
	tell(8)
	s.wantStory()
	tell(5.2)
	if got := s.events(); len(got) != 1 || got[0].Title != "orders: tablespace ERP.USERS will be full in 6 days" {
		t.Fatalf("%+v", got)
	}
	tell(watch.NotFull)
	s.after(10 * time.Second)
	if got := s.events(); len(got) != 2 || got[1].Type != "alert.auto_resolved" {
		t.Errorf("%+v", got)
	}
}
