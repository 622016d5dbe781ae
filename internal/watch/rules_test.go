package watch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/watch"
)

// TestFiguresRaiseAboveTheirThreshold and not at it; they resolve at it and below.
func TestFiguresRaiseAboveTheirThreshold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule      watch.Rule
		mount     string
		threshold float64 // the setting nobody changed
		severity  string
	}{
		{watch.Volume, "/data", 90, "warning"},
		{watch.LockWait, "", 5, "warning"},
		{watch.Wraparound, "", 80, "critical"},
	} {
		t.Run(string(c.rule), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			key := string(c.rule) + "/orders" + c.mount
			s.sample(c.rule, c.mount, c.threshold)
			s.judge()
			s.wantStory()
			s.clock.Advance(time.Minute)
			s.sample(c.rule, c.mount, c.threshold+0.001)
			s.after(10 * time.Second)
			s.wantStory("raised " + key + " " + c.severity + " 1m0s")
			s.clock.Advance(time.Minute)
			s.sample(c.rule, c.mount, c.threshold+1)
			s.after(10 * time.Second)
			s.wantStory("raised " + key + " " + c.severity + " 1m0s")
			s.clock.Advance(time.Minute)
			s.sample(c.rule, c.mount, c.threshold)
			s.after(10 * time.Second)
			s.wantStory("raised "+key+" "+c.severity+" 1m0s", "auto_resolved "+key+" 3m20s")
			s.clock.Advance(time.Minute)
			s.sample(c.rule, c.mount, c.threshold+1)
			s.after(10 * time.Second)
			s.wantStory("raised "+key+" "+c.severity+" 1m0s", "auto_resolved "+key+" 3m20s", "raised "+key+" "+c.severity+" 4m30s")
		})
	}
}

func TestServerFallsSilent(t *testing.T) {
	t.Parallel()
	s := newScene(t) // billing is never heard from, and never silent
	s.hear(s.orders)
	s.after(5*time.Minute - time.Second)
	s.wantStory()
	s.after(time.Second)
	s.wantStory("raised silent/orders critical 5m0s")
	s.after(time.Hour)
	s.hear(s.orders)
	s.after(10 * time.Second)
	closed := []string{"raised silent/orders critical 5m0s", "still_firing silent/orders", "auto_resolved silent/orders 1h5m0s"}
	s.wantStory(closed...)
	s.after(10 * time.Minute)
	s.wantStory(append(closed, "raised silent/orders critical 1h10m0s")...)
}

// TestNearlyFullAndFull: the severity of a volume follows what is in use.
func TestNearlyFullAndFull(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.sample(watch.Volume, "/data", 94.9)
	s.judge()
	s.clock.Advance(time.Minute)
	s.sample(watch.Volume, "/data", 95)
	s.judge()
	var severities []string
	for _, e := range s.events() {
		severities = append(severities, e.Severity)
	}
	if got := strings.Join(severities, " "); got != "warning critical" {
		t.Errorf("severities %q", got)
	}
}

func TestTitles(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.hear(s.orders)
	s.clock.Advance(6 * time.Minute)
	s.sample(watch.Volume, "/data", 93)
	s.sample(watch.Volume, `E:\`, 93.26)
	s.sample(watch.LockWait, "", 7.25)
	s.sample(watch.Wraparound, "", 84)
	s.judge()
	titles := map[string]bool{}
	for _, e := range s.events() {
		titles[e.Title] = true
	}
	for _, want := range []string{
		"orders: silent since 2026-11-20 12:00 UTC", "orders: volume /data is 93 % full", `orders: volume E:\ is 93.3 % full`,
		"orders: a session has waited 7 min 15 s for a lock", "orders: 84 % of the transaction ids are used up",
	} {
		if !titles[want] {
			t.Errorf("no alert is called %q among %v", want, titles)
		}
	}
}

func TestUnusableSignsAreNotRecorded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	volume := func(change func(*watch.Sign)) watch.Sign {
		sign := watch.Sign{OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.orders, Mount: "/data", Value: 99, At: noon}
		change(&sign)
		return sign
	}
	nan := 0.0
	for name, sign := range map[string]watch.Sign{
		"imported":               volume(func(s *watch.Sign) { s.Imported = true }),
		"stale":                  volume(func(s *watch.Sign) { s.At = noon.Add(-watch.Fresh - time.Second) }),
		"in the future":          volume(func(s *watch.Sign) { s.At = noon.Add(5*time.Minute + time.Second) }),
		"/boot":                  volume(func(s *watch.Sign) { s.Mount = "/boot" }),
		"/boot/efi":              volume(func(s *watch.Sign) { s.Mount = "/boot/efi" }),
		"below /snap/":           volume(func(s *watch.Sign) { s.Mount = "/snap/core20/2318" }),
		"no mount":               volume(func(s *watch.Sign) { s.Mount = "" }),
		"a mount that is broken": volume(func(s *watch.Sign) { s.Mount = "/\xff" }),
		"a mount with a zero":    volume(func(s *watch.Sign) { s.Mount = "/\x00" }),
		"a mount without end":    volume(func(s *watch.Sign) { s.Mount = "/" + strings.Repeat("a", 255) }),
		"no number":              volume(func(s *watch.Sign) { s.Value = nan / nan }),
		"infinite":               volume(func(s *watch.Sign) { s.Value = 1 / nan }),
		"imported life":          {OrganizationID: s.org, Rule: watch.Silent, InstanceID: s.orders, At: noon, Imported: true},
	} {
		if n := s.record(sign); n != 0 {
			t.Errorf("%s: recorded", name)
		}
	}
	s.after(10 * time.Minute)
	s.wantStory()
	for _, mount := range []string{"/boot2", "/boot/grub", "/snap", "/var/snap/x", "/"} {
		if n := s.record(volume(func(sign *watch.Sign) { sign.Mount, sign.At = mount, s.clock.Now() })); n != 1 {
			t.Errorf("%s is not recorded", mount)
		}
	}
}

// TestNewestSampleWins, in whichever order they come, together and one by one.
func TestNewestSampleWins(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	at := func(ago time.Duration, value float64) watch.Sign {
		return watch.Sign{OrganizationID: s.org, Rule: watch.Volume, InstanceID: s.orders, Mount: "/data", Value: value, At: noon.Add(-ago)}
	}
	s.record(at(2*time.Minute, 99), at(time.Minute, 50), at(3*time.Minute, 99))
	s.record(at(time.Minute, 99)) // as old as what is known
	s.record(at(90*time.Second, 99))
	s.judge()
	s.wantStory()
	s.record(at(-4*time.Minute, 99)) // its clock is ahead: measured when it came
	s.judge()
	s.wantStory("raised volume/orders/data critical 0s")
}

func TestStaleFigureNeitherRaisesNorResolves(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.sample(watch.Volume, "/data", 99)
	s.after(watch.Fresh + time.Second)
	s.wantStory()
	s.sample(watch.Volume, "/data", 99)
	s.after(0)
	raised := "raised volume/orders/data critical 5m1s"
	s.wantStory(raised)
	s.clock.Advance(time.Minute)
	s.sample(watch.Volume, "/data", 10)
	s.after(watch.Fresh + time.Second)
	s.wantStory(raised)
	s.sample(watch.Volume, "/data", 10)
	s.judge()
	s.wantStory(raised, "auto_resolved volume/orders/data 11m2s")
}

// TestThresholdsChange: the next judgment uses the new one, for this organization only.
func TestThresholdsChange(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	other, _, _, err := s.commands.CreateOrganization(t.Context(), "Other", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs := s.register(other.ID, "theirs")
	s.record(watch.Sign{OrganizationID: other.ID, Rule: watch.Volume, InstanceID: theirs, Mount: "/data", Value: 93, At: noon})
	s.sample(watch.Volume, "/data", 93)
	s.after(10 * time.Second)
	both := s.story()
	if len(both) != 2 {
		t.Fatalf("raised %v", both)
	}
	percent := func(p int) organization.ChangeSettings { return organization.ChangeSettings{VolumePercent: &p} }
	s.settings(percent(95))
	s.after(10 * time.Second)
	s.wantStory(append(both, "auto_resolved volume/orders/data 20s")...)
	s.settings(percent(90))
	s.after(10 * time.Second)
	s.wantStory(append(both, "auto_resolved volume/orders/data 20s", "raised volume/orders/data warning 20s")...)
}

func TestTheLengthOfASilenceIsASetting(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	minutes := func(m int) organization.ChangeSettings { return organization.ChangeSettings{SilentMinutes: &m} }
	s.hear(s.orders)
	s.settings(minutes(60))
	s.after(20 * time.Minute)
	s.wantStory()
	s.settings(minutes(10))
	s.judge()
	s.wantStory("raised silent/orders critical 10m0s")
	s.settings(minutes(60))
	s.after(time.Minute)
	s.wantStory("raised silent/orders critical 10m0s", "auto_resolved silent/orders 21m0s")
}

// TestTenWaitingSessionsAreRaisedSooner: after 90 seconds, where one has to wait five minutes.
func TestTenWaitingSessionsAreRaisedSooner(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	wait := func(instance uuid.UUID, sessions int) {
		s.record(watch.Sign{OrganizationID: s.org, Rule: watch.LockWait, InstanceID: instance, Value: 1.6, At: s.clock.Now(), Details: watch.Details{Sessions: sessions}})
	}
	wait(s.billing, 9)
	wait(s.orders, 10)
	s.judge()
	s.wantStory("raised lock_wait/orders warning 0s")
}
